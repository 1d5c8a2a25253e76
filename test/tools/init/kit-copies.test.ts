/** The copy of the players' table in `kit.ts`, for each PAM: it holds the kit's players. */
import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { kitFile } from '../../../src/tools/init/kit-file.js'
import { conditionsSql } from '../../../src/tools/init/may-bet.js'
import { propose } from '../../../src/tools/init/propose.js'
import { type CatalogDatabase, readSchema } from '../../../src/tools/init/schema.js'
import type { MariadbServer } from '../../mariadb/server.js'
import { fastSettings, isMysql, noServer, startServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { type Pam, pamsOn } from './pams.js'

const players = [
  { playerId: 'Anna-1', currency: 'EUR', balance: '10.00' },
  { playerId: 'Ben-2', currency: 'JPY', balance: '10' },
]

/**
 * Runs the part of kit.ts that makes the copy, and its hooks: Anna has 12.50, in JPY now, and is excluded.
 *
 * @returns the table, its column of the balance, what is 12.50 in it, and the condition of those who may bet
 */
async function copy(pam: Pam, database: CatalogDatabase, pool: object) {
  const schema = await readSchema(database)
  const answers = Object.fromEntries(
    pam.options.flatMap((option, index) =>
      option.startsWith('--') ? [[option.slice(2), pam.options[index + 1]]] : [],
    ),
  )
  const proposal = propose(schema, answers)
  if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
  const text = kitFile(proposal.mapping, true)
  const [, units = '{}'] = /minorUnits: Record<string, number> = (.*)/.exec(text) ?? []
  const [, work = ''] = /async open\(list\) \{([\s\S]*)await migrate/.exec(text) ?? []
  await new Function('pool', 'list', `const minorUnits = ${units}; return (async () => {${work}})()`)(
    pool,
    players,
  )
  const [, hooks = ''] = /reopen: .*\n([\s\S]*)advanceClock/.exec(text) ?? []
  const harness = new Function('pool', 'second', `return {${hooks}}`)(pool, pool)
  await harness.depositExternally(null, 'Anna-1', '2.50')
  await harness.changeCurrency(null, 'Anna-1', 'JPY')
  await (await harness.holdPlayer(null, 'Anna-1')).release()
  const [exclude] = /async function exclude[\s\S]*?\n\}/.exec(text) ?? []
  if (exclude !== undefined)
    await new Function('pool', `${exclude.replace(': unknown', '').replace(': string', '')}\nreturn exclude`)(
      pool,
    )(null, 'Anna-1')
  const { engine, table, balance, minorUnits, mayBet } = proposal.mapping
  return {
    table: table.name,
    balance: balance.name,
    amount: minorUnits === null ? 12.5 : 1250,
    mayBet: mayBet.length === 0 ? null : conditionsSql(engine, mayBet),
  }
}

describe('on PostgreSQL', () => {
  // A user with SELECT only sees neither keys nor CHECKs.
  describe.each(pamsOn('postgres'))('$name', pam => {
    test.each(['its owner', 'a reader'])('as %s sees it', async user => {
      const { pool, drop } = await freshDatabase()
      onTestFinished(drop)
      await pool.query(`CREATE SCHEMA pam; ${pam.ddl.join('; ')}; ${pam.rows}`)
      const ask = async (text: string) => {
        const { rows } = await pool.query(text)
        return user === 'a reader' && text.includes('constraint_type') ? [] : rows
      }
      const run = copy(pam, { engine: 'postgres', ask }, pool)
      // The CHECKs of this one concern the kit's ids.
      if (user === 'a reader' && pam.name.startsWith('reserved words'))
        return await expect(run).rejects.toThrow(/violates check constraint/)
      if (user === 'a reader' && pam.name.includes('foreign key'))
        return await expect(run).rejects.toThrow(/currency_ref is not usable.*The owner of the table sees/)
      const { table, balance, amount, mayBet } = await run
      const { rows } = await pool.query(`SELECT * FROM bet_wallet_kit."${table}"`)
      expect(rows).toHaveLength(2)
      expect(rows.map(row => Number(row[balance]))).toContain(amount)
      if (mayBet !== null)
        expect(
          (await pool.query(`SELECT 1 FROM bet_wallet_kit."${table}" WHERE ${mayBet}`)).rows,
        ).toHaveLength(1)
    })
  })

  test('a CHECK about the balance is copied', async () => {
    const { pool, drop } = await freshDatabase()
    onTestFinished(drop)
    const pam = pamsOn('postgres').find(({ name }) => name.endsWith('a CHECK about the balance')) as Pam
    await pool.query(`CREATE SCHEMA pam; ${pam.ddl.join('; ')}`)
    await copy(pam, { engine: 'postgres', ask: async text => (await pool.query(text)).rows }, pool)
    await expect(pool.query('UPDATE bet_wallet_kit.players SET real_balance = -1')).rejects.toThrow(
      'no_credit',
    )
  })
})

const name = isMysql ? 'MySQL' : 'MariaDB'
describe.skipIf(noServer !== null)(
  noServer === null ? `on ${name}` : `${name} (skipped: ${noServer})`,
  () => {
    let server: MariadbServer
    let pool: mysql.Pool
    beforeAll(async () => {
      server = await startServer({ settings: fastSettings })
      pool = mysql.createPool({ ...server.config, multipleStatements: true, connectionLimit: 1 })
    })
    afterAll(async () => {
      await pool?.end()
      await server?.stop()
    })

    test.each(pamsOn('mysql'))('$name', async pam => {
      await pool.query('DROP DATABASE IF EXISTS pam')
      await pool.query(
        `CREATE DATABASE pam CHARACTER SET utf8mb4; USE pam; ${pam.ddl.join('; ')}; ${pam.rows}`,
      )
      const ask = async (sql: string) =>
        (await pool.query({ sql, rowsAsArray: true }))[0] as unknown as (string | null)[][]
      const { table, balance, amount, mayBet } = await copy(pam, { engine: 'mysql', ask }, pool)
      const [rows] = (await pool.query(`SELECT * FROM bet_wallet_kit.\`${table}\``)) as unknown as [
        Record<string, unknown>[],
      ]
      expect(rows).toHaveLength(2)
      expect(rows.map(row => Number(row[balance]))).toContain(amount)
      if (mayBet !== null)
        expect(
          (await pool.query(`SELECT 1 FROM bet_wallet_kit.\`${table}\` WHERE ${mayBet}`))[0],
        ).toHaveLength(1)
    })
  },
)
