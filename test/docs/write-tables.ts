/** Writes the tables of cases, options and versions into their pages, and docs/llms.txt: `npx tsx test/docs/write-tables.ts`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedPages } from './generated-tables.js'
import { root } from './pages.js'

for (const { path, text } of generatedPages()) {
  writeFileSync(join(root, path), text)
  console.log(path)
}
