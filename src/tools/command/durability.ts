/** The durability of the operator's database, as the stores of the wallet read it. */
/** The durability of the operator's database, as a store of the wallet reads it. */
import { connectionsFrom as mysqlConnections } from '../../stores/mysql/client.js'
import { readDurability } from '../../stores/mysql/durability.js'
import { checkWritable } from '../../stores/mysql/servers.js'
import { ping } from '../../stores/postgres/check-client.js'
import { connectionsFrom as postgresConnections } from '../../stores/postgres/client.js'
import type { Durability } from '../drill/report.js'
import { openDatabase, type PostgresPool } from './database.js'
import { engineOf, withoutPassword } from './database-url.js'
import { wordsOf } from './output.js'

/** A node that a fault has frozen is left for the next one. */
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
  const readers = [
    ...(mysql.length === 0 ? [] : [mysqlReader(mysql)]),
    ...databases.flatMap(database => (database.engine === 'postgres' ? [postgresReader(database.pool)] : [])),
  ]
  return {
    /** Of the first server that can be written to. Never rejects. */
    async read(): Promise<Durability> {
      let reason = ''
      for (const read of readers) {
        try {
          return await read()
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

function postgresReader(pool: PostgresPool): () => Promise<Durability> {
  const client = pool as Parameters<typeof postgresConnections>[0]
  const connections = postgresConnections(client, { timeoutMs, transactions: false, durable: false })
  return () => ping(connections)
}

function mysqlReader(pools: Parameters<typeof mysqlConnections>[0][]): () => Promise<Durability> {
  // Each node has its share of the time.
  const limits = { timeoutMs: timeoutMs * pools.length, lockTimeoutMs: timeoutMs }
  const connections = mysqlConnections(pools as Parameters<typeof mysqlConnections>[0], limits)
  return () =>
    connections.onAny(async database => {
      // A node that was cut off answers too, of itself alone.
      await checkWritable(database)
      return await readDurability(database)
    })
}
