/** The lines and blocks of docs/http.md are files that test/libraries runs. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codeBlocksOf, readPage, root, rowsOf, sectionOf } from './pages.js'

const apps = 'test/libraries/frameworks/apps'
const files = [
  ...readdirSync(join(root, apps)).map(name => `${apps}/${name}`),
  'test/libraries/frameworks/next/app/wallet/[...path]/route.ts',
]
/** Without the comment that says what the file is. */
const codeOf = (file: string) => readFileSync(join(root, file), 'utf8').replace(/^\/\*\*[\s\S]*?\*\/\n/, '')
const code = files.map(codeOf)
const page = readPage('docs/http.md')

describe('the page of HTTP', () => {
  test('shows in its table what the tested files have', () => {
    const rows = rowsOf(sectionOf(page, 'Frameworks')).slice(1)
    const tested = rows.filter(([name = '']) => !/Bun|Koa/.test(name)) // test/libraries/runtimes, examples/koa
    const lines = tested.map(([, cell = '']) => /^`([^`]+)`/.exec(cell)?.[1] ?? '')
    expect(lines.length).toBe(4)
    expect(lines.filter(line => !code.some(text => text.includes(line)))).toEqual([])
  })

  test('shows no part of a program that is not tested', () => {
    const parts = codeBlocksOf(page).filter(block => block.language === 'ts' && /^export /m.test(block.code))
    expect(parts.length).toBeGreaterThan(4)
    expect(parts.filter(block => !code.includes(block.code)).map(block => block.code)).toEqual([])
  })
})
