/** The schemas of requests as JSON Schema, which the OpenAPI document is made of. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createRequestParser, type Requests, requestSchemas } from '../src/requests.js'
import { placeBet, rollbackBet, settlement, unsettlement } from './fixtures.js'

const schemaOf = (operation: keyof Requests) => z.toJSONSchema(requestSchemas()[operation], { io: 'input' })
const formOf = (operation: keyof Requests, field: string) => schemaOf(operation).properties?.[field]

const fields: Record<keyof Requests, string[]> = {
  placebet: Object.keys(placeBet()),
  unsettlement: Object.keys(unsettlement()),
  rollbackbet: Object.keys(rollbackBet()),
  settlement: Object.keys(settlement()),
}

test.each(Object.entries(fields))('%s has its fields, and requires all but odds', (operation, names) => {
  const { type, properties, required } = schemaOf(operation as keyof Requests)
  expect(type).toBe('object')
  expect(Object.keys(properties ?? {}).sort()).toEqual([...names].sort())
  expect([...(required ?? [])].sort()).toEqual(names.filter(name => name !== 'odds').sort())
})

test('values are enumerated', () => {
  const values = [formOf('placebet', 'betType'), formOf('unsettlement', 'type')]
  expect([...values, formOf('rollbackbet', 'type'), formOf('settlement', 'type')]).toEqual([
    { type: 'string', enum: ['SINGLE', 'MULTIPLE', 'TEASER'] },
    { type: 'string', enum: ['UNVOIDED', 'UNSCORED'] },
    { type: 'string', enum: ['TECHNICAL_ERROR'] },
    { type: 'string', enum: ['BET_PAID', 'VOIDED', 'CASHOUT'] },
  ])
})

test('ids, currencies and dates are text of a form', () => {
  for (const field of ['transactionId', 'betId', 'playerId', 'sessionId']) {
    const pattern = '^[^\\p{Cc}\\p{Cs}]{1,255}$'
    expect(formOf('placebet', field)).toEqual({ type: 'string', pattern })
  }
  expect(formOf('placebet', 'currency')).toEqual({ type: 'string', pattern: '^[A-Za-z0-9._-]{1,16}$' })
  for (const operation of Object.keys(fields) as (keyof Requests)[]) {
    const pattern = expect.stringMatching(/^\^\(\[0-9\]\{4\}\)-.*\$$/)
    expect(formOf(operation, 'transactionDate')).toEqual({ type: 'string', pattern })
  }
})

test('decimals are numbers or text', () => {
  const text = '(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$'
  const amount = { type: ['number', 'string'], minimum: 0, exclusiveMaximum: 1e15, pattern: `^${text}` }
  expect([formOf('placebet', 'amount'), formOf('settlement', 'amount')]).toEqual([amount, amount])
  expect(formOf('placebet', 'odds')).toEqual({ type: ['number', 'string', 'null'], pattern: `^-?${text}` })
})

describe('a pattern accepts every text that the parser accepts', () => {
  const parse = createRequestParser().placebet
  const decimal = fc.stringMatching(/^[-+]?[0-9]{0,17}\.?[0-9]{0,3}([eE][-+]?[0-9]{0,2})?$/)
  const date = fc.stringMatching(
    /^[0-9]{4}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-5][0-9](:[0-6][0-9])?([.,][0-9]{1,9})?([zZ]|[+-][0-9]{2}(:?[0-9]{2})?)?$/,
  )
  test.each<[string, fc.Arbitrary<string>]>([
    ['transactionId', fc.string({ unit: 'binary', maxLength: 300 })],
    ['currency', fc.string({ maxLength: 20 })],
    ['amount', decimal],
    ['odds', decimal],
    ['transactionDate', date],
  ])('%s', (field, texts) => {
    const pattern = new RegExp((formOf('placebet', field) as { pattern: string }).pattern, 'u')
    fc.assert(
      fc.property(texts, text => {
        // Not the other way round: calendars and the decimals of currencies are beyond a pattern.
        const result = parse({ ...placeBet({ currency: 'XXX', odds: null }), [field]: text })
        if ('request' in result) expect(text).toMatch(pattern)
      }),
      { numRuns: 500 },
    )
  })
})
