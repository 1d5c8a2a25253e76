/** The operator's database on PostgreSQL, with the driver `pg`. */
import { fieldOf, textOf } from '../../foreign-values.js'
import { grantStatements } from '../../stores/database/rights.js'
import { judgePlayersTable } from '../../stores/postgres/check.js'
import { createPostgresLookups } from '../../stores/postgres/index.js'
import { migratePostgres, postgresMigrationSql } from '../../stores/postgres/migrate.js'
import { migratedWith } from '../../stores/postgres/migrated-with.js'
import { quoted } from '../../stores/postgres/sql/quoting.js'
import { rightsOf } from '../../stores/postgres/sql/rights.js'
import { tablesOf } from '../../stores/postgres/tables.js'
import { readBalances } from '../check/balances.js'
import { checkPostgres, postgresRows } from '../check/postgres.js'
import { readSchema } from '../init/schema.js'
import { type About, type Database, RightMissing, type StoreTables } from './database.js'
import { postgresDriver } from './postgres-driver.js'

export const postgresGrants: Database['grants'] = (tables, use, role) =>
  grantStatements(rightsOf(tablesOf(tables), use), quoted(role), { severalObjects: true })

export function postgresDatabase(url: string, advice: string): Database {
  const { client, ask, end } = postgresDriver(url, advice)
  return {
    url,
    mysqlPool: null,
    async about() {
      const [about] = await ask<About>(
        `SELECT 'PostgreSQL ' || current_setting('server_version') AS version, current_user::text AS user,
          pg_is_in_recovery() AS "isStandby"`,
      )
      if (about !== undefined) return about
      throw new Error('the server returned no row')
    },
    schema: () => readSchema({ engine: 'postgres', ask }),
    balances: (from, players) => readBalances(postgresRows(ask), from, tablesOf({ players }).players),
    checkTables: tablesOf,
    registered: options => registered(ask, options),
    async migrate(tables, { transaction: _, ...settings }) {
      await judgePlayersTable(ask, tablesOf(tables))
      const alone = postgresDriver(url, advice, 1)
      return await migratePostgres(alone.client, tables, settings).finally(alone.end)
    },
    migrationSql: postgresMigrationSql,
    grants: postgresGrants,
    lookups: options => createPostgresLookups(client, options),
    check: (tables, checked) => checkPostgres(client, ask, tables, checked),
    close: end,
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
