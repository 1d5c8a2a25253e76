/** The check of a server of MySQL or MariaDB. */
import { missingIndexes } from '../../stores/database/lookup-indexes.js'
import { grantStatements, type Right } from '../../stores/database/rights.js'
import { hasNumber, privilegeNumbers } from '../../stores/mysql/errors.js'
import { createMysqlStore, type MysqlPool, type MysqlTables } from '../../stores/mysql/index.js'
import { creditProcedureName, currencyOf, isPlayer } from '../../stores/mysql/sql/fragments.js'
import { createIndex } from '../../stores/mysql/sql/lookups.js'
import { granteeOf } from '../../stores/mysql/sql/quoting.js'
import { rightsOf } from '../../stores/mysql/sql/rights.js'
import { type Tables, tablesOf } from '../../stores/mysql/tables.js'
import { transactionsTableOf } from '../../stores/mysql/transactions-table.js'
import { readSchema } from '../init/schema.js'
import type { Rows } from './balances.js'
import { type CheckSettings, checksFinding, describe, type Finding, finding } from './finding.js'
import { trialAlias, trialFinding } from './mysql-trial.js'
import { type Ask, columnsBehind } from './mysql-view.js'
import { allFindings, codeOf, indexesFinding, privilegesFinding } from './ready.js'
import { type BalanceColumn, notAllowed, statementsFinding, switchedOff } from './statements.js'

/**
 * All but the connection. A check that is not possible is a finding.
 *
 * @param user `wallet@127.%`
 * @throws {StoreError} `INVALID_OPTIONS`
 */
export async function checkMysql(
  pool: MysqlPool,
  ask: Ask,
  options: MysqlTables,
  { user, settings }: { user: string; settings: CheckSettings },
): Promise<Finding[]> {
  const tables = tablesOf(options)
  const [schema, table] = tables.players.tableName
  const columns = (of: 'id' | 'balance') =>
    columnsBehind(ask, { schema, table, column: tables.players.columnNames[of] })
  return await allFindings(settings, tables.players, {
    store: allowNotDurable => createMysqlStore(pool, { ...options, allowNotDurable }),
    privileges: async () =>
      privilegesFinding(user, await missingGrants(ask, tables, user), 'An administrator'),
    trial: () => trialFinding(pool, tables),
    lookupIndexes: async () =>
      indexesFinding(
        missingIndexes(await transactionsTableOf(ask, tables)).map(index => createIndex(tables, index)),
        'A user with INDEX',
      ),
    rows: mysqlRows(ask),
    bets: {
      bets: `${tables.schema}.wallet_bets`,
      isAccountOfBet: `${isPlayer(tables, 'player', 'bet.player_id')}
        AND ${currencyOf(tables, 'player')} = bet.currency`,
    },
    behind: () => columns('id'),
    schema: schemas => readSchema({ engine: 'mysql', ask, schemas }),
    checks: async () => checksIn(ask, await columns('balance')),
    statements: async () => statementsIn(ask, await columns('balance'), user),
  })
}

/** Servers that are writable at once, and no cluster, would record the same call twice. */
export async function checkMysqlServers(
  pools: readonly MysqlPool[],
  options: MysqlTables,
): Promise<Finding | null> {
  try {
    await createMysqlStore(pools, { ...options, allowNotDurable: true }).ready()
    return null
  } catch (error) {
    const problem = describe(error)
    return codeOf(error) === 'SERVERS_APART'
      ? finding('server', 'problem', `SERVERS_APART: ${problem}`)
      : finding('server', 'unknown', `not checked whether they are one cluster: ${problem}`)
  }
}

async function missingGrants(ask: Ask, tables: Tables, user: string): Promise<string[]> {
  const missing: Right[] = []
  for (const right of rightsOf(tables, 'store')) if (!(await isHeld(ask, tables, right))) missing.push(right)
  return grantStatements(missing, granteeOf(user), { severalObjects: false })
}

/**
 * Tries the right, without changes: no catalog knows the rights of roles and patterns. Also true where the
 * object does not exist: another finding says so.
 */
async function isHeld(ask: Ask, { schema }: Tables, right: Right): Promise<boolean> {
  try {
    for (const statement of statementsThatNeed(schema, right)) await ask(statement)
    return true
  } catch (error) {
    return !hasNumber(error, ...privilegeNumbers)
  }
}

