-- Tables and functions of bet-wallet, version 1.
-- This file can be run again: tables and rows are kept, functions are replaced.

BEGIN;

-- Migrations of one schema wait for each other.
SELECT pg_advisory_xact_lock(hashtextextended('bet-wallet ' || 'bet_wallet', 0));

-- IF NOT EXISTS would require CREATE on the database although the schema exists.
DO $schema$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'bet_wallet') THEN
    CREATE SCHEMA "bet_wallet";
  END IF;
END
$schema$;

-- The versions of this schema.
CREATE TABLE IF NOT EXISTS "bet_wallet".migrations (
  version integer PRIMARY KEY,
  migrated_at timestamptz NOT NULL DEFAULT now()
);

-- The options that the functions were made for. The hash is the end of their names.
CREATE TABLE IF NOT EXISTS "bet_wallet".options (
  hash text PRIMARY KEY,
  options jsonb NOT NULL,
  migrated_at timestamptz NOT NULL DEFAULT now()
);

-- Other options mean another players' table or another unit: nobody migrates to them by accident.
DO $check$
DECLARE
  problem text := (
    SELECT format(
      'The schema %s was migrated with other options: %s', 'bet_wallet',
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
        "players.table": "pam.accounts",
        "players.id": "account_no",
        "players.idType": "text",
        "players.currency": "currency",
        "players.balance": "balance_cents",
        "players.balanceType": "minor-units",
        "players.minorUnits": 2,
        "legacyBets": null
      }'::jsonb AS options
    ) given
    CROSS JOIN (
      SELECT options
      FROM "bet_wallet".options
      ORDER BY migrated_at DESC, hash
      LIMIT 1
    ) registered
    CROSS JOIN jsonb_object_keys(registered.options || given.options) name
    WHERE registered.options -> name IS DISTINCT FROM given.options -> name
      AND NOT EXISTS (SELECT FROM "bet_wallet".options other WHERE other.options = given.options)
    HAVING count(*) > 0
  );
BEGIN
  IF problem IS NOT NULL THEN
    RAISE EXCEPTION USING
      ERRCODE = 'object_not_in_prerequisite_state',
      MESSAGE = problem,
      HINT = 'Use the same options, or migrate with besideOtherOptions: running processes then keep their functions';
  END IF;
END
$check$;

-- A finite amount of money, not negative. There is no CREATE DOMAIN IF NOT EXISTS.
DO $domain$
BEGIN
  CREATE DOMAIN "bet_wallet".amount AS numeric
    CHECK (VALUE >= 0 AND VALUE < 'Infinity');
EXCEPTION WHEN duplicate_object THEN
  NULL;
END
$domain$;

-- An id or code, compared byte by byte.
DO $domain$
BEGIN
  CREATE DOMAIN "bet_wallet".identifier AS text COLLATE "C"
    CHECK (VALUE <> '');
EXCEPTION WHEN duplicate_object THEN
  NULL;
END
$domain$;

-- Every bet with its credits. A betId is unique across all players (D1).
-- Per settlement type (D18): the live credit, or NULL; the sum of reversed credits; the sum of uncollected
-- clawbacks, owed to the platform. All three are NULL where the bet was never credited with this type.
CREATE TABLE IF NOT EXISTS "bet_wallet".bets (
  bet_id "bet_wallet".identifier PRIMARY KEY,
  player_id "bet_wallet".identifier NOT NULL,
  currency "bet_wallet".identifier NOT NULL,
  stake "bet_wallet".amount NOT NULL,
  status text NOT NULL,
  bet_paid_live "bet_wallet".amount,
  bet_paid_reversed "bet_wallet".amount,
  bet_paid_owed "bet_wallet".amount,
  voided_live "bet_wallet".amount,
  voided_reversed "bet_wallet".amount,
  voided_owed "bet_wallet".amount,
  cashout_live "bet_wallet".amount,
  cashout_reversed "bet_wallet".amount,
  cashout_owed "bet_wallet".amount,
  revision integer NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT bets_valid CHECK (
    revision >= 1
    AND (
      status = 'PLACED'
      OR status = 'ROLLED_BACK' AND num_nonnulls(bet_paid_live, voided_live, cashout_live) = 0
    )
    AND (bet_paid_reversed IS NULL) = (bet_paid_owed IS NULL)
    AND (bet_paid_live IS NULL OR bet_paid_owed IS NOT NULL)
    AND (voided_reversed IS NULL) = (voided_owed IS NULL)
    AND (voided_live IS NULL OR voided_owed IS NOT NULL)
    AND (cashout_reversed IS NULL) = (cashout_owed IS NULL)
    AND (cashout_live IS NULL OR cashout_owed IS NOT NULL)
  )
);

