/** The cut-over from a legacy integration (D27): its records in chunks, and which one the tables reject. */
import { textOf } from '../../foreign-values.js'
import type { Bet, RecordedReason, Transaction } from '../../store.js'
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

export interface ImportOf<Item> {
  /** Inserts the records that are new, all or none. Returns how many. */
  insert(chunk: readonly Item[]): Promise<number>
  /** Names the record in an error. */
  describe(item: Item): string
  makeError: MakeError
}

/** @throws `IMPORT_REJECTED`, naming the record. The chunks before it are imported */
export async function importInChunks<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  { insert, describe, makeError }: ImportOf<Item>,
): Promise<ImportReport> {
  /** After a failed chunk: finds the record that the tables reject. */
  const insertOneByOne = async (chunk: readonly Item[]): Promise<number> => {
    let imported = 0
    for (const item of chunk) {
      try {
        imported += await insert([item])
      } catch (cause) {
        throw makeError('IMPORT_REJECTED', `${describe(item)}: ${textOf(cause)}`, { cause })
      }
    }
    return imported
  }

  const report: ImportReport = { imported: 0, alreadyPresent: 0 }
  for await (const chunk of chunksOf(items)) {
    const imported = await insert(chunk).catch(() => insertOneByOne(chunk))
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

/** The columns of a bet, apart from ids that the store makes. */
export const betToRow = (bet: Bet) => ({
  bet_id: bet.betId,
  player_id: bet.playerId,
  currency: bet.currency,
  stake: bet.stake,
  status: bet.status,
  revision: bet.revision,
  ...creditsToRow(bet.credits),
})

/** A transaction that the legacy integration answered: its rules decided, so its reason is IMPORTED. */
export type ImportedTransaction = Omit<Transaction, 'reason'>

/** The columns of a transaction, apart from its reference. */
export const transactionToRow = (transaction: ImportedTransaction) => ({
  operation: transaction.operation,
  transaction_id: transaction.transactionId,
  player_id: transaction.playerId,
  bet_id: transaction.betId,
  amount: transaction.amount,
  currency: transaction.currency,
  type: transaction.type,
  delta: transaction.delta,
  error_code: transaction.refusal?.errorCode ?? null,
  description: transaction.refusal?.description ?? null,
  reason: 'IMPORTED' satisfies RecordedReason,
  transaction_date: transaction.transactionDate,
})
