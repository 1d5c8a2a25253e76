/**
 * A WalletStore over SQLite, whole, beside template.ts: the players' table is the PAM's, with balances in
 * hundredths. `DatabaseSync` of node:sqlite fits, and so does better-sqlite3.
 *
 * A wallet in production needs a server with replicas; this store shows the contract on one screen. Nothing
 * else runs in the process while a statement runs, so each database transaction is one moment of it. Other
 * processes are kept out by the locks of the file.
 */

import type { CommitResult, Transaction, WalletChanges, WalletStore } from 'bet-wallet'
import Big from 'big.js'

/** What both drivers have in common. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): Statement
}

interface Statement {
  get(values: Values): unknown
  run(values: Values): { changes: number | bigint }
}

/** By name: `:betId`. */
type Values = Record<string, string | bigint | null>

const integerMax = 2n ** 63n - 1n

/**
 * The tables. Text is compared byte by byte (BINARY, the default), so ids are exact (D24). A record is JSON,
 * with its amounts as text: SQLite has no exact decimals, and a REAL would round.
 */
export const schema = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS players (
    player_id text PRIMARY KEY, currency text NOT NULL, balance integer NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS transactions (
    id integer PRIMARY KEY, operation text NOT NULL, transaction_id text NOT NULL, record text NOT NULL,
    UNIQUE (operation, transaction_id)) STRICT;
  CREATE TABLE IF NOT EXISTS bets (
    bet_id text PRIMARY KEY, revision integer NOT NULL, record text NOT NULL) STRICT;`

const statements = {
  transaction: `SELECT CAST(id AS text) AS id, record FROM transactions WHERE operation = :operation AND transaction_id = :transactionId`,
  bet: 'SELECT record FROM bets WHERE bet_id = :betId',
  player: 'SELECT currency, CAST(balance AS text) AS hundredths FROM players WHERE player_id = :playerId',
  // Guard 3, in the statement that writes. An integer that overflows becomes REAL, which STRICT refuses.
  addToBalance: `UPDATE players SET balance = balance + :delta
    WHERE player_id = :playerId AND currency = :currency AND (:floor IS NULL OR balance + :delta >= :floor)`,
  // Guard 1: the unique key.
  insertTransaction: `INSERT INTO transactions (operation, transaction_id, record)
    VALUES (:operation, :transactionId, :record) ON CONFLICT DO NOTHING`,
  // Guard 2.
  insertBet: 'INSERT INTO bets (bet_id, revision, record) VALUES (:betId, 1, :record) ON CONFLICT DO NOTHING',
  updateBet: `UPDATE bets SET revision = :revision, record = :record
    WHERE bet_id = :betId AND revision = :revision - 1`,
}

/** @param database with the tables of {@link schema}, a connection for this store alone */
export function createSqliteStore(database: SqliteDatabase): WalletStore {
  // A commit waits for the disk, and half a second for another process that writes.
  database.exec('PRAGMA synchronous = FULL; PRAGMA busy_timeout = 500')
  const prepared = Object.fromEntries(
    Object.entries(statements).map(([name, sql]) => [name, database.prepare(sql)]),
  ) as Record<keyof typeof statements, Statement>
  const rowOf = (name: keyof typeof statements, values: Values) =>
    prepared[name].get(values) as Record<string, string> | undefined
  const writes = (name: keyof typeof statements, values: Values) =>
    Number(prepared[name].run(values).changes) === 1

  return {
    contractVersion: 2,

    async load({ operation, transactionId, playerId, betId }) {
      database.exec('BEGIN') // one snapshot for the three reads
      try {
        const bet = rowOf('bet', { betId })
        const transaction = rowOf('transaction', { operation, transactionId })
        const account = rowOf('player', { playerId })
        return {
          bet: bet === undefined ? null : JSON.parse(bet.record as string),
          transaction: transaction === undefined ? null : recordedTransaction(transaction),
          accounts: account === undefined ? [] : [{ playerId, ...accountOf(account) }],
        }
      } finally {
        database.exec('ROLLBACK')
      }
    },

    async commit(changes) {
      const { transaction, account } = changes
      const delta = hundredthsOf(account.delta)
      if (delta === null) return inexact(transaction)
      try {
        database.exec('BEGIN IMMEDIATE') // the lock of the only writer
      } catch (cause) {
        return { status: 'unavailable', cause }
      }
      let result: CommitResult = { status: 'conflict' }
      try {
        if (write(changes, delta)) result = { status: 'committed', ...answerTo(transaction) }
        database.exec(result.status === 'committed' ? 'COMMIT' : 'ROLLBACK')
      } catch (error) {
        // Also of COMMIT: it can leave the database transaction open, and no later one could begin.
        endTransaction()
        throw error
      }
      return result
    },
  }

  function endTransaction(): void {
    try {
      database.exec('ROLLBACK')
    } catch {
      // It had ended. The error before it is thrown: the outcome of a COMMIT is unknown.
    }
  }

  /** @returns whether all guards held */
  function write({ transaction, bet, account }: WalletChanges, delta: bigint): boolean {
    const { operation, transactionId, playerId } = transaction
    const floor = account.floor === null ? null : floorOf(account.floor)
    if (!writes('addToBalance', { playerId, currency: account.currency, delta, floor })) return false
    if (!writes('insertTransaction', { operation, transactionId, record: JSON.stringify(transaction) }))
      return false
    if (bet === null) return true
    const record = { betId: bet.betId, record: JSON.stringify(bet) }
    return bet.revision === 1
      ? writes('insertBet', record)
      : writes('updateBet', { ...record, revision: BigInt(bet.revision) })
  }

  function answerTo({ operation, transactionId, playerId }: Transaction) {
    const { id } = rowOf('transaction', { operation, transactionId }) as { id: string }
    const { balance } = accountOf(rowOf('player', { playerId }) as Record<string, string>)
    return { balance, walletTransactionId: id }
  }
}

const recordedTransaction = ({ id, record }: Record<string, string>): Transaction => ({
  ...JSON.parse(record as string),
  walletTransactionId: id,
})

const accountOf = ({ currency, hundredths }: Record<string, string>) => ({
  currency: currency as string,
  balance: new Big(hundredths as string).div(100).toFixed(2),
})

/** @returns `null`: the column cannot hold the amount */
function hundredthsOf(amount: string): bigint | null {
  const hundredths = new Big(amount).times(100)
  return hundredths.eq(hundredths.round(0)) && hundredths.abs().lte(integerMax.toString())
    ? BigInt(hundredths.toFixed(0))
    : null
}

function floorOf(floor: string): bigint {
  const hundredths = hundredthsOf(floor)
  if (hundredths === null) throw new RangeError(`The floor ${floor} is no number of hundredths`)
  return hundredths
}

/** A stake is refused. A credit must not be: it is a fault, and the platform sends it again. */
function inexact({ amount, delta }: Transaction): CommitResult {
  const description = `amount: ${amount ?? delta} is no number of hundredths that an account can hold`
  if (!delta.startsWith('-')) throw new RangeError(description)
  return { status: 'refused', errorCode: 'INVALID_AMOUNT', description }
}
