/** The finding about statements, from what a server has kept of them. */
import { describe, expect, test } from 'vitest'
import { type Statement, statementsFinding } from '../../../src/tools/check/statements.js'

const columns = [{ schema: 'pam', table: 'accounts', column: 'balance' }]
const statement = (text: string, schemaDefault: string | null = 'pam'): Statement => ({
  text,
  schemaDefault,
  calls: 1,
  user: null,
})
const findingOf = (text: string, { locked = [] as string[], schema = 'pam' } = {}) =>
  statementsFinding([statement(text, schema)], columns, { locked, about: '', incomplete: null, grant: null })

describe('of a statement, the server has kept only the beginning', () => {
  const cut = 'UPDATE `accounts` SET `name` = ? , `street` = ? , `to ...'

  test('it may set the balance: unknown, unless it is accepted by its id', () => {
    const { state, text, lines } = findingOf(cut)
    expect(state).toBe('unknown')
    expect(text).toContain('max_digest_length')
    expect(lines).toEqual([expect.stringMatching(/^[0-9a-f]{8} {2}1 call: UPDATE `accounts` SET/)])
    expect(findingOf(cut, { locked: [lines[0]?.slice(0, 8) ?? ''] }).state).toBe('ok')
  })

  test.each([
    'UPDATE `accounts` ...',
    'INSERT INTO `pam` . `accounts` ( `id` , `balance` ) VALUES (...) ON DUPLICATE ...',
    'WITH `x` AS ( SELECT ? ) UPDATE `accounts` SET ...',
  ])('unknown: %s', text => expect(findingOf(text).state).toBe('unknown'))

  test.each([
    'UPDATE `accounts` SET `name` = ? , `balance` = ...',
    'UPDATE `accounts` SET `balance` = `coalesce` ( ...',
    'UPDATE `accounts` SET `balance` = ? ...',
    'UPDATE `accounts` SET `balance` = ? , `name` = ? WHERE `id` = ? AND ...',
  ])('the rest may add to the balance, or be a condition on it: unknown: %s', text =>
    expect(findingOf(text).state).toBe('unknown'),
  )

  test.each([
    ['SELECT `balance` , `name` FROM `accounts` WHERE ...', 'pam'],
    ['UPDATE `bets` SET `accounts` . ...', 'pam'],
    [cut, 'casino'],
    ['INSERT INTO `accounts` ( `id` , `balance` ) VALUES (...)', 'pam'],
  ])('no write to the table, or complete: %s in %s', (text, schema) =>
    expect(findingOf(text, { schema }).state).toBe('ok'),
  )
})

test('it is unclear whether a statement sets the balance: unknown, unless it is accepted by its id', () => {
  const greatest = 'UPDATE `accounts` SET `balance` = GREATEST ( `balance` - ? , ? ) WHERE `id` = ?'
  const { state, text, lines } = findingOf(greatest)
  expect(state).toBe('unknown')
  expect(text).toMatch(
    /^1 statement on pam\.accounts may set the balance instead of adding to it: read them\./,
  )
  expect(text).not.toContain('max_digest_length')
  expect(findingOf(greatest, { locked: [lines[0]?.slice(0, 8) ?? ''] }).state).toBe('ok')
})

test('statements of others are not seen: unknown, with the GRANT; not where one is found already', () => {
  const grant = 'GRANT pg_read_all_stats TO "wallet"'
  const settings = { locked: [], about: '', incomplete: null, grant }
  expect(statementsFinding([], columns, settings)).toMatchObject({ state: 'unknown', lines: [`${grant};`] })
  const found = statementsFinding([statement('UPDATE accounts SET balance = $1', null)], columns, settings)
  expect(found.state).toBe('problem')
})

test('given full statistics when no recorded statement sets the balance: unknown', () => {
  const settings = { locked: [], about: '', incomplete: 'the statistics are full', grant: null }
  const found = statementsFinding([], columns, settings)
  expect(found).toMatchObject({ state: 'unknown', text: expect.stringContaining('the statistics are full') })
})

test('the statements that --locked excepts are counted apart, and ids of none are named', () => {
  const text = 'UPDATE `accounts` SET `balance` = ? WHERE `id` = ?'
  const id = findingOf(text).lines[0]?.slice(0, 8) ?? ''
  const found = findingOf(text, { locked: [id, 'nonsense'] })
  expect(found.state).toBe('ok')
  expect(found.text).toContain('none of 0 statements')
  expect(found.text).toContain('1 more statement excepted by --locked')
  expect(found.text).toContain('--locked names none of them: nonsense')
})
