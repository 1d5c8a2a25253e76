import { describe, expect, test } from 'vitest'
import { decidePlaceBet } from '../../src/decide/place-bet.js'
import { decideReplay } from '../../src/decide/replay.js'
import { decideRollbackBet } from '../../src/decide/rollback-bet.js'
import { decideSettlement } from '../../src/decide/settlement.js'
import { decideUnsettlement } from '../../src/decide/unsettlement.js'
import type { Transaction } from '../../src/store.js'
import {
  alice,
  bet,
  frozen,
  type Known,
  placeBet,
  rollbackBet,
  settlement,
  snapshot,
  transaction,
  unsettlement,
} from '../fixtures.js'

const requested = (fields: Partial<Transaction> = {}) =>
  transaction({ delta: '0', walletTransactionId: null, ...fields })
const decide = (fields: Partial<Transaction>, known: Known) =>
  decideReplay(frozen(requested(fields)), frozen(snapshot(known)), null)

const conflict = {
  outcome: {
    ok: false,
    replayed: false,
    errorCode: 'TRANSACTION_CONFLICT',
    description: 'transactionId: already used with a different player, bet, amount, currency or type',
  },
  reason: 'PAYLOAD_MISMATCH',
  changes: null,
}

describe('D2: given the transaction of a request', () => {
  test('when it is not recorded, then it is no retry', () => {
    expect(decide({}, {})).toBeNull()
  })

  test('when it succeeded, then the success is replayed with the current balance and the first reference', () => {
    const known = { transaction: transaction(), player: { ...alice, balance: '120' } }
    expect(decide({}, known)).toEqual({
      outcome: { ok: true, replayed: true, balance: '120', currency: 'EUR', walletTransactionId: 'W1' },
      reason: 'REPLAYED',
      changes: null,
    })
  })

  test('when it was refused, then the refusal is replayed unchanged, whatever the balance is by then', () => {
    const refusal = { errorCode: 'LIMIT_REACHED', description: 'the first description' }
    const known = {
      transaction: transaction({ delta: '0', refusal }),
      player: { ...alice, balance: '1000' },
    }
    expect(decide({}, known)).toEqual({
      outcome: { ok: false, replayed: true, ...refusal },
      reason: 'REPLAYED',
      changes: null,
    })
  })

  test('when the store assigned no reference, then null is replayed', () => {
    const known = { transaction: transaction({ walletTransactionId: null }) }
    expect(decide({}, known)?.outcome).toMatchObject({ ok: true, walletTransactionId: null })
  })
})

describe('D3: given the same transactionId', () => {
  test.each(['30.00', '30.0', '30'])(
    'when the recorded amount is %s, then 30 has the same content',
    amount => {
      expect(decide({ amount: '30' }, { transaction: transaction({ amount }) })?.reason).toBe('REPLAYED')
    },
  )

  test('when a newer version recorded a reason that this one does not know, then the content is the same', () => {
    expect(decide({}, { transaction: transaction({ reason: 'OF_A_NEWER_VERSION' }) })?.reason).toBe(
      'REPLAYED',
    )
  })

  test('when only the date differs, then the content is the same', () => {
    const known = { transaction: transaction({ transactionDate: '2020-01-01T00:00:00.000Z' }) }
    expect(decide({}, known)?.reason).toBe('REPLAYED')
  })

  test('when odds, betType and sessionId of a placebet differ, then the content is the same', () => {
    const request = placeBet({ odds: '9', betType: 'MULTIPLE', sessionId: 'another' })
    expect(decidePlaceBet(request, snapshot({ transaction: transaction(), bet: bet() })).reason).toBe(
      'REPLAYED',
    )
  })
})

describe('D4: given the same transactionId with other content', () => {
  test.each<[string, Partial<Transaction>]>([
    ['playerId', { playerId: 'bob' }],
    ['betId', { betId: 'bet-2' }],
    ['amount', { amount: '40' }],
    ['amount (none)', { amount: null }],
    ['currency', { currency: 'USD' }],
    ['type', { type: 'UNVOIDED' }],
  ])('when %s differs, then TRANSACTION_CONFLICT, and nothing is written', (_field, fields) => {
    expect(decide(fields, { transaction: transaction() })).toMatchObject(conflict)
    expect(decide({}, { transaction: transaction(fields) })).toMatchObject(conflict)
  })

  test('when ids differ only in case or in Unicode normalisation, then the content differs', () => {
    const known = { transaction: transaction({ betId: 'Bet-é' }) }
    expect(decide({ betId: 'bet-é' }, known)?.reason).toBe('PAYLOAD_MISMATCH')
    expect(decide({ betId: 'Bet-e\u0301' }, known)?.reason).toBe('PAYLOAD_MISMATCH')
  })

  test('when the first decision was a refusal, then TRANSACTION_CONFLICT, not a replay', () => {
    const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'short' }
    expect(decide({ amount: '40' }, { transaction: transaction({ refusal }) })).toMatchObject(conflict)
  })

  test('when the player is unknown too, then TRANSACTION_CONFLICT comes first', () => {
    const known = { transaction: transaction({ playerId: 'bob' }), player: null }
    expect(decide({}, known)).toMatchObject(conflict)
  })
})

describe('D16: given a recorded transaction whose player no longer exists', () => {
  test('when it succeeded, then INVALID_PLAYER', () => {
    expect(decide({}, { transaction: transaction(), player: null })).toMatchObject({
      outcome: {
        ok: false,
        replayed: false,
        errorCode: 'INVALID_PLAYER',
        description: 'playerId: unknown player',
      },
      reason: 'UNKNOWN_PLAYER',
      changes: null,
    })
  })

  test('when it was refused, then the refusal is replayed without the player', () => {
    const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'short' }
    expect(decide({}, { transaction: transaction({ refusal }), player: null })).toMatchObject({
      outcome: { ok: false, replayed: true, ...refusal },
      reason: 'REPLAYED',
    })
  })
})

test('D2, D14: given a retry, when any operation decides, then the replay comes before the state of the bet', () => {
  const known = (fields: Partial<Transaction>) =>
    frozen(
      snapshot({
        transaction: transaction({ currency: null, amount: null, ...fields }),
        bet: bet({ playerId: 'bob', status: 'ROLLED_BACK' }),
      }),
    )
  const [place, undo, back, settle] = [placeBet(), unsettlement(), rollbackBet(), settlement()]
  const decisions = [
    decidePlaceBet(place, known({ amount: place.amount, currency: place.currency })),
    decideUnsettlement(undo, known({ ...undo, operation: 'unsettlement' })),
    decideRollbackBet(back, known({ ...back, operation: 'rollbackbet' })),
    decideSettlement(settle, known({ ...settle, operation: 'settlement' })),
  ]
  for (const decision of decisions) {
    expect(decision).toMatchObject({ outcome: { ok: true, replayed: true, balance: '100' }, changes: null })
  }
})
