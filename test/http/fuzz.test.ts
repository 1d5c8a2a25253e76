/** 150,000 mutated bodies. The same seed produces the same bodies; no clock is read. */
import { describe, expect, test } from 'vitest'
import { recordSettlement } from '../../src/handlers.js'
import { createHttpHandler } from '../../src/http/index.js'
import { add } from '../../src/money.js'
import type { CommitResult, Transaction, WalletStore } from '../../src/store.js'
import { createMemoryStore } from '../../src/stores/memory.js'

const bodiesTotal = 150_000
const bodiesPerWallet = 4_000

const initialPlayers = [
  { playerId: 'anna', currency: 'EUR', balance: '500.00' },
  { playerId: 'kenji', currency: 'JPY', balance: '900000' },
  { playerId: 'satoshi', currency: 'BTC', balance: '123456.12345678' },
]

type Operation = Transaction['operation']
const operations: readonly Operation[] = ['placebet', 'settlement', 'unsettlement', 'rollbackbet']

/** mulberry32 */
function randomFrom(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T
  return { below, pick, chance: (of: number) => next() < of }
}
type Random = ReturnType<typeof randomFrom>

/** A valid call. Few ids, so that calls meet the bets and transactions of earlier calls. */
function validCall(random: Random, operation: Operation): Record<string, unknown> {
  const bet = random.below(200)
  // Mostly the player of the bet.
  const { playerId, currency } = random.chance(0.9) ? playerOf(bet) : random.pick(initialPlayers)
  const common = {
    transactionId: `t-${random.below(600)}`,
    betId: `b-${bet}`,
    playerId,
    transactionDate: random.pick(['2026-11-21T18:00:00Z', '2026-11-21 18:00:00.123+02:00']),
  }
  const amount = random.pick([1, 0, 25, '12', 7e1, 100, 3])
  switch (operation) {
    case 'placebet':
      return {
        ...common,
        sessionId: 's',
        amount,
        currency,
        odds: 1.85,
        betType: random.pick(['SINGLE', 'MULTIPLE']),
      }
    case 'settlement':
      return { ...common, type: random.pick(['BET_PAID', 'VOIDED', 'CASHOUT']), amount, currency }
    case 'unsettlement':
      return { ...common, type: random.pick(['UNSCORED', 'UNVOIDED']) }
    case 'rollbackbet':
      return { ...common, type: 'TECHNICAL_ERROR' }
  }
}

const playerOf = (bet: number) =>
  initialPlayers[bet % initialPlayers.length] as (typeof initialPlayers)[number]

const oddValues: readonly string[] = [
  ...['null', 'true', '""', '[]', '{}', '0', '-0', '-1', '0.001', '1e400', '-1e-400', '1e2000000000', '5e-1'],
  ...[
    '12345678901234567',
    '0.1234567890123456',
    '999999999999999.99',
    '1000000000000000',
    '1.000000000000000000000',
  ],
  ...['"NaN"', '"Infinity"', '"0x10"', '" 1"', '"1e3"', '"1,000"', '"１"', '1e', '01', '.5', '+1', '"-0"'],
  ...[
    '"\\u0000"',
    '"\\ud800"',
    '"\\uD83D\\uDE00"',
    '"a\\nb"',
    `"${'x'.repeat(256)}"`,
    '"__proto__"',
    '"anna "',
    '"ANNA"',
  ],
  ...[
    '"2026-02-30T00:00:00Z"',
    '"2026-11-21"',
    '"9999-12-31T23:59:60Z"',
    '"0000-01-01T00:00+23:59"',
    '1700000000000',
  ],
  ...[
    '"EUR"',
    '"eur"',
    '"JPY"',
    '"BTC"',
    '"BET_PAID"',
    '"UNSCORED"',
    '"TECHNICAL_ERROR"',
    '"SINGLE"',
    '{"text":"5"}',
  ],
]
const oddKeys = [
  '__proto__',
  'constructor',
  'toString',
  'amount ',
  'Amount',
  'betID',
  '',
  'type',
  'odds',
  'playerId',
  'length',
]
const oddPieces = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\0',
  '\ufeff',
  'e',
  '.',
  '-',
  '1',
  ' ',
  '\\u',
  '😀',
  'null',
  '/*',
  '\r\n',
]

