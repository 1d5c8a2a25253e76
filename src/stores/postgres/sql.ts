/**
 * All SQL of this store: the migration with its tables and functions. Plain text, made from names and nothing else; what
 * belongs to a request travels as a parameter.
 *
 * Why functions: a statement of this size takes longer to plan than to run, and inside a function it is planned once per
 * connection. Why JSON: one parameter of any length, for any driver.
 */
import { literal, type Tables } from './tables.js'

/** Rises with every change of a table or function. */
export const schemaVersion = 1

const settlementTypes = ['bet_paid', 'voided', 'cashout'] as const
export const creditColumns = settlementTypes.flatMap(type => [
  `${type}_live`,
  `${type}_reversed`,
  `${type}_owed`,
])
const betColumns = ['bet_id', 'player_id', 'currency', 'stake', 'status', ...creditColumns]

/**
 * How every function looks things up: by index, with a plan that is made once. No search_path: every name in here has its
 * schema, and the triggers that the operator has on its own tables run under these settings as well.
 */
const lookUps = 'SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off'

/** A walletTransactionId that was never given. */
export const nextReference = (schema: string) =>
  `nextval(${literal(`${schema}.wallet_transaction_ids`)})::text`

/** Every statement of the migration, in order. Each can be run again without harm. */
export function migrationStatements(tables: Tables): string[] {
  const { schema, players } = tables
  return [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,

    `CREATE TABLE IF NOT EXISTS ${schema}.migrations (
  version integer PRIMARY KEY,
  migrated_at timestamptz NOT NULL DEFAULT now()
)`,

    // Room on every page: a balance that changes stays on its page, and needs no new entry in the index.
    ...(players.own
      ? [
          `CREATE TABLE IF NOT EXISTS ${schema}.players (
  player_id text COLLATE "C" PRIMARY KEY,
  currency text NOT NULL CHECK (currency <> ''),
  balance numeric NOT NULL CHECK (balance >= 0 AND balance < 'Infinity')
) WITH (fillfactor = 50)`,
        ]
      : []),

    // Domains, and few CHECKs: a table's own are read anew by every statement that writes to it.
    domain(schema, 'amount', 'numeric', "VALUE >= 0 AND VALUE < 'Infinity'"),
    domain(schema, 'identifier', 'text COLLATE "C"', "VALUE <> ''"),

    // Unique over all players (D1). What is checked holds for SQL by hand as well.
    `CREATE TABLE IF NOT EXISTS ${schema}.bets (
  bet_id ${schema}.identifier PRIMARY KEY,
  player_id ${schema}.identifier NOT NULL,
  currency ${schema}.identifier NOT NULL,
  stake ${schema}.amount NOT NULL,
  status text NOT NULL,
${settlementTypes
  .map(
    type => `  -- What is live (NULL: nothing), was reversed, and is owed (D18). All NULL: never credited with ${type.toUpperCase()}.
  ${type}_live ${schema}.amount,
  ${type}_reversed ${schema}.amount,
  ${type}_owed ${schema}.amount,`,
  )
  .join('\n')}
  revision integer NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT bets_lawful CHECK (
    revision >= 1
${settlementTypes
  .map(
    type =>
      `    AND (${type}_reversed IS NULL) = (${type}_owed IS NULL) AND (${type}_live IS NULL OR ${type}_owed IS NOT NULL)`,
  )
  .join('\n')}
    AND (status = 'PLACED' OR status = 'ROLLED_BACK' AND num_nonnulls(bet_paid_live, voided_live, cashout_live) = 0)
  )
)`,

    `CREATE SEQUENCE IF NOT EXISTS ${schema}.wallet_transaction_ids AS bigint`,

    `CREATE TABLE IF NOT EXISTS ${schema}.transactions (
  operation text NOT NULL,
  transaction_id ${schema}.identifier NOT NULL,
  player_id ${schema}.identifier NOT NULL,
  bet_id ${schema}.identifier NOT NULL,
  amount ${schema}.amount,
  currency text,
  type text,
  delta numeric NOT NULL,
  -- A refusal that sticks (D6, D7); both NULL: a success.
  error_code text,
  description text,
  transaction_date timestamptz NOT NULL,
  -- A number of ours, or what an earlier integration gave.
  wallet_transaction_id text NOT NULL DEFAULT ${nextReference(schema)},
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
)`,

    loadFunction(tables),
    commitFunction(tables),
    commitOneFunction(tables),
    creditFunction(tables),

    `INSERT INTO ${schema}.migrations (version) VALUES (${schemaVersion}) ON CONFLICT DO NOTHING`,
  ]
}

