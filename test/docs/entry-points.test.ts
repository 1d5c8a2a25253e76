/** Every place that lists the entry points of the package lists all of them. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const read = (path: string) => readFileSync(pathOf(path), 'utf8')

const exported = Object.keys(JSON.parse(read('package.json')).exports)
  .filter(path => !path.endsWith('.json'))
  .map(path => path.replace('.', 'bet-wallet'))
  .sort()

test.each<[string, () => string[]]>([
  [
    'docs/configuration.md',
    () =>
      [...read('docs/configuration.md').matchAll(/^- (?:`bet-wallet[/a-z]*`(?:, )?)+:/gm)].flatMap(([line]) =>
        [...line.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
      ),
  ],
  [
    'docs/.vitepress/typedoc.json',
    () =>
      (JSON.parse(read('docs/.vitepress/typedoc.json')).entryPoints as string[])
        .map(path => path.replace(/^\.\.\/\.\.\/src\/(?:(?:stores|tools)\/)?|(?:\/?index)?\.ts$/g, ''))
        .map(name => (name === '' ? 'bet-wallet' : `bet-wallet/${name}`)),
  ],
  [
    'docs/.vitepress/config.ts',
    () => {
      const [, list = ''] = /const modules = (.*?)\nconst /s.exec(read('docs/.vitepress/config.ts')) ?? []
      return [...list.matchAll(/'([^']*)'/g)].map(([, path]) => `bet-wallet${path}`)
    },
  ],
])('%s lists every entry point of package.json', (_, listed) => {
  expect(listed().sort()).toEqual(exported)
})

test('docs/configuration.md lists every variable that commands and examples read', () => {
  const files = ['src/tools', 'examples'].flatMap(folder =>
    readdirSync(pathOf(folder), { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts'))
      .map(file => read(`${folder}/${file}`)),
  )
  const names = files.flatMap(text => [
    ...[...text.matchAll(/process\.env\.([A-Z_]+)/g)].map(([, name = '']) => name),
    ...[...text.matchAll(/'(BET_WALLET_[A-Z_]+)'/g)].map(([, name = '']) => name),
  ])
  // A convention of terminals; of the files that init writes, which say what it is for.
  const others = ['NO_COLOR', 'AUDIT']
  const rows = read('docs/configuration.md').match(/^\| Variable \|.*?\n\n/ms)?.[0] ?? ''
  const listed = [...rows.matchAll(/`([A-Z_]{4,})`/g)].map(([, name = '']) => name)
  expect([...new Set(listed)].sort()).toEqual(
    [...new Set(names)].filter(name => !others.includes(name)).sort(),
  )
})
