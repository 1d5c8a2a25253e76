/** The cut-over from a legacy integration (D27): its records in chunks, and which one the tables reject. */
import { textOf } from '../../foreign-values.js'
import type { Bet, RecordedReason, Transaction } from '../../store.js'
import { QueryFailed } from './deadline.js'
import type { MakeError } from './errors.js'
import { creditsToRow } from './rows.js'

export interface ImportReport {
  /** Records that were new, or replaced those of an earlier import. */
  imported: number
  /** Records that existed already and were not changed. */
  alreadyPresent: number
}

/** Rows per statement. */
const rowsMax = 1_000

/** A kind of records. */
export interface Imported<Item> {
  /** Names the record in an error. */
  describe(item: Item): string
  rowOf(item: Item): object
}

interface ImportOf<Item> extends Imported<Item> {
  /** Inserts the rows that are new, all or none, from JSON. Returns how many. */
  insert(rows: string): Promise<number>
  makeError: MakeError
}

/** @throws `IMPORT_REJECTED`, naming the record. The chunks before it are imported */
export async function importInChunks<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  { insert, describe, rowOf, makeError }: ImportOf<Item>,
): Promise<ImportReport> {
  // Async: a record that has no JSON must reject as well.
  const insertAll = async (chunk: readonly Item[]) => await insert(JSON.stringify(chunk.map(rowOf)))
  /** After a failed chunk: finds the record that the tables reject. */
  const insertOneByOne = async (chunk: readonly Item[]): Promise<number> => {
    let imported = 0
    for (const item of chunk) {
      try {
        imported += await insertAll([item])
      } catch (error) {
        const cause = error instanceof QueryFailed ? error.cause : error
        throw makeError('IMPORT_REJECTED', `${describe(item)}: ${textOf(cause)}`, { cause })
      }
    }
    return imported
  }

  const report: ImportReport = { imported: 0, alreadyPresent: 0 }
  for await (const chunk of chunksOf(items)) {
    const imported = await insertAll(chunk).catch(() => insertOneByOne(chunk))
    report.imported += imported
    report.alreadyPresent += chunk.length - imported
  }
  return report
}

async function* chunksOf<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let chunk: Item[] = []
  for await (const item of items) {
    chunk.push(item)
    if (chunk.length === rowsMax) {
      yield chunk
      chunk = []
    }
  }
  if (chunk.length > 0) yield chunk
}

export const importedBets: Imported<Bet> = {
  describe: bet => `bets, ${bet.betId}`,
  rowOf: bet => ({
    bet_id: bet.betId,
    player_id: bet.playerId,
    currency: bet.currency,
    stake: bet.stake,
    status: bet.status,
    revision: bet.revision,
    ...creditsToRow(bet.credits),
  }),
}

/** A transaction that the legacy integration answered: its rules decided, so its reason is IMPORTED. */
export interface ImportedTransaction extends Omit<Transaction, 'accountCurrency' | 'reason'> {
  /**
   * Of `delta`. State it for unsettlements and rollbacks, whose calls have no currency: without it lookups
   * and reconciliation count them under none.
   *
   * @default currency
   */
  accountCurrency?: string | null
}

export const importedTransactions: Imported<ImportedTransaction> = {
  describe: ({ transactionId }) => `transactions, ${transactionId}`,
  rowOf: transaction => ({
    operation: transaction.operation,
    transaction_id: transaction.transactionId,
    player_id: transaction.playerId,
    bet_id: transaction.betId,
    amount: transaction.amount,
    currency: transaction.currency,
    type: transaction.type,
    delta: transaction.delta,
    account_currency: transaction.accountCurrency ?? transaction.currency,
    error_code: transaction.refusal?.errorCode ?? null,
    description: transaction.refusal?.description ?? null,
    reason: 'IMPORTED' satisfies RecordedReason,
    transaction_date: transaction.transactionDate,
    wallet_transaction_id: transaction.walletTransactionId,
  }),
}
