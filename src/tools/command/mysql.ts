/** The operator's database on MySQL or MariaDB, with the driver `mysql2`. */
import { fieldOf } from '../../foreign-values.js'
import { grantStatements } from '../../stores/database/rights.js'
import { rightsBelow } from '../../stores/mysql/base-tables.js'
import { judgePlayersTable } from '../../stores/mysql/check-players-table.js'
import { createMysqlLookups } from '../../stores/mysql/index.js'
import { migrateMysql, mysqlMigrationSql } from '../../stores/mysql/migrate.js'
import { migratedWith } from '../../stores/mysql/migrated-with.js'
import { granteeOf } from '../../stores/mysql/sql/quoting.js'
import { rightsOf } from '../../stores/mysql/sql/rights.js'
import { tablesOf } from '../../stores/mysql/tables.js'
import { readBalances } from '../check/balances.js'
import { checkMysql, mysqlRows } from '../check/mysql.js'
import type { Ask } from '../check/mysql-view.js'
import { readSchema } from '../init/schema.js'
import {
  connectionsMax,
  connectMs,
  type Database,
  DatabaseError,
  driver,
  RightMissing,
  type StoreTables,
  statementMs,
} from './database.js'
import { UsageError } from './usage-error.js'

interface Pool {
  // biome-ignore lint/suspicious/noExplicitAny: as the store takes it.
  getConnection(...callback: any[]): any
  promise(): {
    getConnection(): Promise<{
      query(options: object): Promise<[(string | number | null)[][], unknown]>
      release(): void
      destroy(): void
    }>
    end(): Promise<void>
  }
}

function poolOf(uri: string, advice: string): Pool {
  const { createPool } = driver(['mysql2'], advice).module as { createPool(options: object): Pool }
  try {
    return createPool({ uri, connectionLimit: connectionsMax, connectTimeout: connectMs, charset: 'utf8mb4' })
  } catch {
    // Its errors quote the URL.
    throw new DatabaseError('The options of the database URL are not supported by mysql2')
  }
}

const askOf =
  (pool: Pool): Ask =>
  async (sql, values = []) => {
    const connection = await pool.promise().getConnection()
    try {
      return (await connection.query({ sql, values, rowsAsArray: true, timeout: statementMs }))[0]
    } catch (error) {
      // The statement goes on, and the end of the pool would wait for it.
      if (fieldOf(error, 'code') === 'PROTOCOL_SEQUENCE_TIMEOUT') connection.destroy()
      throw error
    } finally {
      connection.release()
    }
  }

export const mysqlGrants: Database['grants'] = (tables, use, role) =>
  grantStatements(rightsOf(tablesOf(tables), use), granteeOf(role), { severalObjects: false })

export function mysqlDatabase(url: string, advice: string): Database {
  const pool = poolOf(url.replace(/^mariadb:/i, 'mysql:'), advice)
  const ask = askOf(pool)
  return {
    url,
    mysqlPool: pool,
    async about() {
      const [[version, user, isReadOnly] = []] = await ask(
        'SELECT VERSION(), CURRENT_USER(), @@GLOBAL.read_only OR @@GLOBAL.innodb_read_only',
      )
      const product = /mariadb/i.test(String(version)) ? 'MariaDB' : 'MySQL'
      return {
        version: `${product} ${String(version).replace(/-mariadb.*/i, '')}`,
        user: String(user),
        isStandby: Number(isReadOnly) === 1,
      }
    },
    schema: () => readSchema({ engine: 'mysql', ask }),
    balances: (from, players) => readBalances(mysqlRows(ask), from, tablesOf({ players }).players),
    checkTables: tablesOf,
    registered: options => registered(ask, options),
    async migrate(tables, { transaction: _, ...settings }) {
      await judgePlayersTable({ rows: ask }, tablesOf(tables))
      return await migrateMysql(pool, tables, settings)
    },
    migrationSql(tables, { lookupIndexes, allowOtherOptions, transaction }) {
      if (!transaction)
        throw new UsageError('--no-transaction is for PostgreSQL: here every statement commits by itself')
      if (allowOtherOptions)
        throw new UsageError(
          '--allow-other-options is not needed: the SQL for this server never compares options',
        )
      return mysqlMigrationSql(tables, { lookupIndexes })
    },
    grants: mysqlGrants,
    async grantsBelow(tables, role) {
      const rights = await rightsBelow({ rows: ask }, tablesOf(tables).players.tableName)
      return grantStatements(rights, granteeOf(role), { severalObjects: false })
    },
    lookups: options => createMysqlLookups(pool, options),
    check: (tables, checked) => checkMysql(pool, ask, tables, checked),
    close: () => pool.promise().end(),
  }
}

async function registered(ask: Ask, options: StoreTables): Promise<StoreTables | null> {
  const { schema, schemaName } = tablesOf(options)
  try {
    return await migratedWith(ask, { schemaName })
  } catch (error) {
    if (fieldOf(error, 'code') !== 'INSUFFICIENT_PRIVILEGE') throw error
  }
  // Without EXECUTE the catalog shows no procedure, in whose comments the options are registered.
  const tables = await ask(
    "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = 'wallet_transactions'",
    [schemaName],
  )
  if (tables.length === 0) return null
  throw new RightMissing(
    `This user lacks EXECUTE on the procedures of the schema ${schemaName}. An administrator runs:`,
    user => `GRANT EXECUTE ON ${schema}.* TO ${granteeOf(user)};`,
  )
}
