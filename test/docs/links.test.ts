/** Links and anchors resolve, the site lists every page, the pages stay few and short, and say how to install. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sections } from '../../docs/.vitepress/sections.js'
import manifest from '../../package.json' with { type: 'json' }
import { codeBlocksOf, linkProblem, linksOf, readPage, readPages, root, sectionOf } from './pages.js'

const pages = readPages()

test.each(pages)('the links of $path lead somewhere', page => {
  const problems = linksOf(page).map(target => linkProblem(page, target))
  expect(problems.filter(problem => problem !== null)).toEqual([])
})

test('files of the repository that the pages name as code exist: the package lacks them, so no link leads there', () => {
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/`((?:src|test)\/[\w/.-]+)`/g)].map(([, file = '']) => `${path}: ${file}`),
  )
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter(name => !existsSync(join(root, name.replace(/^.*: /, ''))))).toEqual([])
})

test('the navigation of the site lists every page once, but for its home', () => {
  const listed = sections.flatMap(({ items }) => items.map(({ link }) => `docs${link}.md`))
  const docs = pages.map(({ path }) => path).filter(path => path.startsWith('docs/'))
  expect([...listed, 'docs/index.md'].sort()).toEqual(docs.sort())
})

test('titles in the navigation are in sentence case, and no two are the same', () => {
  const titles = sections.flatMap(({ items }) => items.map(({ text }) => text))
  expect(titles.filter(title => !/^[A-Z]/.test(title))).toEqual([])
  expect(new Set(titles).size).toBe(titles.length)
})

describe('length', () => {
  const docs = pages.filter(({ path }) => path.startsWith('docs/'))
  const wordsOf = (text: string) => text.split(/\s+/).filter(word => word !== '').length

  test('README.md has at most 120 lines and 8,000 bytes', () => {
    const { text } = readPage('README.md')
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(120)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8_000)
  })

  test('docs/ has at most 21 pages', () => {
    expect(docs.length).toBeLessThanOrEqual(21)
  })

  test('README.md and docs/ have at most 34,000 words, as wc -w counts; the list of cases not counted', () => {
    const counted = [readPage('README.md'), ...docs.filter(({ path }) => path !== 'docs/cases.md')]
    const words = counted.reduce((sum, { text }) => sum + wordsOf(text), 0)
    expect(words).toBeLessThanOrEqual(34_000)
  })
})

/** A release that is on npm switches this, the section of the page, and nothing else. */
const isOnNpm = false

describe('the installation', () => {
  const install = /npm (?:install|i) (?:--?[\w-]+ )*((?:\S*\/)?bet-wallet\S*)/g
  const sources = (text: string) => [...text.matchAll(install)].map(([, source]) => source)
  const place = sectionOf(readPage('docs/first-hour.md'), '2. Install')

  test('stands in one place, as it works today', () => {
    const source = isOnNpm ? 'bet-wallet' : `../bet-wallet/bet-wallet-${manifest.version}.tgz`
    expect(sources(place.text)).toEqual([source])
    expect(/not on npm yet/.test(place.text)).toBe(!isOnNpm)
    expect(pages.flatMap(({ text }) => sources(text))).toEqual([source])
  })

  test('comes before every command that npx would else load from npm', () => {
    const others = pages.filter(({ path, text }) => path !== place.path && /^npx bet-wallet/m.test(text))
    expect(others.length).toBeGreaterThan(3)
    for (const { path, text } of others) expect(text, path).toContain('(first-hour.md#2-install)')
    expect(readPage('README.md').text).not.toContain('npx bet-wallet')
  })

  test('of the first block of README.md is the command above it, which builds', () => {
    const [first] = codeBlocksOf(readPage('README.md')).filter(({ language }) => language === 'ts')
    const { text } = readPage('README.md')
    const above = text.slice(0, text.indexOf(first?.code ?? '')).match(/```sh\n([^`]*)```/g) ?? []
    expect(above.at(-1)).toContain('npm ci && npm run build')
  })
})
