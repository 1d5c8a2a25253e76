/** ARCHITECTURE.md is complete: it names what exists, and everything at the top of src, of its stores and of its tools. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readPage, root } from './pages.js'

const page = readPage('ARCHITECTURE.md').text
const namesIn = (text: string) => [...text.matchAll(/`([a-z/-]+(?:\.c?[jt]s|\/))`/g)].map(([, name]) => name)

/** A row of a table of modules: its layer, their paths, and the files that its description names. */
const rows = page.split('\n## ').flatMap(section =>
  section.split(/\n(?=### )/).flatMap(part => {
    const folder = /\| In `(src\/(?:tools\/)?)` \|/.exec(part)?.[1]
    return folder === undefined
      ? []
      : [...part.matchAll(/^\|(?:([^|`]*)\|)? (`[^|]*) \| (.*) \|$/gm)].map(
          ([, layer = '', modules = '', description = '']) => {
            const paths = namesIn(modules).map(name => `${folder}${name}`)
            const parent = paths[0]?.endsWith('/') ? paths[0] : folder
            return { layer, paths, details: namesIn(description).map(name => `${parent}${name}`) }
          },
        )
  }),
)
const modules = rows.flatMap(({ paths }) => paths)

test('every file and folder that the page names exists', () => {
  const elsewhere = [...page.matchAll(/`((?:src|test|docs|examples)\/[^`*]*)`/g)].map(([, path = '']) => path)
  const all = [...modules, ...rows.flatMap(({ details }) => details), ...elsewhere]
  expect(all.length).toBeGreaterThan(60)
  expect(all.filter(path => !existsSync(`${root}${path}`))).toEqual([])
})

test('every file and folder at the top of src, of src/stores and of src/tools is named', () => {
  const inside = ['src/', 'src/stores/', 'src/tools/'].flatMap(folder =>
    readdirSync(`${root}${folder}`, { withFileTypes: true }).map(
      entry => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`,
    ),
  )
  const described = ['src/index.ts', 'src/stores/', 'src/tools/']
  expect(inside.filter(path => !modules.includes(path) && !described.includes(path))).toEqual([])
})

test('the layers are those of test/structure.test.ts', () => {
  const structure = readFileSync(`${root}test/structure.test.ts`, 'utf8')
  const list = /const layers = \[\n([\s\S]*?)\n\]/.exec(structure)?.[1] ?? ''
  const layers = list.split('\n').map(line => [...line.matchAll(/'([^']+)'/g)].map(([, name]) => name))
  const shown: string[][] = []
  let layer = ''
  for (const row of rows) {
    if (row.layer.trim() !== '') layer = row.layer.trim()
    if (!/^[1-9]$/.test(layer) || row.paths[0]?.startsWith('src/tools/')) continue
    shown[Number(layer) - 1] = [...(shown[Number(layer) - 1] ?? []), ...row.paths]
  }
  const nameOf = (path: string) => path.replace(/^src\/|\.ts$|\/$/g, '')
  expect(shown.map(paths => paths.map(nameOf).toSorted())).toEqual(layers.map(names => names.toSorted()))
})
