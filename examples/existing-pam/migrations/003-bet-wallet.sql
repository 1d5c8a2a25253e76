BEGIN;

SELECT pg_advisory_xact_lock(hashtextextended('bet-wallet ' || 'bet_wallet', 0));

CREATE SCHEMA IF NOT EXISTS "bet_wallet";

CREATE TABLE IF NOT EXISTS "bet_wallet".migrations (
  version integer PRIMARY KEY,
  migrated_at timestamptz NOT NULL DEFAULT now()
);

DO $domain$ BEGIN
  CREATE DOMAIN "bet_wallet".amount AS numeric CHECK (VALUE >= 0 AND VALUE < 'Infinity');
EXCEPTION WHEN duplicate_object THEN
  NULL;
END $domain$;

DO $domain$ BEGIN
  CREATE DOMAIN "bet_wallet".identifier AS text COLLATE "C" CHECK (VALUE <> '');
EXCEPTION WHEN duplicate_object THEN
  NULL;
END $domain$;

CREATE TABLE IF NOT EXISTS "bet_wallet".bets (
  bet_id "bet_wallet".identifier PRIMARY KEY,
  player_id "bet_wallet".identifier NOT NULL,
  currency "bet_wallet".identifier NOT NULL,
  stake "bet_wallet".amount NOT NULL,
  status text NOT NULL,
  -- What is live (NULL: nothing), was reversed, and is owed (D18). All NULL: never credited with BET_PAID.
  bet_paid_live "bet_wallet".amount,
  bet_paid_reversed "bet_wallet".amount,
  bet_paid_owed "bet_wallet".amount,
  -- What is live (NULL: nothing), was reversed, and is owed (D18). All NULL: never credited with VOIDED.
  voided_live "bet_wallet".amount,
  voided_reversed "bet_wallet".amount,
  voided_owed "bet_wallet".amount,
  -- What is live (NULL: nothing), was reversed, and is owed (D18). All NULL: never credited with CASHOUT.
  cashout_live "bet_wallet".amount,
  cashout_reversed "bet_wallet".amount,
  cashout_owed "bet_wallet".amount,
  revision integer NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT bets_lawful CHECK (
    revision >= 1
    AND (bet_paid_reversed IS NULL) = (bet_paid_owed IS NULL) AND (bet_paid_live IS NULL OR bet_paid_owed IS NOT NULL)
    AND (voided_reversed IS NULL) = (voided_owed IS NULL) AND (voided_live IS NULL OR voided_owed IS NOT NULL)
    AND (cashout_reversed IS NULL) = (cashout_owed IS NULL) AND (cashout_live IS NULL OR cashout_owed IS NOT NULL)
    AND (status = 'PLACED' OR status = 'ROLLED_BACK' AND num_nonnulls(bet_paid_live, voided_live, cashout_live) = 0)
  )
);

CREATE SEQUENCE IF NOT EXISTS "bet_wallet".wallet_transaction_ids AS bigint;

