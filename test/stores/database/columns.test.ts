import { describe, expect, test } from 'vitest'
import { columnsOf } from '../../../src/stores/database/columns.js'
import { check } from '../../../src/stores/postgres/errors.js'
import type { PlayersTable } from '../../../src/stores/postgres/index.js'
import { tablesOf } from '../../../src/stores/postgres/tables.js'

const anyDecimal = { scale: null, max: null }

function columns(
  players: Partial<PlayersTable> = {},
  column: { scale: number | null; max: string | null } = anyDecimal,
) {
  const table = { table: 'pam.accounts', id: 'id', currency: 'currency', balance: 'balance', ...players }
  return columnsOf(tablesOf({ players: table }).players, column, check)
}

describe('a balance in minor units', () => {
  const { toColumn, fromColumn, floorToColumn } = columns({
    balanceType: 'minor-units',
    minorUnits: { EUR: 2, JPY: 0, KWD: 3 },
  })

  test.each([
    ['12.50', 'EUR', '1250'],
    ['-12.5', 'EUR', '-1250'],
    ['0', 'EUR', '0'],
    ['0.01', 'EUR', '1'],
    ['-0.07', 'EUR', '-7'],
    ['1200', 'JPY', '1200'],
    ['1200.000', 'JPY', '1200'],
    ['1.234', 'KWD', '1234'],
    ['1.2340', 'KWD', '1234'],
  ])('%s %s is %s minor units', (amount, currency, units) => {
    expect(toColumn(amount, currency)).toBe(units)
  })

  test.each([
    ['0.001', 'EUR'],
    ['0.5', 'JPY'],
    ['-1.2345', 'KWD'],
  ])('%s %s is no whole number of minor units, and is not rounded', (amount, currency) => {
    expect(toColumn(amount, currency)).toBeNull()
  })

  test.each([
    ['1250', 'EUR', '12.50'],
    ['-1250', 'EUR', '-12.50'],
    ['7', 'EUR', '0.07'],
    ['-7', 'EUR', '-0.07'],
    ['0', 'EUR', '0.00'],
    ['1200', 'JPY', '1200'],
    ['5', 'KWD', '0.005'],
    ['9223372036854775807', 'EUR', '92233720368547758.07'],
  ])('%s minor units are %s %s', (units, currency, amount) => {
    expect(fromColumn(units, currency)).toBe(amount)
  })

  test('a floor between two minor units is not rounded', () => {
    expect(floorToColumn('10.005', 'EUR')).toBe('1000.5')
    expect(floorToColumn('-0.005', 'EUR')).toBe('-0.5')
    expect(floorToColumn('0', 'EUR')).toBe('0')
  })

  test('a currency without minor units is a fault that names it', () => {
    expect(() => toColumn('1', 'USD')).toThrow(/minorUnits has no entry for the currency USD/)
    expect(() => fromColumn('1', 'USD')).toThrow(/minorUnits has no entry for the currency USD/)
    expect(() => fromColumn('1', 'toString')).toThrow(/minorUnits has no entry for the currency toString/)
  })
})

describe('a numeric balance', () => {
  test('an amount with more decimals than the scale is not representable', () => {
    const { toColumn } = columns({}, { scale: 2, max: '9999.99' })
    expect(toColumn('1.25', 'EUR')).toBe('1.25')
    expect(toColumn('1.2500', 'EUR')).toBe('1.2500')
    expect(toColumn('1.255', 'EUR')).toBeNull()
  })

  test('without a scale, every amount is representable', () => {
    expect(columns().toColumn('0.000000000000000001', 'EUR')).toBe('0.000000000000000001')
  })
})

describe('an id of type', () => {
  test.each(['7', '0', '-7', '9223372036854775807', '-9223372036854775808'])('bigint: %s is valid', id => {
    expect(columns({ idType: 'bigint' }).idOf(id)).toBe(id)
  })

  test.each(['007', ' 7', '7 ', '-0', '+7', '7.0', '7e0', '９', '9223372036854775808', 'anna', ''])(
    'bigint: %j is invalid, and so an unknown player (D24)',
    id => {
      expect(columns({ idType: 'bigint' }).idOf(id)).toBeNull()
    },
  )

  test('uuid: only in the format that databases print', () => {
    const { idOf } = columns({ idType: 'uuid' })
    const id = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
    expect(idOf(id)).toBe(id)
    for (const other of [id.toUpperCase(), `{${id}}`, id.replaceAll('-', ''), ` ${id}`]) {
      expect(idOf(other)).toBeNull()
    }
  })

  test('text: every id is valid', () => {
    expect(columns().idOf(' É ')).toBe(' É ')
  })
})
