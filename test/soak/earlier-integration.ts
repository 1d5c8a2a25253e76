/**
 * The wallet that somebody wrote by hand before this library came, with tables of its own beside the PAM's accounts, and
 * the way from there: what the import reads, and the view that does without.
 *
 * It does its work in the database: one statement per call, which goes on when the process that sent it is dead.
 */
import type { Bet, Transaction } from 'bet-wallet'
import type pg from 'pg'
import type { Accounts } from './accounts.js'

/** By which its connections are known, as an operator knows them by their role. */
export const earlierName = 'earlier-wallet'

/** The view for the option `legacyBets`. */
export const earlierBetsView = 'earlier.bets_for_wallet'

export function earlierMigration({ players, balanceSql: cents }: Accounts): string {
  const { table, id } = players
  return `
    CREATE SCHEMA earlier;
    CREATE TABLE earlier.tickets (
      ticket text PRIMARY KEY, account text NOT NULL, stake_cents bigint NOT NULL, cancelled boolean NOT NULL
    );
    -- What was paid per ticket and kind of result, what of it was taken back, and what could not be.
    CREATE TABLE earlier.payouts (
      ticket text NOT NULL REFERENCES earlier.tickets, kind text NOT NULL,
      open_cents bigint, taken_back_cents bigint NOT NULL, uncollected_cents bigint NOT NULL,
      PRIMARY KEY (ticket, kind)
    );
    CREATE TABLE earlier.calls (
      reference bigserial PRIMARY KEY, operation text NOT NULL, call_id text NOT NULL,
      account text NOT NULL, ticket text NOT NULL, cents bigint, currency text, kind text, called_at timestamptz NOT NULL,
      moved_cents bigint NOT NULL, refusal text, UNIQUE (operation, call_id)
    );

    CREATE FUNCTION earlier.answer(
      wanted text, body jsonb, OUT status integer, OUT code text, OUT balance_cents numeric, OUT ref bigint
    ) LANGUAGE plpgsql AS $$
    DECLARE
      asked_cents bigint := round((body->>'amount')::numeric * 100);
      paid text := CASE body->>'type' WHEN 'UNSCORED' THEN 'BET_PAID' WHEN 'UNVOIDED' THEN 'VOIDED' ELSE body->>'type' END;
      account record; known record; bet record; payout record;
      move bigint := 0;
      recorded boolean := true;
    BEGIN
      -- One call of a player after the other.
      SELECT a.${id}::text AS id, a.currency, ${cents.of} AS cents INTO account
        FROM ${table} a WHERE a.${id}::text = body->>'playerId' FOR UPDATE;
      SELECT * INTO known FROM earlier.calls c WHERE c.operation = wanted AND c.call_id = body->>'transactionId';
      IF FOUND THEN
        code := known.refusal;
        status := CASE code WHEN 'INSUFFICIENT_FUNDS' THEN 402 WHEN 'INVALID_BET' THEN 400 ELSE 200 END;
        balance_cents := account.cents;
        ref := known.reference;
        RETURN;
      END IF;
      SELECT * INTO bet FROM earlier.tickets t WHERE t.ticket = body->>'betId';
      SELECT * INTO payout FROM earlier.payouts p WHERE p.ticket = body->>'betId' AND p.kind = paid;

      IF wanted = 'placebet' THEN
        IF bet.ticket IS NOT NULL THEN code := 'INVALID_BET';
        ELSIF asked_cents > 0 AND account.cents < asked_cents THEN code := 'INSUFFICIENT_FUNDS';
        ELSE
          move := -asked_cents;
          INSERT INTO earlier.tickets VALUES (body->>'betId', account.id, asked_cents, false);
        END IF;
      ELSIF wanted = 'rollbackbet' THEN
        IF bet.ticket IS NULL THEN
          INSERT INTO earlier.tickets VALUES (body->>'betId', account.id, 0, true);
        ELSIF NOT bet.cancelled THEN
          IF EXISTS (SELECT FROM earlier.payouts p WHERE p.ticket = bet.ticket
              AND (p.open_cents IS NOT NULL OR p.uncollected_cents > 0)) THEN
            code := 'INVALID_BET';
            recorded := false;
          ELSE
            move := bet.stake_cents;
            UPDATE earlier.tickets t SET cancelled = true WHERE t.ticket = bet.ticket;
          END IF;
        END IF;
      ELSIF bet.ticket IS NULL OR bet.cancelled THEN
        code := 'INVALID_BET';
        recorded := false;
      ELSIF wanted = 'settlement' THEN
        move := asked_cents;
        INSERT INTO earlier.payouts AS p VALUES (bet.ticket, paid, asked_cents, 0, 0)
          ON CONFLICT (ticket, kind) DO UPDATE SET open_cents = coalesce(p.open_cents, 0) + asked_cents;
      ELSIF payout.ticket IS NULL THEN
        code := 'SETTLEMENT_NOT_FOUND';
        recorded := false;
      ELSIF payout.open_cents IS NULL THEN
        code := 'INVALID_BET';
        recorded := false;
      ELSIF payout.open_cents > 0 AND account.cents < payout.open_cents THEN
        code := 'INSUFFICIENT_FUNDS';
        UPDATE earlier.payouts p SET uncollected_cents = p.uncollected_cents + p.open_cents, open_cents = NULL
          WHERE p.ticket = bet.ticket AND p.kind = paid;
      ELSE
        move := -payout.open_cents;
        UPDATE earlier.payouts p SET taken_back_cents = p.taken_back_cents + p.open_cents, open_cents = NULL
          WHERE p.ticket = bet.ticket AND p.kind = paid;
      END IF;

      IF move <> 0 THEN
        UPDATE ${table} a SET ${cents.add} WHERE a.${id}::text = account.id;
      END IF;
      IF recorded THEN
        INSERT INTO earlier.calls (operation, call_id, account, ticket, cents, currency, kind, called_at, moved_cents, refusal)
        VALUES (wanted, body->>'transactionId', account.id, body->>'betId', asked_cents, body->>'currency', body->>'type',
          (body->>'transactionDate')::timestamptz, move, code)
        RETURNING reference INTO ref;
      END IF;
      status := CASE code WHEN 'INSUFFICIENT_FUNDS' THEN 402 WHEN 'INVALID_BET' THEN 400
        WHEN 'SETTLEMENT_NOT_FOUND' THEN 503 ELSE 200 END;
      balance_cents := account.cents + move;
    END $$;

    CREATE VIEW ${earlierBetsView} AS
      SELECT t.ticket AS bet_id, t.account AS player_id, 'EUR' AS currency, t.stake_cents / 100.0 AS stake,
        CASE WHEN t.cancelled THEN 'ROLLED_BACK' ELSE 'PLACED' END AS status,
        ${(['BET_PAID', 'VOIDED', 'CASHOUT'] as const)
          .map(kind => {
            const name = kind.toLowerCase()
            return `${name}.open_cents / 100.0 AS ${name}_live, ${name}.taken_back_cents / 100.0 AS ${name}_reversed,
              ${name}.uncollected_cents / 100.0 AS ${name}_owed`
          })
          .join(', ')}
      FROM earlier.tickets t
      LEFT JOIN earlier.payouts bet_paid ON bet_paid.ticket = t.ticket AND bet_paid.kind = 'BET_PAID'
      LEFT JOIN earlier.payouts voided ON voided.ticket = t.ticket AND voided.kind = 'VOIDED'
      LEFT JOIN earlier.payouts cashout ON cashout.ticket = t.ticket AND cashout.kind = 'CASHOUT';`
}

