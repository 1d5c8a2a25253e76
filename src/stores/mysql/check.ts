/** The check at start: server, schema, players' table, privileges. Every error says what to do. */

import type { BalanceColumn } from '../database/columns.js'
import { QueryFailed } from '../database/deadline.js'
import { StoreError } from '../database/errors.js'
import { otherTry } from '../database/registered-options.js'
import { rightsText } from '../database/rights.js'
import { checkPlayersTable } from './check-players-table.js'
import { checkServer } from './check-server.js'
import type { Connections } from './client.js'
import { hasNumber, privilegeNumbers, serverErrorOf, startError, storeError } from './errors.js'
import { proofId } from './loads.js'
import type { Values } from './rows.js'
import type { Session } from './session.js'
import { creditProcedureName, itemFields, procedureName } from './sql/fragments.js'
import { rightsOf } from './sql/rights.js'
import { callOf, procedureMode, proceduresOf } from './sql/schema.js'
import { schemaVersion } from './sql/version.js'
import type { Tables } from './tables.js'

/**
 * Checks every server. One that is unavailable may come back later: it is a problem only if all of them are.
 *
 * @throws {StoreError} its message names the server, if there are several
 */
export async function checkServers(
  connections: Connections,
  tables: Tables,
  allowNotDurable: boolean,
): Promise<BalanceColumn> {
  const checks = connections.servers.onEach(async database => ({
    ...(await checkDatabase(database, tables, allowNotDurable)),
    group: database.cluster,
  }))
  const results = await Promise.allSettled(checks)
  const checked = results.flatMap((result, index) =>
    result.status === 'fulfilled' ? [{ ...result.value, number: index + 1 }] : [],
  )
  const problems = results.flatMap((result, index) =>
    result.status === 'fulfilled' ? [] : [problemOf(result.reason, index, results.length)],
  )
  const lasting = problems.find(({ code }) => code !== 'UNAVAILABLE')
  const [first] = checked
  if (lasting !== undefined || first === undefined) throw lasting ?? problems[0]
  const other = checked.find(({ cluster }) => cluster !== first.cluster)
  if (other !== undefined)
    throw storeError(
      'SERVERS_APART',
      `Servers ${first.number} and ${other.number} of the list are both writable, and are not members of one ` +
        'cluster: a call whose answer is lost would be recorded on both. Set read_only on all but one',
    )
  connections.servers.begin(first.number - 1, first.group)
  return first.column
}

function problemOf(reason: unknown, index: number, servers: number): StoreError {
  const error = startError(reason instanceof QueryFailed ? reason.cause : reason)
  if (servers === 1) return error
  return storeError(error.code, `Server ${index + 1} of the list: ${error.problem}`, {
    cause: error,
  })
}

async function checkDatabase(
  database: Session,
  tables: Tables,
  allowNotDurable: boolean,
): Promise<{ column: BalanceColumn; cluster: string }> {
  const cluster = await checkServer(database, allowNotDurable)
  await checkTables(database, tables)
  await checkCollations(database, tables)
  try {
    await checkProcedures(database, tables).catch(async (error: unknown) => {
      await tryProcedures(database, tables)
      throw error
    })
    const column = await checkPlayersTable(database, tables)
    await tryStatements(database, tables)
    return { column, cluster }
  } catch (error) {
    throw withAdvice(error, tables)
  }
}

/** Problems that show only when a statement runs: missing privileges, and tables that do not exist. */
function withAdvice(error: unknown, tables: Tables): unknown {
  if (error instanceof StoreError) return error
  const { number, message } = serverErrorOf(error) ?? { number: 0, message: '' }
  if (privilegeNumbers.includes(number)) {
    return storeError(
      'INSUFFICIENT_PRIVILEGE',
      `This user lacks privileges (${message}). It needs ${rightsText(rightsOf(tables, 'store'))}`,
      { cause: error },
    )
  }
  if (number === 1288)
    return storeError(
      'INVALID_PLAYERS_TABLE',
      `The players' table ${tables.players.tableName.join('.')} is a view that cannot be updated (${message}). Without a ` +
        'subquery it can: select the currency by a CASE of the column that refers to it',
      { cause: error },
    )
  // 1054 unknown column, 1146 unknown table, 1305 unknown procedure, 1318 wrong number of parameters.
  if ([1054, 1146, 1305, 1318].includes(number))
    return storeError('SCHEMA_VERSION', `The procedures do not run in this database (${message})`, {
      cause: error,
    })
  return error
}

