/** Per kind of difference, who has to act, and the call for a row that never arrived. */
import { quoted } from '../platform/curl.js'
import type { Difference, Finding, Repair, RepairCall } from './difference.js'
import type { Entry, ReportRow, WalletRecord } from './entry.js'

const idLengthMax = 255

/** What people read about a bet as a whole. */
export const texts = {
  askPlatform: 'Ask the platform first.',
  fundsMayLack:
    'If the player has not enough funds, a debit is refused, and no later call can make it: book the amount by hand then.',
  inSum: 'with it, the bet is what the platform counts.',
  repairOfOtherRange:
    'Repaired: this call of an earlier reconciliation repaired a difference outside of this range. To check the bet as a whole, compare a range with all of its transactions.',
  evenOut: 'The differences of the bet cancel out: the player has what the platform counts.',
  undone:
    'The report has neither the bet nor its rollback. Together they moved nothing. Ask the platform only if it should know the bet.',
  incompleteReport:
    'The report has nothing for a time, so it may be incomplete: get a complete one first, and compare again.',
  incomplete:
    'The platform counts other transactions of this bet, so its report is incomplete: it sends a complete one. Do not roll the bet back.',
  unclear:
    'First clear up with the platform what else differs about this bet: until then, every call could be wrong.',
  notLookedUp:
    'The bet could not be looked up, so no call is proposed. Run it with the index on bets, or for a shorter range.',
  returned:
    'Ask the platform first. If it keeps the bet, the player has the stake back: a bet that is rolled back stays so. The platform cancels the bet, or places it again under new ids.',
  byHand:
    'No call can repair this. Agree with the platform which amount is right, and book the difference by hand.',
  cashOut:
    'A cash-out cannot be reversed by a call. Agree with the platform which amount is right, and book the difference by hand.',
  otherStake:
    'No call changes a stake. If the amount in the wallet is wrong, the platform rolls the bet back and places it again under new ids.',
  otherReturn:
    'A rollback returns the stake that the wallet has recorded: compare the placebet of the bet with the platform.',
  repairRefused:
    "A call to repair this was refused, because the player's funds did not cover it. Refusals are final: no other call can repair it. Book the amount by hand, or write it off. The platform owes nothing.",
  betExists:
    'The wallet has this bet under another transactionId: it debits one stake per bet. The platform cancels this one.',
  rolledBack:
    'The bet is rolled back in the wallet, which stays so. The platform cancels the bet, and this with it.',
  betRefused: 'The wallet refused the bet, finally. The platform cancels the bet, and this with it.',
  betUnknown:
    'The wallet does not know the bet, and this report does not have its placebet. Compare the range in which it was placed first.',
  settledRollback:
    'The wallet cannot roll back a bet that is settled. Ask the platform which of the two is right: if the rollback is, it reverses the settlement first.',
  reversedBefore: 'The wallet has reversed the settlement already, once. The platform counts it once.',
  creditUnknown:
    'The wallet has no such settlement to reverse. Compare the range in which the bet was settled first.',
  notStated:
    'The report does not state all that the call needs, such as the player or the type. Get one that does.',
  otherDay:
    "Its date is outside of this range, so the platform's report of that day may have it. Compare a range with both days, and give the report of that day too: if it has it, this is no difference; if not, the call that repairs it is known.",
  otherId:
    'The money moved once. The platform names the transactionId under which it was answered with success.',
  otherMoney: 'Then compare again: the amounts, currencies or types differ too.',
  creditedSince:
    'The wallet has credited the bet again since. Agree with the platform what it nets off, and book it by hand.',
}

export const noRepair = (text: string): Repair => ({ by: 'none', text, calls: [] })
export const platform = (text: string): Repair => ({ by: 'platform', text, calls: [] })
export const operator = (text: string, call: RepairCall | null = null): Repair => ({
  by: 'operator',
  text,
  calls: call === null ? [] : [call],
})

