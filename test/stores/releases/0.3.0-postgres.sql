-- Of release 0.3.0: written by test/stores/releases/write.ts. Never changed.

-- Tables and functions of bet-wallet, version 1.
-- This file can be run again: tables and rows are kept, functions are replaced.

BEGIN;

-- Migrations of one schema wait for each other.
SELECT pg_advisory_xact_lock(hashtextextended('bet-wallet ' || 'kept_release', 0));

-- IF NOT EXISTS would require CREATE on the database although the schema exists.
DO $schema$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'kept_release') THEN
    CREATE SCHEMA "kept_release";
  END IF;
END
$schema$;

-- The versions of this schema.
CREATE TABLE IF NOT EXISTS "kept_release".migrations (
  version integer PRIMARY KEY,
  migrated_at timestamptz NOT NULL DEFAULT now()
);

-- The options that the functions were made for. The hash is the end of their names.
CREATE TABLE IF NOT EXISTS "kept_release".options (
  hash text PRIMARY KEY,
  options jsonb NOT NULL,
  migrated_at timestamptz NOT NULL DEFAULT now()
);

-- Other options mean another players' table or another unit: a migration to them must be stated on purpose.
DO $check$
DECLARE
  problem text := (
    SELECT format(
      'The schema %s was migrated with other options: %s', 'kept_release',
      string_agg(
        format(
          '%s: registered %s, given %s', name,
          coalesce(registered.options -> name, 'null'), coalesce(given.options -> name, 'null')
        ),
        '; ' ORDER BY name
      )
    ) AS problem
    FROM (
      SELECT '{
        "players.table": "kept_release.players",
        "players.id": "player_id",
        "players.idType": "text",
        "players.currency": "currency",
        "players.balance": "balance",
        "players.balanceType": "numeric",
        "players.minorUnits": null
      }'::jsonb AS options
    ) given
    CROSS JOIN (
      SELECT options
      FROM "kept_release".options
      ORDER BY migrated_at DESC, hash
      LIMIT 1
    ) registered
    CROSS JOIN jsonb_object_keys(registered.options || given.options) name
    WHERE registered.options -> name IS DISTINCT FROM given.options -> name
      AND NOT EXISTS (SELECT FROM "kept_release".options other WHERE other.options = given.options)
    HAVING count(*) > 0
  );
BEGIN
  IF problem IS NOT NULL THEN
    RAISE EXCEPTION USING
      ERRCODE = 'object_not_in_prerequisite_state',
      MESSAGE = problem,
      HINT = 'Use the same options, or migrate with allowOtherOptions: running processes then keep their functions';
  END IF;
END
$check$;

-- Half of every page stays free for HOT updates: a new balance needs no new index entry.
CREATE TABLE IF NOT EXISTS "kept_release".players (
  player_id text COLLATE "C" PRIMARY KEY,
  currency text NOT NULL CHECK (currency <> ''),
  balance numeric NOT NULL CHECK (balance >= 0 AND balance < 'Infinity')
)
WITH (fillfactor = 50);

-- A finite amount of money, not negative. There is no CREATE DOMAIN IF NOT EXISTS.
DO $domain$
BEGIN
  CREATE DOMAIN "kept_release".amount AS numeric
    CHECK (VALUE >= 0 AND VALUE < 'Infinity');
EXCEPTION WHEN duplicate_object THEN
  NULL;
END
$domain$;

-- An id or code, compared byte by byte.
DO $domain$
BEGIN
  CREATE DOMAIN "kept_release".identifier AS text COLLATE "C"
    CHECK (VALUE <> '');
EXCEPTION WHEN duplicate_object THEN
  NULL;
END
$domain$;

CREATE OR REPLACE FUNCTION "kept_release".is_valid_bet_v1(
  revision integer,
  status text,
  bet_paid_live numeric,
  bet_paid_reversed numeric,
  bet_paid_owed numeric,
  voided_live numeric,
  voided_reversed numeric,
  voided_owed numeric,
  cashout_live numeric,
  cashout_reversed numeric,
  cashout_owed numeric
)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $function$
BEGIN
  RETURN revision >= 1
  AND (
    status = 'PLACED'
    OR status = 'ROLLED_BACK' AND num_nonnulls(bet_paid_live, voided_live, cashout_live) = 0
  )
  AND (bet_paid_reversed IS NULL) = (bet_paid_owed IS NULL)
  AND (bet_paid_live IS NULL OR bet_paid_owed IS NOT NULL)
  AND (voided_reversed IS NULL) = (voided_owed IS NULL)
  AND (voided_live IS NULL OR voided_owed IS NOT NULL)
  AND (cashout_reversed IS NULL) = (cashout_owed IS NULL)
  AND (cashout_live IS NULL OR cashout_owed IS NOT NULL);
END
$function$;

CREATE OR REPLACE FUNCTION "kept_release".is_valid_transaction_v1(
  operation text,
  amount numeric,
  currency text,
  type text,
  delta numeric,
  error_code text,
  description text
)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $function$
BEGIN
  RETURN CASE operation
    WHEN 'placebet' THEN amount IS NOT NULL AND type IS NULL
    WHEN 'settlement' THEN amount IS NOT NULL AND type IS NOT NULL
    WHEN 'unsettlement' THEN amount IS NULL AND type IS NOT NULL
    WHEN 'rollbackbet' THEN amount IS NULL AND type IS NOT NULL
    ELSE false
  END
  AND (currency IS NULL) = (amount IS NULL)
  AND (error_code IS NULL) = (description IS NULL)
  AND (error_code IS NULL OR delta = 0)
  AND abs(delta) < 'Infinity';
END
$function$;

-- Every bet with its credits. A betId is unique across all players (D1).
-- Per settlement type (D18): the live credit, or NULL; the sum of reversed credits; the sum of uncollected
-- clawbacks, owed to the platform. All three are NULL where the bet was never credited with this type.
CREATE TABLE IF NOT EXISTS "kept_release".bets (
  bet_id "kept_release".identifier PRIMARY KEY,
  player_id "kept_release".identifier NOT NULL,
  currency "kept_release".identifier NOT NULL,
  stake "kept_release".amount NOT NULL,
  status text NOT NULL,
  bet_paid_live "kept_release".amount,
  bet_paid_reversed "kept_release".amount,
  bet_paid_owed "kept_release".amount,
  voided_live "kept_release".amount,
  voided_reversed "kept_release".amount,
  voided_owed "kept_release".amount,
  cashout_live "kept_release".amount,
  cashout_reversed "kept_release".amount,
  cashout_owed "kept_release".amount,
  revision integer NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  -- By importBets, which replaces it until its first change.
  is_imported boolean NOT NULL DEFAULT false,
  CONSTRAINT bets_valid CHECK ("kept_release".is_valid_bet_v1(
    revision,
    status,
    bet_paid_live,
    bet_paid_reversed,
    bet_paid_owed,
    voided_live,
    voided_reversed,
    voided_owed,
    cashout_live,
    cashout_reversed,
    cashout_owed
  ))
);

CREATE SEQUENCE IF NOT EXISTS "kept_release".wallet_transaction_ids AS bigint;

