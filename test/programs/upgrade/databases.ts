/** The databases of an upgrade: the same questions to each engine. */
import mysql from 'mysql2/promise'
import { noMariadb } from '../../mariadb/installation.js'
import { type MariadbServer, startMariadb } from '../../mariadb/server.js'
import { noMysql } from '../../mysql/installation.js'
import { startMysql } from '../../mysql/server.js'
import { createDatabase, openPostgres } from '../../postgres/server.js'

export const schema = 'upgraded'

export interface UpgradedDatabase {
  url: string
  /** Of the library's own table, each with 1,000.00 EUR. */
  openAccounts(playerIds: readonly string[]): Promise<void>
  /** With `{…}` for a table of the schema: `{players}`. */
  rows<Row>(sql: string): Promise<Row[]>
  /** The routines that PAM code calls. */
  creditRoutines(): Promise<string[]>
  close(): Promise<void>
}

async function postgres(): Promise<UpgradedDatabase> {
  const server = await openPostgres()
  const { pool, url, drop } = await createDatabase(server)
  const rows = async (sql: string) => (await pool.query(sql.replaceAll(/\{(\w+)\}/g, `${schema}.$1`))).rows
  return {
    url,
    rows,
    async openAccounts(playerIds) {
      await pool.query(`INSERT INTO ${schema}.players SELECT unnest($1::text[]), 'EUR', 1000`, [playerIds])
    },
    creditRoutines: async () =>
      (
        await rows("SELECT proname::text AS name FROM pg_proc WHERE proname LIKE 'credit_bet%' ORDER BY 1")
      ).map(({ name }) => name),
    async close() {
      await drop()
      await server.stop()
    },
  }
}

const mysqlOf = (start: () => Promise<MariadbServer>) => async (): Promise<UpgradedDatabase> => {
  const server = await start()
  const { host, port, user, password } = server.config
  const pool = mysql.createPool({ host, port, user, password })
  await pool.query(`CREATE DATABASE ${schema}`)
  const rows = async <Row>(sql: string) =>
    (await pool.query(sql.replaceAll(/\{(\w+)\}/g, `${schema}.wallet_$1`)))[0] as Row[]
  return {
    url: `mysql://${user}:${password}@${host}:${port}/${schema}`,
    rows,
    async openAccounts(playerIds) {
      await pool.query(`INSERT INTO ${schema}.wallet_players VALUES ?`, [
        playerIds.map(id => [id, 'EUR', 1000]),
      ])
    },
    creditRoutines: async () =>
      (
        await rows<{ name: string }>(
          `SELECT ROUTINE_NAME AS name FROM information_schema.ROUTINES
            WHERE ROUTINE_SCHEMA = '${schema}' AND ROUTINE_NAME LIKE 'credit_bet%' ORDER BY 1`,
        )
      ).map(({ name }) => name),
    async close() {
      await pool.end()
      await server.stop()
    },
  }
}

/** By engine: why it cannot be started here, or `null`, and what starts it. */
export const engines = [
  { engine: 'PostgreSQL', skipped: null, open: postgres },
  { engine: 'MariaDB', skipped: noMariadb, open: mysqlOf(startMariadb) },
  { engine: 'MySQL', skipped: noMysql, open: mysqlOf(startMysql) },
] as const
