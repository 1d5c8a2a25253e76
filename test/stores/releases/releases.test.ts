/** The tables of every release since 0.3.0, with their rows: this release migrates them, and answers what they answered. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import mysql from 'mysql2/promise'
import { describe, expect, it } from 'vitest'
import { handlePlaceBet, handleRollbackBet } from '../../../src/index.js'
import { explainBet, type WalletLookups } from '../../../src/lookups/index.js'
import type { WalletOutcome } from '../../../src/outcomes.js'
import type { WalletStore } from '../../../src/store.js'
import { createMysqlLookups, createMysqlStore, migrateMysql } from '../../../src/stores/mysql/index.js'
import {
  createPostgresLookups,
  createPostgresStore,
  migratePostgres,
} from '../../../src/stores/postgres/index.js'
import { placeBet, rollbackBet } from '../../fixtures.js'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { asOneText, calls, schema } from './databases.js'

const folder = fileURLToPath(new URL('.', import.meta.url))
const kept = (engine: string) =>
  readdirSync(folder)
    .filter(name => name.endsWith(`-${engine}.sql`))
    .map(name => [basename(name, '.sql'), readFileSync(`${folder}${name}`, 'utf8')] as const)

it('0.3.0 and every later release is kept, for both kinds of databases', () => {
  const releases = ['postgres', 'mysql'].map(engine =>
    kept(engine).map(([name]) => name.replace(`-${engine}`, '')),
  )
  expect(releases[0]).toContain('0.3.0')
  expect(releases[0]).toEqual(releases[1])
})

interface Wallet {
  store: WalletStore & { ready(): Promise<void> }
  lookups: WalletLookups
  migrate(): Promise<boolean>
  /** Whose balance is not the first one and all transactions. */
  wrongPlayers(): Promise<unknown[]>
}

/** A column with a scale returns its zeros. */
const asNumber = (outcome: WalletOutcome) =>
  outcome.ok ? { ...outcome, balance: Number(outcome.balance) } : outcome

async function expectKept({ store, lookups, migrate, wrongPlayers }: Wallet): Promise<void> {
  await migrate()
  expect(await migrate()).toBe(false)
  await store.ready()
  expect(await wrongPlayers()).toEqual([])
  // The platform sends everything again: the recorded decision, with the balance of now.
  for (const { call, answer } of calls)
    expect(asNumber(await call(store))).toMatchObject({
      ...answer,
      replayed: true,
      ...(answer.ok ? { balance: 4.4 } : {}),
    })
  for (let bet = 1; bet <= 7; bet += 1) {
    const history = await lookups.bet(`bet-${bet}`)
    expect(history && explainBet(history).verdict).toMatch(/\w/)
  }
  const next = { playerId: 'anna', betId: 'bet-8' }
  const placed = await handlePlaceBet(store, placeBet({ ...next, transactionId: 'place-8', amount: '4.40' }))
  expect(asNumber(placed)).toMatchObject({ ok: true, replayed: false, balance: 0 })
  const back = await handleRollbackBet(
    store,
    rollbackBet({ playerId: 'anna', betId: 'bet-7', transactionId: 'rollback-7' }),
  )
  expect(asNumber(back)).toMatchObject({ ok: true, balance: 1.1 })
  expect(await wrongPlayers()).toEqual([])
}

describe('on PostgreSQL', () => {
  it.each(kept('postgres'))('%s is migrated with its rows', async (_, sql) => {
    const { pool, drop } = await freshDatabase()
    try {
      await pool.query(sql)
      await expectKept({
        store: createPostgresStore(pool, { schema, allowNotDurable: true }),
        lookups: createPostgresLookups(pool, { schema, allowScan: true }),
        migrate: () => migratePostgres(pool, { schema }),
        wrongPlayers: async () =>
          (
            await pool.query(
              `SELECT player_id FROM ${schema}.players p JOIN ${schema}.transactions t USING (player_id)
                GROUP BY player_id, p.balance HAVING p.balance <> 1000 + sum(t.delta)`,
            )
          ).rows,
      })
    } finally {
      await drop()
    }
  })
})

describe.skipIf(noServer !== null)(
  `on MySQL and MariaDB${noServer === null ? '' : ` (skipped: ${noServer})`}`,
  () => {
    it.each(kept('mysql'))('%s is migrated with its rows', async (_, sql) => {
      const { config } = await sharedMariadb()
      const connection = await mysql.createConnection({ ...config, multipleStatements: true })
      const pool = mysql.createPool(config)
      try {
        await connection.query(asOneText(sql))
        await expectKept({
          store: createMysqlStore(pool, { schema, allowNotDurable: true }),
          lookups: createMysqlLookups(pool, { schema, allowScan: true }),
          migrate: () => migrateMysql(pool, { schema }),
          wrongPlayers: async () =>
            (
              await pool.query(
                `SELECT p.player_id FROM ${schema}.wallet_players p JOIN ${schema}.wallet_transactions t
                ON t.player_id = p.player_id GROUP BY p.player_id, p.balance HAVING p.balance <> 1000 + SUM(t.delta)`,
              )
            )[0] as unknown[],
        })
      } finally {
        await connection.query(`DROP DATABASE IF EXISTS ${schema}`)
        await connection.end()
        await pool.end()
      }
    })
  },
)
