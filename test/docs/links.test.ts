/** Links and anchors resolve, every page is in the index, and the pages stay few and short. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { linkProblem, linksOf, readPage, readPages, root } from './pages.js'

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

test('docs/index.md links to every page', () => {
  const linked = linksOf(readPage('docs/index.md')).map(target => `docs/${target}`)
  const docs = pages
    .map(({ path }) => path)
    .filter(path => path.startsWith('docs/') && path !== 'docs/index.md')
  for (const path of docs) expect(linked).toContain(path)
})

describe('length', () => {
  /** Pages to look things up in, as long as their subject. */
  const reference = ['interface', 'decisions', 'glossary'].map(name => `docs/${name}.md`)
  const docs = pages.filter(({ path }) => path.startsWith('docs/'))

  test('README.md has at most 220 lines', () => {
    expect(readPage('README.md').text.split('\n').length - 1).toBeLessThanOrEqual(220)
  })

  test('docs/ has at most 31 pages', () => {
    expect(docs.length).toBeLessThanOrEqual(31)
  })

  test('docs/ has at most 35,000 words; what is generated not counted', () => {
    // Anchors, bars of tables, dashes of lists and other marks are no words.
    const words = docs.flatMap(({ text }) =>
      text
        .replace(/^<!-- Generated[\s\S]*?^<!-- End/gm, '')
        .replace(/<[a-z/!][^>]*>/g, '')
        .split(/\s+/)
        .filter(word => /[\p{L}\p{N}]/u.test(word)),
    )
    expect(words.length).toBeLessThanOrEqual(35_000)
  })

  test.each(docs.filter(({ path }) => !reference.includes(path)))(
    '$path has at most 150 lines; tables, code and what is generated not counted',
    ({ text }) => {
      const lines = text
        .replace(/^```[\s\S]*?^```$/gm, '')
        .replace(/^<!-- Generated[\s\S]*?^<!-- End/gm, '')
        .trimEnd()
        .split('\n')
      expect(lines.filter(line => !line.startsWith('|')).length).toBeLessThanOrEqual(150)
    },
  )
})
