/** A database for a test file, on the PostgreSQL server that all test files of a run share. */
import { inject } from 'vitest'
import { addressOfShared } from '../shared-server.js'
import type { ServerAddress } from './global-setup.js'
import { createDatabase, type Database, type DatabaseOptions } from './server.js'

/** The server of this run. Do not kill it or change its settings: other tests use it at the same time. */
export const sharedPostgres = (): Promise<ServerAddress> => addressOfShared(inject('postgres'))

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