CREATE SEQUENCE IF NOT EXISTS "bet_wallet".wallet_transaction_ids AS bigint;

-- Every decided transaction of the platform: the idempotency record, by operation and transactionId (D1).
CREATE TABLE IF NOT EXISTS "bet_wallet".transactions (
  operation text NOT NULL,
  transaction_id "bet_wallet".identifier NOT NULL,
  player_id "bet_wallet".identifier NOT NULL,
  bet_id "bet_wallet".identifier NOT NULL,
  amount "bet_wallet".amount,
  currency text,
  type text,
  delta numeric NOT NULL,
  -- A final refusal (D6, D7). Both are NULL: a success.
  error_code text,
  description text,
  transaction_date timestamptz NOT NULL,
  -- From the sequence, or imported from the legacy integration.
  wallet_transaction_id text COLLATE "C" NOT NULL UNIQUE DEFAULT nextval('"bet_wallet".wallet_transaction_ids')::text,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (operation, transaction_id),
  CONSTRAINT transactions_valid CHECK (
    CASE operation
      WHEN 'placebet' THEN amount IS NOT NULL AND type IS NULL
      WHEN 'settlement' THEN amount IS NOT NULL AND type IS NOT NULL
      WHEN 'unsettlement' THEN amount IS NULL AND type IS NOT NULL
      WHEN 'rollbackbet' THEN amount IS NULL AND type IS NOT NULL
      ELSE false
    END
    AND (currency IS NULL) = (amount IS NULL)
    AND (error_code IS NULL) = (description IS NULL)
    AND (error_code IS NULL OR delta = 0)
    AND abs(delta) < 'Infinity'
  )
);

-- Every function below has the same settings: one generic plan per connection, made of index lookups. They
-- hold for triggers that the function fires too. No search_path is set, because all names have their schema.

-- Returns player, bet and transaction for each key, a JSON array. Read-only.
CREATE OR REPLACE FUNCTION "bet_wallet".load_v1_a4981b82(
  keys text
)
RETURNS TABLE (key_index integer, currency text, balance text, bet json, transaction json)
LANGUAGE plpgsql STABLE ROWS 100
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $function$
#variable_conflict use_column
BEGIN
  -- A standby lags, so that its records may be old. 25006 is the code of a write on a standby.
  IF pg_is_in_recovery() THEN
    RAISE EXCEPTION 'bet-wallet: this server is a standby'
      USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  RETURN QUERY
    SELECT
      key.key_index,
      player.currency,
      player.balance,
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
        'error_code', transaction.error_code::text,
        'description', transaction.description::text,
        'wallet_transaction_id', transaction.wallet_transaction_id::text,
        'transaction_date_ms', (extract(epoch FROM transaction.transaction_date) * 1000)::bigint
      ) END
    FROM json_to_recordset(keys::json) AS key (
      key_index integer,
      operation text, transaction_id text, player_id text, bet_id text
    )
    LEFT JOIN LATERAL (
      SELECT coalesce(player."currency"::text, '') AS currency, player."balance_cents"::text AS balance
      FROM "pam"."accounts" player
      WHERE player."account_no" = key.player_id
      OFFSET 0
    ) player ON true
    LEFT JOIN LATERAL (
      SELECT
        bet.bet_id, bet.player_id, bet.currency, bet.stake, bet.status,
        bet.bet_paid_live, bet.bet_paid_reversed, bet.bet_paid_owed,
        bet.voided_live, bet.voided_reversed, bet.voided_owed,
        bet.cashout_live, bet.cashout_reversed, bet.cashout_owed,
        bet.revision,
        true AS is_stored
      FROM "bet_wallet".bets bet
      WHERE bet.bet_id = key.bet_id
      OFFSET 0
    ) bet ON true
    LEFT JOIN LATERAL (
      SELECT stored.*
      FROM "bet_wallet".transactions stored
      WHERE stored.operation = key.operation
        AND stored.transaction_id = key.transaction_id
      OFFSET 0
    ) transaction ON true;
