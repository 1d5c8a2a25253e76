import type { Fields, Platform } from './client.js'
import type { FaultName } from './faults.js'
import type { PlainWalletOptions, PlayerOptions } from './plain.js'

/**
 * A piece played against a fresh wallet: pairs of what was answered and what a valid wallet answers. `catches` names
 * the faults that have to show in it.
 */
export type Scene = {
  title: string
  catches: FaultName[]
  options?: PlainWalletOptions
  play(platform: Platform): Promise<[seen: unknown, valid: unknown][]>
}

export const players: PlayerOptions[] = [
  { playerId: 'p', currency: 'EUR', balance: '100.00' },
  { playerId: 'q', currency: 'EUR', balance: '200.00' },
  { playerId: 'poor', currency: 'EUR', balance: '0.30' },
  { playerId: 'broke', currency: 'EUR', balance: '0' },
  { playerId: 'rich', currency: 'EUR', balance: '999999999999999.99' },
  { playerId: 'yen', currency: 'JPY', balance: '1000' },
  { playerId: 'dinar', currency: 'KWD', balance: '10.000' },
  { playerId: 'coin', currency: 'BTC', balance: '1.00000001' },
]

const timesOf = (answers: string[]): Record<string, number> => {
  const times: Record<string, number> = {}
  for (const answer of answers) times[answer] = (times[answer] ?? 0) + 1
  return times
}

const codesOf = (answers: string[]): Record<string, number> =>
  timesOf(answers.map(answer => (answer.startsWith('200 ') ? '200' : answer)))

const bad = '400 INVALID_REQUEST'
const noBet = '400 INVALID_BET'
const noFunds = '402 INSUFFICIENT_FUNDS'
const conflict = '409 TRANSACTION_CONFLICT'

