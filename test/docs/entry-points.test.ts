/** Every place that lists the entry points of the package lists all of them. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

const exported = Object.keys(JSON.parse(read('package.json')).exports)
  .filter(path => !path.endsWith('.json'))
  .map(path => path.replace('.', 'bet-wallet'))
  .sort()

test.each<[string, () => string[]]>([
  [
    'README.md',
    () => [...read('README.md').matchAll(/^\| `(bet-wallet[/a-z]*)` \|/gm)].map(([, name = '']) => name),
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