/** Works on JSON text, so that keys can be duplicated, and values can be beyond JavaScript. */
function mutateStructure(random: Random, body: Record<string, unknown>): string {
  const fields = Object.entries(body).map(([key, value]) => [key, JSON.stringify(value)] as [string, string])
  const at = random.below(fields.length)
  const field = fields[at] as [string, string]
  switch (random.below(9)) {
    case 0:
      fields.splice(at, 1)
      break
    case 1:
    case 2:
      field[1] = random.pick(oddValues)
      break
    case 3:
      fields.push([field[0], random.pick(oddValues)])
      break
    case 4:
      field[0] = random.pick(oddKeys)
      break
    case 5:
      fields.push([random.pick(oddKeys), random.pick(oddValues)])
      break
    case 6:
      field[1] = random.chance(0.5) ? `[${field[1]}]` : `{"${field[0]}":${field[1]}}`
      break
    case 7:
      fields.push(['__proto__', `{"${field[0]}":${field[1]}}`], ['padding', random.pick(oddValues)])
      fields.splice(at, 1)
      break
    default: {
      const other = fields[random.below(fields.length)] as [string, string]
      ;[field[1], other[1]] = [other[1], field[1]]
    }
  }
  const text = `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`
  if (random.chance(0.02)) return `[${text}]`
  if (random.chance(0.01)) return `${'['.repeat(200)}${text}${']'.repeat(200)}`
  return text
}

function mutateBytes(random: Random, body: Buffer): Buffer {
  const at = random.below(body.length + 1)
  const to = Math.min(body.length, at + 1 + random.below(12))
  switch (random.below(7)) {
    case 0: {
      const copy = Buffer.from(body)
      if (at < copy.length) copy[at] = (copy[at] as number) ^ (1 << random.below(8))
      return copy
    }
    case 1:
      return Buffer.concat([body.subarray(0, at), Buffer.from([random.below(256)]), body.subarray(at)])
    case 2:
      return Buffer.concat([body.subarray(0, at), body.subarray(to)])
    case 3:
      return Buffer.concat([body.subarray(0, to), body.subarray(at)])
    case 4:
      return body.subarray(0, at)
    case 5:
      return Buffer.concat([body.subarray(0, at), Buffer.from(random.pick(oddPieces)), body.subarray(at)])
    default: {
      const from = random.below(body.length + 1)
      return Buffer.concat([body.subarray(0, at), body.subarray(from)])
    }
  }
}

function mutatedBody(random: Random, operation: Operation): Buffer {
  const body = validCall(random, operation)
  // Some stay valid, so that bets exist.
  if (random.chance(0.15)) return Buffer.from(JSON.stringify(body))
  let bytes = Buffer.from(random.chance(0.6) ? mutateStructure(random, body) : JSON.stringify(body))
  if (random.chance(0.5)) bytes = mutateBytes(random, bytes) as typeof bytes
  return bytes
}

/** A wallet whose commits are recorded, independently of the store's own queries. */
function observedWallet() {
  const store = createMemoryStore(initialPlayers)
  const written: Transaction[] = []
  const observed: WalletStore = {
    contractVersion: 2,
    load: keys => store.load(keys),
    async commit(changes): Promise<CommitResult> {
      const result = await store.commit(changes)
      if (result.status === 'committed') written.push(changes.transaction)
      return result
    },
  }
  const faults: unknown[] = []
  const handle = createHttpHandler(observed, {
    authenticate: () => true,
    routes: { '/settlement': body => recordSettlement(observed, body) },
    onError: error => faults.push(error),
  })
  return { store, written, faults, handle }
}

/** The refusals that are recorded, per operation (D6, D7); no other refusal writes anything. */
const recordedRefusals: Record<Operation, readonly string[]> = {
  placebet: ['INSUFFICIENT_FUNDS', 'INVALID_BET', 'INVALID_CURRENCY'],
  unsettlement: ['INSUFFICIENT_FUNDS'],
  settlement: [],
  rollbackbet: [],
}
const statuses: Record<string, number> = {
  INVALID_REQUEST: 400,
  INVALID_PLAYER: 400,
  INVALID_CURRENCY: 400,
  INVALID_BET: 400,
  INSUFFICIENT_FUNDS: 402,
  TRANSACTION_CONFLICT: 409,
}

