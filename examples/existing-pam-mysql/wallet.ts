/** The adoption: the players' table, a rule of the PAM, and its own rows in each database transaction. */
import {
  createMysqlStore,
  type MysqlClient,
  type MysqlStore,
  type MysqlStoreOptions,
  type PendingCommit,
  type Query,
} from 'bet-wallet/mysql'

export const options: MysqlStoreOptions = {
  // The library's tables lie beside those of the PAM: their names begin with "wallet_".
  schema: 'pam',
  players: {
    table: 'pam.accounts',
    id: 'account_no',
    idCollation: 'utf8mb4_general_ci',
    currency: 'currency',
    balance: 'balance_cents',
    balanceType: 'minor-units',
    minorUnits: 2,
  },
  async withinTransaction(query, pending) {
    await refuseBlocked(query, pending)
    await writeLedger(query, pending)
  },
}

export function createPamWallet(client: MysqlClient): MysqlStore {
  return createMysqlStore(client, options)
}

/** Refuses bets of blocked players. The row locks are held: the status cannot change before the commit. */
async function refuseBlocked(query: Query, pending: readonly PendingCommit[]): Promise<void> {
  // Only bets, free ones too: a clawback is due from a blocked player.
  const bets = pending.filter(
    ({ changes: { transaction } }) => transaction.operation === 'placebet' && transaction.refusal === null,
  )
  if (bets.length === 0) return
  const { rows } = await query(
    `SELECT account_no FROM pam.accounts
      WHERE status = 'blocked' AND account_no IN (${bets.map(() => '?').join(', ')})`,
    bets.map(({ changes }) => changes.transaction.playerId),
  )
  const blocked = new Set((rows as { account_no: string }[]).map(({ account_no }) => account_no))
  for (const { changes, refuse } of bets) {
    if (blocked.has(changes.transaction.playerId))
      refuse('ACCOUNT_BLOCKED', 'playerId: the account is blocked')
  }
}

/** Every change of a balance has its row in the ledger of the PAM. */
async function writeLedger(query: Query, pending: readonly PendingCommit[]): Promise<void> {
  const entries = pending.flatMap(({ walletTransactionId, changes: { transaction, account } }) =>
    account.delta === '0'
      ? []
      : [[transaction.playerId, transaction.delta, transaction.operation, walletTransactionId]],
  )
  if (entries.length === 0) return
  await query(
    `INSERT INTO pam.ledger (account_no, cents, reason, reference)
      VALUES ${entries.map(() => '(?, CAST(? AS decimal(38, 18)) * 100, ?, ?)').join(', ')}`,
    entries.flat(),
  )
}