-- Every decided transaction of the platform: the idempotency record, by operation and transactionId (D1).
CREATE TABLE IF NOT EXISTS "kept_release".transactions (
  operation text NOT NULL,
  transaction_id "kept_release".identifier NOT NULL,
  player_id "kept_release".identifier NOT NULL,
  bet_id "kept_release".identifier NOT NULL,
  amount "kept_release".amount,
  currency text,
  type text,
  delta numeric NOT NULL,
  -- Of the account that it changed, or that answered. NULL where it was imported.
  account_currency text,
  -- The balance of the account right after it, in whole units of the currency. NULL where it was imported.
  balance_after numeric,
  -- A final refusal (D6, D7). Both are NULL: a success.
  error_code text,
  description text,
  -- Which rule decided.
  reason "kept_release".identifier NOT NULL,
  transaction_date timestamptz NOT NULL,
  -- From the sequence, or imported from the legacy integration.
  wallet_transaction_id text COLLATE "C" NOT NULL UNIQUE DEFAULT nextval('"kept_release".wallet_transaction_ids')::text,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (operation, transaction_id),
  CONSTRAINT transactions_valid CHECK ("kept_release".is_valid_transaction_v1(
    operation,
    amount,
    currency,
    type,
    delta,
    error_code,
    description
  ))
);

-- Refuses a former primary; otherwise returns the timeline of this server.
CREATE OR REPLACE FUNCTION "kept_release".other_timeline_v1_f9df8373(
  highest_timeline bigint,
  of_system bigint
)
RETURNS text
LANGUAGE plpgsql VOLATILE
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET array_nulls = on
AS $function$
DECLARE
  own_timeline bigint := ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint;
  own_system bigint := (pg_control_system()).system_identifier;
BEGIN
  IF own_timeline < highest_timeline AND own_system = of_system THEN
    RAISE EXCEPTION 'bet-wallet: this server is a former primary: its timeline is %, and % has answered',
      own_timeline, highest_timeline
      USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  RETURN own_timeline || '/' || own_system;
END
$function$;

-- Every function below has the same settings: one generic plan per connection, made of index lookups.
-- They hold for triggers that the function fires too. No search_path is set, because all names have
-- their schema.

-- Returns player, bet and transaction for each key, a JSON array. Read-only, but VOLATILE: its
-- statement takes its snapshot when it has the locks of the tables. A table that was rewritten
-- meanwhile is empty to an older one.
CREATE OR REPLACE FUNCTION "kept_release".load_v1_f9df8373(
  keys text,
  every_row boolean,
  lock_timeout_ms integer,
  highest_timeline bigint,
  of_system bigint
)
RETURNS TABLE (
  key_index integer, currency text, balance text, bet json, transaction json,

  timeline text -- of this server, where it is not the highest one
)
LANGUAGE plpgsql VOLATILE ROWS 100
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET array_nulls = on
AS $function$
#variable_conflict use_column
DECLARE
  row_security_before text := current_setting('row_security');
BEGIN
  -- A client that waits no longer may be gone: this session would not notice it while it waits.
  PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
  -- A standby lags, so that its records may be old. 25006 is the code of a write on a standby.
  IF pg_is_in_recovery() THEN
    RAISE EXCEPTION 'bet-wallet: this server is a standby'
      USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  IF highest_timeline IS NOT NULL THEN
    IF ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint <> highest_timeline THEN
      timeline := "kept_release".other_timeline_v1_f9df8373(highest_timeline, of_system);
    END IF;
  END IF;
  IF current_setting('client_encoding') <> 'UTF8' THEN
    RAISE EXCEPTION 'bet-wallet: other code has set client_encoding on this connection'
      USING ERRCODE = 'invalid_transaction_state';
  END IF;
  IF every_row THEN
    -- A policy that hid no rows at start must not hide them now: it is an error.
    PERFORM set_config('row_security', 'off', true);
  END IF;
  RETURN QUERY
    SELECT loaded.*, timeline
    FROM (
      SELECT
        key.key_index,
        player.currency,
        CASE
          WHEN abs(player.balance) < 1e20
            AND scale(player.balance) <= 20
            THEN player.balance
          ELSE trim_scale(player.balance)
        END::text,
        CASE WHEN bet.bet_id IS NOT NULL THEN json_build_object(
          'player_id', bet.player_id::text,
          'currency', bet.currency::text,
          'stake', bet.stake::text,
          'status', bet.status::text,
          'bet_paid_live', bet.bet_paid_live::text,
          'bet_paid_reversed', bet.bet_paid_reversed::text,
          'bet_paid_owed', bet.bet_paid_owed::text,
          'voided_live', bet.voided_live::text,
          'voided_reversed', bet.voided_reversed::text,
          'voided_owed', bet.voided_owed::text,
          'cashout_live', bet.cashout_live::text,
          'cashout_reversed', bet.cashout_reversed::text,
          'cashout_owed', bet.cashout_owed::text,
          'revision', bet.revision::text
        ) END,
        CASE WHEN transaction.transaction_id IS NOT NULL THEN json_build_object(
          'player_id', transaction.player_id::text,
          'bet_id', transaction.bet_id::text,
          'amount', transaction.amount::text,
          'currency', transaction.currency::text,
          'type', transaction.type::text,
          'delta', transaction.delta::text,
          'account_currency', transaction.account_currency::text,
          'error_code', transaction.error_code::text,
          'description', transaction.description::text,
          'reason', transaction.reason::text,
          'wallet_transaction_id', transaction.wallet_transaction_id::text,
          'transaction_date_ms', (extract(epoch FROM transaction.transaction_date) * 1000)::bigint
        ) END
      FROM json_to_recordset(keys::json) AS key (
        key_index integer,
        operation text, transaction_id text, player_id text, bet_id text
      )
      LEFT JOIN LATERAL (
        SELECT coalesce(player."currency"::text, '') AS currency, CASE
          WHEN pg_typeof(player."balance" - player."balance") = 'numeric'::regtype
            THEN player."balance"::numeric
          ELSE "kept_release".refuse_balance_type_v1_f9df8373(pg_typeof(player."balance"))
        END AS balance
        FROM "kept_release"."players" player
        WHERE player."player_id" = key.player_id
        OFFSET 0
      ) player ON true
      LEFT JOIN LATERAL (
        SELECT bet.*
        FROM "kept_release".bets bet
        WHERE bet.bet_id = key.bet_id
        OFFSET 0
      ) bet ON true
      LEFT JOIN LATERAL (
        SELECT stored.*
        FROM "kept_release".transactions stored
        WHERE stored.operation = key.operation
          AND stored.transaction_id = key.transaction_id
        OFFSET 0
      ) transaction ON true
    ) loaded;
  IF every_row THEN
    PERFORM set_config('row_security', row_security_before, true);
  END IF;
END
$function$;