describe('given mutated bodies', () => {
  test(`when ${bodiesTotal} are sent, then each is answered, and recorded transactions explain every balance`, async () => {
    const random = randomFrom(20261121)
    const seen = new Map<string, number>()
    const count = (kind: string) => seen.set(kind, (seen.get(kind) ?? 0) + 1)

    for (let done = 0; done < bodiesTotal; done += bodiesPerWallet) {
      const { store, written, faults, handle } = observedWallet()
      for (let index = 0; index < bodiesPerWallet; index += 1) {
        // More bets than rollbacks, which would leave nothing to settle.
        const operation = random.chance(0.3) ? 'placebet' : random.pick(operations)
        const body = mutatedBody(random, operation)
        const before = written.length
        const answer = await handle({
          method: 'POST',
          path: `/${operation}`,
          headers: { 'content-type': 'application/json' },
          body,
        })
        // Plain comparisons: a million calls of expect would take longer than the wallet.
        const problem = problemOf(operation, body, answer, written.slice(before))
        if (problem !== null) {
          throw new Error(
            `${problem}\n/${operation} ${JSON.stringify(body.toString('latin1'))}\n${answer.status} ${answer.body}`,
          )
        }
        const { errorCode = 'accepted' } = JSON.parse(answer.body)
        count(`${operation} ${errorCode}`)
      }

      expect(faults).toEqual([])
      expect(store.transactions().map(({ walletTransactionId: _, ...rest }) => rest)).toEqual(
        written.map(({ walletTransactionId: _, ...rest }) => rest),
      )
      for (const { playerId, balance } of initialPlayers) {
        const sum = written
          .filter(transaction => transaction.playerId === playerId)
          .reduce((total, { delta }) => add(total, delta), add(balance, '0'))
        expect(add(store.account(playerId)?.balance ?? '0', '0')).toBe(sum)
        expect(sum.startsWith('-')).toBe(false)
      }
    }

    // Coverage: every kind of answer occurred, and often enough.
    const kinds = Object.fromEntries([...seen].sort())
    for (const operation of operations) {
      expect(kinds[`${operation} accepted`], operation).toBeGreaterThan(200)
      expect(kinds[`${operation} INVALID_REQUEST`], operation).toBeGreaterThan(10_000)
      expect(kinds[`${operation} TRANSACTION_CONFLICT`], operation).toBeGreaterThan(30)
    }
    expect(kinds['unsettlement SETTLEMENT_NOT_FOUND']).toBeGreaterThan(100)
    expect(kinds['placebet INVALID_CURRENCY']).toBeGreaterThan(50)
    expect(kinds['placebet INSUFFICIENT_FUNDS']).toBeGreaterThan(10)
  })
})

function problemOf(
  operation: Operation,
  sent: Buffer,
  { status, body }: { status: number; body: string },
  written: readonly Transaction[],
): string | null {
  const answer = JSON.parse(body) as Record<string, unknown>
  const [transaction] = written
  if (written.length > 1) return 'one call committed twice'

  if (status !== 200) {
    const { errorCode, description, ...rest } = answer
    if (typeof errorCode !== 'string' || typeof description !== 'string') return 'not an error response'
    if (Object.keys(rest).length > 0) return 'fields beside errorCode and description'
    // The only refusal with a 5xx status.
    const expected =
      operation === 'unsettlement' && errorCode === 'SETTLEMENT_NOT_FOUND' ? 503 : statuses[errorCode]
    if (status !== expected) return 'wrong status for this code'
    if (transaction === undefined) return null
    if (!recordedRefusals[operation].includes(errorCode)) return 'a refusal was recorded that must not be'
    return transaction.delta === '0' && transaction.refusal !== null
      ? null
      : 'a refusal has changed the balance'
  }

  // Accepted: the body must be valid by an independent check.
  let request: Record<string, unknown>
  try {
    request = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(sent))
  } catch {
    return 'accepted, but not JSON'
  }
  for (const field of ['transactionId', 'betId', 'playerId', 'transactionDate']) {
    if (!Object.hasOwn(request, field) || typeof request[field] !== 'string')
      return `accepted without ${field}`
  }
  const player = initialPlayers.find(({ playerId }) => playerId === request.playerId)
  if (player === undefined) return 'accepted for an unknown player'
  if (answer.currency !== player.currency) return 'wrong currency'
  if (typeof answer.balance !== 'number' || answer.balance < 0) return 'invalid balance'
  if (operation === 'placebet' || operation === 'settlement') {
    if (!Object.hasOwn(request, 'amount') || request.currency !== player.currency)
      return 'accepted without amount or currency'
    if (Number(request.amount) < 0 || Object.is(request.amount, -0)) return 'accepted a negative amount'
    if (transaction !== undefined) {
      // With the precision of JSON.parse; json.test.ts covers longer numbers.
      const changed = operation === 'placebet' ? -Number(transaction.delta) : Number(transaction.delta)
      if (changed + 0 !== Number(request.amount)) return `wrong delta ${transaction.delta}`
    }
  }
  if (transaction === undefined) return null
  if (transaction.operation !== operation || transaction.refusal !== null)
    return 'not the accepted transaction'
  for (const field of ['transactionId', 'betId', 'playerId'] as const) {
    if (transaction[field] !== request[field]) return `wrong ${field} in the transaction`
  }
  return null
}