END
$function$;

-- The same as load, and then an empty commit: its answer proves that this server is the primary.
CREATE OR REPLACE FUNCTION "bet_wallet".load_confirmed_v1_a4981b82(
  keys text
)
RETURNS TABLE (key_index integer, currency text, balance text, bet json, transaction json)
LANGUAGE plpgsql VOLATILE ROWS 100
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $function$
BEGIN
  RETURN QUERY
    SELECT loaded.* FROM "bet_wallet".load_v1_a4981b82(keys) loaded;
  PERFORM pg_logical_emit_message(true, 'bet-wallet', '');
END
$function$;

-- Commits many items: checks the guards of each, and writes the accepted ones.
CREATE OR REPLACE FUNCTION "bet_wallet".commit_v1_a4981b82(
  items text,
  player_ids text,
  balance_max numeric,
  lock_timeout_ms integer
)
RETURNS TABLE (item_index integer, verdict text, currency text, balance text, wallet_transaction_id text)
LANGUAGE plpgsql VOLATILE ROWS 100
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $function$
#variable_conflict use_column
DECLARE
  ids_to_lock text[] := ARRAY(
    SELECT id
    FROM json_array_elements_text(player_ids::json) id
  );
  locked_ids text[];
  all_locked boolean;
  result record;
BEGIN
  PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);

  -- Lock order: the players by id, then their bets, in every commit. It does not wait for a locked player.
  locked_ids := ARRAY(
    SELECT player."account_no"
    FROM "pam"."accounts" player
    WHERE player."account_no" = ANY (ids_to_lock)
    ORDER BY player."account_no"
    FOR NO KEY UPDATE SKIP LOCKED
  );
  all_locked := cardinality(locked_ids) = cardinality(ids_to_lock);

  FOR result IN
    WITH item AS MATERIALIZED (
      SELECT *
      FROM json_to_recordset(items::json) AS item (
        item_index integer,
        operation text, transaction_id text, player_id text, bet_id text,
        amount numeric, currency text, type text, delta numeric,
        error_code text, description text, transaction_date_ms numeric,
        balance_delta numeric, balance_currency text, balance_floor numeric,
        bet_player_id text, bet_currency text, bet_stake numeric, bet_status text, bet_revision integer,
        bet_paid_live numeric, bet_paid_reversed numeric, bet_paid_owed numeric,
        voided_live numeric, voided_reversed numeric, voided_owed numeric,
        cashout_live numeric, cashout_reversed numeric, cashout_owed numeric
      )
    ),

    -- The guards that depend on one item alone: one index lookup per item and table. The rows stay narrow from
    -- here on; columns that are only written are read from item again.
    checked AS (
      SELECT
        item.item_index,
        item.player_id,
        item.balance_delta,
        item.balance_floor,
        item.bet_revision IS NOT NULL AS has_bet,
        bet.is_stored AS bet_is_stored,
        player.currency,
        player.balance,
        player.is_locked,
        player.currency IS NOT NULL
          AND transaction.is_stored IS NULL -- guard 1
          AND (item.bet_revision IS NULL OR coalesce(bet.revision, 0) = item.bet_revision - 1) -- guard 2
          AND ( -- guard 3, without the floor
            item.balance_delta IS NULL
            OR (
              player.currency = item.balance_currency
              AND abs(player.balance) < 'Infinity'
            ) IS TRUE
          ) AS guards_hold
      FROM item
      LEFT JOIN LATERAL (
        SELECT
          coalesce(player."currency"::text, '') AS currency,
          player."balance_cents"::numeric AS balance,
          all_locked OR player."account_no" = ANY (locked_ids) AS is_locked
        FROM "pam"."accounts" player
        WHERE player."account_no" = item.player_id
        OFFSET 0
      ) player ON true
      LEFT JOIN LATERAL (
        SELECT bet.revision, true AS is_stored
        FROM "bet_wallet".bets bet
        WHERE bet.bet_id = item.bet_id
        OFFSET 0
      ) bet ON true
      LEFT JOIN LATERAL (
        SELECT true AS is_stored
        FROM "bet_wallet".transactions stored
        WHERE stored.operation = item.operation
          AND stored.transaction_id = item.transaction_id
        OFFSET 0
      ) transaction ON true
    ),

    -- Several items of one player are applied in order. Each may still be rejected, so a debit is not covered
    -- by a credit of the same batch, and a credit cannot use the range that a debit frees.
    summed AS (
      SELECT
        checked.*,
        checked.balance
          + sum(CASE WHEN checked.guards_hold THEN least(checked.balance_delta, 0) ELSE 0 END)
          OVER up_to_item AS balance_after_debits,
        checked.balance
          + sum(CASE WHEN checked.guards_hold THEN greatest(checked.balance_delta, 0) ELSE 0 END)
          OVER up_to_item AS balance_after_credits
      FROM checked
      WINDOW up_to_item AS (
        PARTITION BY checked.player_id
        ORDER BY checked.item_index
        ROWS UNBOUNDED PRECEDING
      )
    ),

    judged AS MATERIALIZED (
      SELECT
        summed.item_index,
        summed.player_id,
        summed.balance_delta,
        summed.has_bet,
        summed.bet_is_stored,
        summed.currency,
        summed.balance,
        CASE
          WHEN summed.is_locked IS FALSE THEN 'busy' -- another writer holds the row lock
          WHEN NOT summed.guards_hold THEN 'conflict'
          WHEN summed.balance_delta IS NULL THEN 'committed'
          WHEN summed.balance_after_debits + greatest(summed.balance_delta, 0) < summed.balance_floor
            THEN 'conflict' -- guard 3, the floor
          WHEN (CASE
            WHEN summed.balance_delta > 0 THEN summed.balance_after_credits
            ELSE -summed.balance_after_debits
          END) > balance_max THEN 'out-of-range'
          ELSE 'committed'
        END AS verdict
      FROM summed
    ),

    accepted AS MATERIALIZED (
      SELECT
        judged.item_index,
        judged.player_id,
        judged.balance_delta,
        judged.has_bet,
        judged.bet_is_stored,
        nextval('"bet_wallet".wallet_transaction_ids')::text AS wallet_transaction_id
      FROM judged
      WHERE judged.verdict = 'committed'
    ),

    balance_change AS MATERIALIZED (
      SELECT accepted.player_id, sum(accepted.balance_delta) AS delta
      FROM accepted
      WHERE accepted.balance_delta IS NOT NULL
      GROUP BY accepted.player_id
    ),

    new_transaction AS (
      INSERT INTO "bet_wallet".transactions (
        operation, transaction_id, player_id, bet_id,
        amount, currency, type, delta,
        error_code, description,
        transaction_date,
        wallet_transaction_id
      )
      SELECT
        item.operation, item.transaction_id, item.player_id, item.bet_id,
        item.amount, item.currency, item.type, item.delta,
        item.error_code, item.description,
        timestamptz 'epoch' + item.transaction_date_ms * interval '1 millisecond',
        accepted.wallet_transaction_id
      FROM accepted
      JOIN item ON item.item_index = accepted.item_index
    ),

    new_bet AS (
      INSERT INTO "bet_wallet".bets (
        bet_id, player_id, currency, stake, status,
        bet_paid_live, bet_paid_reversed, bet_paid_owed,
        voided_live, voided_reversed, voided_owed,
        cashout_live, cashout_reversed, cashout_owed,
        revision
      )
      SELECT
        item.bet_id, item.bet_player_id, item.bet_currency, item.bet_stake, item.bet_status,
        item.bet_paid_live, item.bet_paid_reversed, item.bet_paid_owed,
        item.voided_live, item.voided_reversed, item.voided_owed,
        item.cashout_live, item.cashout_reversed, item.cashout_owed,
        item.bet_revision
      FROM accepted
      JOIN item ON item.item_index = accepted.item_index
      WHERE accepted.has_bet
        AND accepted.bet_is_stored IS NOT TRUE
    ),

    -- By ctid: for a join by bet_id, a generic plan made while the table is empty reads the whole table for
    -- every commit. The revision is compared again: before the minor releases of November 2025, an UPDATE by
    -- ctid changes a row that another transaction has updated meanwhile, unless another condition on it fails.
    changed_bet AS (
      UPDATE "bet_wallet".bets bet
      SET (
        bet_id, player_id, currency, stake, status,
        bet_paid_live, bet_paid_reversed, bet_paid_owed,
        voided_live, voided_reversed, voided_owed,
        cashout_live, cashout_reversed, cashout_owed,
        revision
      ) = (
        item.bet_id, item.bet_player_id, item.bet_currency, item.bet_stake, item.bet_status,
        item.bet_paid_live, item.bet_paid_reversed, item.bet_paid_owed,
        item.voided_live, item.voided_reversed, item.voided_owed,
        item.cashout_live, item.cashout_reversed, item.cashout_owed,
        item.bet_revision
      )
      FROM accepted
      JOIN item ON item.item_index = accepted.item_index
      LEFT JOIN LATERAL (
        SELECT stored.ctid AS location
        FROM "bet_wallet".bets stored
        WHERE stored.bet_id = item.bet_id
          AND stored.revision = item.bet_revision - 1
        OFFSET 0
      ) stored_bet ON true
      WHERE accepted.has_bet
        AND accepted.bet_is_stored
        AND bet.ctid = stored_bet.location
        AND bet.revision = item.bet_revision - 1
      RETURNING 1
    ),

    -- No join with the players' table: one array of ids for the index lookup, and one object with the change of
    -- each player.
    changed_player AS (
      UPDATE "pam"."accounts" player
      SET "balance_cents" = player."balance_cents" + ((
        SELECT jsonb_object_agg(balance_change.player_id, balance_change.delta)
        FROM balance_change
      ) ->> player."account_no"::text)::numeric::bigint
      WHERE player."account_no" = ANY (ARRAY(
        SELECT balance_change.player_id FROM balance_change
      ))
      RETURNING player."account_no"::text AS player_id, player."balance_cents"::numeric AS balance
    )

    SELECT
      judged.item_index,
      judged.verdict,
      judged.currency,
      coalesce(changed_player.balance, judged.balance)::text AS balance,
      accepted.wallet_transaction_id,
      (SELECT count(*) FROM accepted stored WHERE stored.has_bet AND stored.bet_is_stored)
        = (SELECT count(*) FROM changed_bet) AS all_bets_changed,
      balance_change.player_id IS NULL
        OR (changed_player.balance = judged.balance + balance_change.delta) IS TRUE AS balance_is_expected
    FROM judged
    LEFT JOIN accepted ON accepted.item_index = judged.item_index
    LEFT JOIN balance_change ON balance_change.player_id = judged.player_id
    LEFT JOIN changed_player ON changed_player.player_id = judged.player_id
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
    item_index := result.item_index;
    verdict := result.verdict;
    currency := result.currency;
    balance := result.balance;
    wallet_transaction_id := result.wallet_transaction_id;
    RETURN NEXT;
  END LOOP;
