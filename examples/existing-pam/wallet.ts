/** The adoption: which table the players are in, which rules the PAM has, and which rows of its own it wants. */
import {
  createPostgresStore,
  type PendingCommit,
  type PostgresClient,
  type PostgresStore,
  type PostgresStoreOptions,
  type PostgresTables,
  type Query,
} from 'bet-wallet/postgres'

/** From these the file migrations/003-bet-wallet.sql is written: `npx tsx examples/existing-pam/write-migration.ts`. */
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
  async withinTransaction(query, commits) {
    await applyHouseRules(query, commits)
    await writeRows(query, commits)
  },
}

export function createPamWallet(client: PostgresClient): PostgresStore {
  return createPostgresStore(client, options)
}

/** Blocked players, and stakes per day. The accounts are locked by now, so that nobody bets beside it. */
async function applyHouseRules(query: Query, commits: readonly PendingCommit[]): Promise<void> {
  // Only stakes: a clawback is due from a blocked player too.
  const stakes = commits.flatMap(({ changes: { transaction, balance } }, i) =>
    transaction.operation === 'placebet' && balance !== null
      ? [{ i, account_no: transaction.playerId, stake: transaction.amount }]
      : [],
  )
  if (stakes.length === 0) return
  // Of each player only the first that is too much: without it the next one may do, and is asked again.
  const { rows } = await query(
    `SELECT DISTINCT ON (account_no) i, status
      FROM (
        SELECT stakes.i, account_no, a.status, a.stake_limit_cents,
          sum(stakes.stake * 100) OVER (PARTITION BY account_no ORDER BY stakes.i) + (
            SELECT coalesce(sum(b.stake_cents), 0) FROM pam.bets b
            WHERE b.account_id = a.account_id AND b.placed_at >= date_trunc('day', now(), 'UTC')
              AND b.rolled_back_at IS NULL
          ) AS staked_cents
        FROM json_to_recordset($1) AS stakes (i integer, account_no text, stake numeric)
        JOIN pam.accounts a USING (account_no)
      ) today
      WHERE status = 'blocked' OR staked_cents > stake_limit_cents
      ORDER BY account_no, i`,
    [JSON.stringify(stakes)],
  )
  for (const { i, status } of rows as { i: number; status: string }[]) {
    if (status === 'blocked') commits[i]?.refuse('ACCOUNT_BLOCKED', 'playerId: the account is blocked')
    else commits[i]?.refuse('STAKE_LIMIT', 'amount: above what the player may stake per day')
  }
}

/** The bet with its odds, both rows of the ledger, and an event: in the same commit as the money. */
async function writeRows(query: Query, commits: readonly PendingCommit[]): Promise<void> {
  const done = commits.map(({ walletTransactionId, changes: { transaction, request } }) => ({
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
    `WITH done AS MATERIALIZED (
        SELECT done.*, a.account_id, (done.delta * 100)::bigint AS cents
        FROM json_to_recordset($1) AS done (operation text, account_no text, bet_id text, delta numeric,
          refusal text, odds numeric, bet_type text, reference text)
        JOIN pam.accounts a USING (account_no)
      ), placed AS (
        INSERT INTO pam.bets (bet_id, account_id, stake_cents, odds, bet_type)
        SELECT bet_id, account_id, -cents, odds, bet_type FROM done
        WHERE operation = 'placebet' AND refusal IS NULL
      ), rolled_back AS (
        UPDATE pam.bets b SET rolled_back_at = now() FROM done
        WHERE b.bet_id = done.bet_id AND done.operation = 'rollbackbet' AND b.rolled_back_at IS NULL
      ), event AS (
        INSERT INTO pam.outbox (kind, payload)
        SELECT 'wallet.' || operation, jsonb_build_object('accountNo', account_no, 'betId', bet_id, 'cents', cents,
          'reference', reference, 'refusal', refusal) FROM done
      )
      SELECT pam.book(account_id, cents, 'sportsbook', reference) FROM done WHERE cents <> 0`,
    [JSON.stringify(done)],
  )
}
