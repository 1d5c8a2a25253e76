/** After the load: recorded answers are replayed unchanged, whatever the current balance is (D2, D6, D7). */
import type pg from 'pg'
import type { Accounts } from './accounts.js'
import type { Answer, Call, Platform, PlatformBet } from './platform.js'
import type { Random } from './random.js'

const retryMsMax = 60_000

export interface RetryOptions {
  pool: pg.Pool
  accounts: Accounts
  random: Random
  /** The approximate number of calls. */
  callsMax: number
  reportDifference(difference: string, bet: PlatformBet): void
}

/**
 * Changes every balance, and sends a sample of the answered calls again.
 *
 * @returns how many
 */
export async function retryAnswered(
  platform: Platform,
  { pool, accounts, random, callsMax, reportDifference }: RetryOptions,
): Promise<number> {
  /** A fault is no answer: the platform tries again. */
  const answerOf = async (call: Call): Promise<Answer | null> => {
    const until = performance.now() + retryMsMax
    for (;;) {
      const answer = await platform.retry(call)
      if (typeof answer === 'object') return answer
      if (answer === 'differs' || performance.now() > until) return null
    }
  }

  for (const playerId of accounts.initialBalances.keys()) await accounts.move(playerId, 1_000_000)
  const { rows } = await pool.query<{ account: string; cents: string }>(
    `SELECT account, trim_scale(cents)::text AS cents FROM (${accounts.balancesSql}) b`,
  )
  const balances = new Map(rows.map(({ account, cents }) => [account, Number(cents)]))
  const calls = sampleOf(platform, random, callsMax)
  for (const call of calls) {
    const first = call.answers.find(isRecorded(call))
    const replay = await answerOf(call)
    const same =
      first !== undefined &&
      replay?.status === first.status &&
      replay.errorCode === first.errorCode &&
      replay.walletTransactionId === first.walletTransactionId
    const of = (answer: typeof first | null) =>
      `${answer?.status} ${answer?.errorCode ?? answer?.walletTransactionId ?? ''}`
    if (!same)
      reportDifference(
        `${call.operation} ${call.transactionId}: first ${of(first)}, then ${of(replay)}`,
        call.bet,
      )
    if (replay?.errorCode === null && replay.cents !== balances.get(call.bet.playerId))
      reportDifference(
        `${call.operation} ${call.transactionId}: its replay has a balance other than the current one`,
        call.bet,
      )
  }
  return calls.length
}

/** Whether an answer is recorded, so that every retry must get it again. */
export const isRecorded =
  (call: Call) =>
  ({ status, errorCode }: Call['answers'][number]): boolean =>
    status < 500 && (errorCode === null || call.operation === 'placebet' || status === 402)

/** Every uncollected clawback, and a random sample of the other calls. */
function sampleOf(platform: Platform, random: Random, callsMax: number): Call[] {
  const answered = platform.bets.flatMap(bet => bet.calls).filter(call => call.answers.some(isRecorded(call)))
  const isUncollected = (call: Call) =>
    call.operation === 'unsettlement' && call.answers.some(({ status }) => status === 402)
  const uncollected = answered.filter(isUncollected)
  const others = answered.filter(call => !isUncollected(call))
  const share = (100 * Math.max(0, callsMax - uncollected.length)) / Math.max(1, others.length)
  return [...uncollected.slice(0, callsMax), ...others.filter(() => random.percent(share))]
}
