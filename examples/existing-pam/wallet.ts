/** The adoption: the players' table, the rules of the PAM, and its own rows in each database transaction. */
import {
  createPostgresStore,
  type PendingCommit,
  type PostgresClient,
  type PostgresStore,
  type PostgresStoreOptions,
  type PostgresTables,
  type Query,
} from 'bet-wallet/postgres'

/**
 * The options of migrations/003-bet-wallet.sql, written by `npx tsx
 * examples/existing-pam/write-migration.ts`.
 */
export const tables: PostgresTables = {
  players: {
    table: 'pam.accounts',
    id: 'account_no',
    currency: 'currency',
    balance: 'balance_cents',
    balanceType: 'minor-units',
    minorUnits: 2,
  },
}

export const options: PostgresStoreOptions = {
  ...tables,
  async withinTransaction(query, pending) {
    await applyPlayerRules(query, pending)
    await writePamRows(query, pending)
  },
}

export function createPamWallet(client: PostgresClient): PostgresStore {
  return createPostgresStore(client, options)
}

/**
 * Refuses bets of blocked players, and stakes above the daily limit. The row locks are held: no other bet can
 * pass.
 */
async function applyPlayerRules(query: Query, pending: readonly PendingCommit[]): Promise<void> {
  // Only bets, free ones too: a clawback is due from a blocked player.
  const stakes = pending.flatMap(({ changes: { transaction } }, index) =>
    transaction.operation === 'placebet' && transaction.refusal === null
      ? [{ index, account_no: transaction.playerId, stake: transaction.amount }]
      : [],
  )
  if (stakes.length === 0) return
  const { rows } = await query(
    `SELECT item.index, account.status
      FROM json_to_recordset($1) AS item (index integer, account_no text, stake numeric)
      JOIN pam.accounts account USING (account_no)
      WHERE account.status = 'blocked'
        OR item.stake * 100 + (
          SELECT coalesce(sum(bet.stake_cents), 0)
          FROM pam.bets bet
          WHERE bet.account_id = account.account_id
            AND bet.placed_at >= date_trunc('day', now(), 'UTC')
            AND bet.rolled_back_at IS NULL
        ) > account.stake_limit_cents`,
    [JSON.stringify(stakes)],
  )
  for (const { index, status } of rows as { index: number; status: string }[]) {
    if (status === 'blocked') pending[index]?.refuse('ACCOUNT_BLOCKED', 'playerId: the account is blocked')
    else pending[index]?.refuse('STAKE_LIMIT', 'amount: above the daily stake limit of the player')
  }
}

/**
 * Writes the bet with its odds, both ledger rows and an event, in the database transaction that changes the
 * balance.
 */
async function writePamRows(query: Query, pending: readonly PendingCommit[]): Promise<void> {
  const written = pending.map(({ walletTransactionId, changes: { transaction, request } }) => ({
    operation: transaction.operation,
    account_no: transaction.playerId,
    bet_id: transaction.betId,
    delta: transaction.delta,
    refusal: transaction.refusal?.errorCode,
    odds: request.odds,
    bet_type: request.betType,
    reference: walletTransactionId,
  }))
  await query(
    `WITH written AS MATERIALIZED (
        SELECT item.*, account.account_id, (item.delta * 100)::bigint AS cents
        FROM json_to_recordset($1) AS item (
          operation text, account_no text, bet_id text, delta numeric,
          refusal text, odds numeric, bet_type text, reference text
        )
        JOIN pam.accounts account USING (account_no)
      ),

      placed AS (
        INSERT INTO pam.bets (bet_id, account_id, stake_cents, odds, bet_type)
        SELECT bet_id, account_id, -cents, odds, bet_type
        FROM written
        WHERE operation = 'placebet' AND refusal IS NULL
      ),

      rolled_back AS (
        UPDATE pam.bets bet
        SET rolled_back_at = now()
        FROM written
        WHERE bet.bet_id = written.bet_id
          AND written.operation = 'rollbackbet'
          AND bet.rolled_back_at IS NULL
      ),

      event AS (
        INSERT INTO pam.outbox (kind, payload)
        SELECT
          'wallet.' || operation,
          jsonb_build_object(
            'accountNo', account_no, 'betId', bet_id, 'cents', cents,
            'reference', reference, 'refusal', refusal
          )
        FROM written
      )

      SELECT pam.book(account_id, cents, 'sportsbook', reference)
      FROM written
      WHERE cents <> 0`,
    [JSON.stringify(written)],
  )
}
