/** Players with two accounts on PostgreSQL and on MariaDB or MySQL: audit and random run pass, and the tables agree. */
import type { WalletStore } from 'bet-wallet'
import { auditWallet, simulateSportsbook } from 'bet-wallet/audit'
import { createMysqlStore, type MysqlPlayersTable, migrateMysql } from 'bet-wallet/mysql'
import { createPostgresStore, migratePostgres, type PlayersTable } from 'bet-wallet/postgres'
import { afterEach, describe, expect, it } from 'vitest'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { exactCollation, isMysql, noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { accountsOf } from '../wallets/accounts.js'
import { serveAccounts } from '../wallets/accounts-server.js'
import { credentials } from '../wallets/library.js'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const names = ['dora', 'emil', 'fay']
const known = names.flatMap(accountsOf)
const columns = { id: 'id', currency: 'currency', balance: 'balance', accountPerCurrency: true } as const

interface Opened {
  store: WalletStore
  /** Player, currency and balance of every account. */
  rows(): Promise<Record<string, unknown>[]>
}

const selected = (table: string) => `SELECT id, currency, balance FROM ${table} ORDER BY id, currency`

const databases: Record<string, () => Promise<Opened>> = {
  async PostgreSQL() {
    const { pool, drop } = await freshDatabase()
    closing.push(drop)
    const players = { table: 'pam.accounts', ...columns } satisfies PlayersTable
    const options = { schema: 'wallet', players }
    await pool.query(`CREATE SCHEMA pam; CREATE TABLE pam.accounts
      (id text, currency text NOT NULL, balance numeric(20,2) NOT NULL, UNIQUE (id, currency))`)
    for (const account of known)
      await pool.query('INSERT INTO pam.accounts VALUES ($1, $2, $3)', Object.values(account))
    await migratePostgres(pool, options)
    const store = createPostgresStore(pool, options)
    await store.ready()
    return { store, rows: async () => (await pool.query(selected('pam.accounts'))).rows }
  },
  async [isMysql ? 'MySQL' : 'MariaDB']() {
    const { pool, config, drop } = await freshMariadb()
    closing.push(drop)
    const players = {
      table: `${config.database}.accounts`,
      ...columns,
      idCollation: exactCollation,
    } satisfies MysqlPlayersTable
    const options = { schema: config.database, players }
    const code = `varchar(32) CHARACTER SET utf8mb4 COLLATE ${exactCollation}`
    await pool.query(`CREATE TABLE accounts (id ${code} NOT NULL, currency ${code} NOT NULL,
      balance decimal(20,2) NOT NULL, PRIMARY KEY (id, currency))`)
    await pool.query('INSERT INTO accounts VALUES ?', [known.map(account => Object.values(account))])
    await migrateMysql(pool, options)
    const store = createMysqlStore(pool, options)
    await store.ready()
    const rows = async () => (await pool.query(selected('accounts')))[0] as Record<string, unknown>[]
    return { store, rows }
  },
}

async function serve(database: string) {
  const { store, rows } = await (databases[database] as () => Promise<Opened>)()
  const { close, ...served } = await serveAccounts(store)
  closing.push(close)
  return { ...served, rows }
}

const accounts = ['EUR', 'JPY']
const asNumbers = (rows: Record<string, unknown>[]) =>
  rows.map(({ id, currency, balance }) => [id, currency, Number(balance)])

describe('players with two accounts', () => {
  if (noServer !== null) it.skip(`on ${isMysql ? 'MySQL' : 'MariaDB'} (skipped: ${noServer})`)
  const usable = Object.keys(databases).filter(name => name === 'PostgreSQL' || noServer === null)

  it.each(usable.flatMap(name => accounts.map(currency => ({ name, currency }))))(
    'the audit of $currency on $name',
    async ({ name, currency }) => {
      const { baseUrl, rows, errors } = await serve(name)
      const report = await auditWallet({
        ...{ baseUrl, credentials, playerId: 'dora', otherPlayerId: 'emil', currency, accounts },
        ...{
          settle: { url: '/settlement' },
          timeoutMs: 60_000,
          raceRounds: 2,
          pauseMs: 1,
          restart: () => {},
        },
      })
      expect(report.results.filter(({ verdict }) => verdict !== 'passed')).toEqual([])
      expect(report).toMatchObject({ passed: true, complete: true })
      expect(errors).toEqual([])
      expect(asNumbers(await rows())).toEqual(
        known.map(({ playerId, balance, ...account }) => [playerId, account.currency, Number(balance)]),
      )
    },
  )

  it.each(usable.flatMap(name => [1, 2, 3].map(seed => ({ name, seed }))))(
    'the random run on $name, seed $seed',
    async ({ name, seed }) => {
      const { baseUrl, rows, errors } = await serve(name)
      const options = { baseUrl, credentials, players: names, accounts, bets: 400, chaos: 0.4, seed }
      const report = await simulateSportsbook(options)
      expect(report.differences).toEqual([])
      expect(report.passed).toBe(true)
      expect(errors).toEqual([])
      expect(asNumbers(await rows())).toEqual(
        report.books.players.map(({ playerId, currency, expected }) => [
          playerId,
          currency,
          Number(expected),
        ]),
      )
    },
  )
})
