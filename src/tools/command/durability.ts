/** The durability of the operator's database, as a store of the wallet reads it. */
import { createMysqlStore } from '../../stores/mysql/index.js'
import { createPostgresStore, type PostgresClient } from '../../stores/postgres/index.js'
import type { Durability } from '../drill/report.js'
import { openDatabase } from './database.js'
import { engineOf, withoutPassword } from './database-url.js'
import { wordsOf } from './output.js'

/** For each node: one that a fault has frozen is left for the next one. */
const timeoutMs = 5_000

/**
 * Opens pools, and changes nothing.
 *
 * @param urls of a server, or of the nodes of a cluster
 * @returns `null` without a URL
 * @throws {UsageError} for a URL that is not supported
 * @throws {DatabaseError} without the driver
 */
export function openDurability(urls: readonly string[]) {
  if (urls.length === 0) return null
  for (const url of urls) engineOf(url)
  const databases = urls.map(url => openDatabase(url))
  const mysql = databases.flatMap(database => (database.engine === 'mysql' ? [database.pool] : []))
  const postgres = databases.flatMap(database => (database.engine === 'postgres' ? [database.pool] : []))
  const stores = [
    ...(mysql.length === 0 ? [] : [createMysqlStore(mysql, { timeoutMs: timeoutMs * mysql.length })]),
    ...postgres.map(pool => createPostgresStore(pool as PostgresClient, { timeoutMs })),
  ]
  return {
    /** Of the first server that can be written to. Never rejects. */
    async read(): Promise<Durability> {
      let reason = ''
      for (const store of stores) {
        try {
          return await store.ping()
        } catch (error) {
          reason = urls.reduce((text, url) => withoutPassword(text, url), wordsOf(error))
        }
      }
      return { level: null, reason }
    },
    async close(): Promise<void> {
      await Promise.all(databases.map(database => database.close()))
    },
  }
}
