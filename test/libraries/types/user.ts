/** A program of an operator that uses every entry point. Compiled, never run: see run.ts. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  type Account,
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  partitionStore,
  recordSettlement,
  WalletError,
  type WalletOptions,
  type WalletOutcome,
  WalletRefusal,
  type WalletStore,
} from 'bet-wallet'
import {
  type AuditReport,
  auditWallet,
  renderHtml,
  type SimulationReport,
  simulateSportsbook,
} from 'bet-wallet/audit'
import { type Batches, createBatches } from 'bet-wallet/batches'
import { createRequestParser, decidePlaceBet } from 'bet-wallet/decide'
import {
  basicAuth,
  createFetchHandler,
  createHttpHandler,
  createNodeListener,
  type HttpRequest,
} from 'bet-wallet/http'
import { dailyTotals, explainBet, type WalletLookups } from 'bet-wallet/lookups'
import { createMemoryStore } from 'bet-wallet/memory'
import { createMysqlLookups, createMysqlStore, type MysqlStore, migrateMysql } from 'bet-wallet/mysql'
import {
  createPostgresLookups,
  createPostgresStore,
  importBets,
  migratePostgres,
  type PlayersTable,
  type PostgresStore,
  postgresMigrationSql,
  StoreError,
} from 'bet-wallet/postgres'
import { formatReconciliation, reconcile } from 'bet-wallet/reconcile'
import { checkWalletStore, type StoreHarness, walletStoreCases } from 'bet-wallet/testing'
import type { Pool as CallbackPool } from 'mysql2'
import type { Pool as PromisePool } from 'mysql2/promise'
import type { Client, Pool } from 'pg'

const options: WalletOptions = {
  deadlineMs: 3000,
  authorizeBet(request, player) {
    if (request.currency !== player.currency) throw new WalletRefusal('CURRENCY', 'another currency')
  },
  onOutcome: event => {
    const reason: string = event.reason
    void [reason, event.error?.code]
  },
}

// PostgreSQL, by pg.
const players: PlayersTable = {
  ...{ table: 'pam.accounts', id: 'account_no', currency: 'currency', balance: 'balance_cents' },
  ...{ balanceType: 'minor-units', minorUnits: 2 },
}
export async function postgres(pool: Pool, client: Client): Promise<PostgresStore> {
  await migratePostgres(client, { players })
  await importBets(pool, {}, [])
  const store = createPostgresStore(pool, {
    players,
    async withinTransaction(query, pending) {
      for (const { changes, refuse } of pending) {
        await query('SELECT $1', [changes.transaction.betId])
        if (changes.account.delta === '-1') refuse('LIMIT_REACHED', 'The limit of the day is reached')
      }
    },
  })
  await store.ready().catch(error => {
    if (error instanceof StoreError) console.error(error.code, postgresMigrationSql({ players }))
  })
  return store
}

// MySQL, by both kinds of pools of mysql2.
export async function mysql(pool: PromisePool, callbacks: CallbackPool): Promise<MysqlStore> {
  const table = {
    table: 'pam.accounts',
    id: 'id',
    idCollation: 'utf8mb4_general_ci',
    currency: 'c',
    balance: 'b',
  }
  await migrateMysql(pool, { players: table })
  const store = createMysqlStore([pool, callbacks], { players: table })
  await store.ping().catch(error => console.error((error as StoreError).code))
  return store
}

// HTTP: a Fetch request, and one of node:http.
export function http(store: WalletStore) {
  const handle = createHttpHandler(store, {
    ...options,
    authenticate: basicAuth({ username: 'platform', password: 'secret' }),
    routes: { '/settlement': body => recordSettlement(store, body, options) },
    onError: error => console.error(error instanceof WalletError ? error.call : error),
  })
  async function fetchHandler(request: Request): Promise<Response> {
    const headers: HttpRequest['headers'] = {}
    request.headers.forEach((value, name) => {
      headers[name] = value
    })
    const { pathname: path } = new URL(request.url)
    const answer = await handle({ method: request.method, path, headers, body: request.body })
    return new Response(answer.body, { status: answer.status, headers: answer.headers })
  }
  async function nodeListener(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request
    const answer = await handle({ method, path, headers, body: request })
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }
  const authenticate = basicAuth({ username: 'platform', password: 'secret' })
  const POST: (request: Request) => Promise<Response> = createFetchHandler(store, {
    ...options,
    authenticate,
  })
  const server = createServer(createNodeListener(store, { ...options, authenticate }))
  return { fetchHandler, nodeListener, POST, server }
}

// The core, and the pure rules.
export async function core(list: readonly Account[]): Promise<string> {
  const store = createMemoryStore(list)
  const split = partitionStore(playerId => (playerId === '' ? null : store))
  const outcomes: WalletOutcome[] = [
    await handlePlaceBet(split, {}, options),
    await handleUnsettlement(store, {}),
    await handleRollbackBet(store, {}),
  ]
  const read = createRequestParser().placebet({})
  if ('request' in read) {
    const decision = decidePlaceBet(read.request, { accounts: [], bet: null, transaction: null })
    return decision.outcome.ok ? decision.outcome.currency : decision.outcome.description
  }
  return outcomes.map(outcome => (outcome.ok ? outcome.balance : outcome.errorCode)).join() + read.issues
}

// A store of one's own, with batches.
export const own: WalletStore = {
  contractVersion: 2,
  load: async ({ playerId }) => ({
    ...{ accounts: [{ playerId, currency: 'EUR', balance: '1' }], bet: null, transaction: null },
  }),
  commit: async ({ account }) =>
    account.delta === '0'
      ? { status: 'committed', balance: '1', walletTransactionId: null }
      : { status: 'refused', errorCode: 'LIMIT_REACHED', description: 'The limit of the day is reached' },
}
export const batches: Batches<string, string> = createBatches({
  ...{ slotsMax: 1, batchMax: 1, queueMax: 1, queuedMsMax: 1, sheddable: () => false },
  onShed: entry => entry.resolve('shed'),
  perform: async entries => {
    for (const entry of entries) entry.resolve(entry.item)
  },
})

// The judges.
export async function judged(pool: Pool, mysqlPool: PromisePool): Promise<boolean> {
  const harness: StoreHarness = { open: list => ({ store: createMemoryStore(list) }) }
  for (const { id, run } of walletStoreCases(harness)) void [id, run]
  const { passed, complete } = await checkWalletStore(harness, { runs: 10, print: null })
  const audit: AuditReport = await auditWallet({
    baseUrl: 'http://127.0.0.1/',
    playerId: 'p1',
    currency: 'EUR',
  })
  const season: SimulationReport = await simulateSportsbook({ baseUrl: audit.target, players: ['p1'] })
  const lookups: WalletLookups = createPostgresLookups(pool)
  const history = (await lookups.bet('b-1')) ?? (await createMysqlLookups(mysqlPool).bet('b-1'))
  if (history !== null) console.log(explainBet(history).verdict, renderHtml(audit))
  const result = await reconcile({ report: 'platform.csv', lookups, from: '2026-11-21', to: '2026-11-22' })
  console.log(formatReconciliation(result))
  createHttpHandler(own, { authenticate: () => true, routes: { '/daily-totals': dailyTotals(lookups) } })
  return passed && complete && season.passed
}

// Mistakes that the types must find.
export function mistakes(): void {
  // @ts-expect-error authenticate is required
  createHttpHandler(own, {})
  // @ts-expect-error amounts are text
  createMemoryStore([{ playerId: 'p1', currency: 'EUR', balance: 1 }])
  // @ts-expect-error the player is required
  void auditWallet({ baseUrl: 'http://127.0.0.1/', currency: 'EUR' })
  // @ts-expect-error a URL is no client
  createPostgresStore('postgres://127.0.0.1/casino')
}
