/** A database for a test file, on the PostgreSQL server that all test files of a run share. */
import { inject } from 'vitest'
import type { ServerAddress } from './global-setup.js'
import { createDatabase, type Database, type DatabaseOptions } from './server.js'

/** The server of this run. Do not kill it or change its settings: other tests use it at the same time. */
export async function sharedPostgres(): Promise<ServerAddress> {
  const response = await fetch(inject('postgres'), { headers: { connection: 'close' } })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text) as ServerAddress
}

/**
 * Creates an empty database. Call `drop` in `afterAll`.
 *
 * ```ts
 * const { pool, drop } = await freshDatabase()
 * afterAll(drop)
 * ```
 */
export async function freshDatabase(options?: DatabaseOptions): Promise<Database> {
  return createDatabase(await sharedPostgres(), options)
}
