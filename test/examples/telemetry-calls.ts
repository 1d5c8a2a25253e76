/** Calls of every kind on a wallet over PostgreSQL: what the examples of metrics and traces must show. */
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createHttpHandler } from 'bet-wallet/http'
import { createPostgresRelay, createPostgresStore, migratePostgres } from 'bet-wallet/postgres'
import type { Pool } from 'pg'
import { until } from '../until.js'

const transactionDate = '2026-11-21T18:00:00Z'
/** No metric may have one of these in an attribute. */
export const ids = ['anna-player', 'bet-', 'transaction-', 'session-']

export async function openWallet(pool: Pool) {
  await migratePostgres(pool, { outbox: true })
  await pool.query(`INSERT INTO bet_wallet.players VALUES ('anna-player', 'EUR', 100)`)
  const store = createPostgresStore(pool, { outbox: true, timeoutMs: 120_000, lockTimeoutMs: 60_000 })
  await store.ready()
  const options = {
    authenticate: basicAuth({ username: 'platform', password: 'secret' }),
    basePath: '/wallet',
  }
  const handle = createHttpHandler(store, {
    ...options,
    routes: { '/settlement': body => recordSettlement(store, body) },
    onError() {},
  })
  const broken = createHttpHandler(
    { ...store, commit: () => Promise.reject(Object.assign(new Error('lost'), { code: 'ECONNRESET' })) },
    { ...options, onError() {} },
  )
  const authorization = `Basic ${btoa('platform:secret')}`
  const headers = { 'content-type': 'application/json', authorization }
  const call = async (
    path: string,
    body: object | string,
    changes: Record<string, string> & { method?: string } = {},
    handler = handle,
  ) => {
    const { method = 'POST', ...changed } = changes
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const request = { method, path: `/wallet${path}`, headers: { ...headers, ...changed }, body: text }
    return (await handler(request)).status
  }

  const common = (n: number) => ({
    transactionId: `transaction-${n}`,
    betId: 'bet-1',
    playerId: 'anna-player',
    transactionDate,
  })
  const bet = (n: number, amount: string) => ({
    ...common(n),
    ...{ betId: `bet-${n}`, sessionId: 'session-1', amount, currency: 'EUR', betType: 'SINGLE' },
  })

  /** A placebet that waits until another writer releases the player's row. */
  async function placeWhileLocked(n: number): Promise<number> {
    const other = await pool.connect()
    try {
      await other.query('BEGIN')
      await other.query(`SELECT FROM bet_wallet.players WHERE player_id = 'anna-player' FOR UPDATE`)
      const placed = call('/placebet', bet(n, '1'))
      await until(() => store.stats.lockWaits.queued + store.stats.lockWaits.inFlight > 0)
      await other.query('ROLLBACK')
      return await placed
    } finally {
      other.release()
    }
  }

  return {
    store,
    /** It delivers nothing: it was not started. */
    relay: createPostgresRelay(pool, { async deliver() {} }),
    /** The status codes of the answers. */
    async callAll(): Promise<number[]> {
      return [
        await call('/placebet', bet(1, '30')), // 200
        await call('/placebet', bet(1, '30')), // 200, a replay
        await call('/placebet', bet(2, '1000')), // 402
        await call('/settlement', { ...common(3), type: 'BET_PAID', amount: '900', currency: 'EUR' }), // 200
        await call('/placebet', bet(4, '900')), // 200
        await call('/unsettlement', { ...common(5), type: 'UNSCORED' }), // 402: uncollected
        await call('/rollbackbet', { ...common(6), betId: 'bet-6', type: 'TECHNICAL_ERROR' }), // 200: a tombstone
        await call('/placebet', '{"betId":"bet-7"'), // 400
        await call('/placebet', bet(8, '1'), { authorization: 'Basic bet-8' }), // 401
        await call('/bet-9', bet(9, '1')), // 404
        await call('/placebet', bet(10, '1'), { method: 'bet-10' }), // 405
        await call('/placebet', bet(11, '1'), { 'content-type': 'text/bet-11' }), // 415
        await call('/placebet', bet(12, '1'), {}, broken), // 500: COMMIT_UNKNOWN
        await placeWhileLocked(13), // 200
      ]
    },
    statuses: [200, 200, 402, 200, 200, 402, 200, 400, 401, 404, 405, 415, 500, 200],
  }
}
