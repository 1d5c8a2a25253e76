/** A database for a test file, on the MariaDB server that all test files of a run share. */
import { inject } from 'vitest'
import { addressOfShared } from '../shared-server.js'
import { createMariadbDatabase, type MariadbDatabase, type MariadbDatabaseOptions } from './database.js'
import type { MariadbAddress } from './global-setup.js'

/** The server of this run. Do not kill it or change its settings: other tests use it at the same time. */
export const sharedMariadb = (): Promise<MariadbAddress> => addressOfShared(inject('mariadb'))

/**
 * Creates an empty database. Call `drop` in `afterAll`. Where MariaDB is missing, skip with the reason:
 *
 * ```ts
 * describe.skipIf(noMariadb !== null)(`the store${noMariadb === null ? '' : ` (skipped: ${noMariadb})`}`, () => {
 *   const { config, pool, drop } = await freshMariadb()
 * ```
 */
export async function freshMariadb(options?: MariadbDatabaseOptions): Promise<MariadbDatabase> {
  return createMariadbDatabase((await sharedMariadb()).config, options)
}