/** There is no CREATE DOMAIN IF NOT EXISTS. */
const domain = (schema: string, name: string, type: string, check: string) => `DO $domain$ BEGIN
  CREATE DOMAIN ${schema}.${name} AS ${type} CHECK (${check});
EXCEPTION WHEN duplicate_object THEN
  NULL;
END $domain$`

/** One function: its name, what it takes and gives, and its body as the catalog keeps it. */
export interface DatabaseFunction {
  name: string
  body: string
}

/** What the store calls. The start compares their bodies with the catalog's. */
export function functionsOf(tables: Tables): DatabaseFunction[] {
  return [
    { name: `load_v${schemaVersion}`, body: loadBody(tables) },
    { name: `commit_v${schemaVersion}`, body: commitBody(tables) },
    { name: `commit_one_v${schemaVersion}`, body: commitOneBody(tables) },
    { name: 'credit_bet', body: creditBody(tables) },
  ]
}

/** OFFSET 0 keeps a look-up a look-up: without it the planner may read the whole table for a join. */
const perRow = (query: string, name: string) => `LEFT JOIN LATERAL (
      ${query} OFFSET 0
    ) ${name} ON true`

/** The bet as the library keeps it; else as the earlier integration left it, at revision 1. */
function betLookUp({ schema, legacyBets }: Tables, betId: string): string {
  const kept = `SELECT ${betColumns.map(column => `b.${column}`).join(', ')}, b.revision, true AS kept
      FROM ${schema}.bets b WHERE b.bet_id = ${betId}`
  if (legacyBets === null) return kept
  // As one value: a view that has a bet twice (of a join with its settlements) is an error (21000), and not one of the two.
  return `${kept}
      UNION ALL
      SELECT ${betColumns.map(earlierColumn).join(', ')}, 1, false
      FROM (SELECT (
        SELECT e FROM ${legacyBets} e WHERE e.bet_id = ${betId}
          AND NOT EXISTS (SELECT FROM ${schema}.bets x WHERE x.bet_id = ${betId})
      ) AS e OFFSET 0) one WHERE (one.e).bet_id IS NOT NULL`
}

/** A view that says only what is live means that nothing of it was reversed, nor is owed: not that there is no credit. */
function earlierColumn(column: string): string {
  const [, type, part] = /^(.*)_(live|reversed|owed)$/.exec(column) ?? []
  const value = (name: string) => `(one.e).${name}${columnType(name)}`
  if (type === undefined || part === 'live') return value(column)
  const known = `coalesce(${['live', 'reversed', 'owed'].map(each => value(`${type}_${each}`)).join(', ')})`
  return `coalesce(${value(column)}, CASE WHEN ${known} IS NOT NULL THEN 0 END)`
}

const columnType = (column: string) =>
  column === 'stake' || creditColumns.includes(column) ? '::numeric' : '::text'

/** Read off the catalog's id column by its own type, so that its index is used. */
const idAs = ({ players }: Tables, text: string) =>
  players.idType === 'text' ? text : `(${text})::${players.idType}`

