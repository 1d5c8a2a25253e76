/**
 * The contestants of the store: a placebet written by hand with pg, and the same as a stored procedure. The
 * tables have the columns and indexes of the store's, without its constraints and its columns for
 * settlements; the players' table is the same.
 */
import type pg from 'pg'
import type { PlaceBet } from '../requests.js'

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
  recorded_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE hand_written.transactions (
  operation text NOT NULL,
  transaction_id text NOT NULL,
  player_id text NOT NULL,
  bet_id text NOT NULL,
  amount numeric NOT NULL,
  currency text NOT NULL,
  delta numeric NOT NULL,
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

export type HandWrittenAnswer =
  | { balance: string; currency: string; walletTransactionId: string }
  | { errorCode: string }

const statements = {
  lookUp: `SELECT wallet_transaction_id FROM hand_written.transactions WHERE operation = 'placebet' AND transaction_id = $1`,
  balance: 'SELECT balance, currency FROM hand_written.players WHERE player_id = $1',
  lock: 'SELECT balance, currency FROM hand_written.players WHERE player_id = $1 FOR UPDATE',
  insertBet: `INSERT INTO hand_written.bets (bet_id, player_id, currency, stake, status) VALUES ($1, $2, $3, $4, 'PLACED')`,
  insertTransaction: `INSERT INTO hand_written.transactions (operation, transaction_id, player_id, bet_id, amount, currency, delta, transaction_date)
    VALUES ('placebet', $1, $2, $3, $4, $5, -$4::numeric, $6) RETURNING wallet_transaction_id`,
  debit: 'UPDATE hand_written.players SET balance = balance - $2 WHERE player_id = $1 RETURNING balance',
}

interface Account {
  balance: string
  currency: string
}

/** With prepared statements by name: the faster way to use pg. */
export async function placeBetByHand(pool: pg.Pool, bet: PlaceBet): Promise<HandWrittenAnswer> {
  const client = await pool.connect()
  let broken: Error | undefined
  async function ask<Found extends pg.QueryResultRow>(name: keyof typeof statements, values: unknown[]) {
    const { rows } = await client.query<Found>({
      name: `hand-written ${name}`,
      text: statements[name],
      values,
    })
    return rows[0]
  }
  async function place(): Promise<HandWrittenAnswer> {
    const { transactionId, betId, playerId, currency, transactionDate } = bet
    const known = await ask<{ wallet_transaction_id: string }>('lookUp', [transactionId])
    if (known !== undefined) {
      const account = await ask<Account>('balance', [playerId])
      if (account === undefined) return { errorCode: 'INVALID_PLAYER' }
      return { ...account, walletTransactionId: known.wallet_transaction_id }
    }
    const account = await ask<Account>('lock', [playerId])
    if (account === undefined) return { errorCode: 'INVALID_PLAYER' }
    if (account.currency !== currency) return { errorCode: 'INVALID_CURRENCY' }
    if (Number(account.balance) < bet.amount) return { errorCode: 'INSUFFICIENT_FUNDS' }
    await ask('insertBet', [betId, playerId, currency, bet.amount])
    const transaction = [transactionId, playerId, betId, bet.amount, currency, transactionDate]
    const added = await ask<{ wallet_transaction_id: string }>('insertTransaction', transaction)
    const debited = await ask<{ balance: string }>('debit', [playerId, bet.amount])
    if (added === undefined || debited === undefined) throw new Error('A statement returned no row')
    return { balance: debited.balance, currency, walletTransactionId: added.wallet_transaction_id }
  }
  try {
    await client.query('BEGIN')
    const answer = await place()
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
