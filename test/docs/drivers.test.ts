/** The tables of drivers have the lines of the programs that test/libraries/drivers runs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPage, root, rowsOf, sectionOf } from './pages.js'

const read = (file: string) => readFileSync(join(root, 'test/libraries/drivers', file), 'utf8')
const [, onPostgres = '', onMysql = ''] = read('drivers.md').split(/^## (?:PostgreSQL|MySQL and MariaDB)$/m)

test.each([
  { page: 'docs/postgres.md', text: onPostgres + read('postgres.test.ts'), least: 15 },
  { page: 'docs/mysql.md', text: onMysql, least: 10 },
])('each line of code in the table of $page is in a program', ({ page, text, least }) => {
  const programs = text.replaceAll('pending.map(ledgerRow)', 'rows')
  const rows = rowsOf(sectionOf(readPage(page), 'Drivers')).slice(1)
  const lines = rows.flatMap(([, ...cells]) =>
    cells.flatMap(cell => [...cell.matchAll(/(`+)(.+?)\1(?!`)/g)].map(([, , code = '']) => code.trim())),
  )
  expect(lines.length).toBeGreaterThan(least)
  expect(lines.filter(line => !programs.includes(line))).toEqual([])
})

test.each(['PostgreSQL', 'MySQL'])('each program for %s has its row', engine => {
  const [page, programs] = engine === 'MySQL' ? ['docs/mysql.md', onMysql] : ['docs/postgres.md', onPostgres]
  const names = [...programs.matchAll(/^### (\S+)/gm)].map(([, name = '']) => name)
  const rows = rowsOf(sectionOf(readPage(page), 'Drivers')).map(([name = '']) => name)
  expect(names.length).toBeGreaterThan(6)
  expect(names.filter(name => !rows.some(row => row.includes(name)))).toEqual([])
})
