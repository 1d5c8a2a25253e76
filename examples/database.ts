/**
 * The database of the examples. By default it is PGlite, PostgreSQL in this process, with its files in the
 * folder `wallet-data` or DATA_FOLDER. With DATABASE_URL it is a PostgreSQL server, as in your PAM.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresClient, Query } from 'bet-wallet/postgres'
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
  const { DATABASE_URL, DATA_FOLDER } = process.env
  if (!DATABASE_URL) return openFolder(join(DATA_FOLDER || 'wallet-data', name))
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
  { location, resetHint }: Pick<Database, 'location' | 'resetHint'>,
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
    location,
    resetHint,
    close: () => pool.end(),
  }
}

/**
 * Commits survive the death of the process (kill -9), but not a power cut: PGlite does not wait for the disk.
 */
async function openFolder(folder: string): Promise<Database> {
  const unlock = lockWritable(folder)
  const data = join(folder, 'pglite')
  const complete = join(folder, 'complete')
  try {
    if (!existsSync(complete)) {
      console.log(`Creating a database in ${folder}; this takes a few seconds, once.`)
      // The remains of a start that was killed.
      rmSync(data, { recursive: true, force: true })
    }
    const { PGlite } = await import('@electric-sql/pglite')
    const database = await PGlite.create({ dataDir: data })
    writeFileSync(complete, '')
    return {
      client: database,
      run: script => database.exec(script),
      transaction: work =>
        database.transaction(connection => work((text, values) => connection.query(text, values))),
      location: `the folder ${folder}`,
      resetHint: `remove the folder ${folder}`,
      async close() {
        await database.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

function lockWritable(folder: string): () => void {
  try {
    mkdirSync(folder, { recursive: true })
    return lock(folder)
  } catch (error) {
    // Of the file system: read-only, not ours, full, a file where a folder should be.
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    const advice =
      'Name a folder that this user may write to in DATA_FOLDER: DATA_FOLDER=$HOME/wallet-data npm start'
    throw new Error(`Cannot write to the folder ${folder} (${code}). ${advice}`, { cause: error })
  }
}

/**
 * Two processes would corrupt the files of a PGlite, and PGlite does not detect it. Each process writes a
 * file named after its process id, then looks for other files. When two start at the same moment, both give
 * up. Files of dead processes are removed.
 */
function lock(folder: string): () => void {
  const locks = join(folder, 'processes')
  mkdirSync(locks, { recursive: true })
  const own = join(locks, String(process.pid))
  writeFileSync(own, '')
  const unlock = () => rmSync(own, { force: true })
  for (const name of readdirSync(locks)) {
    if (name === String(process.pid)) continue
    if (isRunning(Number(name))) {
      unlock()
      throw new Error(
        `${folder} is in use by process ${name}: stop it, or name another folder in DATA_FOLDER. ` +
          `(If that is another program by now, remove ${join(locks, name)})`,
      )
    }
    rmSync(join(locks, name), { force: true })
  }
  return unlock
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0) // signal 0 only checks
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
