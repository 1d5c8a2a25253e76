/** `withinTransaction`: the operator's own rows in the database transaction of a batch. */

import type { Entry } from '../../batches/index.js'
import { type Decimal, subtract } from '../../money.js'
import type { CommitResult, WalletChanges } from '../../store.js'
import type { Columns } from './columns.js'
import { CallbackFailed } from './deadline.js'
import { isDebit } from './refusals.js'
import type { CommitRow } from './rows.js'

/** Runs one statement with its parameters and returns its rows. */
export type Query = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>

/** One request inside an open database transaction. */
export interface PendingCommit {
  readonly changes: WalletChanges
  /** The reference that the platform will be answered with. */
  readonly walletTransactionId: string
  /**
   * The player's balance right after this commit. Several commits of a player may share the database
   * transaction: `pending` has them in the order in which they are applied, and each has its own balance, as
   * a ledger needs it.
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
  refuse(errorCode: string, description: string): void
}

export type WithinTransaction = (query: Query, pending: readonly PendingCommit[]) => Promise<void>

export type CommitEntry = Entry<WalletChanges, CommitResult>
export type Refusals = Map<CommitEntry, CommitResult & { status: 'refused' }>

/** What is about to be committed. */
export interface PendingBatch {
  entries: readonly CommitEntry[]
  rows: readonly CommitRow[]
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

/**
 * The name of a savepoint, which marks our database transaction. A statement of the hook may fail unnoticed,
 * and COMMIT would silently be a ROLLBACK; or the hook may end the database transaction. In both cases the
 * savepoint cannot be released. Its name is random: a hook that knew it could roll back to it, or make it
 * again, unnoticed. It is one name for the whole process: servers count statements by their text, and a new
 * text each time would push all others out of these statistics.
 */
export const savepoint = `bet_wallet_${crypto.randomUUID().replaceAll('-', '')}`

export function pendingCommits(
  { entries, rows, columns }: PendingBatch,
  call: { ended: boolean },
  refusals: Refusals,
): PendingCommit[] {
  /** Of each player, before the commits that have been seen. A row has the balance after all of them. */
  const balances = new Map<string, Decimal>()
  const commits: PendingCommit[] = []
  for (const row of rows.toSorted((a, b) => b.item_index - a.item_index)) {
    const entry = entries[row.item_index]
    if (row.verdict !== 'committed' || entry === undefined) continue
    const { transaction, balance: change } = entry.item
    const balance =
      balances.get(transaction.playerId) ?? columns.fromColumn(row.balance ?? '', row.currency ?? '')
    balances.set(transaction.playerId, change === null ? balance : subtract(balance, change.delta))
    commits.unshift({
      changes: entry.item,
      walletTransactionId: row.wallet_transaction_id ?? '',
      balance,
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
