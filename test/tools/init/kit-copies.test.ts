/** The copy of the players' table in `store.ts`, for each PAM: it holds the kit's players. */
import mysql from 'mysql2/promise'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { conditionsSql } from '../../../src/tools/init/may-bet.js'
import { propose } from '../../../src/tools/init/propose.js'
import { type CatalogDatabase, readSchema } from '../../../src/tools/init/schema.js'
import { storeFile } from '../../../src/tools/init/store-file.js'
import type { MariadbServer } from '../../mariadb/server.js'
import { fastSettings, isMysql, noServer, startServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { type Pam, pamsOn } from './pams.js'

const players = [
  { playerId: 'Anna-1', currency: 'EUR', balance: '10.00' },
  { playerId: 'Ben-2', currency: 'JPY', balance: '10' },
]

/** A pool as `kit.ts` uses it. */
interface Pool {
  query(text: string, values?: string[]): Promise<unknown>
}

type Copy = Record<'insert' | 'deposit' | 'changeCurrency' | 'lock' | 'drop', string> & {
  account(playerId: string, currency: string): string[]
  create: readonly string[]
  connect(to: Pool): Promise<Pool & { release(): void }>
  hooks: { refuseBets: null | ((_: unknown, playerId: string) => Promise<void>) }
}

/** What `store.ts` exports, over this pool and without a store. */
function copyIn(text: string, pool: Pool): Copy {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: {
      module: ts.ModuleKind.CommonJS,
      target: ts.ScriptTarget.ES2022,
      esModuleInterop: true,
    },
  })
  function Pool() {
    return pool
  }
  const driver = { Pool, createPool: Pool, createPostgresStore: Pool, createMysqlStore: Pool }
  const exported = {} as { copy: Copy }
  new Function('require', 'exports', outputText)(() => driver, exported)
  return exported.copy
}

/**
 * Does with the copy what `kit.ts` does: Anna has 12.50, in JPY now, and is excluded.
 *
 * @returns the table, its column of the balance, what is 12.50 in it, and the condition of those who may bet
 */
async function copy(pam: Pam, database: CatalogDatabase, pool: Pool) {
  const schema = await readSchema(database)
  const answers = Object.fromEntries(
    pam.options.flatMap((option, index) =>
      option.startsWith('--') ? [[option.slice(2), pam.options[index + 1]]] : [],
    ),
  )
  const proposal = propose(schema, answers)
  if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
  const made = copyIn(storeFile(proposal.mapping, { isModule: true, hasPostgresJs: false }), pool)
  for (const statement of made.create) await pool.query(statement)
  for (const { playerId, currency, balance } of players) {
    await pool.query(made.insert, [playerId, currency])
    await pool.query(made.deposit, [balance, ...made.account(playerId, currency)])
  }
  const [anna] = players
  await pool.query(made.deposit, ['2.50', ...made.account('Anna-1', anna?.currency ?? '')])
  await pool.query(made.changeCurrency, ['JPY', 'Anna-1'])
  const connection = await made.connect(pool)
  await connection.query('BEGIN')
  await connection.query(made.lock, made.account('Anna-1', 'JPY'))
  await connection.query('ROLLBACK')
  connection.release()
  await made.hooks.refuseBets?.(null, 'Anna-1')
  const { engine, table, balance, minorUnits, mayBet } = proposal.mapping
  return {
    table: table.name,
    balance: balance.name,
    amount: minorUnits === null ? 12.5 : 1250,
    mayBet: mayBet.every(each => each.behind !== null) ? null : conditionsSql(engine, mayBet),
  }
}

describe('on PostgreSQL', () => {
  // A user with SELECT only sees no CHECKs.
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
