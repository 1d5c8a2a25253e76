/** The operator's driver of PostgreSQL: `pg` or `postgres`, whichever the current folder has. */
import type { Ask } from '../../stores/postgres/client.js'
import { fromPostgresJs, type PostgresClient, type PostgresJsSql } from '../../stores/postgres/index.js'
import { connectionsMax, connectMs, driver, statementMs } from './database.js'

interface PostgresDriver {
  client: PostgresClient
  /** Within the time limit of a statement. */
  ask: Ask
  end(): Promise<void>
}

interface Pool {
  query<Row>(statement: string | object, values?: unknown[]): Promise<{ rows: Row[] }>
  connect(): Promise<unknown>
  on(event: 'error', listener: () => void): unknown
  end(): Promise<void>
}

interface PostgresJs extends PostgresJsSql {
  unsafe<Row>(text: string, values: unknown[]): PromiseLike<Iterable<Row>> & { cancel(): void }
  end(): Promise<void>
}

/** @param max of connections. A lock of a session needs all statements on one, which only a `Pool` lends */
export function postgresDriver(url: string, advice: string, max = connectionsMax): PostgresDriver {
  const { name, module } = driver(['pg', 'postgres'], advice)
  if (name === 'pg') return overPg(module as { Pool: new (options: object) => Pool }, url)
  const postgres = module as (url: string, options: object) => PostgresJs
  return overPostgresJs(postgres(url, { max, connect_timeout: connectMs / 1000, onnotice() {} }))
}

function overPg({ Pool }: { Pool: new (options: object) => Pool }, connectionString: string): PostgresDriver {
  const pool = new Pool({ connectionString, max: connectionsMax, connectionTimeoutMillis: connectMs })
  // A connection that breaks while nothing runs on it: the next statement reports it.
  pool.on('error', () => {})
  return {
    client: pool,
    ask: async <Row>(text: string, values: unknown[] = []) =>
      (await pool.query<Row>({ text, values, query_timeout: statementMs })).rows,
    end: () => pool.end(),
  }
}

const overPostgresJs = (sql: PostgresJs): PostgresDriver => ({
  client: fromPostgresJs(sql),
  async ask<Row>(text: string, values: unknown[] = []) {
    const query = sql.unsafe<Row>(text, values)
    const timer = setTimeout(() => query.cancel(), statementMs)
    try {
      return [...(await query)]
    } finally {
      clearTimeout(timer)
    }
  },
  end: () => sql.end(),
})
