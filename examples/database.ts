/**
 * The database of the examples. By default it is PGlite, PostgreSQL in this process, with its files in the
 * folder `wallet-data` or DATA_FOLDER. With DATABASE_URL it is a PostgreSQL server, as in your PAM.
 */
import { join } from 'node:path'
import type { PostgresClient, Query } from 'bet-wallet/postgres'
import { openDataFolder } from 'bet-wallet/try'
import { mustBeDatabaseUrl, serverProblem } from './database-url.js'

export interface Database {
  /** For `createPostgresStore` and `migratePostgres`, and for other statements. */
  client: PostgresClient
  /** Runs a script of several statements. */
  run(script: string): Promise<unknown>
  /** Runs `work` in a database transaction. When it throws: ROLLBACK. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>
  /** For messages: where the data is, and how to delete it. */
  location: string
  resetHint: string
  close(): Promise<void>
}

/**
 * @param name the name of the folder: each example has its own
 * @param schemas the schemas that hold its data
 */
export async function openDatabase(name: string, schemas = name): Promise<Database> {
  const { DATABASE_URL } = process.env
  if (!DATABASE_URL) return openFolder(join(process.env.DATA_FOLDER || 'wallet-data', name))
  mustBeDatabaseUrl(DATABASE_URL, ['postgres', 'postgresql'])
  return openServer(DATABASE_URL, schemas)
}

async function openServer(url: string, schemas: string): Promise<Database> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 5_000 })
  // Emitted for idle connections that break. The pool opens new ones.
  pool.on('error', error => console.error(error.message))
  try {
    await pool.query('SELECT')
  } catch (error) {
    await pool.end()
    throw serverProblem(error)
  }
  return databaseOf(pool, {
    location: `${schemas} on the server that DATABASE_URL names`,
    resetHint: `DROP SCHEMA ${schemas} CASCADE`,
  })
}

/** On a pool of pg, as in a PAM on PostgreSQL. */
export function databaseOf(
  pool: import('pg').Pool,
  hints: Pick<Database, 'location' | 'resetHint'>,
): Database {
  return {
    client: pool,
    run: script => pool.query(script),
    async transaction(work) {
      const connection = await pool.connect()
      let broken = false
      try {
        await connection.query('BEGIN')
        const result = await work((text, values) => connection.query(text, values))
        await connection.query('COMMIT')
        return result
      } catch (error) {
        await connection.query('ROLLBACK').catch(() => {
          broken = true
        })
        throw error
      } finally {
        connection.release(broken)
      }
    },
    ...hints,
    close: () => pool.end(),
  }
}

async function openFolder(folder: string): Promise<Database> {
  const { PGlite } = await import('@electric-sql/pglite')
  const { database, close } = await openDataFolder(
    folder,
    dataDir => PGlite.create({ dataDir }),
    () => console.log(`Creating a database in ${folder}; this takes a few seconds, once.`),
  ).catch(error => {
    throw folderProblem(folder, error)
  })
  return {
    client: database,
    run: script => database.exec(script),
    transaction: work =>
      database.transaction(connection => work((text, values) => connection.query(text, values))),
    location: `the folder ${folder}`,
    resetHint: `remove the folder ${folder}`,
    close,
  }
}

/** Of the file system: read-only, not ours, full, a file where a folder should be. */
function folderProblem(folder: string, error: NodeJS.ErrnoException): Error {
  if (error.syscall === undefined) return error
  const advice =
    'Name a folder that this user may write to in DATA_FOLDER: DATA_FOLDER=$HOME/wallet-data npm start'
  return new Error(`Cannot write to the folder ${folder} (${error.code}). ${advice}`, { cause: error })
}