function statementsThatNeed(schema: string, { privilege, column, object }: Right): string[] {
  switch (privilege) {
    case 'EXECUTE':
      // Without arguments it does not run: 1318.
      return [`CALL ${schema}.${creditProcedureName}()`]
    case 'CREATE TEMPORARY TABLES':
      return [
        `CREATE TEMPORARY TABLE ${schema}.bet_wallet_check (id int)`,
        `DROP TEMPORARY TABLE ${schema}.bet_wallet_check`,
      ]
    case 'INSERT':
      return [`EXPLAIN INSERT INTO ${object} () VALUES ()`]
    case 'DELETE':
      return [`EXPLAIN DELETE FROM ${object} WHERE FALSE`]
    case 'UPDATE':
      return [`EXPLAIN UPDATE ${object} SET ${column ?? 'revision'} = NULL WHERE FALSE`]
    default:
      return [`SELECT ${column ?? '*'} FROM ${object} WHERE FALSE`]
  }
}

export const mysqlRows = (ask: Ask): Rows => ({
  ask,
  text: expression => `CAST(${expression} AS CHAR CHARACTER SET utf8mb4)`,
  exact: expression => `HEX(${expression})`,
})

async function checksIn(ask: Ask, columns: readonly BalanceColumn[]): Promise<Finding> {
  const checks: string[] = []
  for (const { schema, table } of columns) {
    const rows = await ask(
      `SELECT c.CONSTRAINT_NAME, c.CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS c
        JOIN information_schema.TABLE_CONSTRAINTS t USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME)
        WHERE t.TABLE_SCHEMA = ? AND t.TABLE_NAME = ? AND t.CONSTRAINT_TYPE = 'CHECK'`,
      [schema, table],
    )
    checks.push(...rows.map(([name, clause]) => `${schema}.${table}: ${name} CHECK (${clause})`))
  }
  // The catalog hides them from a user with rights on columns only, as the wallet has.
  return checks.length === 0
    ? finding('CHECKs', 'skipped', 'this user sees none: run check again as an owner of the tables')
    : checksFinding(checks)
}

const digests = 'performance_schema.events_statements_summary_by_digest'

async function statementsIn(ask: Ask, columns: readonly BalanceColumn[], user: string): Promise<Finding> {
  const [[isOn] = []] = await ask('SELECT @@performance_schema')
  if (String(isOn) !== '1')
    return switchedOff('performance_schema is OFF: it is a setting for the start of the server')
  try {
    return await digestsFinding(ask, columns)
  } catch (error) {
    if (!hasNumber(error, ...privilegeNumbers)) throw error
    return notAllowed(`GRANT SELECT ON performance_schema.* TO ${granteeOf(user)}`)
  }
}

/** Rejects where this user may not read the statistics. */
async function digestsFinding(ask: Ask, columns: readonly BalanceColumn[]): Promise<Finding> {
  const [[consumer] = []] = await ask(
    "SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = 'statements_digest'",
  )
  if (consumer !== 'YES')
    return switchedOff(
      "the digests are off: UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'statements_digest'",
    )
  const [[since, all, forgotten] = []] = await ask(
    `SELECT DATE_FORMAT(MIN(FIRST_SEEN), '%Y-%m-%d %H:%i'), COUNT(*), SUM(DIGEST IS NULL) FROM ${digests}`,
  )
  if (Number(all) === 0)
    return switchedOff(
      "no statement was recorded: performance_schema.setup_instruments may have 'statement/%' disabled",
    )
  // A name without a schema is of the default schema.
  const rows = await ask(
    `SELECT DIGEST_TEXT, COUNT_STAR, DATE_FORMAT(LAST_SEEN, '%Y-%m-%d %H:%i') FROM ${digests}
      WHERE ${columns
        .map(
          () => `LOCATE(LOWER(?), LOWER(DIGEST_TEXT)) > 0
            AND (LOWER(COALESCE(SCHEMA_NAME, ?)) = LOWER(?) OR LOCATE(LOWER(?), LOWER(DIGEST_TEXT)) > 0)`,
        )
        .join(' OR ')}`,
    columns.flatMap(({ schema, table }) => [table, schema, schema, schema]),
  )
  const full = `the statistics are full, and lack statements: raise performance_schema_digests_size`
  return statementsFinding({
    statements: rows.map(([text, calls, seen]) => ({
      text: String(text),
      calls: Number(calls),
      details: [`last seen ${seen}`],
    })),
    columns,
    own: trialAlias,
    about: [
      `recorded since ${since}`,
      'those inside procedures, functions and triggers are not',
      ...(Number(forgotten) === 0 ? [] : [full]),
    ].join(', '),
    forget: `Forget all, when you have corrected one: TRUNCATE TABLE ${digests}`,
  })
}
