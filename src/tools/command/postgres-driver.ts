/** The operator's driver of PostgreSQL: `pg` or `postgres`, whichever the current folder has. */
import { fromPostgresJs, type PostgresClient, type PostgresJsSql } from '../../stores/postgres/index.js'
import { connectionsMax, connectMs, driver, statementMs } from './database.js'

interface PostgresDriver {
  client: PostgresClient
  /** Within the time limit of a statement. */
  ask(text: string, values?: unknown[]): Promise<unknown[]>
  end(): Promise<void>
}

interface Pool {
  query(statement: string | object, values?: unknown[]): Promise<{ rows: unknown[] }>
  connect(): Promise<unknown>
  on(event: 'error', listener: () => void): unknown
  end(): Promise<void>
}

interface PostgresJs extends PostgresJsSql {
  unsafe(text: string, values: unknown[]): PromiseLike<Iterable<unknown>> & { cancel(): void }
  end(): Promise<void>
}

/** @param max of connections. A lock of a session needs all statements on one, which only a `Pool` lends */
export function postgresDriver(url: string, advice: string, max = connectionsMax): PostgresDriver {
  const { name, module } = driver(['pg', 'postgres'], advice)
  return name === 'pg'
    ? overPg(module as { Pool: new (options: object) => Pool }, url)
    : overPostgresJs((module as (url: string, options: object) => PostgresJs)(url, optionsOf(max)))
}

function overPg({ Pool }: { Pool: new (options: object) => Pool }, connectionString: string): PostgresDriver {
  const pool = new Pool({ connectionString, max: connectionsMax, connectionTimeoutMillis: connectMs })
  // A connection that breaks while nothing runs on it: the next statement reports it.
  pool.on('error', () => {})
  return {
    client: pool,
    ask: async (text, values = []) => (await pool.query({ text, values, query_timeout: statementMs })).rows,
    end: () => pool.end(),
  }
}

const optionsOf = (max: number) => ({ max, connect_timeout: connectMs / 1000, onnotice() {} })

const overPostgresJs = (sql: PostgresJs): PostgresDriver => ({
  client: fromPostgresJs(sql),
  async ask(text, values = []) {
    const query = sql.unsafe(text, values)
    const timer = setTimeout(() => query.cancel(), statementMs)
    try {
      return [...(await query)]
    } finally {
      clearTimeout(timer)
    }
  },
  end: () => sql.end(),
})