const migrateAdvice =
  'run migrateMysql(client, options), or the SQL of mysqlMigrationSql(options), with the same options'

const besideHint =
  'Use the same options, or migrate with allowOtherOptions: running processes then keep their procedures'

/**
 * What the migration is needed for; `null`: there is nothing to do.
 *
 * @param allowOtherOptions whether procedures of other options may exist
 */
export async function migrationProblem(
  database: Session,
  tables: Tables,
  allowOtherOptions: boolean,
): Promise<StoreError | null> {
  try {
    // Other options are a reason to refuse, also where they need a table that does not exist yet.
    await checkProcedures(database, tables, allowOtherOptions)
    await checkTables(database, tables)
    return null
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
}

const ownTablesOf = ({ players, outbox }: Tables) => [
  'wallet_bets',
  'wallet_transactions',
  'wallet_proofs',
  ...(players.own ? ['wallet_players'] : []),
  ...(outbox ? ['wallet_outbox'] : []),
]

async function checkTables(database: Session, tables: Tables): Promise<void> {
  const { schemaName } = tables
  const stored = await database.rows(
    `SELECT TABLE_NAME, TABLE_COMMENT, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?`,
    [schemaName],
  )
  for (const name of ownTablesOf(tables)) {
    const table = stored.find(([each]) => String(each).toLowerCase() === name)
    if (table === undefined) {
      throw storeError(
        'SCHEMA_MISSING',
        `The schema ${schemaName} has no table ${name}, or this user may not see it: ${migrateAdvice}`,
        { isSolvedByMigration: true },
      )
    }
    const version = Number(/^bet-wallet (\d+)$/.exec(String(table[1]))?.[1] ?? schemaVersion)
    if (version < schemaVersion)
      throw storeError(
        'SCHEMA_VERSION',
        `${schemaName}.${name} has version ${version}; this release needs ${schemaVersion}: ${migrateAdvice}`,
        { isSolvedByMigration: true },
      )
    if (String(table[2]) !== 'InnoDB')
      throw storeError('NOT_DURABLE', `${schemaName}.${name} is a table of ${table[2]}; it must be InnoDB`)
  }
}

/** Columns that are compared: in another collation, `B-1` and `b-1` would be one bet. */
const comparedColumns = ['bet_id', 'player_id', 'operation', 'transaction_id', 'reference']

/** ALTER TABLE … CONVERT TO changes all columns. The migration leaves them so: it may take long. */
async function checkCollations(database: Session, tables: Tables): Promise<void> {
  const { schema, schemaName } = tables
  const list = (names: readonly string[]) => names.map(name => `'${name}'`).join(', ')
  const [converted] = await database.rows(
    `SELECT TABLE_NAME, COLUMN_NAME, COLLATION_NAME, exact.collation
      FROM (SELECT IF(VERSION() LIKE '%MariaDB%', 'utf8mb4_nopad_bin', 'utf8mb4_0900_bin') AS collation) exact
      JOIN information_schema.COLUMNS
      WHERE TABLE_SCHEMA = ? AND TABLE_NAME IN (${list(ownTablesOf(tables))})
        AND COLUMN_NAME IN (${list(comparedColumns)}) AND COLLATION_NAME <> exact.collation
      ORDER BY TABLE_NAME, ORDINAL_POSITION`,
    [schemaName],
  )
  if (converted === undefined) return
  const [table, column, collation, exact] = converted.map(String)
  throw storeError(
    'SCHEMA_VERSION',
    `${schemaName}.${table}.${column} has the collation ${collation}, which takes different ids for the same. Convert ` +
      `the table: ALTER TABLE ${schema}.${table} CONVERT TO CHARACTER SET utf8mb4 COLLATE ${exact}`,
  )
}

/** Compares the procedures with the catalog: SQL by hand may have replaced them. */
async function checkProcedures(database: Session, tables: Tables, allowOtherOptions = false): Promise<void> {
  const [first] = await wrongProcedures(database, tables, allowOtherOptions)
  if (first === undefined) return
  const [name, problem] = first
  throw storeError(
    'SCHEMA_VERSION',
    `The procedure ${tables.schemaName}.${name} ${problem}: ${migrateAdvice}`,
    { isSolvedByMigration: true },
  )
}

/**
 * @returns the procedures that are not as the migration creates them, each with what is wrong
 * @throws {StoreError} `SCHEMA_OPTIONS`
 */
export async function wrongProcedures(
  database: Session,
  tables: Tables,
  allowOtherOptions = false,
): Promise<ReadonlyMap<string, string>> {
  const stored = await database.rows(
    `SELECT ROUTINE_NAME, ROUTINE_COMMENT, ROUTINE_DEFINITION, SQL_MODE, CHARACTER_SET_CLIENT, COLLATION_CONNECTION,
        UNIX_TIMESTAMP(CREATED)
      FROM information_schema.ROUTINES
      WHERE ROUTINE_SCHEMA = ? AND ROUTINE_TYPE = 'PROCEDURE' ORDER BY CREATED DESC`,
    [tables.schemaName],
  )
  const isOwn = ([name]: Values) => String(name).startsWith(procedureName(tables, 'commit'))
  checkOwner(tables, stored, stored.filter(isOwn).at(-1))
  if (!allowOtherOptions && !stored.some(isOwn)) await checkOptions(database, stored, tables)
  const all = proceduresOf(tables)
  const find = (name: string) => stored.find(([each]) => String(each) === name)
  const commits = stored.map(([name]) => String(name)).filter(name => /^wallet_commit_v/.test(name))
  const isShared = commits.length > 1 && all.some(({ name }) => commits.includes(name))
  return new Map(
    all.flatMap(({ name, body }): [string, string][] => {
      const found = find(name)
      // PAM code calls this one. Beside other options or another release of this database, it may be theirs.
      const isOfOthers = name === creditProcedureName && isShared && isOfDatabase(found, tables)
      const problem = problemOfProcedure(found, isOfOthers ? null : body)
      return problem === null ? [] : [[name, problem]]
    }),
  )
}

/** @throws {StoreError} `SCHEMA_OPTIONS`: the migration has run with others alone */
async function checkOptions(database: Session, stored: readonly Values[], tables: Tables): Promise<void> {
  const { schema, schemaName, optionSet } = tables
  const bound = stored.filter(([name]) => /^wallet_\w+_v\d+_[0-9a-f]{8}(_[0-9a-f]{8})?$/.test(String(name)))
  const other = bound.find(([name]) => /^wallet_commit_v/.test(String(name)))
  if (other === undefined || !String(other[0]).startsWith(`wallet_commit_v${schemaVersion}_`)) return
  const differences = differencesOf(JSON.parse(String(other[1])), JSON.parse(optionSet.json))
  const isEmpty = await database
    .rows(`SELECT 1 FROM ${schema}.wallet_transactions LIMIT 1`)
    .then(({ length }) => length === 0)
    .catch(() => false)
  const drops = bound.map(([name]) => `DROP PROCEDURE ${schema}.${name}`)
  throw storeError(
    'SCHEMA_OPTIONS',
    `The schema ${schemaName} was migrated with other options: ${differences}. ${besideHint}${isEmpty ? otherTry(drops.join('; ')) : ''}`,
  )
}

/**
 * A schema is one of the server, and so of every host on it. Two players' tables that share its transactions
 * mix their money: a rollback credits a player of the other one. The first migration owns the schema.
 */
function checkOwner(
  tables: Tables,
  stored: readonly Values[],
  /** The oldest procedure of these options. */
  own: Values | undefined,
): void {
  const { schemaName, players } = tables
  const [database] = players.tableName
  for (const procedure of stored) {
    const [name, , , , , , created] = procedure
    if (!/^wallet_commit_v/.test(String(name)) || (own && Number(own[6]) < Number(created))) continue
    if (isOfDatabase(procedure, tables)) continue
    throw storeError(
      'SCHEMA_OPTIONS',
      `The schema ${schemaName} belongs to the players of ${playersOf(procedure)}. Those of ${players.tableName.join('.')}, another ` +
        `database on this server, need a schema of their own: schema: '${schemaName}_${players.own ? 2 : database}'`,
    )
  }
}

/** The players' table of the options of a procedure: `pam.accounts`. */
const playersOf = ([, options]: Values) => String((JSON.parse(String(options)) as Options)['players.table'])

/** Whether it is of a players' table of the same database. */
const isOfDatabase = (procedure: Values | undefined, { players }: Tables) =>
  procedure !== undefined && playersOf(procedure).split('.')[0] === players.tableName[0]

/** @param body `null`: whatever it is */
function problemOfProcedure(procedure: Values | undefined, body: string | null): string | null {
  if (procedure === undefined) return 'does not exist, or this user may not execute it'
  const [, , definition, mode, characterSet, collation] = procedure
  const isSame =
    body === null || definition == null || withoutSpace(String(definition)) === withoutSpace(body)
  if (!isSame || String(mode) !== procedureMode) return 'was changed'
  // A procedure keeps both, and converts its literals and results by them.
  if (characterSet === 'utf8mb4' && /^utf8mb4_/.test(String(collation))) return null
  return `was created by a session in ${characterSet} (${collation}), not utf8mb4`
}

/**
 * Servers keep the body with or without its comments, and of version comments what they have executed. MySQL
 * keeps a quote in a text as one.
 */
const withoutSpace = (text: string) =>
  text
    .replace(/\/\*M?!\d*|\*\/|utf8mb4_0900_bin|utf8mb4_nopad_bin|OF player/g, '')
    .replaceAll("''", "'")
    .replace(/--[^\n]*/g, '')
    .replace(/\s+/g, ' ')
    .trim()

type Options = Readonly<Record<string, unknown>>

function differencesOf(registered: Options, given: Options): string {
  return [...new Set([...Object.keys(registered), ...Object.keys(given)])]
    .sort()
    .filter(name => JSON.stringify(registered[name]) !== JSON.stringify(given[name]))
    .map(
      name =>
        `${name}: registered ${JSON.stringify(registered[name] ?? null)}, given ${JSON.stringify(given[name] ?? null)}`,
    )
    .join('; ')
}

/**
 * The catalog hides a procedure that this user may not execute, as if it did not exist. Without arguments, no
 * procedure runs: 1318 says that it exists, 1305 that it does not.
 */
async function tryProcedures(database: Session, tables: Tables): Promise<void> {
  for (const { name } of proceduresOf(tables)) {
    try {
      await database.rows(`CALL ${tables.schema}.${name}()`)
    } catch (error) {
      if (!hasNumber(error, 1305, 1318)) throw error
    }
  }
}

/** Runs every statement once, without changes: the server reports the problems that are left. */
async function tryStatements(database: Session, tables: Tables): Promise<void> {
  const { schema } = tables
  const call = (name: string, values: unknown[]) => database.call(callOf(tables, name, values.length), values)
  await call('load', ['[["placebet", "", null, ""]]', proofId()])
  await call('commit', ['[]', '[]', null, null, 1])
  // A conflict, whose commit would write a proof.
  await call('commit_one', [...itemFields.map(() => null), null, null, null, 0])
  // A commit without items comes to no UPDATE of a bet.
  await database.run(`UPDATE ${schema}.wallet_bets SET revision = revision WHERE FALSE`)
}
