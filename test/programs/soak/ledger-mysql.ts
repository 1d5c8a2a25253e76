/** The ledger of a wallet on MariaDB or MySQL with the library's own players' table. */
import type { ConnectionOptions, RowDataPacket } from 'mysql2/promise'
import { withConnection } from '../../mariadb/server.js'
import {
  type BetColumns,
  centsOfDecimal,
  type Ledger,
  type LedgerTransaction,
  ledgerBetOf,
} from './ledger.js'

/** @param node with the database; on Galera, a node that waits for what the cluster has committed before */
export async function readMysqlLedger(node: ConnectionOptions): Promise<Ledger> {
  return await withConnection(node, async connection => {
    await connection.query('/*M! SET SESSION wsrep_sync_wait = 1 *//*!80000 DO 0 */')
    const rowsOf = async <Row>(text: string) => {
      const [rows] = await connection.query<(Row & RowDataPacket)[]>(text)
      return rows as Row[]
    }
    const players = await rowsOf<{ id: string; balance: string }>(
      'SELECT player_id AS id, CAST(balance AS char) AS balance FROM wallet_players',
    )
    const transactions = await rowsOf<Omit<LedgerTransaction, 'delta'> & { delta: string }>(
      `SELECT operation, transaction_id AS transactionId, player_id AS playerId, bet_id AS betId,
        CAST(delta AS char) AS delta, error_code AS errorCode,
        COALESCE(reference, CAST(id AS char)) AS walletTransactionId
      FROM wallet_transactions`,
    )
    const bets = await rowsOf<BetColumns & { bet_id: string }>('SELECT * FROM wallet_bets')
    return {
      balances: new Map(players.map(({ id, balance }) => [id, centsOfDecimal(balance)])),
      transactions: transactions.map(row => ({ ...row, delta: centsOfDecimal(row.delta) })),
      bets: new Map(bets.map(row => [row.bet_id, ledgerBetOf(row)])),
    }
  })
}
