/** Runs the built command as a separate process. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const command = fileURLToPath(new URL('../../../dist/command.cjs', import.meta.url))

export interface Ran {
  code: number | null
  out: string
  error: string
}

/** Until it ends: in the repository, where the drivers are installed, unless `cwd` is another folder. */
export function runCommand(
  words: readonly string[],
  { cwd = root, environment = {} }: { cwd?: string; environment?: Record<string, string> } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [command, ...words], {
    cwd,
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { out: '', error: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.error += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve({ code, ...printed }))
  })
}

/** The line of `bet-wallet check` for a subject; empty without one. */
export const lineOf = (out: string, subject: string): string =>
  out.split('\n').find(line => /^ {2}[\w-]+ +(.*)/.exec(line)?.[1]?.startsWith(subject)) ?? ''
