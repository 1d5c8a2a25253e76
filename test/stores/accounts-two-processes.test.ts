/**
 * Two processes at one bet (D11, D28): a late placebet names the account in EUR, and the rollback of the bet, which is
 * unknown to it, the home account in JPY. They lock different rows, and meet at the unique index of the bets.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { WalletOutcome } from '../../src/index.js'
import { migrateMysql } from '../../src/stores/mysql/index.js'
import { migratePostgres } from '../../src/stores/postgres/index.js'
import { placeBet, rollbackBet } from '../fixtures.js'
import { freshMariadb } from '../mariadb/fresh-database.js'
import { exactCollation, isMysql, noServer, processList } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { exitOf, signalTo } from '../processes.js'
import { until } from '../until.js'
import type { ProcessSettings } from './account-process.js'

interface Pam extends Pick<ProcessSettings, 'database' | 'options'> {
  rows(text: string): Promise<unknown[][]>
  /** Whether a process waits for a row of the bets that the other one has not committed. */
  isWaiting: string
  transactions: string
}

const columns = { id: 'id', currency: 'currency', balance: 'balance', accountPerCurrency: true }
const accounts = "INSERT INTO accounts VALUES ('alice', 'EUR', 100), ('alice', 'JPY', 5000)"

async function onPostgres(): Promise<Pam> {
  const { pool, url, drop } = await freshDatabase()
  onTestFinished(drop)
  await pool.query(
    `CREATE TABLE accounts (id text, currency text, balance numeric(20,2) NOT NULL, PRIMARY KEY (id, currency)); ${accounts}`,
  )
  const options = { schema: 'wallet', players: { table: 'public.accounts', ...columns } }
  await migratePostgres(pool, options)
  return {
    ...{ database: { url }, options, transactions: 'wallet.transactions' },
    rows: async text => (await pool.query<unknown[]>({ text, rowMode: 'array' })).rows,
    isWaiting: `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  }
}

async function onMysql(): Promise<Pam> {
  const { pool, config, drop } = await freshMariadb()
  onTestFinished(drop)
  const code = `varchar(32) CHARACTER SET utf8mb4 COLLATE ${exactCollation}`
  await pool.query(
    `CREATE TABLE accounts (id ${code}, currency ${code}, balance decimal(20,2) NOT NULL, PRIMARY KEY (id, currency))`,
  )
  await pool.query(accounts)
  const { database, user, password, host, port } = config
  const players = { table: `${database}.accounts`, idCollation: exactCollation, ...columns }
  const options = { schema: String(database), players }
  await migrateMysql(pool, options)
  return {
    database: { config: { database, user, password, host, port } as never },
    ...{ options, transactions: 'wallet_transactions' },
    rows: async text => (await pool.query({ sql: text, rowsAsArray: true }))[0] as unknown as unknown[][],
    // It runs, and cannot pass. InnoDB's list of lock waits is a cache.
    isWaiting: `SELECT 1 FROM ${processList} WHERE DB = '${database}' AND INFO LIKE '%INSERT%wallet_bets%' AND ID <> CONNECTION_ID()`,
  }
}

function start(settings: ProcessSettings): ChildProcess {
  const child = fork(
    fileURLToPath(new URL('account-process.ts', import.meta.url)),
    [JSON.stringify(settings)],
    {
      execArgv: ['--import', 'tsx'],
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    },
  )
  onTestFinished(async () => {
    signalTo(child.pid as number, 'SIGKILL')
    await exitOf(child)
  })
  return child
}

/** The next message of a process, which must not end before. */
const messageOf = async (child: ChildProcess): Promise<unknown> =>
  await Promise.race([
    once(child, 'message').then(([message]) => message),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`A process has ended: ${code}`))),
  ])

const ids = { playerId: 'alice', betId: 'b-1' }
const bodies = {
  placebet: placeBet({ ...ids, transactionId: 'p-1', currency: 'EUR', amount: '30' }),
  rollbackbet: rollbackBet({ ...ids, transactionId: 'r-1' }),
}
const stakeIsBack = { ok: true, replayed: false, currency: 'EUR', balance: 100 }

const engine = isMysql ? 'MySQL' : 'MariaDB'
const databases = [
  { on: 'PostgreSQL', skipped: null, open: onPostgres },
  { on: `${engine}${noServer === null ? '' : ` (skipped: ${noServer})`}`, skipped: noServer, open: onMysql },
]

describe.each(databases)(
  'two processes at one bet of a player with two accounts on $on',
  ({ skipped, open }) => {
    test.skipIf(skipped !== null).each([
      {
        ...{ first: 'rollbackbet', second: 'placebet' },
        ended: [
          { ok: true, replayed: false, currency: 'JPY', balance: 5000 },
          { ok: false, replayed: false, errorCode: 'INVALID_BET' },
        ],
        recorded: [
          ['placebet', 'EUR', 0],
          ['rollbackbet', 'JPY', 0],
        ],
      },
      {
        ...{ first: 'placebet', second: 'rollbackbet' },
        ended: [{ ...stakeIsBack, balance: 70 }, stakeIsBack],
        recorded: [
          ['placebet', 'EUR', -30],
          ['rollbackbet', 'EUR', 30],
        ],
      },
    ] as const)('the $second waits for the $first, and is decided again', async each => {
      const { rows, isWaiting, transactions, ...database } = await open()
      const [first, second] = [each.first, each.second].map((operation, index) => ({
        settings: {
          ...database,
          operation,
          body: bodies[operation as keyof typeof bodies],
          holds: index === 0,
        },
      })) as [{ settings: ProcessSettings }, { settings: ProcessSettings }]
      const one = start(first.settings)
      expect(await messageOf(one)).toBe('held')
      const other = start(second.settings)
      const outcomes = [messageOf(one), messageOf(other)] as Promise<WalletOutcome>[]
      // Not asked a second time: a wait may end by its limit, and begin again.
      const waits = until(async () => (await rows(isWaiting)).length > 0).then(() => 'waits')
      expect(await Promise.race([waits, ...outcomes])).toBe('waits')
      one.send('go on')
      const ended = (await Promise.all(outcomes)).map(outcome =>
        outcome.ok ? { ...outcome, balance: Number(outcome.balance) } : outcome,
      )
      expect(ended).toMatchObject(each.ended)
      const balances = await rows('SELECT currency, balance FROM accounts ORDER BY currency')
      expect(balances.map(([currency, balance]) => [currency, Number(balance)])).toEqual([
        ['EUR', 100],
        ['JPY', 5000],
      ])
      const recorded = await rows(
        `SELECT operation, account_currency, delta FROM ${transactions} ORDER BY operation`,
      )
      expect(recorded.map(([operation, currency, delta]) => [operation, currency, Number(delta)])).toEqual(
        each.recorded,
      )
    })
  },
)