-- The same as load, as JSON, and then an empty commit: its answer proves that this server is the
-- primary.
CREATE OR REPLACE PROCEDURE "kept_release".load_confirmed_v1_f9df8373(
  keys text,
  every_row boolean,
  lock_timeout_ms integer,
  durable boolean,
  highest_timeline bigint,
  of_system bigint,
  OUT result text
)
LANGUAGE plpgsql
AS $procedure$
BEGIN
  COMMIT;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SELECT json_agg(loaded) INTO result
  FROM "kept_release".load_v1_f9df8373(
    keys, every_row, lock_timeout_ms, highest_timeline, of_system
  ) loaded;
  IF result IS NOT NULL THEN
    PERFORM pg_logical_emit_message(true, 'bet-wallet', '');
  END IF;
  IF durable THEN
    PERFORM set_config(setting.name, setting.value, true)
    FROM (
      VALUES
        (
          'synchronous_commit', 'on',
          current_setting('synchronous_commit') = 'off'
            OR current_setting('synchronous_commit') = 'local' AND current_setting('synchronous_standby_names') <> ''
        ),
        ('client_min_messages', 'warning', current_setting('client_min_messages') = 'error')
    ) setting (name, value, is_off)
    WHERE setting.is_off;
  END IF;
  COMMIT;
END
$procedure$;

-- Commits many items: checks the guards of each, and writes the accepted ones.
CREATE OR REPLACE FUNCTION "kept_release".commit_v1_f9df8373(
  items text,
  balance_max numeric,
  lock_timeout_ms integer,
  has_triggers boolean,
  every_row boolean,
  commit_follows boolean,
  durable boolean,
  highest_timeline bigint,
  of_system bigint
)
RETURNS TABLE (
  item_index integer, verdict text, currency text, balance text, wallet_transaction_id text,
  records text, timeline text
)
LANGUAGE plpgsql VOLATILE ROWS 100
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET array_nulls = on
AS $function$
#variable_conflict use_column
DECLARE
  fields text[] := items::text[];
  result record;
  changed_players text[];
  changed_balances numeric[];
  loaded_keys json[];
