/** The blocks of docs/http.md are files that test/libraries/frameworks and test/examples run. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codeBlocksOf, readPage, root } from './pages.js'

const apps = 'test/libraries/frameworks/apps'
const files = [
  ...readdirSync(join(root, apps)).map(name => `${apps}/${name}`),
  'test/libraries/frameworks/next/app/wallet/[...path]/route.ts',
  'examples/koa/wallet.ts',
]
/** Without the comment that says what the file is. */
const codeOf = (file: string) => readFileSync(join(root, file), 'utf8').replace(/^\/\*\*[\s\S]*?\*\/\n/, '')
const blocks = codeBlocksOf(readPage('docs/http.md'))

describe('the page of frameworks', () => {
  test('shows every tested file, and nothing else', () => {
    expect(blocks.map(({ code }) => code).sort()).toEqual(files.map(codeOf).sort())
    expect(blocks.map(({ language }) => language)).toEqual(files.map(() => 'ts'))
  })

  test('shows at most fifteen lines for each framework', () => {
    for (const { code } of blocks) expect(code.trim().split('\n').length, code).toBeLessThanOrEqual(15)
  })
})