/** The statement of load: one, so that all of it is of one moment. */
export function loadQuery(tables: Tables, keys = 'keys'): string {
  const { schema, players } = tables
  const { id, currency, balance } = players.columns
  const text = (alias: string, column: string) => `'${column}', ${alias}.${column}::text`
  const bet = `CASE WHEN b.bet_id IS NOT NULL THEN json_build_object(
      ${['player_id', 'currency', 'stake', 'status', 'revision', ...creditColumns].map(column => text('b', column)).join(', ')}
    ) END`
  const transactionColumns = [
    ...['player_id', 'bet_id', 'amount', 'currency', 'type', 'delta', 'error_code', 'description'],
    'wallet_transaction_id',
  ]
  const transaction = `CASE WHEN t.transaction_id IS NOT NULL THEN json_build_object(
      ${transactionColumns.map(column => text('t', column)).join(', ')},
      'date_ms', (extract(epoch FROM t.transaction_date) * 1000)::bigint
    ) END`
  return `SELECT k.i, p.currency, p.balance,
    ${bet},
    ${transaction}
    FROM json_to_recordset(${keys}) AS k(i integer, o text, t text, p text, b text)
    ${perRow(`SELECT coalesce(p.${currency}::text, '') AS currency, p.${balance}::text AS balance FROM ${players.table} p WHERE p.${id} = ${idAs(tables, 'k.p')}`, 'p')}
    ${perRow(betLookUp(tables, 'k.b'), 'b')}
    ${perRow(`SELECT t.* FROM ${schema}.transactions t WHERE t.operation = k.o AND t.transaction_id = k.t`, 't')}`
}

const loadBody = (tables: Tables) => `
#variable_conflict use_column
BEGIN
  RETURN QUERY
    ${loadQuery(tables)};
END
`

const loadFunction = (
  tables: Tables,
) => `CREATE OR REPLACE FUNCTION ${tables.schema}.load_v${schemaVersion}(keys json)
  RETURNS TABLE (i integer, currency text, balance text, bet json, transaction json)
  LANGUAGE plpgsql STABLE ROWS 100
  ${lookUps}
AS $load$${loadBody(tables)}$load$`

/** Locks the players of the items, in the order of their ids, and gives the ids that it got. */
export function lockQuery(tables: Tables, patience: '' | ' SKIP LOCKED', ids = 'player_ids'): string {
  const { table, columns } = tables.players
  return `SELECT p.${columns.id} FROM ${table} p WHERE p.${columns.id} = ANY (${ids})
      ORDER BY p.${columns.id} FOR NO KEY UPDATE${patience}`
}

/** What a commit reads of one item. */
const itemColumns = [
  'i integer, o text, t text, p text, b text, amount numeric, c text, type text, delta numeric',
  'error_code text, description text, date_ms numeric',
  'move numeric, move_currency text, move_floor numeric',
  `bet_player_id text, bet_currency text, stake numeric, status text, revision integer`,
  creditColumns.map(column => `${column} numeric`).join(', '),
].join(',\n      ')

const transactionColumns = `operation, transaction_id, player_id, bet_id, amount, currency, type, delta, error_code, description,
        transaction_date, wallet_transaction_id`
/** Of the item `alias`, with the reference that it is given. */
const transactionValues = (alias: string, reference: string) =>
  `${['o', 't', 'p', 'b', 'amount', 'c', 'type', 'delta', 'error_code', 'description'].map(column => `${alias}.${column}`).join(', ')},
        timestamptz 'epoch' + ${alias}.date_ms * interval '1 millisecond', ${reference}`
const betValues = (alias: string) =>
  ['b', 'bet_player_id', 'bet_currency', 'stake', 'status', ...creditColumns, 'revision']
    .map(column => `${alias}.${column}`)
    .join(', ')

/** The balance column's new value, where `move` is a numeric in its unit. */
const movedBy = ({ players: { columns, balanceType } }: Tables, move: string) =>
  ({
    numeric: `p.${columns.balance} + ${move}`,
    text: `(p.${columns.balance}::numeric + ${move})::text`,
    'minor-units': `p.${columns.balance} + ${move}::bigint`,
  })[balanceType]