BEGIN
  -- For all other locks. It does not wait for a locked player.
  PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
  IF current_setting('transaction_read_only')::boolean THEN
    RAISE EXCEPTION 'bet-wallet: this server is read-only'
      USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  IF highest_timeline IS NOT NULL THEN
    IF ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint <> highest_timeline THEN
      timeline := "kept_release".other_timeline_v1_f9df8373(highest_timeline, of_system);
    END IF;
  END IF;
  IF current_setting('client_encoding') <> 'UTF8' THEN
    RAISE EXCEPTION 'bet-wallet: other code has set client_encoding on this connection'
      USING ERRCODE = 'invalid_transaction_state';
  END IF;

  FOR result IN
    WITH -- The guards that depend on the item alone: one index lookup per item and table.
    checked AS MATERIALIZED (
      SELECT
        transaction.is_stored IS NULL -- guard 1
          AND CASE item.bet_revision -- guard 2
            WHEN 0 THEN bet.revision IS NOT NULL
            ELSE item.bet_revision IS NULL OR item.bet_revision - 1 = coalesce(bet.revision, 0)
          END
          AS is_new,
        CASE WHEN item.bet_revision IS NOT NULL THEN bet.revision END AS stored_revision,
        item.*
      FROM (
        SELECT
          generate_series(0, cardinality(fields[1]::text[]) - 1) AS item_index,
          unnest(fields[1]::text[]) AS operation,
          unnest(fields[2]::text[]) AS transaction_id,
          unnest(fields[3]::text[]) AS player_id,
          unnest(fields[4]::text[]) AS bet_id,
          unnest(fields[5]::numeric[]) AS amount,
          unnest(fields[6]::text[]) AS currency,
          unnest(fields[7]::text[]) AS type,
          unnest(fields[8]::numeric[]) AS delta,
          unnest(fields[9]::text[]) AS error_code,
          unnest(fields[10]::text[]) AS description,
          unnest(fields[11]::text[]) AS reason,
          unnest(fields[12]::float8[]) AS transaction_date_ms,
          unnest(fields[13]::numeric[]) AS balance_delta,
          unnest(fields[14]::text[]) AS account_currency,
          unnest(fields[15]::numeric[]) AS balance_floor,
          unnest(fields[16]::text[]) AS bet_player_id,
          unnest(fields[17]::text[]) AS bet_currency,
          unnest(fields[18]::numeric[]) AS bet_stake,
          unnest(fields[19]::text[]) AS bet_status,
          unnest(fields[20]::integer[]) AS bet_revision,
          unnest(fields[21]::text[])::numeric[] AS credits
      ) item
      LEFT JOIN LATERAL (
        SELECT bet.revision
        FROM "kept_release".bets bet
        WHERE bet.bet_id = item.bet_id
          AND (
            item.bet_revision IS DISTINCT FROM 0
            OR bet.player_id = item.bet_player_id
              AND bet.currency = item.bet_currency
              AND bet.status = item.bet_status
              AND length(translate(
                coalesce(
                  coalesce(bet.bet_paid_live, 0) + (item.credits)[1],
                  coalesce(bet.voided_live, 0) + (item.credits)[4],
                  coalesce(bet.cashout_live, 0) + (item.credits)[7]
                )::text, '-.', ''
              )) <= 40
          )
        OFFSET 0
      ) bet ON true
      LEFT JOIN LATERAL (
        SELECT true AS is_stored
        FROM "kept_release".transactions stored
        WHERE stored.operation = item.operation
          AND stored.transaction_id = item.transaction_id
        OFFSET 0
      ) transaction ON true
    ),

    locked AS MATERIALIZED (
      SELECT
        player."player_id"::text AS player_id,
        coalesce(player."currency"::text, '') AS currency,
        CASE
          WHEN pg_typeof(player."balance" - player."balance") = 'numeric'::regtype
            THEN player."balance"::numeric
          ELSE "kept_release".refuse_balance_type_v1_f9df8373(pg_typeof(player."balance"))
        END AS balance
      FROM "kept_release"."players" player
      WHERE player."player_id" = ANY (ARRAY(
        SELECT item.player_id FROM checked item WHERE item.is_new
      ))
      FOR NO KEY UPDATE SKIP LOCKED
    ),

    judged AS MATERIALIZED (
      SELECT
        CASE
          WHEN NOT item.is_new THEN 'conflict'
          WHEN player.player_id IS NULL THEN
            -- Not EXISTS, for which PostgreSQL may read all players. Busy: another writer holds the row lock.
            coalesce((
              SELECT 'busy'
              FROM "kept_release"."players" player
              WHERE player."player_id" = item.player_id
            ), 'conflict')
          WHEN player.currency <> item.account_currency THEN 'conflict' -- guard 3
          WHEN item.balance_delta IS NULL THEN 'committed'
          WHEN NOT (
            abs(player.balance) < 'Infinity'
            AND CASE
              WHEN abs(player.balance) < 1e20
                AND scale(player.balance) <= 20
                THEN true
              ELSE length(translate(
                trim_scale(player.balance)::text, '-.', ''
              )) <= 40
            END
            AND CASE
              WHEN abs(player.balance + item.balance_delta) < 1e20
                AND scale(player.balance + item.balance_delta) <= 20
                THEN true
              ELSE length(translate(
                trim_scale(player.balance + item.balance_delta)::text, '-.', ''
              )) <= 40
            END
          ) IS TRUE THEN 'conflict'
          WHEN player.balance + item.balance_delta < item.balance_floor THEN 'conflict' -- guard 3, the floor
          WHEN sign(item.balance_delta) * (player.balance + item.balance_delta) > balance_max THEN 'out-of-range'
          ELSE 'committed'
        END AS verdict,
        item.*,
        player.currency AS player_currency,
        player.balance AS player_balance,

        CASE WHEN player.player_id IS NOT NULL THEN
          nextval('"kept_release".wallet_transaction_ids')::text
        END AS wallet_transaction_id
      FROM checked item
      LEFT JOIN locked player ON player.player_id = item.player_id
    ),

    new_transaction AS (
      INSERT INTO "kept_release".transactions (
        operation, transaction_id, player_id, bet_id,
        amount, currency, type, delta, account_currency,
        error_code, description, reason,
        transaction_date,
        wallet_transaction_id, balance_after, recorded_at
      )
      SELECT
        item.operation, item.transaction_id, item.player_id, item.bet_id,
        item.amount, item.currency, item.type, item.delta, item.account_currency,
        item.error_code, item.description, item.reason,
        timestamptz 'epoch' + item.transaction_date_ms * interval '1 millisecond',
        item.wallet_transaction_id,
        item.player_balance + coalesce(item.balance_delta, 0),
        now()
      FROM judged item
      WHERE item.verdict = 'committed'
    ),

    new_bet AS (
      INSERT INTO "kept_release".bets (
        bet_id, player_id, currency, stake, status,
        bet_paid_live, bet_paid_reversed, bet_paid_owed,
        voided_live, voided_reversed, voided_owed,
        cashout_live, cashout_reversed, cashout_owed,
        revision
      )
      SELECT
        item.bet_id, item.bet_player_id, item.bet_currency, item.bet_stake, item.bet_status,
        (item.credits)[1], (item.credits)[2], (item.credits)[3],
        (item.credits)[4], (item.credits)[5], (item.credits)[6],
        (item.credits)[7], (item.credits)[8], (item.credits)[9],
        item.bet_revision
      FROM judged item
      WHERE item.verdict = 'committed'
        AND item.bet_revision IS NOT NULL
        AND item.stored_revision IS NULL
    ),

    -- By ctid: for a join by bet_id, a generic plan made while the table is empty reads the whole table for
    -- every commit. The revision is compared again: before the minor releases of November 2025, an UPDATE by
    -- ctid changes a row that another transaction has updated meanwhile, unless another condition on it
    -- fails.
    changed_bet AS (
      UPDATE "kept_release".bets bet
      SET
        stake = coalesce(item.bet_stake, bet.stake),
        status = item.bet_status,
        bet_paid_live = coalesce(
          CASE item.bet_revision WHEN 0 THEN coalesce(bet.bet_paid_live + (item.credits)[1], bet.bet_paid_live) END,
          (item.credits)[1]
        ),
        bet_paid_reversed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.bet_paid_reversed END,
          (item.credits)[2]
        ),
        bet_paid_owed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.bet_paid_owed END,
          (item.credits)[3]
        ),
        voided_live = coalesce(
          CASE item.bet_revision WHEN 0 THEN coalesce(bet.voided_live + (item.credits)[4], bet.voided_live) END,
          (item.credits)[4]
        ),
        voided_reversed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.voided_reversed END,
          (item.credits)[5]
        ),
        voided_owed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.voided_owed END,
          (item.credits)[6]
        ),
        cashout_live = coalesce(
          CASE item.bet_revision WHEN 0 THEN coalesce(bet.cashout_live + (item.credits)[7], bet.cashout_live) END,
          (item.credits)[7]
        ),
        cashout_reversed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.cashout_reversed END,
          (item.credits)[8]
        ),
        cashout_owed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.cashout_owed END,
          (item.credits)[9]
        ),
        revision = item.stored_revision + 1
      FROM judged item
      LEFT JOIN LATERAL (
        SELECT stored.ctid AS location
        FROM "kept_release".bets stored
        WHERE stored.bet_id = item.bet_id
          AND stored.revision = item.stored_revision
        OFFSET 0
      ) stored_bet ON true
      -- An item whose bet is new is not looked up.
      WHERE item.verdict = 'committed'
        AND item.stored_revision IS NOT NULL
        AND bet.ctid = stored_bet.location
        AND bet.revision = item.stored_revision
      RETURNING 1
    ),

    balance_change AS (
      SELECT item.item_index, item.player_id, item.balance_delta, item.player_balance
      FROM judged item
      WHERE item.verdict = 'committed'
        AND item.balance_delta IS NOT NULL
    ),

    -- One array of ids for the index lookup: a join alone may read the whole table.
    changed_player AS (
      UPDATE "kept_release"."players" player
      SET "balance" = player."balance" + change.balance_delta
      FROM balance_change change
      WHERE player."player_id" = ANY (ARRAY(
        SELECT changed.player_id FROM balance_change changed
      ))
        AND player."player_id"::text = change.player_id
      RETURNING
        change.item_index,
        change.player_id,
        player."balance"::numeric AS balance,
        player."balance"::numeric = change.player_balance + change.balance_delta
          AND CASE
            WHEN abs(player."balance"::numeric) < 1e20
              AND scale(player."balance"::numeric) <= 20
              THEN true
            ELSE length(translate(
              trim_scale(player."balance"::numeric)::text, '-.', ''
            )) <= 40
          END AS is_expected
    )

    SELECT
      item.item_index,
      item.operation, item.transaction_id, item.player_id, item.bet_id,
      item.verdict,
      item.bet_revision,
      item.player_currency AS currency,
      CASE
        WHEN abs(coalesce(changed_player.balance, item.player_balance)) < 1e20
          AND scale(coalesce(changed_player.balance, item.player_balance)) <= 20
          THEN coalesce(changed_player.balance, item.player_balance)
        ELSE trim_scale(coalesce(changed_player.balance, item.player_balance))
      END::text AS balance,

      CASE WHEN item.verdict = 'committed' THEN item.wallet_transaction_id END AS wallet_transaction_id,
      (SELECT count(*) FROM judged stored WHERE stored.verdict = 'committed' AND stored.stored_revision IS NOT NULL)
        = (SELECT count(*) FROM changed_bet) AS all_bets_changed,
      item.verdict <> 'committed'
        OR item.balance_delta IS NULL
        OR changed_player.is_expected IS TRUE AS balance_is_expected,
      (SELECT count(*) FROM changed_player) <= (SELECT count(*) FROM balance_change) AS rows_are_single,
      changed_player.player_id AS changed_player,
      changed_player.balance AS changed_balance
    FROM judged item
    -- By item: of two changes of one player, which no batch has, the UPDATE would make one only.
    LEFT JOIN changed_player ON changed_player.item_index = item.item_index
  LOOP
    IF NOT result.all_bets_changed THEN
      RAISE EXCEPTION 'bet-wallet: another writer changed the bet during this commit'
        USING ERRCODE = 'serialization_failure';
    END IF;
    IF NOT result.balance_is_expected THEN
      -- The row is locked: the difference comes from a trigger that rounds, replaces or suppresses the update.
      RAISE EXCEPTION 'bet-wallet: the balance in the players'' table is not the one written: see its triggers'
        USING ERRCODE = 'triggered_data_change_violation';
    END IF;
    IF NOT result.rows_are_single THEN
      RAISE EXCEPTION 'bet-wallet: the players'' table has several rows for one account'
        USING ERRCODE = 'cardinality_violation';
    END IF;
    IF has_triggers AND result.changed_player IS NOT NULL THEN
      changed_players := changed_players || result.changed_player;
      changed_balances := changed_balances || result.changed_balance;
    END IF;
    item_index := result.item_index;
    verdict := result.verdict;
    IF verdict = 'conflict' AND result.operation IS NOT NULL -- NULL: the check at start, which must not wait
      AND current_setting('transaction_isolation') = 'read committed'
      OR verdict = 'committed' AND result.bet_revision = 0 AND NOT commit_follows THEN
      loaded_keys := loaded_keys || CASE verdict
        WHEN 'committed' THEN json_build_object('key_index', item_index, 'bet_id', result.bet_id)
        ELSE json_build_object(
          'key_index', item_index, 'operation', result.operation, 'transaction_id', result.transaction_id,
          'player_id', result.player_id, 'bet_id', result.bet_id
        )
      END;
    END IF;
    currency := result.currency;
    balance := result.balance;

    wallet_transaction_id := result.wallet_transaction_id;
    RETURN NEXT;
  END LOOP;

  -- Triggers may wait for the COMMIT, change a balance once more, or switch off that a commit waits for the
  -- disk, or that the server warns where it did not wait for a standby.
  IF has_triggers THEN
    IF commit_follows THEN
      SET CONSTRAINTS ALL IMMEDIATE;
    END IF;
    PERFORM FROM unnest(changed_players, changed_balances) AS changed (player_id, balance)
    LEFT JOIN LATERAL (
      SELECT player."balance"::numeric AS balance
      FROM "kept_release"."players" player
      WHERE player."player_id" = changed.player_id
      OFFSET 0
    ) stored ON true
    WHERE stored.balance IS DISTINCT FROM changed.balance;
    IF found THEN
      -- The row is locked: the difference comes from a trigger that rounds, replaces or suppresses the update.
      RAISE EXCEPTION 'bet-wallet: the balance in the players'' table is not the one written: see its triggers'
        USING ERRCODE = 'triggered_data_change_violation';
    END IF;
  END IF;
  IF loaded_keys IS NOT NULL THEN
    RETURN QUERY
      SELECT loaded.key_index, 'loaded', loaded.currency, loaded.balance, NULL,
        json_build_object('bet', loaded.bet, 'transaction', loaded.transaction)::text,
        NULL
      FROM "kept_release".load_v1_f9df8373(
        array_to_json(loaded_keys)::text, every_row, lock_timeout_ms, NULL, NULL
      ) loaded;
    PERFORM pg_logical_emit_message(true, 'bet-wallet', '');
  END IF;
  IF durable AND (
    current_setting('synchronous_commit') IN ('off', 'local')
    OR current_setting('client_min_messages') = 'error'
  ) THEN
    PERFORM set_config(setting.name, setting.value, true)
    FROM (
      VALUES
        (
          'synchronous_commit', 'on',
          current_setting('synchronous_commit') = 'off'
            OR current_setting('synchronous_commit') = 'local' AND current_setting('synchronous_standby_names') <> ''
        ),
        ('client_min_messages', 'warning', current_setting('client_min_messages') = 'error')
    ) setting (name, value, is_off)
    WHERE setting.is_off;
  END IF;
