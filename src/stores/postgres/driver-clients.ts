/**
 * Clients over drivers and query builders that have no `Pool` of pg to pass. None of them is imported: each
 * function takes what its library has made.
 */
import { notify } from '../../hooks.js'
import type { Query } from '../database/within-transaction.js'
import type { PostgresClient } from './client.js'
import type { Notice } from './connection-events.js'
import { storeError } from './errors.js'

/** What `postgres(…)` of postgres.js returns, and what it passes to the callback of `begin`. */
export interface PostgresJsSql {
  // biome-ignore-start lint/suspicious/noExplicitAny: the types of parameters are those of the driver.
  unsafe(text: string, values?: any[]): PromiseLike<Iterable<unknown>>
  begin(work: (sql: any) => Promise<unknown>): Promise<unknown>
  // biome-ignore-end lint/suspicious/noExplicitAny: see above.
}

/**
 * A client over postgres.js. A statement that hangs is answered after `timeoutMs`, but its connection is not
 * closed.
 *
 * @param sql what `postgres(…)` returns; of Drizzle over postgres.js: `db.$client`
 * @param notices emits the server's notices as `notice`: an EventEmitter to which the option `onnotice` of
 *   postgres.js passes them. Without it, a commit whose wait for the synchronous standby was cancelled looks
 *   like any other
 */
export function fromPostgresJs(
  sql: PostgresJsSql,
  notices?: { on(event: 'notice', listener: (notice: Notice) => void): unknown },
): PostgresClient {
  const queryOf =
    (connection: PostgresJsSql): Query =>
    async (text, values = []) => ({ rows: [...(await connection.unsafe(text, values.map(nullFor)))] })
  return {
    query: queryOf(sql),
    transaction: work =>
      sql.begin((connection: PostgresJsSql) =>
        work({
          query: queryOf(connection),
          simpleQuery: async statements => await connection.unsafe(statements),
        }),
      ),
    ...(notices && { onNotice: listener => notices.on('notice', listener) }),
  }
}

/**
 * A client over the pool of Knex: connections that hang are closed, as with a `Pool` of pg.
 *
 * @param knex what `knex({ client: 'pg', … })` returns
 * @throws {StoreError} `UNSUPPORTED_CLIENT`: it is of another dialect
 */
export function fromKnex(knex: { readonly client: unknown }): PostgresClient {
  const { client } = knex as { client: Partial<KnexClient> | null }
  if (client?.driverName !== 'pg' || !isKnexClient(client)) {
    throw storeError('UNSUPPORTED_CLIENT', "fromKnex needs what knex({ client: 'pg', … }) returns")
  }
  const connect = async (): Promise<KnexConnection> => {
    const connection = await client.acquireConnection()
    connection.release = error => {
      if (error) {
        // Knex closes such a connection instead of lending it again, but only then. It logs the text.
        connection.__knex__disposed = 'closed by the wallet store'
        connection.end().catch(() => {})
      }
      notify('releaseConnection of Knex', () => client.releaseConnection(connection))
    }
    return connection
  }
  return {
    connect,
    async query(text, values) {
      const connection = await connect()
      try {
        return await connection.query(text, values)
      } finally {
        connection.release()
      }
    },
    get totalCount() {
      return client.pool === undefined ? 0 : client.pool.numUsed() + client.pool.numFree()
    },
  }
}

/** `knex.client`. */
interface KnexClient {
  driverName: string
  acquireConnection(): Promise<KnexConnection>
  releaseConnection(connection: KnexConnection): Promise<unknown>
  /** `undefined` after `knex.destroy()`. */
  pool?: { numUsed(): number; numFree(): number }
}

const isKnexClient = (client: Partial<KnexClient>): client is KnexClient =>
  typeof client.acquireConnection === 'function'

/** A `Client` of pg. */
interface KnexConnection {
  query: PostgresClient['query']
  end(): Promise<void>
  /** Ours. */
  release(error?: Error | boolean): void
  /** Of Knex: why the connection is not to be used again. */
  __knex__disposed?: unknown
}

/**
 * The `Pool` of pg that TypeORM has made: with replication, that of the master.
 *
 * @param dataSource of type `postgres`, initialized
 * @throws {StoreError} `UNSUPPORTED_CLIENT`: it is not initialized, or of another type
 */
export function fromTypeOrm(dataSource: { readonly driver: unknown }): PostgresClient {
  const { master } = dataSource.driver as { master?: PostgresClient }
  if (typeof master?.query === 'function') return master
  throw storeError(
    'UNSUPPORTED_CLIENT',
    "fromTypeOrm needs a DataSource of type 'postgres' that is initialized: await dataSource.initialize()",
  )
}

/** A pool of Slonik, or a connection of it. */
export interface SlonikPool {
  // biome-ignore-start lint/suspicious/noExplicitAny: the types of queries are those of Slonik.
  query(query: any): Promise<{ readonly rows: readonly unknown[] }>
  transaction(work: (connection: any) => Promise<unknown>): Promise<unknown>
  // biome-ignore-end lint/suspicious/noExplicitAny: see above.
}

/**
 * A client over Slonik. A statement that hangs is answered after `timeoutMs`, but its connection is not
 * closed. Notices of the server are not seen: a commit whose wait for the synchronous standby was cancelled
 * looks like any other.
 *
 * @param pool what `createPool(…)` resolves to
 * @param sql the tag of Slonik
 */
export function fromSlonik(
  pool: SlonikPool,
  sql: { unsafe(template: TemplateStringsArray): object },
): PostgresClient {
  const queryOf =
    (connection: Pick<SlonikPool, 'query'>): Query =>
    async (text, values = []) => {
      const { rows } = await connection.query({ ...sql.unsafe``, sql: text, values: values.map(nullFor) })
      return { rows: [...rows] }
    }
  return {
    query: queryOf(pool),
    transaction: work => pool.transaction((connection: SlonikPool) => work({ query: queryOf(connection) })),
  }
}

/** pg takes `undefined` as NULL; these drivers reject it. */
const nullFor = (value: unknown) => value ?? null
