/** Settled and spent; the clawback is refused, so the platform nets it off. A restore loses the records of some calls. */
import { expect, test } from 'vitest'
import { sentenceOf } from '../../../src/lookups/index.js'
import { foundIn, reconcileWorld, record, rowOf } from './world.js'

const placed = record('placebet', 'p', 'b', '10')
const settled = record('settlement', 's', 'b', '50')
const reversed = record('unsettlement', 'u', 'b', '50')
const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'no funds' }
const refused = { ...reversed, delta: '0', refusal }
const agreed = record('placebet', 'agreed', 'other', '1')
const rows = [rowOf(placed), rowOf(settled), { ...rowOf(reversed), status: 'refused' }, rowOf(agreed)]

test.each([
  ['the refusal', [placed, settled], []],
  ['the settlement and the refusal', [placed], ['never-arrived: settlement s']],
  ['all of it', [], ['never-arrived: placebet p', 'never-arrived: settlement s']],
])('a refused clawback that the wallet has forgotten is a difference: %s', async (_, kept, others) => {
  const result = await reconcileWorld({ rows, records: [...kept, agreed] })
  expect(foundIn(result)).toEqual(['lost-refusal: unsettlement u', ...others])
})

test('a refused clawback that the wallet has is none', async () => {
  const result = await reconcileWorld({ rows, records: [placed, settled, refused, agreed] })
  expect(result).toMatchObject({ verdict: 'equal', rows: { refusedAlone: 0 } })
})

test('a refused clawback that the wallet has recorded beyond the range is none', async () => {
  const later = { ...refused, recordedAt: '2026-11-24T10:00:00.000Z' }
  const result = await reconcileWorld({ rows, records: [placed, settled, later, agreed] })
  expect(result).toMatchObject({ verdict: 'equal', rows: { refusedAlone: 1 } })
})

test('it is none if the wallet had nothing to reverse: such a refusal has no record', async () => {
  const second = { ...rowOf(reversed), transactionId: 'u-2', status: 'refused' }
  const counted = [rowOf(placed), rowOf(settled), rowOf(reversed)]
  const result = await reconcileWorld({ rows: [...counted, second], records: [placed, settled, reversed] })
  expect(result).toMatchObject({ verdict: 'equal', rows: { refusedAlone: 1 } })
  const unknown = await reconcileWorld({ rows: [rowOf(agreed), second], records: [agreed] })
  expect(unknown).toMatchObject({ verdict: 'equal', rows: { refusedAlone: 1 } })
})

test('of a bet that was not looked up, it is one: nothing is known of it', async () => {
  const result = await reconcileWorld({ rows, records: [placed, settled, agreed] }, { lookupsMax: 0 })
  expect(foundIn(result)).toEqual(['lost-refusal: unsettlement u'])
  expect(result.differences[0]?.bet).toBeNull()
})

test.each([
  ['CLAWBACKS_DISABLED', 'this wallet cannot take the payout back'],
  ['INSUFFICIENT_FUNDS', 'the balance did not cover the payout'],
])('a difference states the recorded reason, %s, in the words of the lookups', async (reason, words) => {
  const counted = [rowOf(placed), rowOf(settled), rowOf(reversed), rowOf(agreed)]
  const records = [placed, settled, { ...refused, reason }, agreed]
  const explained = await reconcileWorld({ rows: counted, records }, { sentenceOf })
  expect(explained.differences[0]?.explanation).toContain(words)
  const plain = await reconcileWorld({ rows: counted, records })
  expect(plain.differences[0]?.explanation).toContain('refused with INSUFFICIENT_FUNDS')
  expect(plain.differences[0]?.explanation).not.toContain(words)
})
