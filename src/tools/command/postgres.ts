/** The operator's database on PostgreSQL, with the driver `pg`. */
import { fieldOf, textOf } from '../../foreign-values.js'
import { grantStatements } from '../../stores/database/rights.js'
import { judgePlayersTable } from '../../stores/postgres/check.js'
import type { Ask } from '../../stores/postgres/client.js'
import { createPostgresLookups } from '../../stores/postgres/index.js'
import { migratePostgres, postgresMigrationSql } from '../../stores/postgres/migrate.js'
import { migratedWith } from '../../stores/postgres/migrated-with.js'
import { quoted } from '../../stores/postgres/sql/quoting.js'
import { rightsOf } from '../../stores/postgres/sql/rights.js'
import { tablesOf } from '../../stores/postgres/tables.js'
import { checkPostgres } from '../check/postgres.js'
import { readSchema } from '../init/schema.js'
import {
  type About,
  connectionsMax,
  connectMs,
  type Database,
  driver,
  RightMissing,
  type StoreTables,
  statementMs,
} from './database.js'

interface Pool {
  query(statement: string | object, values?: unknown[]): Promise<{ rows: unknown[] }>
  connect(): Promise<unknown>
  on(event: 'error', listener: () => void): unknown
  end(): Promise<void>
}

function poolOf(connectionString: string, advice: string): Pool {
  const { Pool } = driver('pg', advice) as { Pool: new (options: object) => Pool }
  const pool = new Pool({ connectionString, max: connectionsMax, connectionTimeoutMillis: connectMs })
  // A connection that breaks while nothing runs on it: the next statement reports it.
  pool.on('error', () => {})
  return pool
}

export const postgresGrants: Database['grants'] = (tables, use, role) =>
  grantStatements(rightsOf(tablesOf(tables), use), quoted(role), { severalObjects: true })

export function postgresDatabase(url: string, advice: string): Database {
  const pool = poolOf(url, advice)
  const ask = async (text: string, values: unknown[] = []) =>
    (await pool.query({ text, values, query_timeout: statementMs })).rows
  return {
    url,
    mysqlPool: null,
    async about() {
      const [about] = (await ask(
        `SELECT 'PostgreSQL ' || current_setting('server_version') AS version, current_user::text AS user,
          pg_is_in_recovery() AS "isStandby"`,
      )) as About[]
      if (about !== undefined) return about
      throw new Error('the server returned no row')
    },
    schema: () => readSchema({ engine: 'postgres', ask }),
    checkTables: tablesOf,
    registered: options => registered(ask, options),
    async migrate(tables, { transaction: _, ...settings }) {
      await judgePlayersTable(ask as Ask, tablesOf(tables))
      return await migratePostgres(pool, tables, settings)
    },
    migrationSql: postgresMigrationSql,
    grants: postgresGrants,
    lookups: options => createPostgresLookups(pool, options),
    check: (tables, checked) => checkPostgres(pool, ask, tables, checked),
    close: () => pool.end(),
  }
}

async function registered(
  ask: Parameters<typeof migratedWith>[0],
  options: StoreTables,
): Promise<StoreTables | null> {
  try {
    return (await migratedWith(ask, tablesOf(options))) as StoreTables
  } catch (error) {
    const code = fieldOf(error, 'code')
    // No such schema, no such table.
    if (code === '3F000' || code === '42P01') return null
    if (code !== '42501') throw error
    throw new RightMissing(
      `This user may not read what the migration has registered (${textOf(error)}): name your players' table by --players, --id, --currency and --balance, or an owner of the tables runs what this prints:`,
      user => `npx bet-wallet grants ${user}`,
    )
  }
}