END
$function$;

-- Commits one item: the same guards, by small statements.
CREATE OR REPLACE FUNCTION "kept_release".commit_one_v1_f9df8373(
  fields_text text,
  balance_max numeric,
  balance_length integer,
  lock_timeout_ms integer,
  has_triggers boolean,
  every_row boolean,
  commit_follows boolean,
  durable boolean,
  highest_timeline bigint,
  of_system bigint
)
RETURNS TABLE (
  item_index integer, verdict text, currency text, balance text, wallet_transaction_id text,
  records text, timeline text
)
LANGUAGE plpgsql VOLATILE ROWS 1
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET array_nulls = on
AS $function$
#variable_conflict use_column
DECLARE
  fields text[] := fields_text::text[];
  item record;
  stored_revision integer;
  balance_before numeric;

  balance_after numeric;
  balance_written numeric;
  loaded_keys json[];
BEGIN
  PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
  IF current_setting('transaction_read_only')::boolean THEN
    RAISE EXCEPTION 'bet-wallet: this server is read-only'
      USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  IF highest_timeline IS NOT NULL THEN
    IF ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint <> highest_timeline THEN
      timeline := "kept_release".other_timeline_v1_f9df8373(highest_timeline, of_system);
    END IF;
  END IF;
  IF current_setting('client_encoding') <> 'UTF8' THEN
    RAISE EXCEPTION 'bet-wallet: other code has set client_encoding on this connection'
      USING ERRCODE = 'invalid_transaction_state';
  END IF;
  SELECT
    fields[1] AS operation,
    fields[2] AS transaction_id,
    fields[3] AS player_id,
    fields[4] AS bet_id,
    fields[5]::numeric AS amount,
    fields[6] AS currency,
    fields[7] AS type,
    fields[8]::numeric AS delta,
    fields[9] AS error_code,
    fields[10] AS description,
    fields[11] AS reason,
    fields[12]::float8 AS transaction_date_ms,
    fields[13]::numeric AS balance_delta,
    fields[14] AS account_currency,
    fields[15]::numeric AS balance_floor,
    fields[16] AS bet_player_id,
    fields[17] AS bet_currency,
    fields[18]::numeric AS bet_stake,
    fields[19] AS bet_status,
    fields[20]::integer AS bet_revision,
    fields[21]::numeric[] AS credits
  INTO item;
  item_index := 0;
  verdict := 'conflict';

  <<guards_and_writes>>
  BEGIN
    -- Before the row lock: a conflict by guards 1 and 2 locks nothing.
    -- Guard 1: the transaction is new.
    PERFORM FROM "kept_release".transactions stored
    WHERE stored.operation = item.operation
      AND stored.transaction_id = item.transaction_id;
    EXIT guards_and_writes WHEN found;

    -- Guard 2: the bet has not changed since it was loaded. That of a credit: the bet takes it.
    IF item.bet_revision = 0 THEN
      SELECT bet.revision INTO stored_revision
      FROM "kept_release".bets bet
      WHERE bet.bet_id = item.bet_id
        AND bet.player_id = item.bet_player_id
          AND bet.currency = item.bet_currency
          AND bet.status = item.bet_status
          AND length(translate(
            coalesce(
              coalesce(bet.bet_paid_live, 0) + (item.credits)[1],
              coalesce(bet.voided_live, 0) + (item.credits)[4],
              coalesce(bet.cashout_live, 0) + (item.credits)[7]
            )::text, '-.', ''
          )) <= 40;
      EXIT guards_and_writes WHEN NOT found;
    ELSIF item.bet_revision IS NOT NULL THEN
      SELECT bet.revision INTO stored_revision FROM "kept_release".bets bet WHERE bet.bet_id = item.bet_id;
      EXIT guards_and_writes WHEN coalesce(stored_revision, 0) <> item.bet_revision - 1;
    END IF;

    -- Lock order: the player, then the bet, in every commit. It does not wait for a locked player.
    -- Guard 3: the currency and the floor of the balance.
    SELECT coalesce(player."currency"::text, ''), CASE
      WHEN pg_typeof(player."balance" - player."balance") = 'numeric'::regtype
        THEN player."balance"::numeric
      ELSE "kept_release".refuse_balance_type_v1_f9df8373(pg_typeof(player."balance"))
    END
    INTO currency, balance_before
    FROM "kept_release"."players" player
    WHERE player."player_id" = item.player_id
    AND player."currency"::text = item.account_currency
    AND (
      item.balance_delta IS NULL
      OR (
        abs(player."balance"::numeric) < 'Infinity'
        AND CASE
          WHEN abs(player."balance"::numeric) < 1e20
            AND scale(player."balance"::numeric) <= 20
            THEN true
          ELSE length(translate(
            trim_scale(player."balance"::numeric)::text, '-.', ''
          )) <= 40
        END
        AND CASE
          WHEN abs(player."balance"::numeric + item.balance_delta) < 1e20
            AND scale(player."balance"::numeric + item.balance_delta) <= 20
            THEN true
          ELSE length(translate(
            trim_scale(player."balance"::numeric + item.balance_delta)::text, '-.', ''
          )) <= 40
        END
      ) IS TRUE
        AND (player."balance"::numeric + item.balance_delta < item.balance_floor) IS NOT TRUE
    )
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT found THEN
      PERFORM FROM "kept_release"."players" player
      WHERE player."player_id" = item.player_id
      AND player."currency"::text = item.account_currency
      AND (
        item.balance_delta IS NULL
        OR (
          abs(player."balance"::numeric) < 'Infinity'
          AND CASE
            WHEN abs(player."balance"::numeric) < 1e20
              AND scale(player."balance"::numeric) <= 20
              THEN true
            ELSE length(translate(
              trim_scale(player."balance"::numeric)::text, '-.', ''
            )) <= 40
          END
          AND CASE
            WHEN abs(player."balance"::numeric + item.balance_delta) < 1e20
              AND scale(player."balance"::numeric + item.balance_delta) <= 20
              THEN true
            ELSE length(translate(
              trim_scale(player."balance"::numeric + item.balance_delta)::text, '-.', ''
            )) <= 40
          END
        ) IS TRUE
          AND (player."balance"::numeric + item.balance_delta < item.balance_floor) IS NOT TRUE
      );
      IF found THEN
        verdict := 'busy'; -- another writer holds the row lock
      END IF;
      EXIT guards_and_writes;
    END IF;
    balance := CASE
      WHEN abs(balance_before) < 1e20
        AND scale(balance_before) <= 20
        THEN balance_before
      ELSE trim_scale(balance_before)
    END::text;

    balance_after := balance_before + item.balance_delta;
    IF sign(item.balance_delta) * (balance_after) > balance_max
      OR item.balance_delta IS NOT NULL AND length(balance_after::text) > balance_length THEN
      verdict := 'out-of-range';
      EXIT guards_and_writes;
    END IF;

    INSERT INTO "kept_release".transactions AS new_transaction (
      operation, transaction_id, player_id, bet_id,
      amount, currency, type, delta, account_currency,
      error_code, description, reason,
      transaction_date,
      wallet_transaction_id, balance_after, recorded_at
    )
    VALUES (
      item.operation, item.transaction_id, item.player_id, item.bet_id,
      item.amount, item.currency, item.type, item.delta, item.account_currency,
      item.error_code, item.description, item.reason,
      timestamptz 'epoch' + item.transaction_date_ms * interval '1 millisecond',
      nextval('"kept_release".wallet_transaction_ids')::text,
      coalesce(balance_after, balance_before),
      now()
    )
    RETURNING new_transaction.wallet_transaction_id INTO wallet_transaction_id;

    IF stored_revision IS NOT NULL THEN
      UPDATE "kept_release".bets bet
      SET
        stake = coalesce(item.bet_stake, bet.stake),
        status = item.bet_status,
        bet_paid_live = coalesce(
          CASE item.bet_revision WHEN 0 THEN coalesce(bet.bet_paid_live + (item.credits)[1], bet.bet_paid_live) END,
          (item.credits)[1]
        ),
        bet_paid_reversed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.bet_paid_reversed END,
          (item.credits)[2]
        ),
        bet_paid_owed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.bet_paid_owed END,
          (item.credits)[3]
        ),
        voided_live = coalesce(
          CASE item.bet_revision WHEN 0 THEN coalesce(bet.voided_live + (item.credits)[4], bet.voided_live) END,
          (item.credits)[4]
        ),
        voided_reversed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.voided_reversed END,
          (item.credits)[5]
        ),
        voided_owed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.voided_owed END,
          (item.credits)[6]
        ),
        cashout_live = coalesce(
          CASE item.bet_revision WHEN 0 THEN coalesce(bet.cashout_live + (item.credits)[7], bet.cashout_live) END,
          (item.credits)[7]
        ),
        cashout_reversed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.cashout_reversed END,
          (item.credits)[8]
        ),
        cashout_owed = coalesce(
          CASE item.bet_revision WHEN 0 THEN bet.cashout_owed END,
          (item.credits)[9]
        ),
        revision = stored_revision + 1
      WHERE bet.bet_id = item.bet_id
        AND bet.revision = stored_revision;
      IF NOT found THEN
        RAISE EXCEPTION 'bet-wallet: another writer changed the bet during this commit'
          USING ERRCODE = 'serialization_failure';
      END IF;
    ELSIF item.bet_revision IS NOT NULL THEN
      INSERT INTO "kept_release".bets (
        bet_id, player_id, currency, stake, status,
        bet_paid_live, bet_paid_reversed, bet_paid_owed,
        voided_live, voided_reversed, voided_owed,
        cashout_live, cashout_reversed, cashout_owed,
        revision
      )
      VALUES (
        item.bet_id, item.bet_player_id, item.bet_currency, item.bet_stake, item.bet_status,
        (item.credits)[1], (item.credits)[2], (item.credits)[3],
        (item.credits)[4], (item.credits)[5], (item.credits)[6],
        (item.credits)[7], (item.credits)[8], (item.credits)[9],
        item.bet_revision
      );
    END IF;

    IF item.balance_delta IS NOT NULL THEN
      UPDATE "kept_release"."players" player
      SET "balance" = player."balance" + item.balance_delta
      WHERE player."player_id" = item.player_id
      RETURNING player."balance"::numeric INTO balance_written;
      IF balance_written IS DISTINCT FROM balance_after THEN
        -- The row is locked: the difference comes from a trigger that rounds, replaces or suppresses the update.
        RAISE EXCEPTION 'bet-wallet: the balance in the players'' table is not the one written: see its triggers'
          USING ERRCODE = 'triggered_data_change_violation';
      END IF;
      balance := CASE
        WHEN abs(balance_after) < 1e20
          AND scale(balance_after) <= 20
          THEN balance_after
        ELSE trim_scale(balance_after)
      END::text;
    END IF;
    verdict := 'committed';
  END;

  RETURN NEXT;
  IF verdict = 'conflict' AND item.operation IS NOT NULL -- NULL: the check at start, which must not wait
    AND current_setting('transaction_isolation') = 'read committed'
    OR verdict = 'committed' AND item.bet_revision = 0 AND NOT commit_follows THEN
    loaded_keys := loaded_keys || CASE verdict
      WHEN 'committed' THEN json_build_object('key_index', item_index, 'bet_id', item.bet_id)
      ELSE json_build_object(
        'key_index', item_index, 'operation', item.operation, 'transaction_id', item.transaction_id,
        'player_id', item.player_id, 'bet_id', item.bet_id
      )
    END;
  END IF;
  -- Triggers may wait for the COMMIT, change a balance once more, or switch off that a commit waits for the
  -- disk, or that the server warns where it did not wait for a standby.
  IF has_triggers THEN
    IF commit_follows THEN
      SET CONSTRAINTS ALL IMMEDIATE;
    END IF;
    IF verdict = 'committed' AND item.balance_delta IS NOT NULL THEN
      PERFORM FROM "kept_release"."players" player
      WHERE player."player_id" = item.player_id
        AND player."balance"::numeric = balance_after;
      IF NOT found THEN
        -- The row is locked: the difference comes from a trigger that rounds, replaces or suppresses the update.
        RAISE EXCEPTION 'bet-wallet: the balance in the players'' table is not the one written: see its triggers'
          USING ERRCODE = 'triggered_data_change_violation';
      END IF;
    END IF;
  END IF;
  IF loaded_keys IS NOT NULL THEN
    RETURN QUERY
      SELECT loaded.key_index, 'loaded', loaded.currency, loaded.balance, NULL,
        json_build_object('bet', loaded.bet, 'transaction', loaded.transaction)::text,
        NULL
      FROM "kept_release".load_v1_f9df8373(
        array_to_json(loaded_keys)::text, every_row, lock_timeout_ms, NULL, NULL
      ) loaded;
    PERFORM pg_logical_emit_message(true, 'bet-wallet', '');
  END IF;
  IF durable AND (
    current_setting('synchronous_commit') IN ('off', 'local')
    OR current_setting('client_min_messages') = 'error'
  ) THEN
    PERFORM set_config(setting.name, setting.value, true)
    FROM (
      VALUES
        (
          'synchronous_commit', 'on',
          current_setting('synchronous_commit') = 'off'
            OR current_setting('synchronous_commit') = 'local' AND current_setting('synchronous_standby_names') <> ''
        ),
        ('client_min_messages', 'warning', current_setting('client_min_messages') = 'error')
    ) setting (name, value, is_off)
    WHERE setting.is_off;
  END IF;
