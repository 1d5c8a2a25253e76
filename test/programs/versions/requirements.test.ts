import { expect, it } from 'vitest'
import { readResults, requirements, testedOf } from './requirements.js'
import { type Result, versions } from './versions.js'

const result: Result = {
  engine: 'PostgreSQL',
  version: '14',
  release: '14.23',
  date: '2026-11-23',
  suite: 'whole',
  passed: 3,
  failed: 0,
  skipped: 1,
  seconds: 9,
}

it('the table names only what was run and passed', () => {
  const rest = { version: '15', release: '15.18' }
  expect(testedOf('PostgreSQL', [result], '2026-11-12')).toBe('14.23')
  expect(testedOf('PostgreSQL', [], '2026-11-12')).toBe('not run')
  expect(testedOf('PostgreSQL', [result, { ...result, ...rest, failed: 1 }], '2026-11-12')).toBe('14.23')
  expect(testedOf('PostgreSQL', [result, { ...result, ...rest, passed: 0 }], '2026-11-12')).toBe('14.23')
  expect(testedOf('PostgreSQL', [result, { ...result, ...rest, suite: 'quick' }], '2026-11-12')).toBe(
    '14.23, 15.18*',
  )
  expect(testedOf('MariaDB', [result], '2026-11-12')).toBe('not run')
})

it('the table says what is past its end of life on the day of the last run', () => {
  expect(requirements([result])).toContain('| 14.23 (end of life 2026-11-12); in CI 18, and 14* |')
  expect(requirements([{ ...result, date: '2026-11-12' }])).toContain('| 14.23; in CI 18, and 14* |')
})

it('the table says what is supported and was not run', () => {
  expect(requirements([{ ...result, engine: 'MySQL', version: '9.7', release: '9.7.4' }])).toContain(
    '| 9.7.4; in CI 9.7; not run 8.0 (end of life 2026-04-30), 8.4 |',
  )
})

it('each recorded result is of a version that the script plays, once', () => {
  const known = versions.map(({ engine, version }) => `${engine} ${version}`)
  const recorded = readResults().map(({ engine, version }) => `${engine} ${version}`)
  expect(known).toEqual(expect.arrayContaining(recorded))
  expect(new Set(recorded).size).toBe(recorded.length)
})
