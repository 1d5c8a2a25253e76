/**
 * `npx tsx test/stores/releases/write.ts`: keeps the tables of the release in package.json, with some rows, as SQL text beside
 * this file. At each release from 0.3.0 on; the files of earlier releases stay as they are.
 */
import { writeFileSync } from 'node:fs'
import mysql from 'mysql2/promise'
import manifest from '../../../package.json' with { type: 'json' }
import type { WalletStore } from '../../../src/store.js'
import { createMysqlStore, migrateMysql, mysqlMigrationSql } from '../../../src/stores/mysql/index.js'
import {
  createPostgresStore,
  migratePostgres,
  postgresMigrationSql,
} from '../../../src/stores/postgres/index.js'
import { startMariadb } from '../../mariadb/server.js'
import { createDatabase, openPostgres } from '../../postgres/server.js'
import { calls, rowsOfMysql, rowsOfPostgres, schema } from './databases.js'

const release = process.argv[2] ?? manifest.version

async function play(store: WalletStore): Promise<void> {
  for (const { call } of calls) await call(store)
}

function keep(engine: string, ...parts: string[]): void {
  const text = `-- Of release ${release}: written by test/stores/releases/write.ts. Never changed.\n\n${parts.join('\n')}\n`
  writeFileSync(new URL(`${release}-${engine}.sql`, import.meta.url), text)
}

const postgres = await openPostgres()
const { pool, drop } = await createDatabase(postgres)
try {
  await migratePostgres(pool, { schema })
  await pool.query(`INSERT INTO ${schema}.players VALUES ('anna', 'EUR', 1000)`)
  await play(createPostgresStore(pool, { schema }))
  keep('postgres', postgresMigrationSql({ schema }), await rowsOfPostgres(pool))
} finally {
  await drop()
  await postgres.stop()
}

const mariadb = await startMariadb()
try {
  const mariadbPool = mysql.createPool(mariadb.config)
  await migrateMysql(mariadbPool, { schema })
  await mariadbPool.query(`INSERT INTO ${schema}.wallet_players VALUES ('anna', 'EUR', 1000)`)
  await play(createMysqlStore(mariadbPool, { schema }))
  keep(
    'mysql',
    `CREATE DATABASE ${schema};\nUSE ${schema};`,
    mysqlMigrationSql({ schema }),
    await rowsOfMysql(mariadbPool),
  )
  await mariadbPool.end()
} finally {
  await mariadb.stop()
}