END
$function$;

-- Commits one item: the same guards, by small statements.
CREATE OR REPLACE FUNCTION "bet_wallet".commit_one_v1_a4981b82(
  item_text text,
  balance_max numeric,
  lock_timeout_ms integer
)
RETURNS TABLE (item_index integer, verdict text, currency text, balance text, wallet_transaction_id text)
LANGUAGE plpgsql VOLATILE ROWS 1
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $function$
#variable_conflict use_column
DECLARE
  item record;
  stored_revision integer;
  bet_is_stored boolean;
  balance_before numeric;
  balance_after numeric;
  balance_written numeric;
BEGIN
  PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
  SELECT * INTO item
  FROM json_to_record(item_text::json) AS item (
    item_index integer,
    operation text, transaction_id text, player_id text, bet_id text,
    amount numeric, currency text, type text, delta numeric,
    error_code text, description text, transaction_date_ms numeric,
    balance_delta numeric, balance_currency text, balance_floor numeric,
    bet_player_id text, bet_currency text, bet_stake numeric, bet_status text, bet_revision integer,
    bet_paid_live numeric, bet_paid_reversed numeric, bet_paid_owed numeric,
    voided_live numeric, voided_reversed numeric, voided_owed numeric,
    cashout_live numeric, cashout_reversed numeric, cashout_owed numeric
  );
  item_index := item.item_index;
  verdict := 'conflict';

  <<guards_and_writes>>
  BEGIN
    -- Before the row lock, which is written to the log: a conflict writes nothing.
    -- Guard 1: the transaction is new.
    PERFORM FROM "bet_wallet".transactions stored
    WHERE stored.operation = item.operation
      AND stored.transaction_id = item.transaction_id;
    EXIT guards_and_writes WHEN found;

    -- Guard 2: the bet has not changed since it was loaded.
    IF item.bet_revision IS NOT NULL THEN
      SELECT bet.revision, bet.is_stored
      INTO stored_revision, bet_is_stored
      FROM (
        SELECT bet.revision, true AS is_stored
        FROM "bet_wallet".bets bet
        WHERE bet.bet_id = item.bet_id
      ) bet;
      EXIT guards_and_writes WHEN NOT (coalesce(stored_revision, 0) = item.bet_revision - 1);
    END IF;

    -- Lock order: the player, then the bet, in every commit. It does not wait for a locked player.
    -- Guard 3: the currency and the floor of the balance.
    SELECT coalesce(player."currency"::text, ''), player."balance_cents"::numeric
    INTO currency, balance_before
    FROM "pam"."accounts" player
    WHERE player."account_no" = item.player_id
    AND (
      item.balance_delta IS NULL
      OR (
        player."currency"::text = item.balance_currency
        AND abs(player."balance_cents"::numeric) < 'Infinity'
      ) IS TRUE
        AND (player."balance_cents"::numeric + item.balance_delta < item.balance_floor) IS NOT TRUE
    )
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT found THEN
      PERFORM FROM "pam"."accounts" player
      WHERE player."account_no" = item.player_id
      AND (
        item.balance_delta IS NULL
        OR (
          player."currency"::text = item.balance_currency
          AND abs(player."balance_cents"::numeric) < 'Infinity'
        ) IS TRUE
          AND (player."balance_cents"::numeric + item.balance_delta < item.balance_floor) IS NOT TRUE
      );
      IF found THEN
        verdict := 'busy'; -- another writer holds the row lock
      END IF;
      EXIT guards_and_writes;
    END IF;
    balance := balance_before::text;
    balance_after := balance_before + item.balance_delta;
    IF (CASE
      WHEN item.balance_delta > 0 THEN balance_after
      ELSE -balance_after
    END) > balance_max THEN
      verdict := 'out-of-range';
      EXIT guards_and_writes;
    END IF;

    INSERT INTO "bet_wallet".transactions AS new_transaction (
      operation, transaction_id, player_id, bet_id,
      amount, currency, type, delta,
      error_code, description,
      transaction_date,
      wallet_transaction_id
    )
    VALUES (
      item.operation, item.transaction_id, item.player_id, item.bet_id,
      item.amount, item.currency, item.type, item.delta,
      item.error_code, item.description,
      timestamptz 'epoch' + item.transaction_date_ms * interval '1 millisecond',
      nextval('"bet_wallet".wallet_transaction_ids')::text
    )
    RETURNING new_transaction.wallet_transaction_id INTO wallet_transaction_id;

    IF bet_is_stored THEN
      UPDATE "bet_wallet".bets bet
      SET (
        bet_id, player_id, currency, stake, status,
        bet_paid_live, bet_paid_reversed, bet_paid_owed,
        voided_live, voided_reversed, voided_owed,
        cashout_live, cashout_reversed, cashout_owed,
        revision
      ) = (
        item.bet_id, item.bet_player_id, item.bet_currency, item.bet_stake, item.bet_status,
        item.bet_paid_live, item.bet_paid_reversed, item.bet_paid_owed,
        item.voided_live, item.voided_reversed, item.voided_owed,
        item.cashout_live, item.cashout_reversed, item.cashout_owed,
        item.bet_revision
      )
      WHERE bet.bet_id = item.bet_id
        AND bet.revision = item.bet_revision - 1;
      IF NOT found THEN
        RAISE EXCEPTION 'bet-wallet: another writer changed the bet during this commit'
          USING ERRCODE = 'serialization_failure';
      END IF;
    ELSIF item.bet_revision IS NOT NULL THEN
      INSERT INTO "bet_wallet".bets (
        bet_id, player_id, currency, stake, status,
        bet_paid_live, bet_paid_reversed, bet_paid_owed,
        voided_live, voided_reversed, voided_owed,
        cashout_live, cashout_reversed, cashout_owed,
        revision
      )
      VALUES (
        item.bet_id, item.bet_player_id, item.bet_currency, item.bet_stake, item.bet_status,
        item.bet_paid_live, item.bet_paid_reversed, item.bet_paid_owed,
        item.voided_live, item.voided_reversed, item.voided_owed,
        item.cashout_live, item.cashout_reversed, item.cashout_owed,
        item.bet_revision
      );
    END IF;

    IF item.balance_delta IS NOT NULL THEN
      UPDATE "pam"."accounts" player
      SET "balance_cents" = player."balance_cents" + item.balance_delta::bigint
      WHERE player."account_no" = item.player_id
      RETURNING player."balance_cents"::numeric INTO balance_written;
      IF balance_written IS DISTINCT FROM balance_after THEN
        -- The row is locked: the difference comes from a trigger that rounds, replaces or suppresses the update.
        RAISE EXCEPTION 'bet-wallet: the balance in the players'' table is not the one written: see its triggers'
          USING ERRCODE = 'triggered_data_change_violation';
      END IF;
      balance := balance_after::text;
    END IF;
    verdict := 'committed';
  END;

  RETURN NEXT;