END
$function$;

-- The same as commit, as JSON. Inside another database transaction it is an error.
CREATE OR REPLACE PROCEDURE "kept_release".commit_procedure_v1_f9df8373(
  items text,
  balance_max numeric,
  lock_timeout_ms integer,
  has_triggers boolean,
  every_row boolean,
  commit_follows boolean,
  durable boolean,
  highest_timeline bigint,
  of_system bigint,
  OUT result text
)
LANGUAGE plpgsql
AS $procedure$
BEGIN
  COMMIT;
  SELECT json_agg(committed) INTO result
  FROM "kept_release".commit_v1_f9df8373(
    items, balance_max, lock_timeout_ms, has_triggers, every_row,
    commit_follows, durable,
    highest_timeline, of_system
  ) committed;
  COMMIT;
END
$procedure$;

-- The same as commit_one, as JSON. Inside another database transaction it is an error.
CREATE OR REPLACE PROCEDURE "kept_release".commit_one_procedure_v1_f9df8373(
  items text,
  balance_max numeric,
  balance_length integer,
  lock_timeout_ms integer,
  has_triggers boolean,
  every_row boolean,
  commit_follows boolean,
  durable boolean,
  highest_timeline bigint,
  of_system bigint,
  OUT result text
)
LANGUAGE plpgsql
AS $procedure$
BEGIN
  COMMIT;
  SELECT json_agg(committed) INTO result
  FROM "kept_release".commit_one_v1_f9df8373(
    items, balance_max, balance_length, lock_timeout_ms, has_triggers, every_row,
    commit_follows, durable,
    highest_timeline, of_system
  ) committed;
  COMMIT;
