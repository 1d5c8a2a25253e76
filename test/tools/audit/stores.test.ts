/** The routes of the examples on the stores over databases pass the audit, and a sportsbook on it reconciles with its tables. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import { recordSettlement, type WalletStore } from 'bet-wallet'
import {
  type AuditOptions,
  auditCases,
  auditWallet,
  type ClosedBet,
  type SimulationReport,
  simulateSportsbook,
} from 'bet-wallet/audit'
import { basicAuth } from 'bet-wallet/http'
import { createMysqlStore, migrateMysql } from 'bet-wallet/mysql'
import { createPostgresStore, migratePostgres, type PostgresClient } from 'bet-wallet/postgres'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { basePath, credentials } from '../../examples/exchanges.js'
import { watchCalls } from '../../examples/running.js'
import { setups } from '../../examples/servers.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { isOfAccounts } from '../wallets/accounts.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const players = [
  { playerId: 'anna', currency: 'EUR', balance: '100.00' },
  { playerId: 'bob', currency: 'EUR', balance: '250.50' },
  { playerId: 'kenji', currency: 'JPY', balance: '5000' },
  { playerId: 'layla', currency: 'KWD', balance: '90.125' },
]

type Rows = Record<string, unknown>[]

interface Opened {
  store: WalletStore
  /** Of the database: `wallet.` stands for the schema. */
  query(text: string, values?: unknown[]): Promise<Rows>
  /** The players and their balances, as decimal text with the decimals of the currency. */
  balances: string
}

// One for the whole file, since its start takes longer than the tests.
let pglite: Promise<PGlite> | null = null
afterAll(async () => (await pglite)?.close())
let schemas = 0

const databases: Record<string, () => Promise<Opened>> = {
  async PGlite() {
    pglite ??= PGlite.create()
    schemas += 1
    return await openPostgres(await pglite, `audit_${schemas}`)
  },
  async PostgreSQL() {
    const { pool, drop } = await freshDatabase()
    closing.push(drop)
    return await openPostgres(pool, 'bet_wallet')
  },
  async MariaDB() {
    const { pool, config, drop } = await freshMariadb()
    closing.push(drop)
    const schema = { schema: config.database }
    await migrateMysql(pool, schema)
    const rows = players.map(player => Object.values(player))
    await pool.query('INSERT INTO wallet_players (player_id, currency, balance) VALUES ?', [rows])
    const store = createMysqlStore(pool, schema)
    await store.ready()
    return {
      store,
      query: async (text, values) => (await pool.query(text, values))[0] as Rows,
      // The column has 18 decimals.
      balances: `SELECT player_id, TRIM(TRAILING '.' FROM CASE currency
          WHEN 'JPY' THEN TRUNCATE(balance, 0)
          WHEN 'KWD' THEN TRIM(TRAILING '0' FROM balance)
          ELSE LEFT(balance, CHAR_LENGTH(balance) - 16)
        END) AS balance FROM wallet_players ORDER BY player_id`,
    }
  },
}

async function openPostgres(client: PostgresClient, schema: string): Promise<Opened> {
  await migratePostgres(client, { schema })
  for (const player of players)
    await client.query(`INSERT INTO ${schema}.players VALUES ($1, $2, $3)`, Object.values(player))
  const store = createPostgresStore(client, { schema })
  await store.ready()
  return {
    store,
    query: async (text, values = []) =>
      (await client.query(text.replaceAll('wallet.', `${schema}.`), values)).rows as Rows,
    balances: 'SELECT player_id, balance::text FROM wallet.players ORDER BY player_id',
  }
}

/** Serves the routes of an example over a database with the players in it. */
async function serve(name: string, database: string) {
  const setup = setups.find(candidate => candidate.name === name)
  const opened = await databases[database]?.()
  if (setup === undefined || opened === undefined) throw new Error(`there is no ${name} on ${database}`)
  const { store, query, balances } = opened
  const errors: unknown[] = []
  const listener = await setup.serve(store, {
    authenticate: basicAuth(credentials),
    basePath: setup.mounted ? '' : basePath,
    routes: { '/settlement': body => recordSettlement(store, body) },
    onError: error => errors.push(error),
  })
  // The call of a caller that has disconnected must end before the database is dropped.
  const ended = watchCalls()
  const server = typeof listener === 'function' ? createServer(listener) : listener
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    await ended()
  })
  const { port } = server.address() as AddressInfo
  return { baseUrl: `http://127.0.0.1:${port}${basePath}`, query, balances, errors }
}

