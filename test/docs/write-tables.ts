/** Writes the tables of cases, options and versions into their pages: `npx tsx test/docs/write-tables.ts`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pagesWithTables } from './generated-tables.js'
import { root } from './pages.js'

for (const { path, text } of pagesWithTables()) {
  writeFileSync(join(root, path), text)
  console.log(path)
}
