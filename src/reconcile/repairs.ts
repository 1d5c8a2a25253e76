/** Per kind of difference, who has to act, and the calls that repair it. */
import { quoted } from '../curl.js'
import { compare, type Decimal, isZero, subtract } from '../money.js'
import type { DifferenceKind, Finding, Repair, RepairCall } from './difference.js'
import type { Entry, ReportRow, WalletRecord } from './entry.js'

/** A finding whose kind is known. */
export interface Judgement extends Finding {
  kind: DifferenceKind
}

const idLengthMax = 255

const noRepair = (text: string): Repair => ({ by: 'none', text, calls: [] })
const platform = (text: string): Repair => ({ by: 'platform', text, calls: [] })
const operator = (text: string, calls: readonly (RepairCall | null)[] = []): Repair => {
  // Half of the calls would not repair it.
  return { by: 'operator', text, calls: calls.some(call => call === null) ? [] : (calls as RepairCall[]) }
}

const afterwards = 'Ask the platform first.'

/** @param from the start of the range: the date of a call for a row without one */
export function repairOf({ kind, row, record }: Judgement, from: string): Repair {
  switch (kind) {
    case 'duplicate-in-wallet':
      return operator(
        'Guard 1 of the store contract is violated: the transaction is recorded twice. Stop the wallet, and check the primary key of the transactions.',
      )
    case 'other-player':
    case 'other-bet':
    case 'other-operation':
      return operator(
        'Correct nothing by hand before the platform has said which of the two is right: the wallet never changes a transaction that is recorded.',
      )
    case 'other-currency':
      return operator(
        'The wallet never converts (D23). The platform corrects its report, or both sides agree on the amount and the operator books it.',
      )
    case 'other-amount':
      return otherAmount(row as ReportRow, record as WalletRecord)
    case 'other-type':
      return otherType(row as ReportRow, record as WalletRecord)
    case 'never-arrived':
      return neverArrived(row as ReportRow, from)
    case 'refused-by-wallet':
      return platform(
        'The refusal is final and is replayed to every retry (D6): no call can change it. The platform cancels it.',
      )
    case 'tombstone':
      return platform(
        'The bet was given up by its rollback: the wallet debited nothing and owes nothing (D11). The platform cancels the bet, or takes it out of its report.',
      )
    case 'rolled-back-twice':
      return platform('The stake is returned once (D12). The platform counts one rollback of the bet.')
    case 'missing-in-report':
    case 'refused-by-platform':
      return missingThere(record as WalletRecord)
    case 'uncollected-clawback':
      return platform(
        'The platform nets the amount off later winnings of the player (spec 4.2). Debit nothing by hand: the player would pay twice (D7).',
      )
    case 'other-transaction-id':
      return platform(
        'The money moved once. The platform names the transactionId under which it was answered with success.',
      )
    case 'duplicate-in-report':
      return platform('The money moved once here. The platform counts the row once.')
    case 'conflicting-in-report':
      return platform(
        'A transactionId with other content is refused with TRANSACTION_CONFLICT (D4). The platform sends the second one under a transactionId of its own, or takes it out of its report.',
      )
    case 'out-of-range':
      return noRepair(outsideText(row))
  }
}

function outsideText(row: ReportRow | null): string {
  if (row === null)
    return 'Check that the report of the other range has it: then the sums of both ranges together agree.'
  return row.transactionDate === null
    ? 'Both sides have it. Widen the range (--from, --to), and compare again.'
    : 'Both sides have it: the sums of this range and its neighbour together agree.'
}

/** Of placebets that are sent for the platform: no session of a player is known. */
const sessionId = 'reconciliation'

function neverArrived(row: ReportRow, from: string): Repair {
  const date = { transactionDate: row.transactionDate ?? from }
  switch (row.operation) {
    case 'placebet':
      return operator(
        `If the platform keeps the bet, send the placebet: it is a retry, so it debits once, if funds suffice. Otherwise the platform cancels the bet. Ask it, unless you have restored the database: then it keeps what it counts. Let the sessionId "${sessionId}" pass your authorizeRequest first: its refusal would be final (D6).`,
        [
          callOf('/placebet', row, {
            ...moneyOf(row),
            sessionId,
            betType: 'SINGLE',
            ...date,
          }),
        ],
      )
    case 'settlement':
      return operator('Settle the bet, under the same transactionId: a retry credits once.', [
        callOf('/settlement', row, { type: row.type, ...moneyOf(row), ...date }),
      ])
    case 'unsettlement':
      return operator('Send the unsettlement, under the same transactionId: a retry debits once.', [
        callOf('/unsettlement', row, { type: row.type, ...date }),
      ])
    case 'rollbackbet':
      return operator('Send the rollback, under the same transactionId: a retry credits once.', [
        callOf('/rollbackbet', row, { type: 'TECHNICAL_ERROR', ...date }),
      ])
  }
}