/** The statement of commit: judges every item by its guards, and writes those that hold. */
export function commitQuery(
  tables: Tables,
  items = 'items',
  held = 'held',
  allHeld = 'all_held',
  balanceMax = 'balance_max',
): string {
  const { schema, players } = tables
  const { id, currency, balance } = players.columns
  return `WITH item AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${items}) AS item(
      ${itemColumns})
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
    ${perRow(
      `SELECT coalesce(p.${currency}::text, '') AS currency, p.${balance}::numeric AS balance,
        ${allHeld} OR p.${id} = ANY (${held}) AS free
      FROM ${players.table} p WHERE p.${id} = ${idAs(tables, 'k.p')}`,
      'p',
    )}
    ${perRow(`SELECT b.revision, b.kept FROM (${betLookUp(tables, 'k.b')}) b`, 'b')}
    ${perRow(`SELECT true AS known FROM ${schema}.transactions t WHERE t.operation = k.o AND t.transaction_id = k.t`, 't')}
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
        WHEN CASE WHEN s.move > 0 THEN s.given ELSE -s.taken END > ${balanceMax} THEN 'out of range'
        ELSE 'committed'
      END AS verdict
      FROM summed s
    ), done AS MATERIALIZED (
      SELECT j.i, j.p, j.move, j.has_bet, j.kept, ${nextReference(schema)} AS reference
      FROM judged j WHERE j.verdict = 'committed'
    ), moved AS MATERIALIZED (
      SELECT d.p, sum(d.move) AS move FROM done d WHERE d.move IS NOT NULL GROUP BY d.p
    ), new_transaction AS (
      INSERT INTO ${schema}.transactions (${transactionColumns})
      SELECT ${transactionValues('k', 'd.reference')}
      FROM done d JOIN item k ON k.i = d.i
    ), new_bet AS (
      INSERT INTO ${schema}.bets (${betColumns.join(', ')}, revision)
      SELECT ${betValues('k')}
      FROM done d JOIN item k ON k.i = d.i WHERE d.has_bet AND d.kept IS NOT TRUE
    ), changed_bet AS (
      UPDATE ${schema}.bets b
      SET (${betColumns.join(', ')}, revision) = (${betValues('k')})
      FROM done d JOIN item k ON k.i = d.i
    ${perRow(`SELECT x.ctid AS place FROM ${schema}.bets x WHERE x.bet_id = k.b AND x.revision = k.revision - 1`, 'found')}
      -- By place: for a join by id the planner, when it knows the table as empty, reads all of it for every commit.
      -- The revision again: until the minor releases of November 2025, a row that was changed meanwhile is changed by its
      -- place all the same, unless another condition on it fails.
      WHERE d.has_bet AND d.kept AND b.ctid = found.place AND b.revision = k.revision - 1
      RETURNING 1
    ), moved_player AS (
      -- Not by a join either: one array to look up by, and one object with what each of them is moved by.
      UPDATE ${players.table} p
      SET ${balance} = ${movedBy(tables, `((SELECT jsonb_object_agg(m.p, m.move) FROM moved m) ->> p.${id}::text)::numeric`)}
      WHERE p.${id} = ANY (ARRAY(SELECT ${idAs(tables, 'm.p')} FROM moved m))
      RETURNING p.${id}::text AS p, p.${balance}::numeric AS balance
    )
    SELECT j.i, j.verdict, j.player_currency AS currency, coalesce(n.balance, j.balance)::text AS balance, d.reference,
      (SELECT count(*) FROM done c WHERE c.has_bet AND c.kept) = (SELECT count(*) FROM changed_bet) AS complete,
      m.p IS NULL OR (n.balance = j.balance + m.move) IS TRUE AS as_meant
    FROM judged j LEFT JOIN done d ON d.i = j.i LEFT JOIN moved m ON m.p = j.p LEFT JOIN moved_player n ON n.p = j.p`
}

