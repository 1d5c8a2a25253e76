/**
 * A process of a wallet with an account for each currency: makes one call, and sends its outcome. With `holds`, it
 * stops inside its database transaction, when all rows are written, until it gets a message.
 */
import { once } from 'node:events'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { handlePlaceBet, handleRollbackBet } from '../../src/index.js'
import type { WithinTransaction } from '../../src/stores/database/within-transaction.js'
import { createMysqlStore } from '../../src/stores/mysql/index.js'
import { createPostgresStore } from '../../src/stores/postgres/index.js'

export interface ProcessSettings {
  database: { url: string } | { config: mysql.PoolOptions }
  options: { schema: string; players: { table: string; id: string; currency: string; balance: string } }
  operation: 'placebet' | 'rollbackbet'
  body: unknown
  holds: boolean
}

const settings: ProcessSettings = JSON.parse(process.argv[2] as string)
let isHeld = !settings.holds
const withinTransaction: WithinTransaction = async query => {
  await query('SELECT 1')
  if (isHeld) return
  isHeld = true
  process.send?.('held')
  await once(process, 'message')
}
const options = { ...settings.options, timeoutMs: 120_000, lockTimeoutMs: 120_000, withinTransaction }
const { database } = settings
const pool =
  'url' in database ? new pg.Pool({ connectionString: database.url }) : mysql.createPool(database.config)
const store =
  pool instanceof pg.Pool
    ? createPostgresStore(pool, options)
    : createMysqlStore(pool, options as Parameters<typeof createMysqlStore>[1])
const handle = settings.operation === 'placebet' ? handlePlaceBet : handleRollbackBet
const outcome = await handle(store, settings.body, { defaultCurrency: 'JPY' })
await pool.end()
process.send?.(outcome, () => process.disconnect())
