/**
 * Writes below every code block of the pages what it really prints: `npm run build && npx tsx test/docs/write-outputs.ts`.
 * Read the difference before you commit it.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { excerptLike, runSample, samplesOf, withoutNumbers } from './commands.js'
import { codeBlocksOf, fencedBlock, readPages, root } from './pages.js'
import { folder, runProgram, startAll, writePrograms } from './programs.js'

// A test plays the first hour with its own server.
const pages = readPages().filter(({ path }) => path !== 'docs/first-hour.md')
const programs = writePrograms(pages).filter(({ output }) => output !== null)
const samples = samplesOf(pages)

function fail(problem: string): void {
  console.error(problem)
  process.exitCode = 1
}

const outputs = new Map<string, string>()
const keyOf = (page: string, language: string, number: number) => `${page} ${language} ${number}`

await Promise.all(
  startAll([
    ...programs.map(program => async () => {
      const { stdout, stderr } = await runProgram(program.file)
      if (stderr !== '') fail(`${program.name}:\n${stderr}`)
      else outputs.set(keyOf(program.page, 'ts', program.number), stdout)
    }),
    ...samples.map(sample => async () => {
      const { status, stdout, stderr } = await runSample(sample)
      if (status !== 0) return fail(`${sample.page}: ${sample.code}ended with ${status}\n${stderr}`)
      const excerpt = excerptLike(sample.output, stdout)
      // Where only the numbers differ, those of the page stay.
      if (withoutNumbers(excerpt) === withoutNumbers(sample.output)) return
      outputs.set(keyOf(sample.page, 'sh', sample.number), excerpt)
    }),
  ]),
)

for (const page of pages) {
  const blocks = codeBlocksOf(page)
  let index = 0
  const text = page.text.replace(fencedBlock, (all, language: string, code: string, shown?: string) => {
    const block = blocks[index++]
    const output = block && outputs.get(keyOf(page.path, block.language, block.number))
    if (shown === undefined || output === undefined || output === shown) return all
    return `\`\`\`${language}\n${code}\`\`\`\n\n\`\`\`text\n${output}\`\`\`\n`
  })
  if (text === page.text) continue
  writeFileSync(join(root, page.path), text)
  console.log(page.path)
}
rmSync(folder, { recursive: true, force: true })
