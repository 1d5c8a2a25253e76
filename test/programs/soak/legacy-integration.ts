/**
 * The legacy integration: a hand-written wallet with its own tables beside the PAM's accounts. Also the
 * cut-over from it: the rows for the import.
 *
 * Its rules are one function in the database, one statement per call. A statement continues after its process
 * has ended.
 */
import type { Bet } from 'bet-wallet'
import type { ImportedTransaction } from 'bet-wallet/postgres'
import type pg from 'pg'
import type { Accounts } from './accounts.js'

/** The application name of its connections. An operator would recognise them by their role. */
export const legacyApplicationName = 'legacy-wallet'

export function legacyMigration({ players, balanceSql: cents }: Accounts): string {
  const { table, id } = players
  return `
    CREATE SCHEMA legacy;
    CREATE TABLE legacy.tickets (
      ticket text PRIMARY KEY, account text NOT NULL, stake_cents bigint NOT NULL, cancelled boolean NOT NULL
    );
    -- Per ticket and kind of result: the amount that is credited, that was reversed, and that could not be collected.
    CREATE TABLE legacy.payouts (
      ticket text NOT NULL REFERENCES legacy.tickets, kind text NOT NULL,
      open_cents bigint, reversed_cents bigint NOT NULL, uncollected_cents bigint NOT NULL,
      PRIMARY KEY (ticket, kind)
    );
    CREATE TABLE legacy.calls (
      reference bigserial PRIMARY KEY, operation text NOT NULL, call_id text NOT NULL,
      account text NOT NULL, ticket text NOT NULL, cents bigint, currency text, kind text, called_at timestamptz NOT NULL,
      delta_cents bigint NOT NULL, refusal text, UNIQUE (operation, call_id)
    );

    CREATE FUNCTION legacy.answer(
      requested text, body jsonb, OUT status integer, OUT code text, OUT balance_cents numeric, OUT ref bigint
    ) LANGUAGE plpgsql AS $$
    DECLARE
      requested_cents bigint := round((body->>'amount')::numeric * 100);
      paid text := CASE body->>'type' WHEN 'UNSCORED' THEN 'BET_PAID' WHEN 'UNVOIDED' THEN 'VOIDED' ELSE body->>'type' END;
      account record; known record; bet record; payout record;
      move bigint := 0;
      recorded boolean := true;
    BEGIN
      -- The row lock serialises the calls of a player.
      SELECT a.${id}::text AS id, a.currency, ${cents.of} AS cents INTO account
        FROM ${table} a WHERE a.${id}::text = body->>'playerId' FOR UPDATE;
      SELECT * INTO known FROM legacy.calls c WHERE c.operation = requested AND c.call_id = body->>'transactionId';
      IF FOUND THEN
        code := known.refusal;
        status := CASE code WHEN 'INSUFFICIENT_FUNDS' THEN 402 WHEN 'INVALID_BET' THEN 400 ELSE 200 END;
        balance_cents := account.cents;
        ref := known.reference;
        RETURN;
      END IF;
      SELECT * INTO bet FROM legacy.tickets t WHERE t.ticket = body->>'betId';
      SELECT * INTO payout FROM legacy.payouts p WHERE p.ticket = body->>'betId' AND p.kind = paid;

      IF requested = 'placebet' THEN
        IF bet.ticket IS NOT NULL THEN code := 'INVALID_BET';
        ELSIF requested_cents > 0 AND account.cents < requested_cents THEN code := 'INSUFFICIENT_FUNDS';
        ELSE
          move := -requested_cents;
          INSERT INTO legacy.tickets VALUES (body->>'betId', account.id, requested_cents, false);
        END IF;
      ELSIF requested = 'rollbackbet' THEN
        IF bet.ticket IS NULL THEN
          INSERT INTO legacy.tickets VALUES (body->>'betId', account.id, 0, true);
        ELSIF NOT bet.cancelled THEN
          IF EXISTS (SELECT FROM legacy.payouts p WHERE p.ticket = bet.ticket
              AND (p.open_cents IS NOT NULL OR p.uncollected_cents > 0)) THEN
            code := 'INVALID_BET';
            recorded := false;
          ELSE
            move := bet.stake_cents;
            UPDATE legacy.tickets t SET cancelled = true WHERE t.ticket = bet.ticket;
          END IF;
        END IF;
      ELSIF bet.ticket IS NULL OR bet.cancelled THEN
        code := 'INVALID_BET';
        recorded := false;
      ELSIF requested = 'settlement' THEN
        move := requested_cents;
        INSERT INTO legacy.payouts AS p VALUES (bet.ticket, paid, requested_cents, 0, 0)
          ON CONFLICT (ticket, kind) DO UPDATE SET open_cents = coalesce(p.open_cents, 0) + requested_cents;
      ELSIF payout.ticket IS NULL THEN
        code := 'SETTLEMENT_NOT_FOUND';
        recorded := false;
      ELSIF payout.open_cents IS NULL THEN
        code := 'INVALID_BET';
        recorded := false;
      ELSIF payout.open_cents > 0 AND account.cents < payout.open_cents THEN
        code := 'INSUFFICIENT_FUNDS';
        UPDATE legacy.payouts p SET uncollected_cents = p.uncollected_cents + p.open_cents, open_cents = NULL
          WHERE p.ticket = bet.ticket AND p.kind = paid;
      ELSE
        move := -payout.open_cents;
        UPDATE legacy.payouts p SET reversed_cents = p.reversed_cents + p.open_cents, open_cents = NULL
          WHERE p.ticket = bet.ticket AND p.kind = paid;
      END IF;

      IF move <> 0 THEN
        UPDATE ${table} a SET ${cents.add} WHERE a.${id}::text = account.id;
      END IF;
      IF recorded THEN
        INSERT INTO legacy.calls (operation, call_id, account, ticket, cents, currency, kind, called_at, delta_cents, refusal)
        VALUES (requested, body->>'transactionId', account.id, body->>'betId', requested_cents, body->>'currency', body->>'type',
          (body->>'transactionDate')::timestamptz, move, code)
        RETURNING reference INTO ref;
      END IF;
      status := CASE code WHEN 'INSUFFICIENT_FUNDS' THEN 402 WHEN 'INVALID_BET' THEN 400
        WHEN 'SETTLEMENT_NOT_FOUND' THEN 503 ELSE 200 END;
      balance_cents := account.cents + move;
    END $$;
`
}

/** Its bets in the form of the library. Real code would read them with a cursor. */
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
        'reversed', trim_scale(p.reversed_cents / 100.0)::text, 'owed', trim_scale(p.uncollected_cents / 100.0)::text))
      FROM legacy.payouts p WHERE p.ticket = t.ticket), '[]') AS payouts
    FROM legacy.tickets t`)
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

/** Its recorded calls in the form of the library's transactions. */
export async function legacyTransactions(pool: pg.Pool): Promise<ImportedTransaction[]> {
  const { rows } = await pool.query<{
    operation: ImportedTransaction['operation']
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
      trim_scale(delta_cents / 100.0)::text AS delta, refusal, called_at, reference::text
    FROM legacy.calls ORDER BY reference`)
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
      row.refusal === null
        ? null
        : { errorCode: row.refusal, description: 'refused by the legacy integration' },
    transactionDate: row.called_at.toISOString(),
    walletTransactionId: row.reference,
  }))
}
