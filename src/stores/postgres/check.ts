/** What must be so before the first request is served. Every flaw is an error that says what to do. */
import type { BalanceColumn } from './columns.js'
import { PostgresStoreError } from './errors.js'
import { functionsOf, schemaVersion } from './sql.js'
import type { Tables } from './tables.js'

/** Gives the rows of one statement. */
type Ask = (text: string, values: unknown[]) => Promise<unknown[]>

/** A numeric that is compared with Infinity is of 14. */
const serverVersionMin = 140_000

/** @throws {PostgresStoreError} */
export async function checkDatabase(ask: Ask, tables: Tables): Promise<BalanceColumn> {
  try {
    await checkServer(ask)
    await checkSchema(ask, tables)
    const column = await checkPlayers(ask, tables)
    await tryEverything(ask, tables)
    return column
  } catch (error) {
    throw whatPostgresSays(error, tables)
  }
}

/** What only shows when it is done: rights that are missing, and names that are not there. */
function whatPostgresSays(error: unknown, { schema, players }: Tables): unknown {
  const cause = (error as { cause?: unknown }).cause
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown }
  if (code === '42501') {
    return new PostgresStoreError(
      'INSUFFICIENT_PRIVILEGE',
      `This role may not do all that is needed (${message}). It needs USAGE ON SCHEMA ${schema} and the schema of the ` +
        `players' table; SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA ${schema}; USAGE ON ALL SEQUENCES IN SCHEMA ` +
        `${schema}; SELECT, UPDATE ON ${players.table}`,
      { cause },
    )
  }
  if (typeof code === 'string' && code.startsWith('42')) {
    return new PostgresStoreError('SCHEMA_VERSION', `The statements do not fit this database (${message})`, {
      cause,
    })
  }
  return error
}