/** The cases of scenarios.md, by their ids. */
export const specified: Scene[] = [
  {
    title: 'P01 a stake is taken',
    catches: ['balance-as-text', 'success-without-currency', 'refusal-debits'],
    play: async w => [
      [await w.place('30'), '200 70.00'],
      [await w.place('70.01', { betId: 'b2' }), noFunds],
      [await w.balance(), '200 70.00'],
    ],
  },
  {
    title: 'P02 a stake above the balance is refused',
    catches: [
      'funds-not-checked',
      'funds-refusal-as-500',
      'error-as-200',
      'error-without-code',
      'error-has-extra-fields',
    ],
    play: async w => [
      [await w.place('100.01'), noFunds],
      [await w.balance(), '200 100.00'],
    ],
  },
  {
    title: 'P03 P04 a repeat has the first reference and the current balance',
    catches: [
      'retry-debits-again',
      'retry-answers-old-balance',
      'retry-answers-new-reference',
      'retry-refused',
      'error-as-html',
    ],
    play: async w => {
      const placebet = w.placebet('30')
      const first = await w.call('/placebet', placebet)
      const { reference } = w
      const second = await w.call('/placebet', placebet)
      const secondReference = w.reference
      await w.deposit('50')
      return [
        [first, '200 70.00'],
        [second, '200 70.00'],
        [secondReference, reference],
        [await w.call('/placebet', placebet), '200 120.00'],
        [w.reference, reference],
        [await w.place('121', { betId: 'b2' }), noFunds],
      ]
    },
  },
  {
    title: 'P05 ten copies at once are one stake',
    catches: ['race-retry'],
    play: async w => {
      const placebet = w.placebet('30')
      const answers = await Promise.all(Array.from({ length: 10 }, () => w.call('/placebet', placebet)))
      return [
        [timesOf(answers), { '200 70.00': 10 }],
        [await w.balance(), '200 70.00'],
      ]
    },
  },
  {
    title: 'P06 ten stakes at once are no more than the funds',
    catches: ['race-funds', 'race-lost-update'],
    play: async w => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => w.place('20', { betId: `b${n}` })),
      )
      return [
        [codesOf(answers), { '200': 5, [noFunds]: 5 }],
        [await w.balance(), '200 0.00'],
      ]
    },
  },
  {
    title: 'P07 another meaning under the same transactionId is refused',
    catches: [
      'changed-amount-taken-as-retry',
      'changed-currency-taken-as-retry',
      'changed-player-taken-as-retry',
      'changed-bet-taken-as-retry',
      'ids-unique-per-player',
      'ids-unique-per-bet',
      'player-checked-before-retry',
    ],
    play: async w => {
      const placebet = w.placebet('30')
      return [
        [await w.call('/placebet', placebet), '200 70.00'],
        [await w.call('/placebet', { ...placebet, amount: 40 }), conflict],
        [await w.call('/placebet', { ...placebet, currency: 'USD' }), conflict],
        [await w.call('/placebet', { ...placebet, playerId: 'q' }), conflict],
        [await w.call('/placebet', { ...placebet, playerId: 'unknown-player' }), conflict],
        [await w.call('/placebet', { ...placebet, betId: 'other' }), conflict],
        [await w.call('/placebet', placebet), '200 70.00'],
        [await w.balance('q'), '200 200.00'],
      ]
    },
  },
  {
    title: 'P08 a refusal for funds is final',
    catches: ['refusal-not-recorded'],
    play: async w => {
      const placebet = w.placebet('130')
      const first = await w.call('/placebet', placebet)
      await w.deposit('50')
      return [
        [first, noFunds],
        [await w.call('/placebet', placebet), noFunds],
        [await w.balance(), '200 150.00'],
      ]
    },
  },
  {
    title: 'P09 a placebet that arrives after its rollback is refused',
    catches: ['no-tombstone'],
    play: async w => [
      [await w.rollBack(), '200 100.00'],
      [await w.place('30'), noBet],
      [await w.balance(), '200 100.00'],
    ],
  },
  {
    title: 'P10 a bet has one stake',
    catches: ['second-placebet-debits', 'second-placebet-taken-as-retry'],
    play: async w => [
      [await w.place('30'), '200 70.00'],
      [await w.place('30'), noBet],
      [await w.place('30', { playerId: 'q' }), noBet],
      [await w.balance(), '200 70.00'],
    ],
  },
  {
    title: 'P11 a stake in another currency is refused',
    catches: ['currency-mismatch-accepted'],
    play: async w => {
      const placebet = w.placebet('30', { currency: 'USD' })
      return [
        [await w.call('/placebet', placebet), '400 INVALID_CURRENCY'],
        [await w.call('/placebet', placebet), '400 INVALID_CURRENCY'],
        [await w.call('/placebet', { ...placebet, currency: 'EUR' }), conflict],
        [await w.balance(), '200 100.00'],
      ]
    },
  },
  {
    title: 'P12 decimals are exact',
    catches: ['float-arithmetic', 'whole-balance-refused'],
    play: async w => [
      [await w.place('0.10', { playerId: 'poor', betId: 'b1' }), '200 0.20'],
      [await w.place('0.10', { playerId: 'poor', betId: 'b2' }), '200 0.10'],
      [await w.place('0.10', { playerId: 'poor', betId: 'b3' }), '200 0.00'],
    ],
  },
  {
    title: 'R01 R02 a rollback gives the stake back once',
    catches: [
      'rollback-pays-nothing',
      'rollback-new-id-pays-again',
      'rollback-retry-pays-again',
      'rollback-of-rolled-back-refused',
    ],
    play: async w => {
      const placed = await w.place('30')
      const rollback = { transactionId: 'r' }
      return [
        [placed, '200 70.00'],
        [await w.rollBack(rollback), '200 100.00'],
        [await w.rollBack(rollback), '200 100.00'],
        [await w.rollBack(), '200 100.00'],
      ]
    },
  },
  {
    title: 'R03 the rollback of an unknown bet succeeds',
    catches: ['rollback-of-unknown-refused'],
    play: async w => [[await w.rollBack(), '200 100.00']],
  },
  {
    title: 'R04 a settled bet is not rolled back',
    catches: ['rollback-of-settled-pays'],
    play: async w => [
      [await w.place('30'), '200 70.00'],
      [await w.settle('60'), '200 130.00'],
      [await w.rollBack(), noBet],
      [await w.balance(), '200 130.00'],
    ],
  },
  {
    title: 'R05 an unknown player is refused, whatever is asked',
    catches: ['unknown-player-404', 'unknown-player-success'],
    play: async w => {
      await w.place('30')
      return [
        [await w.rollBack({ playerId: 'unknown-player' }), '400 INVALID_PLAYER'],
        [await w.rollBack({ playerId: 'unknown-player', betId: 'unknown' }), '400 INVALID_PLAYER'],
        [await w.place('30', { playerId: 'unknown-player', betId: 'unknown' }), '400 INVALID_PLAYER'],
        [await w.unsettle({ playerId: 'unknown-player', betId: 'unknown' }), '400 INVALID_PLAYER'],
        [await w.settle('1', { playerId: 'unknown-player', betId: 'unknown' }), '400 INVALID_PLAYER'],
      ]
    },
  },
  {
    title: 'R06 a placebet and its rollback at once leave the balance',
    catches: ['race-bet'],
    play: async w => {
      const [, rolledBack] = await Promise.all([w.place('30'), w.rollBack()])
      return [
        [codesOf([rolledBack]), { '200': 1 }],
        [await w.balance(), '200 100.00'],
      ]
    },
  },
  {
    title: 'S01 a settlement is credited once',
    catches: ['settlement-retry-pays-again'],
    play: async w => {
      await w.place('30')
      const settlement = w.settlement('60')
      return [
        [await w.call('/settlement', settlement), '200 130.00'],
        [await w.call('/settlement', settlement), '200 130.00'],
        [await w.call('/settlement', { ...settlement, type: 'VOIDED' }), conflict],
      ]
    },
  },
  {
    title: 'U01 U05 a paid bet is unsettled, settled again and unsettled again',
    catches: [
      'resettlement-not-unsettled',
      'unsettlement-debits-all-ever',
      'unsettlement-reverses-twice',
      'unsettlement-retry-debits-again',
    ],
    play: async w => {
      await w.place('30')
      const paid = await w.settle('60')
      const again = { transactionId: 'again' }
      return [
        [paid, '200 130.00'],
        [await w.unsettle(again), '200 70.00'],
        [await w.unsettle(again), '200 70.00'],
        [await w.unsettle(), noBet],
        [await w.settle('40'), '200 110.00'],
        [await w.unsettle(), '200 70.00'],
      ]
    },
  },
  {
    title: 'U02 a voided bet is unsettled by UNVOIDED alone',
    catches: ['unvoided-reverses-paid', 'unscored-reverses-void'],
    play: async w => {
      await w.place('30')
      return [
        [await w.settle('30', { type: 'VOIDED' }), '200 100.00'],
        [await w.unsettle({ type: 'UNSCORED' }), '503 SETTLEMENT_NOT_FOUND'],
        [await w.unsettle({ type: 'UNVOIDED' }), '200 70.00'],
        [await w.settle('50'), '200 120.00'],
        [await w.unsettle({ type: 'UNVOIDED' }), noBet],
        [await w.balance(), '200 120.00'],
      ]
    },
  },
  {
    title: 'U03 U04 what cannot be collected is closed',
    catches: [
      'unsettlement-debits-partially',
      'unsettlement-goes-negative',
      'refused-unsettlement-collects-later',
      'refused-unsettlement-not-recorded',
      'uncollected-credit-collected-again',
    ],
    play: async w => {
      await w.place('30')
      await w.settle('60')
      const spent = await w.place('110', { betId: 'b2' })
      const unsettlement = { transactionId: 'u' }
      const refused = await w.unsettle(unsettlement)
      const kept = await w.balance()
      await w.deposit('100')
      return [
        [spent, '200 20.00'],
        [refused, noFunds],
        [kept, '200 20.00'],
        [await w.unsettle(unsettlement), noFunds],
        [await w.unsettle(), noBet],
        [await w.balance(), '200 120.00'],
      ]
    },
  },
  {
    title: 'U06 a wallet that cannot debit refuses and closes',
    catches: [],
    options: { clawbacks: false },
    play: async w => {
      await w.place('30')
      await w.settle('60')
      await w.place('0', { betId: 'b2' })
      return [
        [await w.settle('0', { betId: 'b2' }), '200 130.00'],
        [await w.unsettle(), noFunds],
        [await w.unsettle({ betId: 'b2' }), '200 130.00'],
        [await w.unsettle(), noBet],
      ]
    },
  },
  {
    title: 'U07 an unsettlement that overtakes its settlement succeeds when retried',
    catches: [
      'unscored-of-unsettled-succeeds',
      'unscored-of-unsettled-is-final',
      'settlement-not-found-is-final',
    ],
    play: async w => {
      await w.place('30')
      const unsettlement = { transactionId: 'u' }
      return [
        [await w.unsettle(unsettlement), '503 SETTLEMENT_NOT_FOUND'],
        [await w.settle('60'), '200 130.00'],
        [await w.unsettle(unsettlement), '200 70.00'],
      ]
    },
  },
  {
    title: 'U08 a closed credit is not a reversed one',
    catches: ['rollback-of-uncollected-pays', 'rollback-of-voided-pays'],
    play: async w => {
      await w.place('30')
      await w.settle('30', { type: 'VOIDED' })
      return [
        [await w.rollBack(), noBet],
        [await w.place('90', { betId: 'b2' }), '200 10.00'],
        [await w.unsettle({ type: 'UNVOIDED' }), noFunds],
        [await w.rollBack(), noBet],
        [await w.balance(), '200 10.00'],
      ]
    },
  },
  {
    title: 'A01 a call without credentials is rejected',
    catches: [
      'no-authentication',
      'authentication-after-body',
      'authentication-by-name',
      'authentication-after-effect',
      'no-www-authenticate',
    ],
    play: async w => {
      const authorization = (text: string) => ({
        authorization: `Basic ${Buffer.from(text).toString('base64')}`,
      })
      const refused = '401 AUTHENTICATION_FAILED'
      const placebet = w.placebet('30')
      return [
        [await w.call('/placebet', placebet, { headers: { authorization: '' } }), refused],
        [await w.call('/placebet', placebet, { headers: { authorization: 'Basic' } }), refused],
        [await w.call('/placebet', placebet, { headers: authorization('platform:wrong') }), refused],
        [await w.call('/placebet', placebet, { headers: authorization('platform') }), refused],
        [await w.call('/placebet', placebet, { headers: authorization('other:correct horse') }), refused],
        [await w.call('/settlement', placebet, { headers: { authorization: '' } }), refused],
        [await w.send('/placebet', { text: '{', headers: { authorization: '' } }), refused],
        [await w.balance(), '200 100.00'],
      ]
    },
  },
  {
    title: 'A02 what is no request is refused with the error record',
    catches: [
      'malformed-json-500',
      'missing-field-500',
      'not-an-object-500',
      'oversize-body-500',
      'oversize-body-kills-connection',
    ],
    play: async w => {
      const seen: [string, string][] = []
      for (const text of [
        '',
        '{',
        '{"a":01}',
        '{"a":+1}',
        '{"a":1.}',
        '{"a":NaN}',
        "{'a':1}",
        '{} {}',
        '\uFEFF{}',
      ]) {
        seen.push([await w.send('/placebet', { text }), bad])
      }
      for (const text of ['null', '[]', '7', '"placebet"', 'true', '{}']) {
        seen.push([await w.send('/rollbackbet', { text }), bad])
      }
      seen.push([
        await w.send('/placebet', { text: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }),
        bad,
      ])
      for (const name of [
        'transactionId',
        'betId',
        'playerId',
        'sessionId',
        'amount',
        'currency',
        'betType',
        'transactionDate',
      ]) {
        seen.push([await w.place('30', { [name]: undefined }), bad])
        seen.push([await w.place('30', { [name]: null }), bad])
        seen.push([await w.place('30', { [name]: { toString: 'x' } }), bad])
      }
      for (const name of ['transactionId', 'betId', 'playerId', 'type', 'transactionDate']) {
        seen.push([await w.rollBack({ [name]: undefined }), bad])
        seen.push([await w.unsettle({ [name]: undefined }), bad])
      }
      seen.push([await w.place('30', { note: 'x'.repeat(200_000) }), '413 PAYLOAD_TOO_LARGE'])
      seen.push([await w.balance(), '200 100.00'])
      return seen
    },
  },
]