function missingThere(record: WalletRecord): Repair {
  const { recordedAt, type } = record
  const date = { transactionDate: recordedAt }
  switch (record.operation) {
    case 'placebet':
      return operator(
        `${afterwards} If it does not know the bet, roll it back: the player gets the stake back.`,
        [callOf('/rollbackbet', renamed(record), { type: 'TECHNICAL_ERROR', ...date })],
      )
    case 'settlement':
      if (type === 'CASHOUT') return operator(`${afterwards} A cash-out cannot be reversed by a call (D18).`)
      return operator(
        `${afterwards} If it did not settle the bet so, reverse it. This reverses every live ${type} credit of the bet (D18): settle those that are right again, under new transactionIds.`,
        [callOf('/unsettlement', renamed(record), { type: reversalOf(type), ...date })],
      )
    case 'unsettlement':
      return operator(`${afterwards} If it did not reverse the settlement, settle the bet again.`, [
        callOf('/settlement', renamed(record), { type: reversedBy(type), ...moneyOf(record), ...date }),
      ])
    case 'rollbackbet':
      return operator(
        `${afterwards} If it keeps the bet, the player has got the stake back: a bet that is rolled back stays so, and the platform places it again under new ids.`,
      )
  }
}

function otherAmount(row: ReportRow, record: WalletRecord): Repair {
  switch (record.operation) {
    case 'placebet':
      return operator(
        'No call changes a stake. If the amount here is wrong, the platform rolls the bet back and places it again under new ids.',
      )
    case 'settlement':
      return otherSettlement(row, record)
    case 'unsettlement':
      return operator(
        'An unsettlement debits the live credit that the wallet has recorded (D18): compare the settlements of the bet.',
      )
    case 'rollbackbet':
      return operator(
        'A rollback returns the stake that the wallet has recorded: compare the placebet of the bet.',
      )
  }
}

function otherSettlement(row: ReportRow, record: WalletRecord): Repair {
  const [there, here] = [row.amount ?? '0', record.amount ?? '0']
  if (compare(there, here) > 0) {
    const missing = subtract(there, here)
    return operator(
      `If the platform is right, settle the rest, ${missing} ${record.currency ?? ''}: a bet may have several settlements (D17).`,
      [settlementOf(record, record.type, missing, 'rest')],
    )
  }
  if (record.type === 'CASHOUT')
    return operator(`${afterwards} A cash-out cannot be reversed by a call (D18).`)
  return operator(
    `If the platform is right, reverse the settlement, then settle the right amount. The first call reverses every live ${record.type} credit of the bet (D18).`,
    [reverse(record), ...(isZero(there) ? [] : [settlementOf(record, record.type, there, 'right')])],
  )
}

function otherType(row: ReportRow, record: WalletRecord): Repair {
  if (record.operation !== 'settlement' || record.type === 'CASHOUT') {
    return operator(
      'Compare the settlements of the bet with the platform: each type is reversed for itself (D18).',
    )
  }
  return operator(
    'If the platform is right, reverse the settlement, then settle with the right type. Or leave it: the amount is the same, and only a later unsettlement would differ.',
    [reverse(record), settlementOf(record, row.type, record.amount ?? '0', 'right')],
  )
}

const reversalOf = (type: string | null) => (type === 'VOIDED' ? 'UNVOIDED' : 'UNSCORED')
const reversedBy = (type: string | null) => (type === 'UNVOIDED' ? 'VOIDED' : 'BET_PAID')

function reverse(record: WalletRecord): RepairCall | null {
  const type = reversalOf(record.type)
  return callOf('/unsettlement', renamed(record), { type, transactionDate: record.recordedAt })
}

function settlementOf(
  record: WalletRecord,
  type: string | null,
  amount: Decimal,
  why: string,
): RepairCall | null {
  const { currency, recordedAt } = record
  return callOf('/settlement', renamed(record, why), { type, amount, currency, transactionDate: recordedAt })
}

/** A transaction of its own for the repair; sent twice, it is still one. */
const renamed = <T extends Entry>(entry: T, why = 'repair') => ({
  ...entry,
  transactionId: `${why}-${entry.transactionId}`,
})

const moneyOf = ({ amount, currency }: Entry) => ({ amount, currency })

/** @returns `null` if a value of the call is unknown: a call with a guess could move money wrongly */
function callOf(
  path: RepairCall['path'],
  { transactionId, betId, playerId }: Entry,
  values: Record<string, string | null>,
): RepairCall | null {
  const body: Record<string, string | null> = { transactionId, betId, playerId, ...values }
  if (transactionId.length > idLengthMax || Object.values(body).includes(null)) return null
  const known = body as Record<string, string>
  const user = '-u "$WALLET_USER:$WALLET_PASSWORD"'
  const curl = `curl -i ${user} -H 'Content-Type: application/json' --data-binary ${quoted(JSON.stringify(known))} "$WALLET_URL${path}"`
  return { path, body: known, curl }
}
