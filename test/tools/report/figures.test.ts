import { describe, expect, it } from 'vitest'
import {
  countText,
  durationText,
  momentText,
  numberText,
  shortText,
} from '../../../src/tools/report/figures.js'

describe('figures', () => {
  it.each([
    [0, '0 ms'],
    [0.126, '0.13 ms'],
    [7.53, '7.5 ms'],
    [9.96, '10 ms'],
    [240.4, '240 ms'],
    [999.4, '999 ms'],
    [999.5, '1.00 s'],
    [59_994, '59.99 s'],
    [59_995, '1 min 0 s'],
    [245_000, '4 min 5 s'],
  ])('a duration of %d ms is %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })

  it('a time is shown in UTC; other text is returned unchanged', () => {
    expect(momentText('2026-01-02T03:04:05Z')).toBe('2 January 2026, 03:04:05 UTC')
    expect(momentText('2026-12-31T23:59:59.999Z')).toBe('31 December 2026, 23:59:59 UTC')
    for (const text of [
      '',
      'yesterday',
      '2026-13-01T00:00:00Z',
      '2026-00-01T00:00:00Z',
      '2026-01-01T00:00:00+01:00',
    ])
      expect(momentText(text)).toBe(text)
  })

  it('numbers are grouped, and one is singular', () => {
    expect([0, 999, 1000, 1234567].map(numberText)).toEqual(['0', '999', '1,000', '1,234,567'])
    expect([0, 1, 1200].map(count => countText(count, 'call'))).toEqual(['0 calls', '1 call', '1,200 calls'])
  })

  it('text that is too long is cut between characters', () => {
    expect(shortText('⚽👍⚽👍', 4)).toBe('⚽👍⚽👍')
    expect(shortText('⚽👍⚽👍', 3)).toBe('⚽👍…')
  })
})
