import { describe, expect, test } from 'vitest'
import { Account } from '../../../src/tools/random/books.js'
import { openBooks } from '../../../src/tools/random/openings.js'
import type { Definite } from '../../../src/tools/random/reading.js'
import { refusal, success } from './objects.js'

const openWith = (answer: Definite | string, player: { currency?: string; balance?: string } = {}) => {
  const account = new Account('ann', 'session')
  openBooks(account, { playerId: 'ann', ...player }, answer, () => 2)
  return account
}

describe('the books of a player', () => {
  test.each([
    ['100.00', { decimals: 2, step: 1n, opening: 100_00n }],
    ['100.1234', { decimals: 4, step: 100n, opening: 100_1234n }],
    ['-5', { decimals: 2, step: 1n, opening: -5_00n }],
  ])('are opened with a balance of %s', (balance, expected) => {
    const account = openWith(success(balance))
    expect(account).toMatchObject({ ...expected, opened: true, currency: 'EUR', minorUnits: 2 })
    expect([account.low, account.high]).toEqual([account.opening, account.opening])
  })

  test('are opened if the balance is the expected one, by value', () => {
    expect(openWith(success('100'), { currency: 'EUR', balance: '100.00' }).opened).toBe(true)
  })

  test.each([
    ['UNKNOWN_PLAYER', refusal('INVALID_PLAYER'), {}],
    ['AUTHENTICATION_FAILED', refusal('X', 403), {}],
    ['NOT_A_WALLET', refusal('', 404), {}],
    ['BALANCE_UNREADABLE', refusal('INVALID_BET'), {}],
    ['BALANCE_UNREADABLE', '60 times no definite answer', {}],
    ['CURRENCY_MISMATCH', success('100'), { currency: 'USD' }],
    ['BALANCE_MISMATCH', success('100'), { balance: '100.01' }],
  ])('are not opened: %s', (code, answer, player) => {
    expect(() => openWith(answer, player)).toThrow(expect.objectContaining({ name: 'AuditError', code }))
  })
})