CREATE TABLE IF NOT EXISTS "bet_wallet".transactions (
  operation text NOT NULL,
  transaction_id "bet_wallet".identifier NOT NULL,
  player_id "bet_wallet".identifier NOT NULL,
  bet_id "bet_wallet".identifier NOT NULL,
  amount "bet_wallet".amount,
  currency text,
  type text,
  delta numeric NOT NULL,
  -- A refusal that sticks (D6, D7); both NULL: a success.
  error_code text,
  description text,
  transaction_date timestamptz NOT NULL,
  -- A number of ours, or what an earlier integration gave.
  wallet_transaction_id text NOT NULL DEFAULT nextval('"bet_wallet".wallet_transaction_ids')::text,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (operation, transaction_id),
  CONSTRAINT transactions_lawful CHECK (
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

CREATE OR REPLACE FUNCTION "bet_wallet".load_v1(keys json)
  RETURNS TABLE (i integer, currency text, balance text, bet json, transaction json)
  LANGUAGE plpgsql STABLE ROWS 100
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $load$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    SELECT k.i, p.currency, p.balance,
    CASE WHEN b.bet_id IS NOT NULL THEN json_build_object(
      'player_id', b.player_id::text, 'currency', b.currency::text, 'stake', b.stake::text, 'status', b.status::text, 'revision', b.revision::text, 'bet_paid_live', b.bet_paid_live::text, 'bet_paid_reversed', b.bet_paid_reversed::text, 'bet_paid_owed', b.bet_paid_owed::text, 'voided_live', b.voided_live::text, 'voided_reversed', b.voided_reversed::text, 'voided_owed', b.voided_owed::text, 'cashout_live', b.cashout_live::text, 'cashout_reversed', b.cashout_reversed::text, 'cashout_owed', b.cashout_owed::text
    ) END,
    CASE WHEN t.transaction_id IS NOT NULL THEN json_build_object(
      'player_id', t.player_id::text, 'bet_id', t.bet_id::text, 'amount', t.amount::text, 'currency', t.currency::text, 'type', t.type::text, 'delta', t.delta::text, 'error_code', t.error_code::text, 'description', t.description::text, 'wallet_transaction_id', t.wallet_transaction_id::text,
      'date_ms', (extract(epoch FROM t.transaction_date) * 1000)::bigint
    ) END
    FROM json_to_recordset(keys) AS k(i integer, o text, t text, p text, b text)
    LEFT JOIN LATERAL (
      SELECT coalesce(p."currency"::text, '') AS currency, p."balance_cents"::text AS balance FROM "pam"."accounts" p WHERE p."account_no" = k.p OFFSET 0
    ) p ON true
    LEFT JOIN LATERAL (
      SELECT b.bet_id, b.player_id, b.currency, b.stake, b.status, b.bet_paid_live, b.bet_paid_reversed, b.bet_paid_owed, b.voided_live, b.voided_reversed, b.voided_owed, b.cashout_live, b.cashout_reversed, b.cashout_owed, b.revision, true AS kept
      FROM "bet_wallet".bets b WHERE b.bet_id = k.b OFFSET 0
    ) b ON true
    LEFT JOIN LATERAL (
      SELECT t.* FROM "bet_wallet".transactions t WHERE t.operation = k.o AND t.transaction_id = k.t OFFSET 0
    ) t ON true;
END
$load$;

CREATE OR REPLACE FUNCTION "bet_wallet".commit_v1(
    items json, players json, patient boolean, balance_max numeric, lock_timeout_ms integer)
  RETURNS TABLE (i integer, verdict text, currency text, balance text, reference text)
  LANGUAGE plpgsql VOLATILE ROWS 100
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $commit$
#variable_conflict use_column
DECLARE
  player_ids text[] := ARRAY(SELECT x FROM json_array_elements_text(players) x);
  held text[];
  all_held boolean;
  answer record;
BEGIN
  PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
  IF patient THEN
    held := ARRAY(SELECT p."account_no" FROM "pam"."accounts" p WHERE p."account_no" = ANY (player_ids)
      ORDER BY p."account_no" FOR NO KEY UPDATE);
  ELSE
    held := ARRAY(SELECT p."account_no" FROM "pam"."accounts" p WHERE p."account_no" = ANY (player_ids)
      ORDER BY p."account_no" FOR NO KEY UPDATE SKIP LOCKED);
  END IF;
  all_held := cardinality(held) = cardinality(player_ids);
  FOR answer IN
    WITH item AS MATERIALIZED (
      SELECT * FROM json_to_recordset(items) AS item(
      i integer, o text, t text, p text, b text, amount numeric, c text, type text, delta numeric,
      error_code text, description text, date_ms numeric,
      move numeric, move_currency text, move_floor numeric,
      bet_player_id text, bet_currency text, stake numeric, status text, revision integer,
      bet_paid_live numeric, bet_paid_reversed numeric, bet_paid_owed numeric, voided_live numeric, voided_reversed numeric, voided_owed numeric, cashout_live numeric, cashout_reversed numeric, cashout_owed numeric)
    ), seen AS (
      -- From here on rows are narrow: what is only written is fetched from the item again.
      SELECT k.i, k.p, k.move, k.move_floor, k.revision IS NOT NULL AS has_bet, b.kept,
        p.currency AS player_currency, p.balance, p.free,
        p.currency IS NOT NULL AND t.known IS NULL -- guard 1
        AND (k.revision IS NULL OR coalesce(b.revision, 0) = k.revision - 1) -- guard 2
        -- Guard 3. To a balance that is NULL or no number, nothing can be added.
        AND (k.move IS NULL OR (p.currency = k.move_currency AND abs(p.balance) < 'Infinity') IS TRUE)
        AS sound
      FROM item k
    LEFT JOIN LATERAL (
      SELECT coalesce(p."currency"::text, '') AS currency, p."balance_cents"::numeric AS balance,
        all_held OR p."account_no" = ANY (held) AS free
      FROM "pam"."accounts" p WHERE p."account_no" = k.p OFFSET 0
    ) p ON true
    LEFT JOIN LATERAL (
      SELECT b.revision, b.kept FROM (SELECT b.bet_id, b.player_id, b.currency, b.stake, b.status, b.bet_paid_live, b.bet_paid_reversed, b.bet_paid_owed, b.voided_live, b.voided_reversed, b.voided_owed, b.cashout_live, b.cashout_reversed, b.cashout_owed, b.revision, true AS kept
      FROM "bet_wallet".bets b WHERE b.bet_id = k.b) b OFFSET 0
    ) b ON true
    LEFT JOIN LATERAL (
      SELECT true AS known FROM "bet_wallet".transactions t WHERE t.operation = k.o AND t.transaction_id = k.t OFFSET 0
    ) t ON true
    ), summed AS (
      -- Several items of one player, one after the other. What takes does not count on what another one gives, nor the
      -- other way round: that might not be done.
      SELECT s.*,
        s.balance + sum(CASE WHEN s.sound THEN least(s.move, 0) ELSE 0 END) OVER before_it AS taken,
        s.balance + sum(CASE WHEN s.sound THEN greatest(s.move, 0) ELSE 0 END) OVER before_it AS given
      FROM seen s
      WINDOW before_it AS (PARTITION BY s.p ORDER BY s.i ROWS UNBOUNDED PRECEDING)
    ), judged AS MATERIALIZED (
      SELECT s.i, s.p, s.move, s.has_bet, s.kept, s.player_currency, s.balance, CASE
        WHEN s.free IS FALSE THEN 'busy'
        WHEN NOT s.sound THEN 'conflict'
        WHEN s.move IS NULL THEN 'committed'
        WHEN s.taken + greatest(s.move, 0) < s.move_floor THEN 'conflict' -- guard 3
        WHEN CASE WHEN s.move > 0 THEN s.given ELSE -s.taken END > balance_max THEN 'out of range'
        ELSE 'committed'
      END AS verdict
      FROM summed s
    ), done AS MATERIALIZED (
      SELECT j.i, j.p, j.move, j.has_bet, j.kept, nextval('"bet_wallet".wallet_transaction_ids')::text AS reference
      FROM judged j WHERE j.verdict = 'committed'
    ), moved AS MATERIALIZED (
      SELECT d.p, sum(d.move) AS move FROM done d WHERE d.move IS NOT NULL GROUP BY d.p
    ), new_transaction AS (
      INSERT INTO "bet_wallet".transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, error_code, description,
        transaction_date, wallet_transaction_id)
      SELECT k.o, k.t, k.p, k.b, k.amount, k.c, k.type, k.delta, k.error_code, k.description,
        timestamptz 'epoch' + k.date_ms * interval '1 millisecond', d.reference
      FROM done d JOIN item k ON k.i = d.i
    ), new_bet AS (
      INSERT INTO "bet_wallet".bets (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision)
      SELECT k.b, k.bet_player_id, k.bet_currency, k.stake, k.status, k.bet_paid_live, k.bet_paid_reversed, k.bet_paid_owed, k.voided_live, k.voided_reversed, k.voided_owed, k.cashout_live, k.cashout_reversed, k.cashout_owed, k.revision
      FROM done d JOIN item k ON k.i = d.i WHERE d.has_bet AND d.kept IS NOT TRUE
    ), changed_bet AS (
      UPDATE "bet_wallet".bets b
      SET (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision) = (k.b, k.bet_player_id, k.bet_currency, k.stake, k.status, k.bet_paid_live, k.bet_paid_reversed, k.bet_paid_owed, k.voided_live, k.voided_reversed, k.voided_owed, k.cashout_live, k.cashout_reversed, k.cashout_owed, k.revision)
      FROM done d JOIN item k ON k.i = d.i
    LEFT JOIN LATERAL (
      SELECT x.ctid AS place FROM "bet_wallet".bets x WHERE x.bet_id = k.b AND x.revision = k.revision - 1 OFFSET 0
    ) found ON true
      -- By place: for a join by id the planner, when it knows the table as empty, reads all of it for every commit.
      -- The revision again: until the minor releases of November 2025, a row that was changed meanwhile is changed by its
      -- place all the same, unless another condition on it fails.
      WHERE d.has_bet AND d.kept AND b.ctid = found.place AND b.revision = k.revision - 1
      RETURNING 1
    ), moved_player AS (
      -- Not by a join either: one array to look up by, and one object with what each of them is moved by.
      UPDATE "pam"."accounts" p
      SET "balance_cents" = p."balance_cents" + ((SELECT jsonb_object_agg(m.p, m.move) FROM moved m) ->> p."account_no"::text)::numeric::bigint
      WHERE p."account_no" = ANY (ARRAY(SELECT m.p FROM moved m))
      RETURNING p."account_no"::text AS p, p."balance_cents"::numeric AS balance
    )
    SELECT j.i, j.verdict, j.player_currency AS currency, coalesce(n.balance, j.balance)::text AS balance, d.reference,
      (SELECT count(*) FROM done c WHERE c.has_bet AND c.kept) = (SELECT count(*) FROM changed_bet) AS complete,
      m.p IS NULL OR (n.balance = j.balance + m.move) IS TRUE AS as_meant
    FROM judged j LEFT JOIN done d ON d.i = j.i LEFT JOIN moved m ON m.p = j.p LEFT JOIN moved_player n ON n.p = j.p
  LOOP
    IF NOT answer.complete THEN
      RAISE EXCEPTION 'bet-wallet: a bet was changed meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    IF NOT answer.as_meant THEN
      -- The row is locked, so it was nobody else: a trigger that rounds, replaces or withholds what is written.
      RAISE EXCEPTION 'bet-wallet: the players'' table did not take the balance that was written to it: see its triggers'
        USING ERRCODE = 'triggered_data_change_violation';
    END IF;
    i := answer.i;
    verdict := answer.verdict;
    currency := answer.currency;
    balance := answer.balance;
    reference := answer.reference;
    RETURN NEXT;
  END LOOP;
END
$commit$;

CREATE OR REPLACE FUNCTION "bet_wallet".commit_one_v1(
    item json, patient boolean, balance_max numeric, lock_timeout_ms integer)
  RETURNS TABLE (i integer, verdict text, currency text, balance text, reference text)
  LANGUAGE plpgsql VOLATILE ROWS 1
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $commit$
#variable_conflict use_column
DECLARE
  k record;
  revision_then integer;
  kept boolean;
  held numeric;
  after numeric;
  written numeric;
BEGIN
  PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
  SELECT * INTO k FROM json_to_record(item) AS item(
      i integer, o text, t text, p text, b text, amount numeric, c text, type text, delta numeric,
      error_code text, description text, date_ms numeric,
      move numeric, move_currency text, move_floor numeric,
      bet_player_id text, bet_currency text, stake numeric, status text, revision integer,
      bet_paid_live numeric, bet_paid_reversed numeric, bet_paid_owed numeric, voided_live numeric, voided_reversed numeric, voided_owed numeric, cashout_live numeric, cashout_reversed numeric, cashout_owed numeric);
  i := k.i;
  verdict := 'conflict';
  IF patient THEN
    SELECT coalesce(p."currency"::text, ''), p."balance_cents"::numeric INTO currency, held FROM "pam"."accounts" p WHERE p."account_no" = k.p FOR NO KEY UPDATE;
  ELSE
    SELECT coalesce(p."currency"::text, ''), p."balance_cents"::numeric INTO currency, held FROM "pam"."accounts" p WHERE p."account_no" = k.p FOR NO KEY UPDATE SKIP LOCKED;
  END IF;
  IF NOT found THEN
    PERFORM FROM "pam"."accounts" p WHERE p."account_no" = k.p;
    IF found THEN
      verdict := 'busy';
    END IF;
    RETURN NEXT;
    RETURN;
  END IF;
  balance := held::text;
  after := held + k.move;

  PERFORM FROM "bet_wallet".transactions t WHERE t.operation = k.o AND t.transaction_id = k.t; -- guard 1
  IF found THEN
    RETURN NEXT;
    RETURN;
  END IF;
  IF k.revision IS NOT NULL THEN -- guard 2
    SELECT known.revision, known.kept INTO revision_then, kept FROM (SELECT b.bet_id, b.player_id, b.currency, b.stake, b.status, b.bet_paid_live, b.bet_paid_reversed, b.bet_paid_owed, b.voided_live, b.voided_reversed, b.voided_owed, b.cashout_live, b.cashout_reversed, b.cashout_owed, b.revision, true AS kept
      FROM "bet_wallet".bets b WHERE b.bet_id = k.b) known;
    IF coalesce(revision_then, 0) <> k.revision - 1 THEN
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;
  IF k.move IS NOT NULL THEN -- guard 3. To a balance that is NULL or no number, nothing can be added.
    IF (currency = k.move_currency AND abs(held) < 'Infinity') IS NOT TRUE OR after < k.move_floor THEN
      RETURN NEXT;
      RETURN;
    END IF;
    IF (CASE WHEN k.move > 0 THEN after ELSE -after END) > balance_max THEN
      verdict := 'out of range';
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;

  INSERT INTO "bet_wallet".transactions AS t (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, error_code, description,
        transaction_date, wallet_transaction_id)
  VALUES (k.o, k.t, k.p, k.b, k.amount, k.c, k.type, k.delta, k.error_code, k.description,
        timestamptz 'epoch' + k.date_ms * interval '1 millisecond', nextval('"bet_wallet".wallet_transaction_ids')::text)
  RETURNING t.wallet_transaction_id INTO reference;
  IF kept THEN
    UPDATE "bet_wallet".bets b SET (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision) = (k.b, k.bet_player_id, k.bet_currency, k.stake, k.status, k.bet_paid_live, k.bet_paid_reversed, k.bet_paid_owed, k.voided_live, k.voided_reversed, k.voided_owed, k.cashout_live, k.cashout_reversed, k.cashout_owed, k.revision)
    WHERE b.bet_id = k.b AND b.revision = k.revision - 1;
    IF NOT found THEN
      RAISE EXCEPTION 'bet-wallet: a bet was changed meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
  ELSIF k.revision IS NOT NULL THEN
    INSERT INTO "bet_wallet".bets (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision) VALUES (k.b, k.bet_player_id, k.bet_currency, k.stake, k.status, k.bet_paid_live, k.bet_paid_reversed, k.bet_paid_owed, k.voided_live, k.voided_reversed, k.voided_owed, k.cashout_live, k.cashout_reversed, k.cashout_owed, k.revision);
  END IF;
  IF k.move IS NOT NULL THEN
    UPDATE "pam"."accounts" p SET "balance_cents" = p."balance_cents" + k.move::bigint WHERE p."account_no" = k.p
    RETURNING p."balance_cents"::numeric INTO written;
    IF written IS DISTINCT FROM after THEN
      -- The row is locked, so it was nobody else: a trigger that rounds, replaces or withholds what is written.
      RAISE EXCEPTION 'bet-wallet: the players'' table did not take the balance that was written to it: see its triggers'
        USING ERRCODE = 'triggered_data_change_violation';
    END IF;
    balance := after::text;
  END IF;
  verdict := 'committed';
  RETURN NEXT;
END
$commit$;

CREATE OR REPLACE FUNCTION "bet_wallet".credit_bet(
    settled_bet_id text, settlement_type text, amount numeric)
  RETURNS void
  LANGUAGE plpgsql VOLATILE
  SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $credit$
DECLARE
  known record;
BEGIN
  IF settlement_type IS NULL OR settlement_type NOT IN ('BET_PAID', 'VOIDED', 'CASHOUT') THEN
    RAISE EXCEPTION 'bet-wallet: a settlement is BET_PAID, VOIDED or CASHOUT, not %', settlement_type
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF amount IS NULL OR NOT (amount >= 0 AND amount < 'Infinity') THEN
    RAISE EXCEPTION 'bet-wallet: the amount of a settlement is at least 0, not %', amount
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT b.* INTO known FROM (SELECT settled_bet_id AS b) k LEFT JOIN LATERAL (
      SELECT b.bet_id, b.player_id, b.currency, b.stake, b.status, b.bet_paid_live, b.bet_paid_reversed, b.bet_paid_owed, b.voided_live, b.voided_reversed, b.voided_owed, b.cashout_live, b.cashout_reversed, b.cashout_owed, b.revision, true AS kept
      FROM "bet_wallet".bets b WHERE b.bet_id = k.b OFFSET 0
    ) b ON true;
  IF known.bet_id IS NULL THEN
    RAISE EXCEPTION 'bet-wallet: no bet % is known', settled_bet_id USING ERRCODE = 'no_data_found';
  END IF;
  PERFORM FROM "pam"."accounts" p WHERE p."account_no" = known.player_id FOR NO KEY UPDATE;
  IF NOT known.kept THEN
    INSERT INTO "bet_wallet".bets (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision)
    VALUES (known.bet_id, known.player_id, known.currency, known.stake, known.status, known.bet_paid_live, known.bet_paid_reversed, known.bet_paid_owed, known.voided_live, known.voided_reversed, known.voided_owed, known.cashout_live, known.cashout_reversed, known.cashout_owed, 1) ON CONFLICT DO NOTHING;
  END IF;
  UPDATE "bet_wallet".bets b SET
    bet_paid_live = CASE WHEN settlement_type = 'BET_PAID' THEN coalesce(b.bet_paid_live, 0) + amount ELSE b.bet_paid_live END,
    bet_paid_reversed = CASE WHEN settlement_type = 'BET_PAID' THEN coalesce(b.bet_paid_reversed, 0) ELSE b.bet_paid_reversed END,
    bet_paid_owed = CASE WHEN settlement_type = 'BET_PAID' THEN coalesce(b.bet_paid_owed, 0) ELSE b.bet_paid_owed END,
    voided_live = CASE WHEN settlement_type = 'VOIDED' THEN coalesce(b.voided_live, 0) + amount ELSE b.voided_live END,
    voided_reversed = CASE WHEN settlement_type = 'VOIDED' THEN coalesce(b.voided_reversed, 0) ELSE b.voided_reversed END,
    voided_owed = CASE WHEN settlement_type = 'VOIDED' THEN coalesce(b.voided_owed, 0) ELSE b.voided_owed END,
    cashout_live = CASE WHEN settlement_type = 'CASHOUT' THEN coalesce(b.cashout_live, 0) + amount ELSE b.cashout_live END,
    cashout_reversed = CASE WHEN settlement_type = 'CASHOUT' THEN coalesce(b.cashout_reversed, 0) ELSE b.cashout_reversed END,
    cashout_owed = CASE WHEN settlement_type = 'CASHOUT' THEN coalesce(b.cashout_owed, 0) ELSE b.cashout_owed END,
    revision = b.revision + 1
  WHERE b.bet_id = settled_bet_id;
END
$credit$;

INSERT INTO "bet_wallet".migrations (version) VALUES (1) ON CONFLICT DO NOTHING;

COMMIT;
