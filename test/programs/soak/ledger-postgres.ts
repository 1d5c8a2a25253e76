/** The ledger of a wallet on PostgreSQL with the library's own players' table. */
import type pg from 'pg'
import {
  type BetColumns,
  centsOfDecimal,
  type Ledger,
  type LedgerTransaction,
  ledgerBetOf,
} from './ledger.js'

export async function readPostgresLedger(pool: pg.Pool): Promise<Ledger> {
  const players = await pool.query<{ id: string; balance: string }>(
    'SELECT player_id AS id, balance::text AS balance FROM bet_wallet.players',
  )
  const transactions = await pool.query<Omit<LedgerTransaction, 'delta'> & { delta: string }>(
    `SELECT operation, transaction_id AS "transactionId", player_id AS "playerId", bet_id AS "betId", delta::text AS delta,
      error_code AS "errorCode", wallet_transaction_id::text AS "walletTransactionId"
    FROM bet_wallet.transactions`,
  )
  const bets = await pool.query<BetColumns & { bet_id: string }>('SELECT * FROM bet_wallet.bets')
  return {
    balances: new Map(players.rows.map(({ id, balance }) => [id, centsOfDecimal(balance)])),
    transactions: transactions.rows.map(row => ({ ...row, delta: centsOfDecimal(row.delta) })),
    bets: new Map(bets.rows.map(row => [row.bet_id, ledgerBetOf(row)])),
  }
}