describe('the examples pass the audit without a single warning, nothing skipped', () => {
  // PGlite is a single connection in this process: real races need PostgreSQL, and fewer rounds are enough here.
  const ways: [string, string, Partial<AuditOptions>][] = [
    ['Express 5', 'PostgreSQL', {}],
    ['Express 5', 'PGlite', { raceRounds: 1, concurrency: 4 }],
    ...(noServer === null ? [['Express 5', 'MariaDB', { raceRounds: 2 }] as [string, string, object]] : []),
  ]

  if (noServer !== null) it.skip(`Express 5 on MariaDB (skipped: ${noServer})`)

  it.each(ways)('%s on %s', async (name, database, options) => {
    const { baseUrl, query, balances, errors } = await serve(name, database)
    const report = await auditWallet({
      baseUrl,
      credentials,
      playerId: 'anna',
      otherPlayerId: 'bob',
      currency: 'EUR',
      settle: { url: '/settlement' },
      timeoutMs: 60_000,
      pauseMs: 1,
      restart: () => {},
      ...options,
    })
    expect(report.results.filter(({ verdict }) => verdict !== 'passed')).toEqual([])
    expect(report).toMatchObject({ passed: true, complete: true })
    expect(report.results.map(({ id }) => id)).toEqual(
      auditCases.map(({ id }) => id).filter(id => !isOfAccounts(id)),
    )
    expect(errors).toEqual([])
    // All stakes were returned, and the credits that settlements left were staked: by the answers and in the tables.
    expect(await query(balances)).toEqual(
      players.map(({ playerId, balance }) => ({ player_id: playerId, balance })),
    )
    expect(report.funds).toEqual({ before: '100.00', after: '100.00' })
  })
})

describe('a sportsbook with chaos on PostgreSQL', () => {
  async function play(options: { seed: number; concurrency: number }) {
    const { baseUrl, query, errors } = await serve('Express 5', 'PostgreSQL')
    const bets: ClosedBet[] = []
    const report = await simulateSportsbook({
      baseUrl,
      credentials,
      players,
      bets: 500,
      chaos: 0.3,
      onBetClosed: bet => bets.push(bet),
      ...options,
    })
    return { report, bets, query, errors }
  }

  /** The books as JSON for a join. */
  const booksOf = ({ books }: SimulationReport) =>
    JSON.stringify(
      books.players.map(({ playerId, opening, expected, accepted, refused }) => ({
        ...{ player_id: playerId, opening, expected },
        ...{ settlements: accepted.settlement, unsettlements: accepted.unsettlement },
        closed: refused.unsettlement,
      })),
    )

  it.each([
    { concurrency: 16 },
    // With one call at a time, the run does not depend on timing.
    { concurrency: 1 },
  ])(
    'reconciles, and its books are those of the tables, to the cent: $concurrency at a time',
    async ({ concurrency }) => {
      const { report, bets, query, errors } = await play({ seed: 5, concurrency })
      expect(report.differences).toEqual([])
      expect(report).toMatchObject({ passed: true, complete: true })
      expect(errors).toEqual([])
      if (concurrency === 1) {
        for (const name of [
          'replaysAbsorbed',
          'betsRolledBack',
          'clawbacksRefused',
          'unsettlements',
        ] as const)
          expect([name, report.counts[name] > 0]).toEqual([name, true])
      }

      // Balances, sums of all transactions, and numbers of transactions.
      const players = await query(
        `SELECT player_id, p.balance = b.expected AS balance,
          p.balance = b.opening + (SELECT sum(delta) FROM wallet.transactions t WHERE t.player_id = p.player_id) AS moved,
          t.settlements = b.settlements AS settlements, t.unsettlements = b.unsettlements AS unsettlements,
          t.closed = b.closed AS closed
        FROM wallet.players p
        JOIN json_to_recordset($1) AS b(player_id text, opening numeric, expected numeric,
          settlements int, unsettlements int, closed int) USING (player_id)
        JOIN (SELECT player_id,
            count(*) FILTER (WHERE operation = 'settlement' AND error_code IS NULL) AS settlements,
            count(*) FILTER (WHERE operation = 'unsettlement' AND error_code IS NULL) AS unsettlements,
            count(*) FILTER (WHERE operation = 'unsettlement' AND error_code IS NOT NULL) AS closed
          FROM wallet.transactions GROUP BY player_id) t USING (player_id)
        ORDER BY player_id`,
        [booksOf(report)],
      )
      const same = {
        balance: true,
        moved: true,
        settlements: true,
        unsettlements: true,
        closed: true,
      }
      expect(players).toMatchObject(
        report.books.players.map(({ playerId }) => ({ player_id: playerId, ...same })),
      )

      // Every bet: its state, stake and live credit.
      expect(bets).toHaveLength(report.counts.bets)
      const mismatches = await query(
        `SELECT b.*, w.status, w.stake AS wallet_stake FROM json_to_recordset($1)
          AS b("betId" text, state text, stake numeric, live json)
        LEFT JOIN wallet.bets w ON w.bet_id = b."betId"
        WHERE w.status IS DISTINCT FROM nullif(b.state, 'REFUSED')
          OR b.state = 'PLACED' AND w.stake <> b.stake
          OR w.bet_paid_live IS DISTINCT FROM (b.live->>'BET_PAID')::numeric
          OR w.voided_live IS DISTINCT FROM (b.live->>'VOIDED')::numeric
          OR w.cashout_live IS DISTINCT FROM (b.live->>'CASHOUT')::numeric`,
        [JSON.stringify(bets)],
      )
      expect(mismatches).toEqual([])
    },
  )
})