/** Of what no plan of the bet covers. */
export function repairOf({ kind, row, record }: Finding & Pick<Difference, 'kind'>, from: string): Repair {
  switch (kind) {
    case 'duplicate-in-wallet':
      return operator(
        'The store has recorded a transaction twice, which must be impossible. Stop the wallet, and check the primary key of the transactions (guard 1 of the store contract).',
      )
    case 'other-player':
    case 'other-bet':
    case 'other-operation':
      return operator(
        'Correct nothing by hand before the platform has said which of the two is right: the wallet never changes a transaction that is recorded.',
      )
    case 'other-currency':
      return operator(
        'The wallet never converts currencies. The platform corrects its report, or both sides agree on the amount and the operator books it.',
      )
    case 'refused-by-wallet':
      return platform(
        'The refusal is final, and every retry is refused too: no call can change it. The platform cancels it.',
      )
    case 'tombstone':
      return row === null
        ? noRepair('Nothing moved. If the platform counts the bet in another report, it cancels the bet.')
        : platform(
            'The rollback cancelled the bet before it arrived: the wallet debited nothing and owes nothing. The platform cancels the bet, or takes it out of its report.',
          )
    case 'rolled-back-twice':
      return row === null
        ? noRepair('Nothing moved: the stake was returned once, by the first rollback.')
        : platform('The stake is returned once. The platform counts one rollback of the bet.')
    case 'uncollected-clawback':
      return platform(
        'The platform nets the amount off later winnings of the player. Debit nothing by hand: the player would pay twice.',
      )
    case 'other-transaction-id':
      return platform(isSameMoney(row, record) ? texts.otherId : `${texts.otherId} ${texts.otherMoney}`)
    case 'duplicate-in-report':
      return platform('The money moved once in the wallet. The platform counts the row once.')
    case 'conflicting-in-report':
      return platform(
        'The wallet executes a transactionId once, with its first content. The platform sends the second one under a transactionId of its own, or takes it out of its report.',
      )
    case 'out-of-range':
      return noRepair(outsideText(row))
    default:
      return row === null || record !== null ? operator(texts.byHand) : callOfRow(row, from)
  }
}

const isSameMoney = (row: ReportRow | null, record: WalletRecord | null) =>
  row?.amount === record?.amount &&
  (row?.currency ?? record?.currency) === record?.currency &&
  (row?.type ?? record?.type) === record?.type

const outsideText = (row: ReportRow | null) =>
  row?.transactionDate === null
    ? 'Both sides have it. Widen the range (--from, --to), and compare again.'
    : 'Both sides have it: the sums of this range and its neighbour together agree.'

/** Of placebets that are sent for the platform: no session of a player is known. */
const sessionId = 'reconciliation'

/** A call that the platform counts and the wallet has no record of: under its own id, it is a retry. */
export function callOfRow(row: ReportRow, from: string): Repair {
  const date = { transactionDate: row.transactionDate ?? from }
  const money = { amount: row.amount, currency: row.currency }
  switch (row.operation) {
    case 'placebet':
      return operator(
        `If the platform keeps the bet, send the placebet: it is a retry, so it debits once, if funds suffice. Otherwise the platform cancels the bet. Ask it, unless you have restored the database: then it keeps what it counts. Let the sessionId "${sessionId}" pass your authorizeRequest first: its refusal would be final.`,
        callOf('/placebet', row, { ...money, sessionId, betType: 'SINGLE', ...date }),
      )
    case 'settlement':
      return operator(
        'Settle the bet, under the same transactionId: a retry credits once.',
        callOf('/settlement', row, { type: row.type, ...money, ...date }),
      )
    case 'unsettlement':
      return row.accepted
        ? operator(
            'Send the unsettlement, under the same transactionId: a retry debits once.',
            callOf('/unsettlement', row, { type: row.type, ...date }),
          )
        : operator(
            'Send it to a wallet with the option clawbacks: false, before the platform can reach the wallet: it debits nothing, and records that the platform nets the amount off. Without it, a later unsettlement would collect the same amount again.',
            callOf('/unsettlement', row, { type: row.type, ...date }, 'WALLET_URL_WITHOUT_CLAWBACKS'),
          )
    case 'rollbackbet':
      return operator(
        'Send the rollback, under the same transactionId: a retry credits once.',
        callOf('/rollbackbet', row, { type: 'TECHNICAL_ERROR', ...date }),
      )
  }
}

/**
 * @param url the environment variable with the address
 * @returns `null` if a value of the call is unknown: a call with a guess could move money wrongly
 */
export function callOf(
  path: RepairCall['path'],
  { transactionId, betId, playerId }: Pick<Entry, 'transactionId' | 'betId' | 'playerId'>,
  values: Record<string, string | null>,
  url = 'WALLET_URL',
): RepairCall | null {
  const body: Record<string, string | null> = { transactionId, betId, playerId, ...values }
  if (transactionId.length > idLengthMax || Object.values(body).includes(null)) return null
  const known = body as Record<string, string>
  const user = '-u "$WALLET_USER:$WALLET_PASSWORD"'
  const curl = `curl -i ${user} -H 'Content-Type: application/json' --data-binary ${quoted(JSON.stringify(known))} "$${url}${path}"`
  return { path, body: known, curl }
}
