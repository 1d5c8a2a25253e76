/**
 * Every `D7`, `spec 4.2 rule 2`, `WS-20`, `AU-301` and `P05` in the repository leads to an anchor in docs/.
 * A number that cannot be looked up helps no reader.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { walletStoreCases } from '../../src/testing/index.js'
import { cases } from '../../src/tools/audit/cases.js'
import { anchorsOf, filesBelow, linkProblem, linksOf, readPage, root } from './pages.js'

const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
const below = (folder: string) =>
  filesBelow(folder)
    .filter(path => /\.(?:ts|sql|md)$/.test(path))
    .filter(path => !/\/\.vitepress\/|^docs\/api\//.test(path))

const pages = below('docs')
const files = [
  ...['src', 'test', 'examples'].flatMap(below),
  ...pages,
  ...readdirSync(root).filter(name => name.endsWith('.md')),
].filter(path => path !== 'test/docs/references.test.ts') // its samples lead nowhere on purpose

/** `decisions.md#d7`, by heading or by `<a id="d7">`. */
const anchors = new Set(
  pages.flatMap(page =>
    [...anchorsOf(readPage(page))].map(anchor => `${page.replace('docs/', '')}#${anchor}`),
  ),
)

interface Reference {
  text: string
  line: number
  target: string
}

const section = '[1-9](?:\\.[1-9])?(?: rule [1-9])?'
const specification = new RegExp(`\\bspec (${section}(?:(?:, | to | and )${section}(?![\\w.]))*)`, 'gi')
const specTarget = (text: string) => `interface.md#spec-${text.replace(/[. ]/g, '-')}`

/** The references in a text. Patterns such as `AU-3*` and `AU-3xx` name no single case. */
function referencesIn(text: string): Reference[] {
  return text.split('\n').flatMap((content, index) => {
    const line = index + 1
    const all = (pattern: RegExp, targetOf: (match: string) => string) =>
      [...content.matchAll(pattern)].map(([match]) => ({ text: match, line, target: targetOf(match) }))
    const sections = [...content.matchAll(specification)]
      .flatMap(([, list = '']) => list.split(/, | to | and /))
      .map(number => ({ text: `spec ${number}`, line, target: specTarget(number) }))
    return [
      ...all(/\bD[0-9]{1,2}\b/g, match => `decisions.md#${match.toLowerCase()}`),
      ...sections,
      ...all(/\bWS-[0-9]{2}\b/g, match => `cases.md#${match.toLowerCase()}`),
      ...all(/\bAU-[0-9]{3}\b/g, match => `cases.md#${match.toLowerCase()}`),
      ...all(/\b[PRUSA][0-9]{2}\b/g, match => `decisions.md#${match.toLowerCase()}`),
    ]
  })
}

/** The reports that the tests of the audit's page show are invented, and so are the ids of their cases. */
const isInvented = (path: string, { target }: Reference) =>
  path.startsWith('test/tools/audit/html/') && target.startsWith('cases.md')

const references = files.flatMap(path =>
  referencesIn(read(path))
    .filter(reference => !isInvented(path, reference))
    .map(reference => ({ path, ...reference })),
)
const dangling = (to: string) =>
  references
    .filter(({ target }) => new RegExp(to).test(target) && !anchors.has(target))
    .map(({ path, line, text, target }) => `${path}:${line}: ${text} → docs/${target}`)

describe('references', () => {
  test.each([
    ['decisions', 'decisions.md#d', 300],
    ['sections of the interface', 'interface.md', 100],
    ['cases of the kit', 'cases.md', 84],
    ['cases of the audit', 'cases.md', 158],
    ['cases by example', 'decisions.md#[ap-su]', 29],
  ])('to %s lead to an anchor', (_, page, countMin) => {
    expect(references.filter(({ target }) => new RegExp(page).test(target)).length).toBeGreaterThanOrEqual(
      countMin,
    )
    expect(dangling(page)).toEqual([])
  })

  test('are recognised, one by one and in lists', () => {
    const targets = (text: string) => referencesIn(text).map(({ target }) => target)
    expect(targets('D7, D28 and (D1)')).toEqual(['decisions.md#d7', 'decisions.md#d28', 'decisions.md#d1'])
    expect(targets('spec 4.2 rule 2, D7')).toContain('interface.md#spec-4-2-rule-2')
    expect(targets('Spec 1.4, 3, 4.3; spec 4.1 to 4.3')).toEqual(
      ['1-4', '3', '4-3', '4-1', '4-3'].map(number => `interface.md#spec-${number}`),
    )
    expect(targets('spec 7.2')).toEqual(['interface.md#spec-7-2'])
    expect(targets('WS-20 (P05), AU-301, AU-3*, AU-3xx, 0xD7, \\uD83D, P0001')).toEqual([
      'cases.md#ws-20',
      'cases.md#au-301',
      'decisions.md#p05',
    ])
  })

  test('to anything else are seen to dangle', () => {
    const bad = referencesIn('D99, D0, spec 4.4, spec 4.2 rule 3, WS-00, AU-000, P13')
    expect(bad).toHaveLength(7)
    expect(bad.filter(({ target }) => anchors.has(target))).toEqual([])
  })
})

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'])(
  'the links of %s lead somewhere',
  path => {
    const page = readPage(path)
    const problems = linksOf(page).map(target => linkProblem(page, target))
    expect(problems.filter(problem => problem !== null)).toEqual([])
  },
)