/** Its bets as the library sees bets. A real one would be read with a cursor. */
export async function legacyBets(pool: pg.Pool): Promise<Bet[]> {
  const { rows } = await pool.query<{
    ticket: string
    account: string
    stake: string
    cancelled: boolean
    payouts: {
      kind: 'BET_PAID' | 'VOIDED' | 'CASHOUT'
      live: string | null
      reversed: string
      owed: string
    }[]
  }>(`SELECT t.ticket, t.account, trim_scale(t.stake_cents / 100.0)::text AS stake, t.cancelled, coalesce((
      SELECT json_agg(json_build_object('kind', p.kind, 'live', trim_scale(p.open_cents / 100.0)::text,
        'reversed', trim_scale(p.taken_back_cents / 100.0)::text, 'owed', trim_scale(p.uncollected_cents / 100.0)::text))
      FROM earlier.payouts p WHERE p.ticket = t.ticket), '[]') AS payouts
    FROM earlier.tickets t`)
  return rows.map(({ ticket, account, stake, cancelled, payouts }) => ({
    betId: ticket,
    playerId: account,
    currency: 'EUR',
    stake,
    status: cancelled ? 'ROLLED_BACK' : 'PLACED',
    credits: Object.fromEntries(
      payouts.map(({ kind, live, reversed, owed }) => [kind, { live, reversed, owed }]),
    ),
    revision: 1,
  }))
}

/** What it has answered and remembered, as the library remembers transactions. */
export async function earlierTransactions(pool: pg.Pool): Promise<Transaction[]> {
  const { rows } = await pool.query<{
    operation: Transaction['operation']
    call_id: string
    account: string
    ticket: string
    amount: string | null
    currency: string | null
    kind: string | null
    delta: string
    refusal: string | null
    called_at: Date
    reference: string
  }>(`SELECT operation, call_id, account, ticket, trim_scale(cents / 100.0)::text AS amount, currency, kind,
      trim_scale(moved_cents / 100.0)::text AS delta, refusal, called_at, reference::text
    FROM earlier.calls ORDER BY reference`)
  return rows.map(row => ({
    operation: row.operation,
    transactionId: row.call_id,
    playerId: row.account,
    betId: row.ticket,
    amount: row.amount,
    currency: row.currency,
    type: row.kind,
    delta: row.delta,
    refusal:
      row.refusal === null ? null : { errorCode: row.refusal, description: 'as it was answered before' },
    transactionDate: row.called_at.toISOString(),
    walletTransactionId: row.reference,
  }))
}
