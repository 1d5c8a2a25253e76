/** A wallet that places and ends bets, or a relay, until it is killed. Its settings are a JSON argument. */
import { randomInt, randomUUID } from 'node:crypto'
import { handlePlaceBet, handleRollbackBet, handleUnsettlement, recordSettlement } from 'bet-wallet'
import { createMysqlRelay, createMysqlStore } from 'bet-wallet/mysql'
import { createPostgresRelay, createPostgresStore } from 'bet-wallet/postgres'
import { createPool, type PoolOptions } from 'mysql2/promise'
import pg from 'pg'
import { webhookSender } from '../../../examples/webhooks/sender.js'
import { poisons } from '../../outbox/poisons.js'
import { inFlightMax, transactionDate, withoutEvents } from './settings.js'

export interface ChildSettings {
  role: 'wallet' | 'relay'
  engine: 'postgres' | 'mysql'
  /** Options of a pool for each server, the preferred one first. */
  servers: readonly (pg.PoolConfig | PoolOptions)[]
  /** The library's schema. */
  schema: string
  /** Of the consumer. */
  url: string
  secret: string
  playersCount: number
  /** Of a wallet: whether it writes events. */
  outbox: boolean
  /** Of a relay. */
  timeoutMs: number
}

const settings = JSON.parse(process.argv[2] ?? '') as ChildSettings
const { engine, servers, schema, url, secret, playersCount, outbox, timeoutMs } = settings

const postgresPool = (max: number) => new pg.Pool({ ...(servers[0] as pg.PoolConfig), max })
const mysqlPools = (connectionLimit: number) =>
  servers.map(server => createPool({ ...(server as PoolOptions), connectionLimit }))

function storeOf() {
  const options = { schema, outbox, allowNotDurable: true }
  return engine === 'postgres'
    ? createPostgresStore(postgresPool(8), options)
    : createMysqlStore(mysqlPools(8), options)
}

/** Accepted and refused bets, settlements, corrections, rollbacks. Faults are of kills: another bet is placed. */
async function wallet(): Promise<void> {
  const store = storeOf()
  await store.ready()
  process.send?.('ready')
  const request = (betId: string, playerId: string) => ({
    ...{ transactionId: randomUUID(), betId, playerId, currency: 'EUR' },
    transactionDate,
  })
  async function caller(): Promise<void> {
    for (;;) {
      const [betId, playerId] = [
        `${outbox ? '' : withoutEvents}${randomUUID()}`,
        String(randomInt(playersCount)),
      ]
      const body = () => request(betId, playerId)
      const { currency: _, ...plain } = body()
      try {
        const amount = randomInt(20) === 0 ? '1000000' : '2.50'
        await handlePlaceBet(store, { ...body(), amount, sessionId: 's', odds: '1.85', betType: 'SINGLE' })
        if (randomInt(2) === 0) await recordSettlement(store, { ...body(), amount: '4', type: 'BET_PAID' })
        if (randomInt(4) === 0) await handleUnsettlement(store, { ...plain, type: 'UNSCORED' })
        if (randomInt(4) === 0)
          await handleRollbackBet(store, { ...plain, transactionId: randomUUID(), type: 'TECHNICAL_ERROR' })
      } catch {}
    }
  }
  await Promise.all(Array.from({ length: 4 }, caller))
}

async function relay(): Promise<void> {
  const send = webhookSender({ url, secret })
  const poisonous = Object.values(poisons)
  const options = {
    ...{ schema, inFlightMax, timeoutMs, pollMs: 20 },
    async deliver(...delivery: Parameters<typeof send>): Promise<unknown> {
      if (randomInt(20) === 0) throw poisonous[randomInt(poisonous.length)]?.()
      return await send(...delivery)
    },
  }
  const started =
    engine === 'postgres'
      ? createPostgresRelay(postgresPool(1), options)
      : createMysqlRelay(mysqlPools(1), options)
  await started.start()
  process.send?.('ready')
}

process.on('disconnect', () => process.exit())
// Without its database it cannot start: one line says so.
await (settings.role === 'wallet' ? wallet() : relay()).catch((error: Error) => {
  console.error(`The ${settings.role} has ended: ${error.message}`)
  process.exit(1)
})