describe('anchors', () => {
  test('stand once on their page', () => {
    const twice = pages.flatMap(page => {
      const ids = [...read(page).matchAll(/<a id="([^"]+)"/g)].map(([, id]) => `${page}#${id}`)
      return ids.filter((id, index) => ids.indexOf(id) !== index)
    })
    expect(twice).toEqual([])
  })

  test('are there for every decision, every case of the kit and every case of the audit', () => {
    const kit = walletStoreCases({ open: () => ({ store: {} as never }) })
    const expected = [
      ...Array.from({ length: 27 }, (_, index) => `decisions.md#d${index + 1}`),
      ...kit.map(({ id }) => `cases.md#${id.toLowerCase()}`),
      ...cases.map(({ id }) => `cases.md#${id.toLowerCase()}`),
    ]
    expect(expected.filter(anchor => !anchors.has(anchor))).toEqual([])
  })
})

describe('the sources of audit cases', () => {
  /** The targets of one source, or the part that is no reference. `RFC 9110 11.6.1` is outside of docs/. */
  function targetsOf(source: string): { targets: string[] } | { unknown: string } {
    const targets: string[] = []
    let insideSpec = false
    for (const part of source.split(/, | to /)) {
      const number = part.replace(/^spec /, '')
      const isSection: boolean =
        (insideSpec || part.startsWith('spec ')) && new RegExp(`^${section}$`).test(number)
      insideSpec = isSection
      if (isSection) targets.push(specTarget(number))
      else if (/^D[0-9]+$/.test(part)) targets.push(`decisions.md#${part.toLowerCase()}`)
      else if (/^[PRUSA][0-9]{2}$/.test(part)) targets.push(`decisions.md#${part.toLowerCase()}`)
      else if (/^docs\/[a-z-]+\.md(?:#[a-z0-9-]+)?$/.test(part)) targets.push(part.replace('docs/', ''))
      else if (!/^RFC [0-9]+(?: [0-9]+(?:\.[0-9]+)*)?$/.test(part)) return { unknown: part }
    }
    return { targets }
  }

  const leadsSomewhere = (target: string) => anchors.has(target) || pages.includes(`docs/${target}`)

  test('consist of references that lead to an anchor, and of nothing else', () => {
    const problems = cases.flatMap(({ id, source }) => {
      const parsed = targetsOf(source)
      if ('unknown' in parsed) return [`${id}: ${parsed.unknown} is no reference`]
      return parsed.targets.filter(target => !leadsSomewhere(target)).map(target => `${id}: docs/${target}`)
    })
    expect(cases.length).toBeGreaterThanOrEqual(158)
    expect(problems).toEqual([])
  })

  test('are read wholly: a word too many is seen', () => {
    expect(targetsOf('spec 4.1, 4.3, D11, P05, docs/errors.md, RFC 9110 11.6.1')).toEqual({
      targets: [
        ...['4-1', '4-3'].map(number => `interface.md#spec-${number}`),
        ...['decisions.md#d11', 'decisions.md#p05', 'errors.md'],
      ],
    })
    expect(targetsOf('D11, common sense')).toEqual({ unknown: 'common sense' })
    expect(targetsOf('D11, 4.3')).toEqual({ unknown: '4.3' })
  })
})

describe('the glossary', () => {
  const glossary = read('docs/glossary.md')

  test('names code that exists, and no file of it: the package has none', () => {
    const code = below('src').map(read).join('\n')
    const names = [...glossary.matchAll(/`([A-Za-z_]+)`/g)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(20)
    expect(names.filter(name => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([])
    expect(glossary).not.toMatch(/\b(?:src|test)\//)
  })

  test('has at least 30 words, each with an anchor', () => {
    const words = glossary.match(/^<a id="[a-z-]+"><\/a>\*\*/gm) ?? []
    expect(words.length).toBeGreaterThanOrEqual(30)
    expect(glossary.match(/^(?:<a id[^>]*><\/a>)?\*\*/gm)).toHaveLength(words.length)
  })
})
