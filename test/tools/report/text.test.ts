/** A report for the terminal. */
import { describe, expect, it } from 'vitest'
import type { Report, Section } from '../../../src/tools/report/model.js'
import { pageOf } from '../../../src/tools/report/page.js'
import { textOf } from '../../../src/tools/report/text.js'
import { expectGoodPage, textOf as textOfPage } from './page-rules.js'

const report = (...sections: Section[]): Report => ({
  title: 'Audit of wallet',
  verdict: { tone: 'fail', word: 'Failed', sentence: '2 findings' },
  facts: [
    ['Player', 'anna'],
    ['Seed', '1'],
  ],
  sections,
  footnotes: [],
})
const table = (rows: string[][], total?: number) => ({
  kind: 'table' as const,
  columns: [{ name: 'Bet' }, { name: 'Sum', isNumber: true }, { name: 'Why' }],
  rows,
  ...(total !== undefined && { total }),
})

describe('a report as text', () => {
  it('has the facts, the sections and at its end the verdict; texts left, numbers right', () => {
    const rows = table([
      ['b-1', '-1.00', 'lost'],
      ['b-1000', '12.00', 'won, and paid'],
    ])
    expect(textOf(report({ heading: 'Bets', blocks: [rows] }))).toBe(`Audit of wallet
Player  anna
Seed    1

Bets
  Bet       Sum  Why
  b-1     -1.00  lost
  b-1000  12.00  won, and paid

FAILED: 2 findings`)
  })

  it('prints findings: mark, name and title in columns, and below what they mean', () => {
    const findings = [
      { tone: 'pass' as const, mark: 'ok', name: 'schema', title: 'version 1' },
      {
        ...{ tone: 'fail' as const, mark: 'PROBLEM', name: 'rights', title: 'one is missing' },
        ...{
          sentence: 'No call succeeds.',
          facts: [['table', 'bets']] as const,
          code: ['GRANT a;\nGRANT b;'],
        },
      },
    ]
    const text = textOf(report({ heading: 'Server', blocks: [{ kind: 'findings', findings }] }))
    expect(text.split('\n').slice(4, -2)).toEqual([
      'Server',
      '  ok       schema  version 1',
      '  PROBLEM  rights  one is missing',
      '    No call succeeds.',
      '    table  bets',
      '    GRANT a;',
      '    GRANT b;',
    ])
  })

  it('has ten of a list that names its total, and says how many more there are; a page has a hundred', () => {
    const rows = Array.from({ length: 150 }, (_, index) => [`b-${index}`, '1', ''])
    const long = report({ heading: 'Bets', blocks: [table(rows, 1_200)] })
    expect(textOf(long)).toContain('b-9 ')
    expect(textOf(long)).not.toContain('b-10')
    expect(textOf(long)).toContain('… and 1,190 more')
    expect(textOfPage(pageOf(long))).toContain('… and 1,100 more')
    expect(textOf(report({ heading: 'Bets', blocks: [table(rows)] }))).toContain('b-149')
  })

  it('leaves out sections that say nothing, or that are of the page', () => {
    const page: Section = { heading: 'Page', only: 'page', blocks: [{ kind: 'text', text: 'x' }] }
    const empty: Section = { heading: 'Empty', blocks: [table([]), { kind: 'list', items: [] }] }
    expect(textOf(report(page, empty))).not.toMatch(/Page|Empty/)
    expect(textOfPage(pageOf(report(page, empty)))).toContain('Page')
    expect(textOfPage(pageOf(report(page, empty)))).not.toContain('Empty')
  })

  it('has colours only if they are wanted', () => {
    expect(textOf(report(), true)).toContain('\u001b[31mFAILED\u001b[0m: 2 findings')
    expect(textOf(report())).not.toContain('\u001b')
  })

  it('no text of others sets a line, a colour or markup', () => {
    const attack = 'a\n\u001b[31mPASSED\r\u202e"><script>x</script>'
    const blocks: Section['blocks'] = [
      ...[table([[attack, attack, attack]]), { kind: 'list', items: [attack] } as const],
      ...[{ kind: 'text', text: attack } as const, { kind: 'facts', facts: [[attack, attack]] } as const],
      {
        kind: 'findings',
        findings: [
          {
            ...{ tone: 'fail', mark: attack, name: attack, title: attack, sentence: attack },
            facts: [[attack, attack]],
          },
        ],
      },
    ]
    const hostile = { ...report({ heading: attack, blocks }), title: attack }
    const lines = textOf(hostile).split('\n')
    expect(lines.filter(line => /^PASSED/.test(line.trim()))).toEqual([])
    expect(lines).toHaveLength(15)
    for (const character of ['\u001b', '\r', '\u202e']) expect(textOf(hostile)).not.toContain(character)
    const page = pageOf(hostile)
    expectGoodPage(page)
    expect(page).not.toMatch(/<script|\u202e/)
  })
})