/** What else the decisions say. */
export const decided: Scene[] = [
  {
    title: 'D1 a rollback may have the transactionId of its placebet',
    catches: ['one-id-space'],
    play: async w => [
      [await w.place('30', { transactionId: 'same' }), '200 70.00'],
      [await w.rollBack({ transactionId: 'same' }), '200 100.00'],
    ],
  },
  {
    title: 'D3 what is information only may differ in a repeat',
    catches: [
      'changed-odds-refused',
      'changed-session-refused',
      'changed-date-refused',
      'amounts-compared-as-text',
    ],
    play: async w => {
      const placebet = w.placebet('10')
      return [
        [await w.call('/placebet', placebet), '200 90.00'],
        [await w.call('/placebet', { ...placebet, odds: 3 }), '200 90.00'],
        [await w.call('/placebet', { ...placebet, sessionId: 'later' }), '200 90.00'],
        [await w.call('/placebet', { ...placebet, betType: 'TEASER' }), '200 90.00'],
        [await w.call('/placebet', { ...placebet, transactionDate: '2026-11-21T10:00:07Z' }), '200 90.00'],
        [
          await w.call('/placebet', w.placebet('10.00', { transactionId: placebet.transactionId })),
          '200 90.00',
        ],
        [await w.call('/placebet', { ...placebet, amount: '1e1' }), '200 90.00'],
      ]
    },
  },
  {
    title: 'D4 another type under the same transactionId is a conflict',
    catches: ['changed-type-taken-as-retry'],
    play: async w => {
      await w.place('30')
      await w.settle('60')
      return [
        [await w.unsettle({ transactionId: 'u' }), '200 70.00'],
        [await w.unsettle({ transactionId: 'u', type: 'UNVOIDED' }), conflict],
      ]
    },
  },
  {
    title: 'D11 a refused placebet has no stake to give back',
    catches: ['rollback-of-refused-pays'],
    play: async w => [
      [await w.place('130'), noFunds],
      [await w.rollBack(), '200 100.00'],
    ],
  },
  {
    title: 'D12 two rollbacks at once give one stake back',
    catches: ['race-rollback'],
    play: async w => {
      await w.place('30')
      const answers = await Promise.all([w.rollBack(), w.rollBack()])
      return [
        [timesOf(answers), { '200 100.00': 2 }],
        [await w.balance(), '200 100.00'],
      ]
    },
  },
  {
    title: 'D13 a lost bet is settled too, an unsettled one can be rolled back',
    catches: ['rollback-of-lost-pays', 'rollback-after-reversal-refused', 'unsettlement-of-lost-refused'],
    play: async w => {
      await w.place('30')
      return [
        [await w.settle('0'), '200 70.00'],
        [await w.rollBack(), noBet],
        [await w.unsettle(), '200 70.00'],
        [await w.rollBack(), '200 100.00'],
      ]
    },
  },
  {
    title: 'D13 a cashed out bet is not rolled back, and nothing reverses it',
    catches: [],
    play: async w => {
      await w.place('30')
      return [
        [await w.settle('20', { type: 'CASHOUT' }), '200 90.00'],
        [await w.rollBack(), noBet],
        [await w.unsettle(), '503 SETTLEMENT_NOT_FOUND'],
        [await w.unsettle({ type: 'UNVOIDED' }), '503 SETTLEMENT_NOT_FOUND'],
      ]
    },
  },
  {
    title: 'D14 a placebet repeated after its rollback is answered, not taken',
    catches: ['retry-after-rollback-debits', 'rolled-back-bet-placed-again'],
    play: async w => {
      const placebet = w.placebet('30')
      return [
        [await w.call('/placebet', placebet), '200 70.00'],
        [await w.rollBack(), '200 100.00'],
        [await w.call('/placebet', placebet), '200 100.00'],
        [await w.place('30'), noBet],
        [await w.settle('60'), noBet],
        [await w.unsettle(), noBet],
        [await w.balance(), '200 100.00'],
      ]
    },
  },
  {
    title: 'D15 a bet is its player’s',
    catches: [
      'rollback-of-other-player-pays',
      'unsettlement-of-other-player-debits',
      'balance-of-first-player',
    ],
    play: async w => {
      await w.place('30')
      return [
        [await w.rollBack({ playerId: 'q' }), '400 INVALID_PLAYER'],
        [await w.settle('60', { playerId: 'q' }), '400 INVALID_PLAYER'],
        [await w.settle('60'), '200 130.00'],
        [await w.unsettle({ playerId: 'q' }), '400 INVALID_PLAYER'],
        [await w.rollBack({ playerId: 'q' }), '400 INVALID_PLAYER'],
        [await w.balance('q'), '200 200.00'],
        [await w.balance(), '200 130.00'],
      ]
    },
  },
  {
    title: 'D17 D19 only a live bet can be settled and unsettled',
    catches: [
      'settlement-of-rolled-back-pays',
      'settlement-of-unknown-pays',
      'unsettlement-of-unknown-succeeds',
    ],
    play: async w => [
      [await w.settle('60'), noBet],
      [await w.unsettle(), noBet],
      [await w.rollBack(), '200 100.00'],
      [await w.settle('60'), noBet],
      [await w.unsettle(), noBet],
      [await w.balance(), '200 100.00'],
    ],
  },
  {
    title: 'D18 an unsettlement reverses the whole live credit',
    catches: ['unsettlement-debits-last-only'],
    play: async w => {
      await w.place('30')
      await w.settle('60')
      return [
        [await w.settle('40'), '200 170.00'],
        [await w.unsettle(), '200 70.00'],
      ]
    },
  },
  {
    title: 'D18 two unsettlements at once reverse one credit',
    catches: ['race-unsettlement'],
    play: async w => {
      await w.place('30')
      await w.settle('40')
      const answers = await Promise.all([w.unsettle(), w.unsettle()])
      return [
        [timesOf(answers), { '200 70.00': 1, [noBet]: 1 }],
        [await w.balance(), '200 70.00'],
      ]
    },
  },
  {
    title: 'D21 amounts are read and written as they stand',
    catches: ['float-amounts', 'amount-text-refused'],
    play: async w => [
      [await w.place('123456789012345.67', { playerId: 'rich' }), '200 876543210987654.32'],
      [await w.place('0.01', { playerId: 'rich', betId: 'b2' }), '200 876543210987654.31'],
      [await w.place('', { betId: 'b3', amount: '10.10' }), '200 89.90'],
      [await w.place('0.00000001', { playerId: 'coin', betId: 'b4', currency: 'BTC' }), '200 1.00000000 BTC'],
      [await w.place('1e1', { betId: 'b5' }), '200 79.90'],
      [await w.place('100E-1', { betId: 'b6' }), '200 69.90'],
      [await w.place('10.1000000000000000000000000000000000000', { betId: 'b7' }), '200 59.80'],
    ],
  },
  {
    title: 'D22 amounts have the decimals of their currency',
    catches: [
      'third-decimal-rounded',
      'trailing-zeros-refused',
      'yen-with-decimals',
      'dinar-with-two-decimals',
    ],
    play: async w => [
      [await w.place('10.005'), bad],
      [await w.place('10.500'), '200 89.50'],
      [await w.place('0.5', { playerId: 'yen', currency: 'JPY', betId: 'b2' }), bad],
      [await w.place('10.0', { playerId: 'yen', currency: 'JPY', betId: 'b3' }), '200 990 JPY'],
      [await w.place('1.234', { playerId: 'dinar', currency: 'KWD', betId: 'b4' }), '200 8.766 KWD'],
    ],
  },
  {
    title: 'D22 amounts are not negative and not huge',
    catches: ['negative-amount-accepted', 'exponent-500', 'zero-stake-needs-funds'],
    play: async w => {
      const seen: [string, string][] = []
      const amounts = [
        '-1',
        '-0',
        '1e400',
        '1e2000000000',
        '1e-2000000000',
        '1000000000000000',
        '1e15',
        '1e-3',
      ]
      for (const amount of amounts) {
        seen.push([await w.place(amount), bad])
        seen.push([await w.place('', { amount }), bad])
      }
      for (const amount of [
        '',
        ' 1',
        '1 ',
        '+1',
        '1.',
        '.5',
        '0x10',
        '1,5',
        '١',
        'NaN',
        'Infinity',
        '007',
        true,
        [],
        {},
      ]) {
        seen.push([await w.place('', { amount }), bad])
      }
      seen.push([await w.place(`0.${'0'.repeat(60_000)}1`), bad])
      seen.push([await w.place('9'.repeat(60_000)), bad])
      seen.push([await w.place(`1.${'0'.repeat(60_000)}`), '200 99.00'])
      seen.push([await w.place('0', { playerId: 'broke', betId: 'b2' }), '200 0.00'])
      return seen
    },
  },
  {
    title: 'D24 ids are opaque',
    catches: [
      'ids-trimmed',
      'ids-case-folded',
      'ids-normalised',
      'ids-as-numbers',
      'ids-truncated',
      'ids-in-plain-object',
    ],
    play: async w => {
      const ids = [
        'a',
        'A',
        ' a',
        'a ',
        '7',
        '007',
        '\u00e9',
        'e\u0301',
        '9007199254740993',
        '9007199254740992',
      ]
      ids.push('x'.repeat(254), 'x'.repeat(255), 'constructor', '__proto__', '😀')
      const answers: string[] = []
      for (const id of ids) answers.push(await w.place('1', { transactionId: id, betId: id }))
      return [[answers, ids.map((_, n) => `200 ${99 - n}.00`)]]
    },
  },
  {
    title: 'D24 ids that a database would choke on are refused',
    catches: ['nul-500', 'half-surrogate-500', 'long-id-500'],
    play: async w => {
      const seen: [string, string][] = []
      for (const id of [
        '',
        '\0',
        'a\0b',
        '\n',
        '\u007f',
        '\u0085',
        '\ud800',
        '\udc00x',
        'x'.repeat(256),
        7,
        true,
        ['b'],
      ]) {
        for (const name of ['transactionId', 'betId', 'playerId']) {
          seen.push([await w.place('1', { [name]: id }), bad])
          seen.push([await w.rollBack({ [name]: id }), bad])
        }
      }
      return seen
    },
  },
  {
    title: 'D25 dates in every layout of ISO 8601, which decide nothing',
    catches: ['date-decides-order', 'dates-need-zone', 'dates-need-utc', 'dates-unchecked'],
    play: async w => {
      const good = [
        '2026-11-21T10:00:00.123456789Z',
        '2026-11-21 10:00:00',
        '2026-11-21T10:00:00',
        '2026-11-21T10:00Z',
      ]
      good.push('2026-11-21T10:00:00+02:00', '2026-11-21T10:00:00-0530', '2024-02-29T10:00:00Z')
      const wrong = [
        '',
        'now',
        '2026-11-21',
        '2026-02-29T10:00:00Z',
        '2026-13-01T10:00:00Z',
        '2026-11-21T24:01:00Z',
      ]
      wrong.push('2026-11-21T10:60:00Z', '2026-11-21T10:00:00+99:00', '1795255200', '21/11/2026 10:00')
      const seen: [string, string][] = []
      for (const [n, transactionDate] of good.entries()) {
        seen.push([await w.place('0', { transactionDate, betId: `b${n}` }), '200 100.00'])
      }
      for (const transactionDate of [...wrong, 1795255200])
        seen.push([await w.place('0', { transactionDate }), bad])
      seen.push([await w.place('30'), '200 70.00'])
      seen.push([await w.rollBack({ transactionDate: '2020-01-01T00:00:00Z' }), '200 100.00'])
      return seen
    },
  },
  {
    title: 'D26 enumerations are closed, records are open',
    catches: [
      'bet-type-unchecked',
      'unsettlement-type-unchecked',
      'null-odds-refused',
      'extra-fields-refused',
    ],
    play: async w => [
      [await w.place('1', { betType: 'SYSTEM' }), bad],
      [await w.place('1', { betType: 'single' }), bad],
      [await w.unsettle({ type: 'UNSETTLED' }), bad],
      [await w.rollBack({ type: 'OTHER' }), bad],
      [await w.place('1', { odds: 'evens' }), bad],
      [await w.place('1', { odds: null, betId: 'b1' }), '200 99.00'],
      [await w.place('1', { odds: undefined, betId: 'b2' }), '200 98.00'],
      [await w.place('1', { odds: '2.50', betId: 'b3' }), '200 97.00'],
      [await w.place('1', { market: { name: 'x', legs: [1, 2.5] }, betId: 'b4' }), '200 96.00'],
    ],
  },
  {
    title: 'D26 of duplicate keys the last counts, however they are written',
    catches: [],
    play: async w => {
      const text = JSON.stringify(w.placebet(1))
      const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
      return [
        [await w.send('/placebet', { text: text.replace('{', '{"amount":50,') }), '200 99.00'],
        [await w.send('/placebet', { text: text.replace(/}$/, ',"\\u0061mount":2}') }), conflict],
        [
          await w.send('/placebet', { text: text.replace(/}$/, `,"__proto__":{"amount":2},"x":${deep}}`) }),
          '200 99.00',
        ],
        [
          await w.send('/placebet', { text: text.replace(/}$/, ',"x":"\\\\\\" \\"amount\\":2"}') }),
          '200 99.00',
        ],
      ]
    },
  },
  {
    title: 'Only POST of JSON to the four addresses',
    catches: ['put-accepted', 'any-content-type'],
    play: async w => {
      const placebet = w.placebet('30')
      const typed = (type: string) => w.call('/placebet', placebet, { headers: { 'content-type': type } })
      return [
        [await w.call('/placebet', placebet, { method: 'PUT' }), '405 METHOD_NOT_ALLOWED'],
        [await w.send('/placebet', { method: 'GET' }), '405 METHOD_NOT_ALLOWED'],
        [await w.call('/placebets', placebet), '404 NOT_FOUND'],
        [await w.call('/', placebet), '404 NOT_FOUND'],
        [await typed('text/plain'), '415 UNSUPPORTED_MEDIA_TYPE'],
        [await typed(''), '415 UNSUPPORTED_MEDIA_TYPE'],
        [await typed('application/json; charset=latin1'), '415 UNSUPPORTED_MEDIA_TYPE'],
        [
          await w.call('/placebet', placebet, { headers: { 'content-encoding': 'gzip' } }),
          '415 UNSUPPORTED_MEDIA_TYPE',
        ],
        [await w.balance(), '200 100.00'],
        [await typed('Application/JSON; charset=UTF-8'), '200 70.00'],
      ]
    },
  },
  {
    title: 'What is no HTTP gets the error record',
    catches: [],
    play: async w => {
      const answer = await w.sendRaw('this is no request\r\n\r\n')
      return [
        [answer.split('\r\n')[0], 'HTTP/1.1 400 Bad Request'],
        [Object.keys(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')), ['errorCode', 'description']],
      ]
    },
  },
  {
    title: 'A client that hangs up has placed its bet',
    catches: ['disconnect-forgets-record', 'disconnect-forgets-debit'],
    play: async w => {
      const placebet: Fields = w.placebet('30')
      await w.sendAndHangUp('/placebet', placebet)
      return [
        [await w.call('/placebet', placebet), '200 70.00'],
        [await w.balance(), '200 70.00'],
      ]
    },
  },
  {
    title: 'A body that breaks off is no request',
    catches: ['half-body-accepted'],
    play: async w => {
      await w.sendAndHangUp('/placebet', w.placebet('30'), 10)
      return [
        [await w.balance(), '200 100.00'],
        [await w.balance(), '200 100.00'],
      ]
    },
  },
  {
    title: 'D5 a transaction is remembered, whatever follows it',
    catches: ['last-1000-remembered'],
    play: async w => {
      const placebet = w.placebet('30')
      const placed = await w.call('/placebet', placebet)
      for (let sent = 1; sent <= 1_000; sent += 1) await w.rollBack({ betId: `unknown-${sent}` })
      return [
        [placed, '200 70.00'],
        [await w.call('/placebet', placebet), '200 70.00'],
      ]
    },
  },
  {
    title: 'D5 a settlement is remembered, whatever follows it',
    catches: ['last-1000-settlements-remembered'],
    play: async w => {
      await w.place('30')
      const settlement = w.settlement('60')
      const settled = await w.call('/settlement', settlement)
      for (let sent = 1; sent <= 1_000; sent += 1) await w.settle('0')
      return [
        [settled, '200 130.00'],
        [await w.call('/settlement', settlement), '200 130.00'],
      ]
    },
  },
  {
    title: 'D2 a repeated unsettlement reverses no later settlement',
    catches: ['old-unsettlement-debits-resettlement'],
    play: async w => {
      await w.place('30')
      await w.settle('60')
      return [
        [await w.unsettle({ transactionId: 'u' }), '200 70.00'],
        [await w.settle('40'), '200 110.00'],
        [await w.unsettle({ transactionId: 'u' }), '200 110.00'],
      ]
    },
  },
  {
    title: 'D23 currency codes are compared as they stand',
    catches: ['currency-case-folded'],
    play: async w => [
      [await w.place('30', { currency: 'eur' }), '400 INVALID_CURRENCY'],
      [await w.balance(), '200 100.00'],
    ],
  },
  {
    title: 'D13 a bet whose void was reversed can be rolled back',
    catches: ['rollback-after-unvoided-refused'],
    play: async w => {
      await w.place('30')
      await w.settle('30', { type: 'VOIDED' })
      return [
        [await w.unsettle({ type: 'UNVOIDED' }), '200 70.00'],
        [await w.rollBack(), '200 100.00'],
      ]
    },
  },
  {
    title: 'D18 voids and payouts of one bet are reversed apart, and each of them whole',
    catches: [
      'unscored-reverses-both',
      'unvoided-debits-stake',
      'unvoided-debits-last-only',
      'equal-payouts-debited-once',
    ],
    play: async w => {
      await w.place('30')
      for (const amount of ['7', '4', '4']) await w.settle(amount, { type: 'VOIDED' })
      for (let payout = 1; payout <= 2; payout += 1) await w.settle('10')
      return [
        [await w.balance(), '200 105.00'],
        [await w.unsettle(), '200 85.00'],
        [await w.unsettle({ type: 'UNVOIDED' }), '200 70.00'],
      ]
    },
  },
  {
    title: 'A01 a password is compared to its last character',
    catches: [
      'authentication-by-password',
      'password-empty-accepted',
      'password-prefix-accepted',
      'password-case-folded',
    ],
    play: async w => {
      const seen: [string, string][] = []
      const wrong = [
        'platform:',
        'platform:c',
        'platform:correct hors',
        'platform:Correct Horse',
        'x:correct horse',
      ]
      for (const text of wrong) {
        const authorization = `Basic ${Buffer.from(text).toString('base64')}`
        const answer = await w.call('/placebet', w.placebet('30'), { headers: { authorization } })
        seen.push([answer, '401 AUTHENTICATION_FAILED'])
      }
      return seen
    },
  },
  {
    title: 'D17 settlements at once are all credited, and each of them once',
    catches: ['race-settlement-retry', 'race-settlement-lost-update', 'race-settlement-of-bet'],
    play: async w => {
      await w.place('30')
      const settlement = w.settlement('10')
      const copies = Array.from({ length: 5 }, () => w.call('/settlement', settlement))
      const others = Array.from({ length: 5 }, () => w.settle('1'))
      await Promise.all([...copies, ...others])
      return [
        [await w.balance(), '200 85.00'],
        [await w.unsettle(), '200 70.00'],
      ]
    },
  },
  {
    title: 'Operations of one bet at once wait for each other',
    catches: ['locks-crossed-by-rollback', 'locks-crossed-by-unsettlement', 'locks-crossed-by-settlement'],
    play: async w => {
      const placebet = w.placebet('30')
      await w.call('/placebet', placebet)
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => [
          w.call('/placebet', placebet),
          w.settle('1'),
          w.unsettle(),
          w.rollBack(),
        ]).flat(),
      )
      return [[answers.filter(answer => answer.startsWith('500')), []]]
    },
  },
  {
    title: 'D13 a bet that was cashed out is not rolled back',
    catches: ['rollback-of-cashed-out-pays'],
    play: async w => {
      await w.place('30')
      await w.settle('10', { type: 'CASHOUT' })
      return [
        [await w.rollBack(), '400 INVALID_BET'],
        [await w.balance(), '200 80.00'],
      ]
    },
  },
  {
    title: 'D13 a bet of which a part was voided is not rolled back',
    catches: ['rollback-of-part-voided-pays'],
    play: async w => {
      await w.place('30')
      await w.settle('10', { type: 'VOIDED' })
      return [
        [await w.rollBack(), '400 INVALID_BET'],
        [await w.balance(), '200 80.00'],
      ]
    },
  },
  {
    title: 'D13 a bet that was unsettled and settled again is not rolled back',
    catches: ['rollback-after-resettlement-pays'],
    play: async w => {
      await w.place('30')
      await w.settle('10')
      await w.unsettle()
      await w.settle('10')
      return [
        [await w.rollBack(), '400 INVALID_BET'],
        [await w.balance(), '200 80.00'],
      ]
    },
  },
  {
    title: 'D13 a settlement and a rollback at once are one of them',
    catches: ['race-settlement-of-rollback'],
    play: async w => {
      await w.place('30')
      await Promise.all([w.settle('40'), w.rollBack()])
      const balance = await w.balance()
      return [[['200 110.00', '200 100.00'].includes(balance) || balance, true]]
    },
  },
  {
    title: 'D18 a void is reversed once',
    catches: ['unvoided-debits-again'],
    play: async w => {
      await w.place('30')
      await w.settle('30', { type: 'VOIDED' })
      return [
        [await w.unsettle({ type: 'UNVOIDED' }), '200 70.00'],
        [await w.unsettle({ type: 'UNVOIDED' }), '400 INVALID_BET'],
        [await w.balance(), '200 70.00'],
      ]
    },
  },
  {
    title: 'D7 a refused UNVOIDED stays refused',
    catches: ['refused-unvoided-collects-later'],
    play: async w => {
      await w.place('30')
      await w.settle('30', { type: 'VOIDED' })
      await w.place('90', { betId: 'b2' })
      const unsettlement = { type: 'UNVOIDED', transactionId: 'u' }
      return [
        [await w.unsettle(unsettlement), '402 INSUFFICIENT_FUNDS'],
        [await w.rollBack({ betId: 'b2' }), '200 100.00'],
        [await w.unsettle(unsettlement), '402 INSUFFICIENT_FUNDS'],
      ]
    },
  },
  {
    title: 'D8 a refused rollback is decided again when it is retried',
    catches: ['refused-rollback-recorded'],
    play: async w => {
      await w.place('30')
      await w.settle('10')
      await w.rollBack({ transactionId: 'r-1' })
      await w.unsettle()
      return [[await w.rollBack({ transactionId: 'r-1' }), '200 100.00']]
    },
  },
  {
    title: 'D18 a settlement that an unsettlement meets is debited by it or by the next one',
    catches: ['race-unsettlement-of-settlement'],
    play: async w => {
      await w.place('30')
      await w.settle('10')
      await Promise.all([w.unsettle(), w.settle('5')])
      await w.unsettle()
      return [[await w.balance(), '200 70.00']]
    },
  },
  {
    title: 'An unsettlement and the placebets meanwhile are all debited',
    catches: ['race-unsettlement-lost-update'],
    play: async w => {
      await w.place('30')
      await w.settle('10')
      const unsettlement = w.unsettle()
      const placebets = Array.from({ length: 5 }, (_, n) => w.place('1', { betId: `b${n}` }))
      await Promise.all([unsettlement, ...placebets])
      return [[await w.balance(), '200 65.00']]
    },
  },
  {
    title: 'D2 a retry of an accepted call needs no funds',
    catches: ['retry-checks-funds', 'unsettlement-retry-checks-funds'],
    play: async w => {
      const placebet = w.placebet('30')
      await w.call('/placebet', placebet)
      await w.settle('10')
      await w.unsettle({ transactionId: 'u' })
      await w.place('70', { betId: 'b2' })
      return [
        [await w.call('/placebet', placebet), '200 0.00'],
        [await w.unsettle({ transactionId: 'u' }), '200 0.00'],
      ]
    },
  },
  {
    title: 'D4 the transactionId of a refused placebet stands for that bet',
    catches: ['refused-id-reused'],
    play: async w => [
      [await w.place('100.01', { transactionId: 't' }), noFunds],
      [await w.place('1', { transactionId: 't', betId: 'b2' }), conflict],
    ],
  },
  {
    title: 'D11 every tombstone holds: of each player, of a refused bet, and after hundreds of others',
    catches: [
      ...(['last-300-tombstones', 'tombstones-of-first-player', 'no-tombstone-of-refused'] as const),
      'settlement-of-tombstone-pays',
    ],
    play: async w => {
      const other = { playerId: 'q', betId: 'b-q' }
      await w.rollBack()
      await w.rollBack(other)
      await w.place('100.01', { betId: 'b-refused' })
      await w.rollBack({ betId: 'b-refused' })
      for (let n = 1; n <= 300; n += 1) await w.rollBack({ betId: `b${n}` })
      return [
        [await w.place('30'), noBet],
        [await w.place('30', other), noBet],
        [await w.place('30', { betId: 'b-refused' }), noBet],
        [await w.settle('10', { betId: 'b300' }), noBet],
        [await w.balance(), '200 100.00'],
      ]
    },
  },
  {
    title: 'D16 a call creates no player',
    catches: ['players-created-by-bets'],
    play: async w => {
      const unknown = { playerId: 'unknown-player' }
      await w.place('1', unknown)
      return [[await w.rollBack(unknown), '400 INVALID_PLAYER']]
    },
  },
  {
    title: 'D22 a free bet is rolled back like any other',
    catches: ['rollback-of-free-bet-refused'],
    play: async w => {
      await w.place('0')
      return [[await w.rollBack(), '200 100.00']]
    },
  },
  {
    title: 'D24 ids differ in any character',
    catches: ['ids-as-latin1', 'ids-as-low-bytes'],
    play: async w => {
      const seen: [string, string][] = []
      for (const [one, two] of [
        ['\u0416', '\u0429'],
        ['\u0141', 'A'],
      ] as const) {
        await w.place('1', { betId: one })
        seen.push([await w.place('0', { betId: two }), `200 ${99 - seen.length}.00`])
      }
      return seen
    },
  },
  {
    title: 'D25 a date has any number of decimals',
    catches: ['dates-of-six-decimals'],
    play: async w => [
      [await w.place('0', { transactionDate: '2026-11-21T10:00:00.1234567Z' }), '200 100.00'],
    ],
  },
  {
    title: 'A01 every path is authenticated, and by one scheme only',
    catches: ['unsettlement-unauthenticated', 'any-bearer-accepted'],
    play: async w => {
      const headers = (authorization: string) => ({ headers: { authorization } })
      const refused = '401 AUTHENTICATION_FAILED'
      return [
        [await w.call('/unsettlement', w.placebet('1'), headers('')), refused],
        [await w.call('/placebet', w.placebet('1'), headers('Bearer x')), refused],
      ]
    },
  },
  {
    title: 'Each transaction has a reference of its own',
    catches: ['reference-never-changes'],
    play: async w => {
      await w.place('1')
      const { reference } = w
      await w.place('1', { betId: 'b2' })
      return [[w.reference === reference, false]]
    },
  },
]
