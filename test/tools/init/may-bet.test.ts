/** The rule of who may bet, as `init` writes it into store.ts: the cases of limits exclude players while bets are committed. */
import mysql from 'mysql2/promise'
import ts from 'typescript'
import { describe, onTestFinished, test } from 'vitest'
import type { Account } from '../../../src/store.js'
import { createMysqlStore, migrateMysql } from '../../../src/stores/mysql/index.js'
import {
  createPostgresStore,
  migratePostgres,
  type PostgresStoreOptions,
} from '../../../src/stores/postgres/index.js'
import { playersOf } from '../../../src/tools/init/mapping.js'
import { propose } from '../../../src/tools/init/propose.js'
import type { Engine } from '../../../src/tools/init/schema.js'
import { ruleLines, whoMayBetCall } from '../../../src/tools/init/store-file.js'
import { exclusionCases } from '../../examples/limit-cases.js'
import type { LimitedWallet, OpenLimited } from '../../examples/limited-player.js'
import { fastSettings, isMysql, noServer, startServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { schemaOf, table } from './schemas.js'

const ddl = (type: string) =>
  `CREATE TABLE pam.accounts (id ${type} PRIMARY KEY, currency char(3) NOT NULL, balance decimal(38,18) NOT NULL, state varchar(10) NOT NULL)`

/** The players' table, and the hook that store.ts has for it. */
function written(engine: Engine) {
  const columns = ['id varchar(255)', 'currency char(3)', 'balance decimal(38,18)', 'state varchar(10)']
  const given = schemaOf(engine, table(engine, 'pam.accounts', columns, ['id']))
  const proposal = propose(given, { 'may-bet': 'state=active,trial' })
  if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
  const { mapping } = proposal
  const call = whoMayBetCall(mapping, 'pam.accounts')
  const code = ts.transpile([...ruleLines(mapping), `export const hook = ${call}`].join('\n'), {
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2022,
  })
  const exported: { hook?: PostgresStoreOptions['withinTransaction'] } = {}
  new Function('exports', code)(exported)
  return {
    players: playersOf(mapping),
    withinTransaction: exported.hook as NonNullable<typeof exported.hook>,
  }
}

const { 'a cool-off ends at its time': _, ...cases } = exclusionCases

/** Every case of exclusions that this rule is about: it has no cool-off. */
async function playAll(
  open: (players: readonly Account[]) => Promise<Pick<LimitedWallet, 'store' | 'connect' | 'exclude'>>,
) {
  const unused = async () => {
    throw new Error('the rule has no limits and no clock')
  }
  const openLimited: OpenLimited = async players => ({
    ...(await open(players)),
    limit: unused,
    advanceClock: unused,
  })
  for (const run of Object.values(cases)) await run(openLimited)
}

test('on PostgreSQL it holds from its moment, and money still returns', async () => {
  const { pool, drop } = await freshDatabase()
  onTestFinished(drop)
  await pool.query(`CREATE SCHEMA pam; ${ddl('text')}`)
  const { players, withinTransaction } = written('postgres')
  await migratePostgres(pool, { players })
  const connect = () => createPostgresStore(pool, { players, withinTransaction })
  await playAll(async accounts => {
    await pool.query('TRUNCATE pam.accounts, bet_wallet.bets, bet_wallet.transactions')
    for (const { playerId, currency, balance } of accounts)
      await pool.query(`INSERT INTO pam.accounts VALUES ($1, $2, $3, 'trial')`, [playerId, currency, balance])
    return {
      store: connect(),
      connect,
      exclude: playerId => pool.query(`UPDATE pam.accounts SET state = 'excluded' WHERE id = $1`, [playerId]),
    }
  })
})

const name = isMysql ? 'MySQL' : 'MariaDB'
describe.skipIf(noServer !== null)(
  noServer === null ? `on ${name}` : `${name} (skipped: ${noServer})`,
  () => {
    test('it holds from its moment, and money still returns', async () => {
      const server = await startServer({ settings: fastSettings })
      const pool = mysql.createPool({ ...server.config, timezone: 'Z' })
      onTestFinished(async () => {
        await pool.end()
        await server.stop()
      })
      await pool.query('CREATE DATABASE pam CHARACTER SET utf8mb4')
      const exact = isMysql ? 'utf8mb4_0900_bin' : 'utf8mb4_nopad_bin'
      await pool.query(ddl(`varchar(255) COLLATE ${exact}`))
      const { withinTransaction, ...rest } = written('mysql')
      const players = { ...rest.players, idCollation: exact }
      await migrateMysql(pool, { players })
      const connect = () => createMysqlStore(pool, { players, withinTransaction })
      await playAll(async accounts => {
        for (const each of ['pam.accounts', 'bet_wallet.wallet_bets', 'bet_wallet.wallet_transactions'])
          await pool.query(`DELETE FROM ${each}`)
        for (const { playerId, currency, balance } of accounts)
          await pool.query("INSERT INTO pam.accounts VALUES (?, ?, ?, 'trial')", [
            playerId,
            currency,
            balance,
          ])
        return {
          store: connect(),
          connect,
          exclude: playerId =>
            pool.query("UPDATE pam.accounts SET state = 'excluded' WHERE id = ?", [playerId]),
        }
      })
    })
  },
)
