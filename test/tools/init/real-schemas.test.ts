/**
 * `bet-wallet init` on fourteen schemas of public repositories, each on its engine: it decides nothing wrongly without a
 * question; what it writes is migrated, and passes kit and audit.
 */
import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type CatalogDatabase, readSchema } from '../../../src/tools/init/schema.js'
import { noMariadb } from '../../mariadb/installation.js'
import { type MariadbServer, startMariadb } from '../../mariadb/server.js'
import { fastSettings } from '../../mysql/engine.js'
import { noMysql } from '../../mysql/installation.js'
import { startMysql } from '../../mysql/server.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { compile } from './compile.js'
import { passAudit, passKit, prepareFolder, runInit } from './operator.js'
import type { Pam } from './pams.js'
import { mysqlSchemas } from './real-schemas/mysql.js'
import { postgresSchemas } from './real-schemas/postgres.js'
import { question } from './real-schemas/questions.js'
import type { RealSchema } from './real-schemas/real-schema.js'

/** The database of the schema, empty, and its owner. */
interface Owner {
  run(sql: string): Promise<unknown>
  database: CatalogDatabase
}

/** @returns the schema with the options of `init` that answer its questions */
async function makeAndQuestion(real: RealSchema, { run, database }: Owner): Promise<Pam> {
  await run(`${real.ddl.join('; ')}; ${real.rows}`)
  const untouched = question(await readSchema(database), real, false)
  expect({ ...untouched, untouched: true }).toMatchObject({ wrong: [] })
  // What it advises runs as printed.
  const [advised] = /CREATE UNIQUE INDEX .*$/.exec(untouched.problem ?? '') ?? []
  for (const statement of [...(advised ? [advised] : []), ...(real.prepared?.statements ?? [])])
    await run(statement)
  const { options, ...rest } = question(await readSchema(database), real, true)
  expect(rest).toEqual({ wrong: [], problem: null })
  return { ...real, options }
}

const folders: string[] = []

describe('PostgreSQL', () => {
  test.each(postgresSchemas)('$name', async real => {
    const { url, pool, drop } = await freshDatabase()
    onTestFinished(drop)
    const ask = async (text: string, values?: unknown[]) => (await pool.query(text, values)).rows
    const run = (sql: string) => pool.query(sql)
    const pam = await makeAndQuestion(real, { run, database: { engine: 'postgres', ask } })
    const folder = prepareFolder('postgres', pam)
    // Roles belong to the server, which other tests use.
    const role = `wallet_real_${process.pid}_${folders.length}`
    const grants = await runInit(folder, pam, { url, role, run })
    folders.push(folder)
    await pool.query(`CREATE ROLE "${role}" LOGIN PASSWORD 'w'`)
    onTestFinished(async () => {
      await pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`)
    })
    await pool.query(grants.join('\n'))
    await passKit(folder, url, pam)
    await passAudit(folder, url.replace(/\/\/[^@]*@/, `//${role}:w@`), pam, run)
  })
})

describe.each([
  { engine: 'MariaDB', missing: noMariadb, start: startMariadb },
  { engine: 'MySQL', missing: noMysql, start: startMysql },
])('$engine', ({ engine, missing, start }) => {
  const schemas = mysqlSchemas.filter(each => each.engine === engine)
  const skipped = missing === null ? '' : ` (skipped: ${missing})`
  // A server of its own: the schemas have fixed names.
  let server: MariadbServer
  let pool: mysql.Pool
  beforeAll(async () => {
    if (missing !== null) return
    server = await start({ settings: fastSettings })
    pool = mysql.createPool({ ...server.config, multipleStatements: true, connectionLimit: 1 })
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  test.skipIf(missing !== null).each(schemas)(`$name${skipped}`, async real => {
    onTestFinished(async () => {
      await pool.query('DROP USER IF EXISTS wallet')
      for (const schema of ['pam', 'bet_wallet', 'bet_wallet_kit'])
        await pool.query(`DROP DATABASE IF EXISTS ${schema}`)
    })
    const { host, port, user, password } = server.config
    const urlOf = (role: string, secret: string) => `mysql://${role}:${secret}@${host}:${port}/pam`
    await pool.query('CREATE DATABASE pam CHARACTER SET utf8mb4; USE pam')
    const run = (sql: string) => pool.query(sql)
    const ask = async (sql: string) =>
      (await pool.query({ sql, rowsAsArray: true }))[0] as unknown as (string | null)[][]
    const pam = await makeAndQuestion(real, { run, database: { engine: 'mysql', ask } })
    const folder = prepareFolder('mysql', pam)
    const grants = await runInit(folder, pam, { url: urlOf(user, password), role: 'wallet', run })
    folders.push(folder)
    await pool.query(`CREATE USER wallet IDENTIFIED BY 'w'; ${grants.join('\n')}`)
    await passKit(folder, urlOf(user, password), pam)
    await passAudit(folder, urlOf('wallet', 'w'), pam, run)
  })
})

test('all that was written compiles, strictly', () => {
  expect(compile(folders)).toBe('')
})
