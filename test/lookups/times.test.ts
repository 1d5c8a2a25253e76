import { expect, it } from 'vitest'
import { microsecondsOf, millisecondsOf } from '../../src/lookups/times.js'

it.each([
  ['2026-11-22', '2026-11-22T00:00:00.000000'],
  ['2026-11-22T10:00Z', '2026-11-22T10:00:00.000000'],
  ['2026-11-22 10:00:59', '2026-11-22T10:00:59.000000'],
  ['2026-11-22T10:00:59.1Z', '2026-11-22T10:00:59.100000'],
  ['2024-02-29T23:59:59.123456+00:00', '2024-02-29T23:59:59.123456'],
])('reads %s', (text, expected) => {
  expect(microsecondsOf(text)).toBe(expected)
})

it.each([
  '',
  '22.11.2026',
  '2026-13-01',
  '2025-02-29',
  '2026-11-22T24:00Z',
  '2026-11-22T10:00+02:00',
  'now',
  5,
  null,
])('does not read %j', value => {
  expect(microsecondsOf(value)).toBeNull()
})

it('cuts to milliseconds', () => {
  expect(millisecondsOf('2026-11-22T10:00:00.999999')).toBe('2026-11-22T10:00:00.999Z')
})