const notAsMeant = `-- The row is locked, so it was nobody else: a trigger that rounds, replaces or withholds what is written.
      RAISE EXCEPTION 'bet-wallet: the players'' table did not take the balance that was written to it: see its triggers'
        USING ERRCODE = 'triggered_data_change_violation';`

/**
 * One commit for many. In READ COMMITTED every statement in here sees what was committed before it began: once the
 * players are locked, what is read of them is what is written over. In a stricter isolation the lock itself fails (40001).
 * A unique id that somebody else takes meanwhile, and a bet changed under our hands, undo the whole; the store then tries
 * the items in smaller company.
 */
const commitBody = (tables: Tables) => `
#variable_conflict use_column
DECLARE
  player_ids ${tables.players.idType}[] := ARRAY(SELECT ${idAs(tables, 'x')} FROM json_array_elements_text(players) x);
  held ${tables.players.idType}[];
  all_held boolean;
  answer record;
BEGIN
  PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
  IF patient THEN
    held := ARRAY(${lockQuery(tables, '')});
  ELSE
    held := ARRAY(${lockQuery(tables, ' SKIP LOCKED')});
  END IF;
  all_held := cardinality(held) = cardinality(player_ids);
  FOR answer IN
    ${commitQuery(tables)}
  LOOP
    IF NOT answer.complete THEN
      RAISE EXCEPTION 'bet-wallet: a bet was changed meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    IF NOT answer.as_meant THEN
      ${notAsMeant}
    END IF;
    i := answer.i;
    verdict := answer.verdict;
    currency := answer.currency;
    balance := answer.balance;
    reference := answer.reference;
    RETURN NEXT;
  END LOOP;
END
`

const commitFunction = (
  tables: Tables,
) => `CREATE OR REPLACE FUNCTION ${tables.schema}.commit_v${schemaVersion}(
    items json, players json, patient boolean, balance_max numeric, lock_timeout_ms integer)
  RETURNS TABLE (i integer, verdict text, currency text, balance text, reference text)
  LANGUAGE plpgsql VOLATILE ROWS 100
  ${lookUps}
AS $commit$${commitBody(tables)}$commit$`

/**
 * The same for one item, by single small statements: the statement for many takes longer to set up than these take to run.
 * What is looked up first is held by the writes as well: by the unique indexes, and by the bet's revision.
 */
const commitOneBody = (tables: Tables) => {
  const { schema, players } = tables
  const { id, currency, balance } = players.columns
  const player = `FROM ${players.table} p WHERE p.${id} = ${idAs(tables, 'k.p')}`
  const lock = `SELECT coalesce(p.${currency}::text, ''), p.${balance}::numeric INTO currency, held ${player} FOR NO KEY UPDATE`
  return `
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
      ${itemColumns});
  i := k.i;
  verdict := 'conflict';
  IF patient THEN
    ${lock};
  ELSE
    ${lock} SKIP LOCKED;
  END IF;
  IF NOT found THEN
    PERFORM ${player};
    IF found THEN
      verdict := 'busy';
    END IF;
    RETURN NEXT;
    RETURN;
  END IF;
  balance := held::text;
  after := held + k.move;

  PERFORM FROM ${schema}.transactions t WHERE t.operation = k.o AND t.transaction_id = k.t; -- guard 1
  IF found THEN
    RETURN NEXT;
    RETURN;
  END IF;
  IF k.revision IS NOT NULL THEN -- guard 2
    SELECT known.revision, known.kept INTO revision_then, kept FROM (${betLookUp(tables, 'k.b')}) known;
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

  INSERT INTO ${schema}.transactions AS t (${transactionColumns})
  VALUES (${transactionValues('k', nextReference(schema))})
  RETURNING t.wallet_transaction_id INTO reference;
  IF kept THEN
    UPDATE ${schema}.bets b SET (${betColumns.join(', ')}, revision) = (${betValues('k')})
    WHERE b.bet_id = k.b AND b.revision = k.revision - 1;
    IF NOT found THEN
      RAISE EXCEPTION 'bet-wallet: a bet was changed meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
  ELSIF k.revision IS NOT NULL THEN
    INSERT INTO ${schema}.bets (${betColumns.join(', ')}, revision) VALUES (${betValues('k')});
  END IF;
  IF k.move IS NOT NULL THEN
    UPDATE ${players.table} p SET ${balance} = ${movedBy(tables, 'k.move')} WHERE p.${id} = ${idAs(tables, 'k.p')}
    RETURNING p.${balance}::numeric INTO written;
    IF written IS DISTINCT FROM after THEN
      ${notAsMeant}
    END IF;
    balance := after::text;
  END IF;
  verdict := 'committed';
  RETURN NEXT;
END
`
}

