/** ARCHITECTURE.md is complete: it names what exists, and everything at the top of src, and every folder. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readPage, root } from './pages.js'

const page = readPage('ARCHITECTURE.md').text
const named = new Set(
  [...page.matchAll(/`((?:src|test|docs|examples)\/[^`]*)`/g)].map(([, path = '']) => path),
)

/** `body.ts` beside `src/http/json.ts` in one row: in the same folder. */
const neighbours = page.split('\n').flatMap(line => {
  const folder = /`(src\/(?:[^`/]+\/)*)[^`/]+\.ts`/.exec(line)?.[1]
  return [...line.matchAll(/`([a-z-]+\.ts)`/g)].map(([, name]) => `${folder}${name}`)
})

test('every file and folder that the page names exists', () => {
  expect(named.size).toBeGreaterThan(50)
  expect([...named, ...neighbours].filter(path => !existsSync(`${root}${path}`))).toEqual([])
})

test('every folder of src and every file at its top is named', () => {
  const folders = readdirSync(`${root}src`, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ parentPath, name }) => `${parentPath.replaceAll('\\', '/').slice(root.length)}/${name}/`)
  const files = readdirSync(`${root}src`, { withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ name }) => `src/${name}`)
  expect(folders.length).toBeGreaterThan(8)
  expect([...folders, ...files].filter(path => !named.has(path))).toEqual([])
})

test('the layers are those of test/structure.test.ts', () => {
  const structure = readFileSync(`${root}test/structure.test.ts`, 'utf8')
  const list = /const (?:layers|floors) = \[\n([\s\S]*?)\n\]/.exec(structure)?.[1] ?? ''
  const layers = list.split('\n').map(line => [...line.matchAll(/'([^']+)'/g)].map(([, name]) => name))
  const rows = [...page.matchAll(/^\| ([1-9]? ?)\| `src\/([a-z-]+)(?:\.ts|\/)` \|/gm)]
  let layer = 0
  const shown: (string | undefined)[][] = []
  for (const [, number = '', name] of rows) {
    if (number.trim() !== '') layer = Number(number) - 1
    shown[layer] = [...(shown[layer] ?? []), name]
  }
  expect(shown.map(names => names.toSorted())).toEqual(layers.map(names => names.toSorted()))
})
