/**
 * The contestants of the store: a wallet written by hand with pg, and a placebet as a stored procedure. The
 * tables have the indexes of the store's, without its constraints, and one credit per bet; the players' table
 * is the same.
 */
import type pg from 'pg'
import {
  type Account,
  answerByHand,
  type HandWrittenAnswer,
  type HandWrittenRequest,
  type InTransaction,
  type Operation,
  type Statements,
  type StoredBet,
} from '../by-hand.js'

export const handWrittenSchema = `
CREATE SCHEMA hand_written;

CREATE TABLE hand_written.players (
  player_id text PRIMARY KEY,
  currency text NOT NULL,
  balance numeric NOT NULL CHECK (balance >= 0)
) WITH (fillfactor = 50);

CREATE TABLE hand_written.bets (
  bet_id text PRIMARY KEY,
  player_id text NOT NULL,
  currency text NOT NULL,
  stake numeric NOT NULL,
  status text NOT NULL,
  credit numeric,
  owed numeric,
  recorded_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE hand_written.transactions (
  operation text NOT NULL,
  transaction_id text NOT NULL,
  player_id text NOT NULL,
  bet_id text NOT NULL,
  amount numeric,
  currency text,
  type text,
  delta numeric NOT NULL,
  error_code text,
  transaction_date timestamptz NOT NULL,
  wallet_transaction_id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (operation, transaction_id)
);

-- The same in one round trip. Returns the reference, the balance and an error code.
CREATE FUNCTION hand_written.place_bet(
  id text, bet text, player text, stake numeric, stake_currency text, placed timestamptz,
  OUT reference bigint, OUT balance_after numeric, OUT code text)
LANGUAGE plpgsql AS $$
DECLARE
  account record;
BEGIN
  SELECT t.wallet_transaction_id INTO reference
    FROM hand_written.transactions t WHERE t.operation = 'placebet' AND t.transaction_id = id;
  IF found THEN
    SELECT p.balance INTO balance_after FROM hand_written.players p WHERE p.player_id = player;
    RETURN;
  END IF;
  SELECT p.balance, p.currency INTO account FROM hand_written.players p WHERE p.player_id = player FOR UPDATE;
  IF NOT found THEN
    code := 'INVALID_PLAYER';
  ELSIF account.currency <> stake_currency THEN
    code := 'INVALID_CURRENCY';
  ELSIF account.balance < stake THEN
    code := 'INSUFFICIENT_FUNDS';
  ELSE
    INSERT INTO hand_written.bets (bet_id, player_id, currency, stake, status)
      VALUES (bet, player, stake_currency, stake, 'PLACED');
    INSERT INTO hand_written.transactions (operation, transaction_id, player_id, bet_id, amount, currency, delta, transaction_date)
      VALUES ('placebet', id, player, bet, stake, stake_currency, -stake, placed)
      RETURNING wallet_transaction_id INTO reference;
    UPDATE hand_written.players p SET balance = p.balance - stake WHERE p.player_id = player
      RETURNING p.balance INTO balance_after;
  END IF;
END
$$;
`

/** For pgbench: 16 clients, each with different ids. */
export const procedureScript = (ids: 'rising' | 'random', players: number) => `
\\set player random(1, ${players})
\\set n :n + 1
\\set id ${ids === 'rising' ? ':first + :n * 64 + :client_id' : 'random(1000000000000000, 9000000000000000)'}
SELECT * FROM hand_written.place_bet(:id, :id, :player, '2.50', 'EUR', '2026-11-21');
`

const texts = {
  find: `SELECT wallet_transaction_id AS id, error_code AS "errorCode"
    FROM hand_written.transactions WHERE operation = $1 AND transaction_id = $2`,
  account: 'SELECT balance, currency FROM hand_written.players WHERE player_id = $1',
  lock: 'SELECT balance, currency FROM hand_written.players WHERE player_id = $1 FOR UPDATE',
  bet: 'SELECT status, stake, credit, owed FROM hand_written.bets WHERE bet_id = $1',
  insertBet: `INSERT INTO hand_written.bets (bet_id, player_id, currency, stake, status)
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
  changeBet: 'UPDATE hand_written.bets SET status = $2, credit = $3, owed = $4 WHERE bet_id = $1',
  record: `INSERT INTO hand_written.transactions
      (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, error_code, transaction_date)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING wallet_transaction_id AS id`,
  changeBalance:
    'UPDATE hand_written.players SET balance = balance + $2 WHERE player_id = $1 RETURNING balance',
  prove: "SELECT pg_logical_emit_message(true, 'hand-written', '')",
}

/** With prepared statements by name: the faster way to use pg. */
function statementsOf(client: pg.PoolClient): Statements {
  const run = (name: keyof typeof texts, values: unknown[]) =>
    client.query({ name: `hand-written ${name}`, text: texts[name], values })
  const row = async (name: keyof typeof texts, values: unknown[]) => (await run(name, values)).rows[0] ?? null
  return {
    find: (operation, transactionId) => row('find', [operation, transactionId]),
    account: (playerId): Promise<Account | null> => row('account', [playerId]),
    lock: (playerId): Promise<Account | null> => row('lock', [playerId]),
    bet: (betId): Promise<StoredBet | null> => row('bet', [betId]),
    async insertBet({ betId, playerId, amount }, currency, status) {
      return (await run('insertBet', [betId, playerId, currency, amount, status])).rowCount === 1
    },
    async changeBet(betId, { status, credit, owed }) {
      await run('changeBet', [betId, status, credit, owed])
    },
    async record({ operation, request, delta, errorCode }) {
      const { transactionId, playerId, betId, amount, currency, type, transactionDate } = request
      const ids = [operation, transactionId, playerId, betId]
      return (await row('record', [...ids, amount, currency, type, delta, errorCode, transactionDate])).id
    },
    changeBalance: async (playerId, delta) => (await row('changeBalance', [playerId, delta])).balance,
    async prove() {
      await run('prove', [])
    },
  }
}

function transactionsOf(pool: pg.Pool): InTransaction {
  return async work => {
    const client = await pool.connect()
    let broken: Error | undefined
    try {
      await client.query('BEGIN')
      const answer = await work(statementsOf(client))
      await client.query('COMMIT')
      return answer
    } catch (error) {
      await client.query('ROLLBACK').catch(cause => {
        broken = cause
      })
      throw error
    } finally {
      client.release(broken)
    }
  }
}

export const sendByHand = (
  pool: pg.Pool,
  operation: Operation,
  request: HandWrittenRequest,
): Promise<HandWrittenAnswer> => answerByHand(transactionsOf(pool), operation, request)
