/**
 * After an asynchronous failover: what was answered and is missing, found from the platform's own records, as
 * an operator must. The proof that it finds all of it, and nothing else, is the data of the old primary.
 */
import type pg from 'pg'
import type { Answer, Call, PlatformBet } from './platform.js'
import type { BalanceState } from './refusals.js'
import { isRecorded } from './retries.js'

/** What a server has of a wallet. */
export interface ServerState {
  /** `placebet transaction-7 = 31` with the reference, or `placebet transaction-7 = INSUFFICIENT_FUNDS`. */
  transactions: ReadonlySet<string>
  /** The ids of the PAM's own movements. */
  movements: ReadonlySet<string>
  /** The changed balances of each player, in order. */
  balances: ReadonlyMap<string, readonly BalanceState[]>
}

export interface Lost {
  /** The answers that the platform received, and that are recorded no more. */
  answers: readonly string[]
  /** Their bets: what follows for them is not judged. */
  bets: ReadonlySet<string>
  /** The PAM's own movements that were acknowledged. */
  movements: ReadonlySet<string>
}

type Queryable = Pick<pg.Pool, 'query'>

export async function readState(client: Queryable): Promise<ServerState> {
  const transactions = await client.query<{ it: string }>(
    `SELECT format('%s %s = %s', operation, transaction_id, coalesce(error_code, wallet_transaction_id::text)) AS it
      FROM bet_wallet.transactions`,
  )
  const movements = await client.query<{ id: string }>('SELECT id FROM pam.movements')
  const changes = await client.query<{ account: string; cents: string; at: Date }>(
    'SELECT account, trim_scale(after_cents)::text AS cents, at FROM pam.changes ORDER BY number',
  )
  const balances = new Map<string, BalanceState[]>()
  for (const { account, cents, at } of changes.rows)
    balances.set(account, [...(balances.get(account) ?? []), { cents: Number(cents), since: at.getTime() }])
  return {
    transactions: new Set(transactions.rows.map(({ it }) => it)),
    movements: new Set(movements.rows.map(({ id }) => id)),
    balances,
  }
}

/** By the records of the platform and of the PAM alone, against the database as it is now. */
export function findLost(
  bets: readonly PlatformBet[],
  acknowledged: ReadonlySet<string>,
  now: ServerState,
): Lost {
  const calls = bets.flatMap(bet => bet.calls)
  const lost = calls.flatMap(call =>
    recordsOf(call)
      .filter(record => !now.transactions.has(record))
      .map(record => ({ record, call })),
  )
  return {
    answers: [...new Set(lost.map(({ record }) => record))],
    bets: new Set(lost.map(({ call }) => call.bet.betId)),
    movements: new Set([...acknowledged].filter(id => !now.movements.has(id))),
  }
}

/** Whether the reconciliation has found exactly what the old primaries had committed and answered. */
export function checkLost(
  found: Lost,
  old: readonly ServerState[],
  now: ServerState,
  bets: readonly PlatformBet[],
  acknowledged: ReadonlySet<string>,
  reportDifference: (difference: string) => void,
): void {
  const answered = new Set(bets.flatMap(bet => bet.calls).flatMap(recordsOf))
  compare(
    'answer',
    new Set(found.answers),
    old.flatMap(({ transactions }) =>
      [...transactions].filter(record => answered.has(record) && !now.transactions.has(record)),
    ),
    reportDifference,
  )
  compare(
    'movement',
    found.movements,
    old.flatMap(({ movements }) =>
      [...movements].filter(id => acknowledged.has(id) && !now.movements.has(id)),
    ),
    reportDifference,
  )
}

function compare(
  what: string,
  found: ReadonlySet<string>,
  onOldPrimary: readonly string[],
  reportDifference: (difference: string) => void,
): void {
  const old = new Set(onOldPrimary)
  for (const it of found)
    if (!old.has(it)) reportDifference(`${what} ${it} is missing, but no old primary had committed it`)
  for (const it of old)
    if (!found.has(it)) reportDifference(`${what} ${it} was lost, but the reconciliation did not find it`)
}

/** What must be recorded for the answers of a call. */
function recordsOf(call: Call): string[] {
  const of = ({ errorCode, walletTransactionId }: Answer) =>
    `${call.operation} ${call.transactionId} = ${errorCode ?? walletTransactionId}`
  return call.answers.filter(isRecorded(call)).map(of)
}
