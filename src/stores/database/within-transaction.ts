/** `withinTransaction`: the operator's own rows in the database transaction of a batch. */

import type { Entry } from '../../batches/index.js'
import type { Decimal } from '../../money.js'
import type { CommitResult, WalletChanges } from '../../store.js'
import type { Columns } from './columns.js'
import { CallbackFailed } from './deadline.js'
import { isDebit } from './refusals.js'
import { betFromRow, type CommitAnswer, type Row } from './rows.js'

/** Runs one statement with its parameters and returns its rows. */
export type Query = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>

/** One request inside an open database transaction. */
export interface PendingCommit {
  /** `bet` is the changed one also where a `credit` was added to it. */
  readonly changes: WalletChanges
  /** The reference that the platform will be answered with. */
  readonly walletTransactionId: string
  /**
   * The column of the balance right after this commit, reserved funds included: no other one of the player is
   * in `pending`.
   */
  readonly balance: Decimal
  /**
   * Refuses the request by your own rule. The refusal is final: recorded and replayed (D6, D7). Only for
   * debits, and for bets with a stake of 0.
   *
   * @param errorCode 1 to 64 letters, digits, `_`, `-` or `.`; the platform is answered with it
   * @param description for people; the platform is answered with it
   * @throws {TypeError} when the request is neither, or `withinTransaction` has ended
   */
  readonly refuse: (errorCode: string, description: string) => void
}

export type WithinTransaction = (query: Query, pending: readonly PendingCommit[]) => Promise<void>

export type CommitEntry = Entry<WalletChanges, CommitResult>
export type Refusals = Map<CommitEntry, CommitResult & { status: 'refused' }>

/** What is about to be committed. */
export interface PendingBatch extends CommitAnswer {
  entries: readonly CommitEntry[]
  columns: Columns
}

/** The hook itself failed, not the database. */
export class HookFailed extends CallbackFailed {
  override readonly name = 'HookFailed'
}

/** The hook refused some of the requests: the database transaction is rolled back. */
export class RefusedByHook extends CallbackFailed {
  override readonly name = 'RefusedByHook'
  readonly refusals: Readonly<Refusals>
  constructor(refusals: Readonly<Refusals>) {
    super('Refused by withinTransaction')
    this.refusals = refusals
  }
}

/** Errors of the hook's statements: none of them is about the player's balance, whatever its code. */
const errorsOfHook = new WeakSet<object>()

export const isErrorOfHook = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && errorsOfHook.has(error)

export function noteErrorOfHook(error: unknown): void {
  if (typeof error === 'object' && error !== null) errorsOfHook.add(error)
}

const isNewBet = ({ transaction: { operation, refusal } }: WalletChanges) =>
  operation === 'placebet' && refusal === null

/** Random: a hook that knew the name of the savepoint could roll back to it, or make it again, unnoticed. */
const savepointPrefix = `bet_wallet_${crypto.randomUUID().replaceAll('-', '')}`
const numbersInUse = new Set<number>()

/**
 * Runs `work` with the name of a savepoint that marks its database transaction. A statement of the hook may
 * fail unnoticed, and COMMIT would silently be a ROLLBACK; the hook may end the database transaction; or a
 * driver may have given the session to another one. In each case the savepoint cannot be released. No two
 * database transactions in flight share a name, and the names are few: servers count statements by their
 * text, and a new text each time would push all others out of these statistics.
 */
export async function withSavepoint<T>(work: (savepoint: string) => Promise<T>): Promise<T> {
  let number = 0
  while (numbersInUse.has(number)) number += 1
  numbersInUse.add(number)
  try {
    return await work(`${savepointPrefix}_${number}`)
  } finally {
    numbersInUse.delete(number)
  }
}

export function pendingCommits(
  { entries, rows, loaded, columns }: PendingBatch,
  call: { ended: boolean },
  refusals: Refusals,
): PendingCommit[] {
  const commits: PendingCommit[] = []
  const changed = new Map(loaded.map(({ key_index: index, bet }) => [index, bet]))
  for (const row of rows.toSorted((a, b) => a.item_index - b.item_index)) {
    const entry = entries[row.item_index]
    if (row.verdict !== 'committed' || entry === undefined) continue
    commits.push({
      changes: withBet(entry.item, changed.get(row.item_index) ?? null),
      walletTransactionId: row.wallet_transaction_id ?? '',
      balance: columns.fromColumn(row.balance ?? '', row.currency ?? ''),
      refuse(errorCode, description) {
        if (call.ended) throw new TypeError('refuse: withinTransaction has ended')
        if (!isDebit(entry.item) && !isNewBet(entry.item))
          throw new TypeError('refuse: only a debit or a new bet can be refused')
        refusals.set(entry, { status: 'refused', errorCode, description })
      },
    })
  }
  return commits
}

/** @param changed the bet, where a credit was added to it */
function withBet(changes: WalletChanges, changed: Row | null): WalletChanges {
  if (changed === null) return changes
  return { ...changes, bet: betFromRow(changes.transaction.betId, changed) }
}
