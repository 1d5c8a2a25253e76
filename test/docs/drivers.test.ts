/** The table of drivers in docs/postgres.md has the lines of the programs that test/libraries/drivers runs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPage, root, rowsOf, sectionOf } from './pages.js'

const folder = 'test/libraries/drivers'
const programs = ['drivers.md', 'postgres.test.ts']
  .map(file => readFileSync(join(root, folder, file), 'utf8'))
  .join('\n')
  .replaceAll('pending.map(ledgerRow)', 'rows')

test('each line of code in the table is in a program', () => {
  const rows = rowsOf(sectionOf(readPage('docs/postgres.md'), 'Drivers')).slice(1)
  const lines = rows.flatMap(([, ...cells]) =>
    cells.flatMap(cell => [...cell.matchAll(/(`+)(.+?)\1(?!`)/g)].map(([, , code = '']) => code.trim())),
  )
  expect(lines.length).toBeGreaterThan(15)
  expect(lines.filter(line => !programs.includes(line))).toEqual([])
})