END
$procedure$;

-- For a balance column whose type was changed while processes run.
CREATE OR REPLACE FUNCTION "kept_release".refuse_balance_type_v1_f9df8373(
  balance_type regtype
)
RETURNS numeric
LANGUAGE plpgsql VOLATILE
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET array_nulls = on
AS $function$
BEGIN
  RAISE EXCEPTION 'bet-wallet: the balance column is % now, and the store runs with %', balance_type,
    'players.balanceType numeric'
    USING ERRCODE = 'datatype_mismatch',
      HINT = 'Migrate with the options of the new type, and start the processes with them';
END
$function$;

-- For PAM code that settles bets (D17): records the credit on the bet. Call it in the database
-- transaction that credits the player.
CREATE OR REPLACE FUNCTION "kept_release".credit_bet_v1(
  settled_bet_id text,
  settlement_type text,
  amount numeric
)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET array_nulls = on
AS $function$
DECLARE
  known_bet record;
  live_credit numeric;
BEGIN
  IF settlement_type IS NULL OR settlement_type NOT IN ('BET_PAID', 'VOIDED', 'CASHOUT') THEN
    RAISE EXCEPTION 'bet-wallet: settlement_type must be BET_PAID, VOIDED or CASHOUT, not %',
      settlement_type
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF amount IS NULL OR NOT (amount >= 0 AND amount < 'Infinity') THEN
    RAISE EXCEPTION 'bet-wallet: amount must be at least 0, not %', amount
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT bet.bet_id, bet.player_id, bet.currency INTO known_bet
  FROM "kept_release".bets bet
  WHERE bet.bet_id = settled_bet_id;
  IF known_bet.bet_id IS NULL THEN
    RAISE EXCEPTION 'bet-wallet: unknown bet %', settled_bet_id
      USING ERRCODE = 'no_data_found';
  END IF;
  -- The decimals of the balance are those of its column: credit no more of them.

  -- Lock order: the player, then the bet, as in every commit. To settle bets of several players in one
  -- database transaction, call this function in the order of the players' ids.
  PERFORM FROM "kept_release"."players" player
  WHERE player."player_id" = known_bet.player_id
  FOR NO KEY UPDATE;

  UPDATE "kept_release".bets bet
  SET
    bet_paid_live = CASE
      WHEN settlement_type = 'BET_PAID' THEN coalesce(bet.bet_paid_live, 0) + amount
      ELSE bet.bet_paid_live
    END,
    bet_paid_reversed = CASE
      WHEN settlement_type = 'BET_PAID' THEN coalesce(bet.bet_paid_reversed, 0)
      ELSE bet.bet_paid_reversed
    END,
    bet_paid_owed = CASE
      WHEN settlement_type = 'BET_PAID' THEN coalesce(bet.bet_paid_owed, 0)
      ELSE bet.bet_paid_owed
    END,
    voided_live = CASE
      WHEN settlement_type = 'VOIDED' THEN coalesce(bet.voided_live, 0) + amount
      ELSE bet.voided_live
    END,
    voided_reversed = CASE
      WHEN settlement_type = 'VOIDED' THEN coalesce(bet.voided_reversed, 0)
      ELSE bet.voided_reversed
    END,
    voided_owed = CASE
      WHEN settlement_type = 'VOIDED' THEN coalesce(bet.voided_owed, 0)
      ELSE bet.voided_owed
    END,
    cashout_live = CASE
      WHEN settlement_type = 'CASHOUT' THEN coalesce(bet.cashout_live, 0) + amount
      ELSE bet.cashout_live
    END,
    cashout_reversed = CASE
      WHEN settlement_type = 'CASHOUT' THEN coalesce(bet.cashout_reversed, 0)
      ELSE bet.cashout_reversed
    END,
    cashout_owed = CASE
      WHEN settlement_type = 'CASHOUT' THEN coalesce(bet.cashout_owed, 0)
      ELSE bet.cashout_owed
    END,
    revision = bet.revision + 1
  WHERE bet.bet_id = settled_bet_id
  RETURNING CASE settlement_type
    WHEN 'BET_PAID' THEN bet.bet_paid_live
    WHEN 'VOIDED' THEN bet.voided_live
    WHEN 'CASHOUT' THEN bet.cashout_live
  END INTO live_credit;
  -- With more digits it is no decimal of the contract, and no load could read the bet.
  IF length(replace(live_credit::text, '.', '')) > 40 THEN
    RAISE EXCEPTION 'bet-wallet: the sum of the credits must have at most 40 digits'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
