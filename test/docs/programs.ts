/** Runs the code blocks of the pages, each in a process of its own, on the build. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CodeBlock, codeBlocksOf, type Page, root } from './pages.js'

/** Inside the package, so that the blocks import it by its public name. */
export const folder = join(root, 'test/.tmp/docs')

export interface Program extends CodeBlock {
  name: string
  file: string
}

export interface Ran {
  status: number | null
  stdout: string
  stderr: string
}

/**
 * A block that names its file or exports something is a part of a program: tests of other packages run it (frameworks
 * and drivers of test/libraries), or those of `init`.
 */
const isPart = ({ code }: CodeBlock) => /^\/\/ \S+\.ts\n|^export /m.test(code)

/** Every other ts block of these pages, written to a file. */
export function writePrograms(pages: readonly Page[]): Program[] {
  mkdirSync(folder, { recursive: true })
  const programs = pages.flatMap(codeBlocksOf).filter(block => block.language === 'ts' && !isPart(block))
  return programs.map(block => {
    const name = `${block.page}, block ${block.number}`
    const file = join(folder, `${block.page.replace(/[^a-zA-Z]+/g, '-')}-${block.number}.ts`)
    writeFileSync(file, block.code)
    return { ...block, name, file }
  })
}

export function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: folder, env: { ...process.env, NODE_OPTIONS: '', ...env } })
    const text = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (chunk: string) => {
        text[stream] += chunk
      })
    }
    child.on('error', reject)
    child.on('close', status => resolve({ status, ...text }))
  })
}

export function runProgram(file: string): Promise<Ran> {
  // PGlite is WebAssembly: for a few calls, it is compiled in half the time.
  return run(process.execPath, ['--liftoff-only', '--import', 'tsx', file], {
    TSX_TSCONFIG_PATH: join(root, 'examples/tsconfig.json'),
  })
}

/** Each process takes a core for about a second: more at a time would not end earlier. */
const processesMax = 2

/** Starts all of the tasks, a few at a time, and returns a promise for each. */
export function startAll<T>(tasks: readonly (() => Promise<T>)[]): Promise<T>[] {
  const slots: Promise<unknown>[] = Array.from({ length: processesMax }, () => Promise.resolve())
  return tasks.map((task, index) => {
    const slot = index % processesMax
    const result = (slots[slot] as Promise<unknown>).then(task)
    slots[slot] = result.catch(() => undefined)
    return result
  })
}