const commitOneFunction = (
  tables: Tables,
) => `CREATE OR REPLACE FUNCTION ${tables.schema}.commit_one_v${schemaVersion}(
    item json, patient boolean, balance_max numeric, lock_timeout_ms integer)
  RETURNS TABLE (i integer, verdict text, currency text, balance text, reference text)
  LANGUAGE plpgsql VOLATILE ROWS 1
  ${lookUps}
AS $commit$${commitOneBody(tables)}$commit$`

/**
 * For settlements by the PAM's own code (D17): notes on the bet what was credited, in the same commit as the money. The
 * player is locked before the bet, as everywhere, so that nobody waits for each other in a circle.
 */
const creditBody = (tables: Tables) => {
  const { schema, players } = tables
  return `
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
  SELECT b.* INTO known FROM (SELECT settled_bet_id AS b) k ${perRow(betLookUp(tables, 'k.b'), 'b')};
  IF known.bet_id IS NULL THEN
    RAISE EXCEPTION 'bet-wallet: no bet % is known', settled_bet_id USING ERRCODE = 'no_data_found';
  END IF;
  PERFORM FROM ${players.table} p WHERE p.${players.columns.id} = ${idAs(tables, 'known.player_id')} FOR NO KEY UPDATE;
  IF NOT known.kept THEN
    INSERT INTO ${schema}.bets (${betColumns.join(', ')}, revision)
    VALUES (${betColumns.map(column => `known.${column}`).join(', ')}, 1) ON CONFLICT DO NOTHING;
  END IF;
  UPDATE ${schema}.bets b SET
${settlementTypes
  .map(type => {
    const its = `settlement_type = '${type.toUpperCase()}'`
    return `    ${type}_live = CASE WHEN ${its} THEN coalesce(b.${type}_live, 0) + amount ELSE b.${type}_live END,
    ${type}_reversed = CASE WHEN ${its} THEN coalesce(b.${type}_reversed, 0) ELSE b.${type}_reversed END,
    ${type}_owed = CASE WHEN ${its} THEN coalesce(b.${type}_owed, 0) ELSE b.${type}_owed END,`
  })
  .join('\n')}
    revision = b.revision + 1
  WHERE b.bet_id = settled_bet_id;
END
`
}

const creditFunction = (tables: Tables) => `CREATE OR REPLACE FUNCTION ${tables.schema}.credit_bet(
    settled_bet_id text, settlement_type text, amount numeric)
  RETURNS void
  LANGUAGE plpgsql VOLATILE
  ${lookUps}
AS $credit$${creditBody(tables)}$credit$`

/** A key for an advisory lock, so that migrations of one schema wait for each other. */
export const migrationLock = (tables: Tables) =>
  `SELECT pg_advisory_xact_lock(hashtextextended('bet-wallet ' || ${literal(tables.schemaName)}, 0))`