END
$function$;

INSERT INTO "kept_release".migrations (version)
VALUES (1)
ON CONFLICT DO NOTHING;

INSERT INTO "kept_release".options (hash, options)
VALUES ('f9df8373', '{
  "players.table": "kept_release.players",
  "players.id": "player_id",
  "players.idType": "text",
  "players.currency": "currency",
  "players.balance": "balance",
  "players.balanceType": "numeric",
  "players.minorUnits": null
}')
ON CONFLICT DO NOTHING;

COMMIT;

INSERT INTO kept_release.players (player_id, currency, balance) VALUES ('anna', 'EUR', '4.40');
INSERT INTO kept_release.bets (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at, is_imported) VALUES ('bet-1', 'anna', 'EUR', '30', 'PLACED', '55.5', '0', '0', NULL, NULL, NULL, NULL, NULL, NULL, '2', '2026-11-28 17:50:55.361326+00', 'false');
INSERT INTO kept_release.bets (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at, is_imported) VALUES ('bet-2', 'anna', 'EUR', '10.25', 'ROLLED_BACK', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2', '2026-11-28 17:50:55.372614+00', 'false');
INSERT INTO kept_release.bets (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at, is_imported) VALUES ('bet-3', 'anna', 'EUR', '0', 'ROLLED_BACK', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1', '2026-11-28 17:50:55.391463+00', 'false');
INSERT INTO kept_release.bets (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at, is_imported) VALUES ('bet-4', 'anna', 'EUR', '20', 'PLACED', NULL, '0', '1000', NULL, NULL, NULL, NULL, NULL, NULL, '3', '2026-11-28 17:50:55.396542+00', 'false');
INSERT INTO kept_release.bets (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at, is_imported) VALUES ('bet-5', 'anna', 'EUR', '2000', 'PLACED', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1', '2026-11-28 17:50:55.408957+00', 'false');
INSERT INTO kept_release.bets (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at, is_imported) VALUES ('bet-7', 'anna', 'EUR', '1.1', 'PLACED', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1', '2026-11-28 17:50:55.436513+00', 'false');
INSERT INTO kept_release.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, wallet_transaction_id, recorded_at) VALUES ('placebet', 'place-1', 'anna', 'bet-1', '30', 'EUR', NULL, '-30', 'EUR', '970', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00+00', '1', '2026-11-28 17:50:55.361326+00');
INSERT INTO kept_release.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, wallet_transaction_id, recorded_at) VALUES ('placebet', 'place-2', 'anna', 'bet-2', '10.25', 'EUR', NULL, '-10.25', 'EUR', '1015.25', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00+00', '3', '2026-11-28 17:50:55.372614+00');
INSERT INTO kept_release.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, wallet_transaction_id, recorded_at) VALUES ('placebet', 'place-4', 'anna', 'bet-4', '20', 'EUR', NULL, '-20', 'EUR', '1005.50', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00+00', '6', '2026-11-28 17:50:55.396542+00');
INSERT INTO kept_release.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, wallet_transaction_id, recorded_at) VALUES ('placebet', 'place-5', 'anna', 'bet-5', '2000', 'EUR', NULL, '-2000', 'EUR', '5.50', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00+00', '8', '2026-11-28 17:50:55.408957+00');
INSERT INTO kept_release.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, wallet_transaction_id, recorded_at) VALUES ('placebet', 'place-6', 'anna', 'bet-6', '5.51', 'EUR', NULL, '0', 'EUR', '5.50', 'INSUFFICIENT_FUNDS', 'amount: insufficient funds', 'INSUFFICIENT_FUNDS', '2026-11-21 10:00:00+00', '9', '2026-11-28 17:50:55.419897+00');
INSERT INTO kept_release.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, wallet_transaction_id, recorded_at) VALUES ('placebet', 'place-7', 'anna', 'bet-7', '1.1', 'EUR', NULL, '-1.1', 'EUR', '4.40', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00+00', '11', '2026-11-28 17:50:55.436513+00');
INSERT INTO kept_release.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, wallet_transaction_id, recorded_at) VALUES ('rollbackbet', 'rollback-2', 'anna', 'bet-2', NULL, NULL, 'TECHNICAL_ERROR', '10.25', 'EUR', '1025.50', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00+00', '4', '2026-11-28 17:50:55.385412+00');
INSERT INTO kept_release.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, wallet_transaction_id, recorded_at) VALUES ('rollbackbet', 'rollback-3', 'anna', 'bet-3', NULL, NULL, 'TECHNICAL_ERROR', '0', 'EUR', '1025.50', NULL, NULL, 'TOMBSTONE_CREATED', '2026-11-21 10:00:00+00', '5', '2026-11-28 17:50:55.391463+00');
INSERT INTO kept_release.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, wallet_transaction_id, recorded_at) VALUES ('settlement', 'settle-1', 'anna', 'bet-1', '55.5', 'EUR', 'BET_PAID', '55.5', 'EUR', '1025.5', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00+00', '2', '2026-11-28 17:50:55.367144+00');
INSERT INTO kept_release.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, wallet_transaction_id, recorded_at) VALUES ('settlement', 'settle-4', 'anna', 'bet-4', '1000', 'EUR', 'BET_PAID', '1000', 'EUR', '2005.50', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00+00', '7', '2026-11-28 17:50:55.401625+00');
INSERT INTO kept_release.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, wallet_transaction_id, recorded_at) VALUES ('unsettlement', 'unsettle-4', 'anna', 'bet-4', NULL, NULL, 'UNSCORED', '0', 'EUR', '5.50', 'INSUFFICIENT_FUNDS', 'betId: insufficient funds to reverse the settlement', 'INSUFFICIENT_FUNDS', '2026-11-21 10:00:00+00', '10', '2026-11-28 17:50:55.431042+00');
SELECT setval('kept_release.wallet_transaction_ids', 11);
