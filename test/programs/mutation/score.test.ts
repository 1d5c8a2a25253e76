/** The judgement of a mutation report. The mutants themselves are run by `npm run test:mutation`. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { judge, type KnownSurvivor, percentOf, percentOfKillable, type Report } from './score.js'
import { survivors } from './survivors.js'

const file = 'src/a.ts'
const source = 'if (a > 0) {\n  b()\n}\nif (a > 0) c()\n'

/** `a > 0` of a line, mutated to `a >= 0`. */
const boundary = (status: string, line = 1) => ({
  mutatorName: 'EqualityOperator',
  replacement: 'a >= 0',
  status,
  location: { start: { line, column: 5 }, end: { line, column: 10 } },
})
const known = (fields: Partial<KnownSurvivor> = {}): KnownSurvivor => ({
  file,
  line: 'if (a > 0) {',
  from: 'a > 0',
  to: 'a >= 0',
  kind: 'equivalent',
  reason: 'a is never 0',
  ...fields,
})
const reportOf = (...mutants: Report['files'][string]['mutants']): Report => ({
  files: { [file]: { source, mutants } },
})
const killed = (count: number) => Array.from({ length: count }, () => boundary('Killed', 4))

describe('given a report', () => {
  test('when every mutant is killed or timed out, then the score is 100 %, without problems', () => {
    const { total, scores, problems } = judge(reportOf(boundary('Killed'), boundary('Timeout')), [], 98)
    expect(problems).toEqual([])
    expect(total).toEqual({ mutants: 2, killed: 1, timedOut: 1, survived: 0, notCovered: 0, excused: 0 })
    expect(scores).toEqual(new Map([[file, total]]))
    expect([percentOf(total), percentOfKillable(total)]).toEqual([100, 100])
  })

  test.each(['Survived', 'NoCoverage'])(
    'when one is %s and not in the list, then it is a problem with its position',
    status => {
      const { problems } = judge(reportOf(boundary(status), ...killed(99)), [], 98)
      expect(problems).toEqual(['src/a.ts:1:5 `a > 0` → `a >= 0`: survived, and is not in the list'])
    },
  )

  test.each(['equivalent', 'unreachable'] as const)(
    'when the list has it as %s, then it counts in the score of all and not of the killable',
    kind => {
      const { total, problems } = judge(reportOf(boundary('Survived'), ...killed(3)), [known({ kind })], 98)
      expect(problems).toEqual([])
      expect([percentOf(total), percentOfKillable(total)]).toEqual([75, 100])
    },
  )

  test('when the list has it as missed, then it counts in both scores', () => {
    const { total, problems } = judge(
      reportOf(boundary('Survived'), ...killed(3)),
      [known({ kind: 'missed' })],
      98,
    )
    expect([percentOf(total), percentOfKillable(total)]).toEqual([75, 75])
    expect(problems).toEqual(['the score is below 98 %'])
  })

  test('when the score is exactly the minimum, then that is no problem', () => {
    const list = [known({ kind: 'missed' })]
    expect(judge(reportOf(boundary('Survived'), ...killed(49)), list, 98).problems).toEqual([])
    expect(judge(reportOf(boundary('Survived'), ...killed(48)), list, 98).problems).toHaveLength(1)
  })

  test('when the same mutation survives on another line, then it is not the one in the list', () => {
    const { problems } = judge(reportOf(boundary('Survived', 4), boundary('Killed')), [known()], 0)
    expect(problems).toEqual(['src/a.ts:4:5 `a > 0` → `a >= 0`: survived, and is not in the list'])
  })

  test('when two alike survive and the list has one, then the other is a problem', () => {
    const both = reportOf(boundary('Survived'), boundary('Survived'), ...killed(98))
    expect(judge(both, [known()], 98).problems).toHaveLength(1)
    expect(judge(both, [known(), known()], 98).problems).toEqual([])
  })

  test('when a mutation spans lines, then its text is compared with white space collapsed', () => {
    const block = {
      ...boundary('Survived'),
      replacement: '{}',
      location: { start: { line: 1, column: 12 }, end: { line: 3, column: 2 } },
    }
    const list = [known({ from: '{ b() }', to: '{}' })]
    expect(judge(reportOf(block, ...killed(1)), list, 98).problems).toEqual([])
  })

  test('when a mutant in the list is killed, then that is a note', () => {
    const { problems, notes } = judge(reportOf(boundary('Killed')), [known()], 98)
    expect(problems).toEqual([])
    expect(notes).toEqual(['src/a.ts:1:5 `a > 0` → `a >= 0`: in the list, but Killed'])
  })

  test('when the list has a mutant that does not exist, then it is a problem', () => {
    const { problems } = judge(reportOf(boundary('Killed')), [known({ to: 'true' })], 98)
    expect(problems).toEqual(['src/a.ts: in the list, but not in the code: `a > 0` → `true`'])
  })

  test('when the list has files that the report lacks, then they are ignored', () => {
    expect(judge(reportOf(boundary('Killed')), [known({ file: 'src/b.ts' })], 98).problems).toEqual([])
  })

  test.each(['RuntimeError', 'CompileError', 'Ignored', 'Pending'])(
    'when a mutant is %s, then it is a problem: nothing judged it',
    status => {
      const { problems } = judge(reportOf(boundary(status), ...killed(99)), [], 98)
      expect(problems).toEqual([`src/a.ts:1:5 \`a > 0\` → \`a >= 0\`: not judged (${status})`])
    },
  )

  test('when it has no mutants, then that is a problem', () => {
    expect(judge({ files: {} }, [], 98).problems).toEqual(['no mutant was judged'])
  })
})

test('given the list of survivors, then each names a line of today’s code, a change and a reason', () => {
  const linesOf = (path: string) =>
    readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
      .split('\n')
      .map(line => line.trim().replace(/\s+/g, ' '))
  for (const { file, line, from, to, reason } of survivors) {
    expect(linesOf(file), `${file}: ${line}`).toContain(line)
    expect(from).not.toBe(to)
    expect(reason).not.toBe('')
  }
})
