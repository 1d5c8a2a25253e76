import { expect, it } from 'vitest'
import { callsOf, excerptOf } from '../../../src/tools/audit/excerpt.js'
import type { AuditExchange } from '../../../src/tools/audit/report.js'

const call = (label: string, other: Partial<AuditExchange> = {}): AuditExchange => ({
  ...{ label, sentAtMs: 0, answeredAtMs: 1, method: 'POST', path: '/placebet', body: '{}', curl: 'curl' },
  ...{ status: 200, answer: '{"balance":1}', balance: '1', error: null, omitted: 0 },
  ...other,
})
const many = (count: number, of: (index: number) => AuditExchange) =>
  Array.from({ length: count }, (_, index) => of(index))
const summary = (exchanges: readonly AuditExchange[]) =>
  exchanges.map(({ label, omitted }) => (omitted === 0 ? label : `${label}, ${omitted} more`))

it('keeps calls that differ', () => {
  const exchanges = [
    call('placebet 1'),
    call('another label'),
    call('placebet 2', { path: '/rollbackbet' }),
    call('placebet 3', { status: 201 }),
    call('placebet 4', { status: 400, answer: '{"errorCode":"INVALID_BET"}' }),
    call('placebet 5', { status: 400, answer: '{"errorCode": "INVALID_PLAYER"}' }),
    call('placebet 6', { status: null, answer: null, error: 'closed' }),
    call('placebet 7', { status: null, answer: null, error: 'timed out' }),
  ]
  expect(excerptOf(exchanges, false, null)).toEqual({ exchanges, keptIndex: null })
})

it('keeps the first and the last of many similar calls, even with others in between, and counts the omitted ones', () => {
  const exchanges = many(200, index =>
    index % 2 === 0 ? call(`copy ${index} of 2.50`) : call(`rollback ${index}`),
  )
  const excerpt = excerptOf([...exchanges, call('read the balance')], false, null)
  expect(summary(excerpt.exchanges)).toEqual([
    'copy 0 of 2.50, 98 more',
    'rollback 1, 98 more',
    'copy 198 of 2.50',
    'rollback 199',
    'read the balance',
  ])
  expect(callsOf(excerpt.exchanges)).toBe(201)
  expect(exchanges.every(({ omitted }) => omitted === 0)).toBe(true)
})

it('keeps more of a failed case, and always the call that shows the failure', () => {
  const exchanges = many(300, index => call(`copy ${index}`))
  const { exchanges: kept, keptIndex } = excerptOf(exchanges, true, 150)
  expect(kept).toHaveLength(5)
  expect(kept[keptIndex ?? -1]?.label).toBe('copy 150')
  expect(summary(kept)).toEqual(['copy 0', 'copy 1, 148 more', 'copy 150, 147 more', 'copy 298', 'copy 299'])
  expect(callsOf(kept)).toBe(300)
  expect(excerptOf(exchanges, true, 299).keptIndex).toBe(3)
  expect(excerptOf(exchanges, true, null).keptIndex).toBeNull()
})