async function checkServer(ask: Ask): Promise<void> {
  const [server] = (await ask(
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('server_version') AS name,
      current_setting('synchronous_commit') AS synchronous_commit`,
    [],
  )) as { version: number; name: string; synchronous_commit: string }[]
  if (server === undefined) throw new PostgresStoreError('UNSUPPORTED_CLIENT', 'The client gives no rows')
  if (server.version < serverVersionMin) {
    throw new PostgresStoreError(
      'SCHEMA_VERSION',
      `PostgreSQL 14 or newer is needed, and this is ${server.name}`,
    )
  }
  if (server.synchronous_commit === 'off') {
    throw new PostgresStoreError(
      'NOT_DURABLE',
      'synchronous_commit is off: what was answered could be lost. Set it to on for this role: ALTER ROLE … SET synchronous_commit = on',
    )
  }
}

async function checkSchema(ask: Ask, tables: Tables): Promise<void> {
  const { schema, schemaName } = tables
  const migrate =
    'run migratePostgres(client, options), or the SQL of postgresMigrationSql(options), with the same options'
  const [seen] = (await ask('SELECT to_regclass($1) IS NOT NULL AS there', [`${schema}.migrations`])) as {
    there: boolean
  }[]
  if (!seen?.there) {
    throw new PostgresStoreError(
      'SCHEMA_MISSING',
      `The schema ${schemaName} has no tables of bet-wallet, or this role may not see them: ${migrate}`,
    )
  }
  const [found] = (await ask(`SELECT max(version) AS version FROM ${schema}.migrations`, [])) as {
    version: number | null
  }[]
  if (found?.version !== schemaVersion) {
    throw new PostgresStoreError(
      'SCHEMA_VERSION',
      `The schema ${schemaName} is of version ${found?.version ?? 0}, and this release needs ${schemaVersion}: ` +
        ((found?.version ?? 0) > schemaVersion ? 'use the release that it was migrated for' : migrate),
    )
  }
  const bodies = (await ask(
    `SELECT p.proname AS name, p.prosrc AS body FROM pg_catalog.pg_proc p
      JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1`,
    [schemaName],
  )) as { name: string; body: string }[]
  for (const { name, body } of functionsOf(tables)) {
    const same = bodies.some(other => other.name === name && other.body === body)
    if (!same) {
      throw new PostgresStoreError(
        'SCHEMA_VERSION',
        `The function ${schemaName}.${name} is not the one of these options (players, legacyBets) and this release: ${migrate}`,
      )
    }
  }
}

interface Column {
  name: string
  type: string
  digits: number | null
  scale: number | null
  deterministic: boolean
  updatable: boolean
  unique: boolean
  kind: string
}

async function checkPlayers(ask: Ask, { players }: Tables): Promise<BalanceColumn> {
  const { columnNames, idType, balanceType, decimalsMin } = players
  const [schemaName, tableName] = players.tableName
  const table = `${schemaName}.${tableName}`
  const wrong = (flaw: string): never => {
    throw new PostgresStoreError('INVALID_PLAYERS_TABLE', `The players' table ${table}: ${flaw}`)
  }
  const found = (await ask(
    `SELECT c.column_name::text AS name, c.data_type::text AS type, c.numeric_precision::integer AS digits,
      c.numeric_scale::integer AS scale, coalesce(l.collisdeterministic, true) AS deterministic,
      c.is_updatable = 'YES' AND c.is_generated = 'NEVER' AS updatable, r.relkind::text AS kind,
      EXISTS (
        SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = r.oid AND x.indisunique AND x.indisvalid
          AND x.indpred IS NULL AND x.indnkeyatts = 1 AND x.indkey[0] = a.attnum
      ) AS "unique"
      FROM information_schema.columns c
      JOIN pg_catalog.pg_namespace n ON n.nspname = c.table_schema
      JOIN pg_catalog.pg_class r ON r.relnamespace = n.oid AND r.relname = c.table_name
      JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid AND a.attname = c.column_name
      LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
      WHERE c.table_schema = $1 AND c.table_name = $2`,
    [schemaName, tableName],
  )) as Column[]
  if (found.length === 0)
    wrong('it is not there, or this role may not see it (names are taken as the catalog spells them)')
  const column = (option: 'id' | 'currency' | 'balance'): Column =>
    found.find(({ name }) => name === columnNames[option]) ??
    wrong(
      `there is no column ${columnNames[option]} (players.${option}); there are ${found.map(({ name }) => name).join(', ')}`,
    )

  const id = column('id')
  const idTypes = {
    text: ['text', 'character varying'],
    bigint: ['smallint', 'integer', 'bigint'],
    uuid: ['uuid'],
  }[idType]
  if (!idTypes.includes(id.type)) {
    wrong(
      `players.idType is ${idType}, and the column ${id.name} is ${id.type}; it must be ${idTypes.join(' or ')}`,
    )
  }
  if (!id.deterministic)
    wrong(`the collation of ${id.name} takes different ids for the same; ids are compared exactly (D24)`)
  if (id.kind !== 'v' && !id.unique) wrong(`there is no unique index on ${id.name} alone`)

  const currency = column('currency')
  if (!['text', 'character varying', 'character'].includes(currency.type)) {
    wrong(`the column ${currency.name} (players.currency) is ${currency.type}; it must be text`)
  }

  const balance = column('balance')
  if (!balance.updatable) wrong(`the column ${balance.name} (players.balance) cannot be updated`)
  const balanceTypes = {
    numeric: ['numeric'],
    text: ['text', 'character varying'],
    'minor-units': ['smallint', 'integer', 'bigint'],
  }[balanceType]
  if (!balanceTypes.includes(balance.type)) {
    const why = /real|double|money/.test(balance.type) ? ', which rounds' : ''
    wrong(
      `players.balanceType is ${balanceType}, and the column ${balance.name} is ${balance.type}${why}; it must be ${balanceTypes.join(' or ')}`,
    )
  }
  if (balanceType === 'minor-units') {
    const most = { smallint: '32767', integer: '2147483647' }[balance.type] ?? '9223372036854775807'
    return { scale: null, max: most }
  }
  if (balanceType === 'text' || balance.digits === null || balance.scale === null)
    return { scale: null, max: null }
  if (balance.scale < decimalsMin) {
    wrong(
      `numeric(${balance.digits},${balance.scale}) of ${balance.name} would round amounts of ${decimalsMin} decimals; ` +
        'widen it, or say in players.decimalsMin that there are none',
    )
  }
  const whole = '9'.repeat(Math.max(balance.digits - balance.scale, 0)) || '0'
  return { scale: balance.scale, max: balance.scale === 0 ? whole : `${whole}.${'9'.repeat(balance.scale)}` }
}

/** What is still wrong then, PostgreSQL knows best. Nothing is written. */
async function tryEverything(ask: Ask, { schema }: Tables): Promise<void> {
  await ask(`SELECT * FROM ${schema}.load_v${schemaVersion}($1)`, [
    '[{"i":0,"o":"placebet","t":"","p":null,"b":""}]',
  ])
  await ask(`SELECT * FROM ${schema}.commit_v${schemaVersion}($1, $2, true, NULL, 1000)`, ['[]', '[]'])
  await ask(`SELECT * FROM ${schema}.commit_one_v${schemaVersion}($1, true, NULL, 1000)`, ['{}'])
  const [sequence] = (await ask('SELECT has_sequence_privilege($1, $2) AS fine', [
    `${schema}.wallet_transaction_ids`,
    'USAGE',
  ])) as { fine: boolean }[]
  if (!sequence?.fine) {
    throw new PostgresStoreError(
      'INSUFFICIENT_PRIVILEGE',
      `This role may not use the sequence: GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema}`,
    )
  }
}