END
$function$;

-- Whether the CHECK that a debit has failed is a rule about the balance: it is one of the players' table, and
-- the player's row meets it as long as the balance does not change. Writes nothing.
CREATE OR REPLACE FUNCTION "bet_wallet".is_balance_rule_v1_a4981b82(
  debited_player text,
  rule_schema text,
  rule_table text,
  rule_domain text,
  lock_timeout_ms integer
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $function$
BEGIN
  PERFORM FROM (
    WITH RECURSIVE
    relation (oid) AS (
      SELECT '"pam"."accounts"'::regclass::oid
      UNION
      SELECT below.oid
      FROM relation
      CROSS JOIN LATERAL (
        SELECT child.inhrelid
        FROM pg_catalog.pg_inherits child
        WHERE child.inhparent = relation.oid
        UNION ALL
        SELECT dependency.refobjid
        FROM pg_catalog.pg_rewrite rule
        JOIN pg_catalog.pg_depend dependency ON dependency.objid = rule.oid
        WHERE rule.ev_class = relation.oid
          AND rule.ev_type = '1' -- the query of a view
          AND dependency.classid = 'pg_catalog.pg_rewrite'::regclass
          AND dependency.refclassid = 'pg_catalog.pg_class'::regclass
      ) below (oid)
    ),
    type (oid) AS (
      SELECT attribute.atttypid
      FROM relation
      JOIN pg_catalog.pg_attribute attribute ON attribute.attrelid = relation.oid
      UNION
      SELECT domain.typbasetype
      FROM type
      JOIN pg_catalog.pg_type domain ON domain.oid = type.oid
      WHERE domain.typtype = 'd'
    )
    SELECT
    FROM relation
    JOIN pg_catalog.pg_class class ON class.oid = relation.oid
    WHERE class.relname = rule_table
      AND class.relnamespace = to_regnamespace(quote_ident(rule_schema))
    UNION ALL
    SELECT
    FROM type
    JOIN pg_catalog.pg_type domain ON domain.oid = type.oid
    WHERE domain.typname = rule_domain
      AND domain.typnamespace = to_regnamespace(quote_ident(rule_schema))
  ) rule;
  IF NOT found THEN
    RETURN false;
  END IF;
  PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
  UPDATE "pam"."accounts" player
  SET "balance_cents" = player."balance_cents"
  WHERE player."account_no" = debited_player;
  RAISE EXCEPTION 'bet-wallet: undo the update' USING ERRCODE = 'BW000';
EXCEPTION
  WHEN check_violation OR with_check_option_violation THEN
    RETURN false;
  WHEN SQLSTATE 'BW000' THEN
    RETURN true;
END
$function$;

-- For PAM code that settles bets (D17): records the credit on the bet. Call it in the database transaction
-- that credits the player.
CREATE OR REPLACE FUNCTION "bet_wallet".credit_bet_v1(
  settled_bet_id text,
  settlement_type text,
  amount numeric
)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET jit = off
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $function$
DECLARE
  known_bet record;
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
  SELECT bet.* INTO known_bet
  FROM (
    SELECT
      bet.bet_id, bet.player_id, bet.currency, bet.stake, bet.status,
      bet.bet_paid_live, bet.bet_paid_reversed, bet.bet_paid_owed,
      bet.voided_live, bet.voided_reversed, bet.voided_owed,
      bet.cashout_live, bet.cashout_reversed, bet.cashout_owed,
      bet.revision,
      true AS is_stored
    FROM "bet_wallet".bets bet
    WHERE bet.bet_id = settled_bet_id
  ) bet;
  IF known_bet.bet_id IS NULL THEN
    RAISE EXCEPTION 'bet-wallet: unknown bet %', settled_bet_id
      USING ERRCODE = 'no_data_found';
  END IF;

  -- Lock order: the player, then the bet, as in every commit. To settle bets of several players in one database
  -- transaction, call this function in the order of the players' ids.
  PERFORM FROM "pam"."accounts" player
  WHERE player."account_no" = known_bet.player_id
  FOR NO KEY UPDATE;

  -- A legacy bet is stored with its first change.
  IF NOT known_bet.is_stored THEN
    INSERT INTO "bet_wallet".bets (
      bet_id, player_id, currency, stake, status,
      bet_paid_live, bet_paid_reversed, bet_paid_owed,
      voided_live, voided_reversed, voided_owed,
      cashout_live, cashout_reversed, cashout_owed,
      revision
    )
    VALUES (
      known_bet.bet_id, known_bet.player_id, known_bet.currency, known_bet.stake, known_bet.status,
      known_bet.bet_paid_live, known_bet.bet_paid_reversed, known_bet.bet_paid_owed,
      known_bet.voided_live, known_bet.voided_reversed, known_bet.voided_owed,
      known_bet.cashout_live, known_bet.cashout_reversed, known_bet.cashout_owed,
      known_bet.revision
    )
    ON CONFLICT DO NOTHING;
  END IF;
  UPDATE "bet_wallet".bets bet
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
  WHERE bet.bet_id = settled_bet_id;
END
$function$;

INSERT INTO "bet_wallet".migrations (version)
VALUES (1)
ON CONFLICT DO NOTHING;

INSERT INTO "bet_wallet".options (hash, options)
VALUES ('a4981b82', '{
  "players.table": "pam.accounts",
  "players.id": "account_no",
  "players.idType": "text",
  "players.currency": "currency",
  "players.balance": "balance_cents",
  "players.balanceType": "minor-units",
  "players.minorUnits": 2,
  "legacyBets": null
}')
ON CONFLICT DO NOTHING;

COMMIT;
