/** Links and anchors resolve, every page is in the index, and pages stay short. */
import { describe, expect, test } from 'vitest'
import { linkProblem, linksOf, readPage, readPages } from './pages.js'

const pages = readPages()

test.each(pages)('the links of $path lead somewhere', page => {
  const problems = linksOf(page).map(target => linkProblem(page, target))
  expect(problems.filter(problem => problem !== null)).toEqual([])
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
  const reference = ['interface', 'decisions', 'scenarios', 'glossary'].map(name => `docs/${name}.md`)

  test('README.md has at most 260 lines', () => {
    expect(readPage('README.md').text.split('\n').length - 1).toBeLessThanOrEqual(260)
  })

  test.each(pages.filter(({ path }) => path.startsWith('docs/') && !reference.includes(path)))(
    '$path has at most 150 lines, rows of tables not counted',
    ({ text }) => {
      const lines = text.trimEnd().split('\n')
      expect(lines.filter(line => !line.startsWith('|')).length).toBeLessThanOrEqual(150)
    },
  )
})
