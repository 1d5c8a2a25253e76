/** What this store asks of a driver, and how it borrows a connection of it. */
import { isConnectionLost, PostgresStoreError } from './failure.js'

/** Runs one statement with its parameters, and gives its rows. */
export type Query = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>

/** Anything that runs a statement: a `Pool` of pg, a PGlite, or a few lines of your own around another driver. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Of a pool: borrows a connection. With it, a connection that hangs is closed and not waited for. */
  connect?(): Promise<unknown>
  /** Of PGlite: runs a function inside BEGIN and COMMIT, and ROLLBACK when it throws. */
  transaction?(work: (connection: { query: Query }) => Promise<unknown>): Promise<unknown>
}

/** A connection, for one batch. */
interface Connection {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  release(error?: Error | boolean): void
  /** Of pg: told when the connection breaks, apart from what its query is told. Nobody listening ends the process. */
  on?(event: 'error', listener: (error: Error) => void): unknown
  removeListener?(event: 'error', listener: (error: Error) => void): unknown
  /** Of pg from 8.17: `I` outside of a transaction block. */
  getTransactionStatus?(): string | null
}

export interface Borrowing {
  /** Runs one statement, which is its own commit. */
  statement(text: string, values: unknown[]): Promise<unknown[]>
  /** Runs `work` between BEGIN and COMMIT; ROLLBACK when it throws, and then what it threw is thrown. */
  commit<T>(work: (query: Query) => Promise<T>): Promise<T>
}

/** What a failed statement or commit leaves behind: its error, and whether anything was sent that could have been done. */
export class Failed extends Error {
  override readonly name = 'Failed'
  readonly sent: boolean
  readonly timedOut: boolean
  constructor(cause: unknown, sent: boolean, timedOut = false) {
    super('the database failed', { cause })
    this.sent = sent
    this.timedOut = timedOut
  }
}

/** @throws {PostgresStoreError} `CLIENT_UNFIT` */
export function borrowingFrom(client: PostgresClient, timeoutMs: number, commits: boolean): Borrowing {
  if (typeof client !== 'object' || client === null || typeof client.query !== 'function') {
    throw new PostgresStoreError(
      'CLIENT_UNFIT',
      'The client must have query(text, values): a Pool of pg, a PGlite, …',
    )
  }
  // A single pg Client has connect() as well, but nothing that pools: its connect takes a callback or gives nothing.
  const pool = typeof client.connect === 'function' && 'totalCount' in client
  if (pool) return fromPool(client as PostgresClient & { connect(): Promise<unknown> }, timeoutMs)
  if (commits && typeof client.transaction !== 'function') {
    throw new PostgresStoreError(
      'CLIENT_UNFIT',
      'inCommit needs a client with connections to borrow: a Pool of pg, or a PGlite',
    )
  }
  return fromOne(client, timeoutMs)
}

/** What breaks a connection, the statement that runs on it is told. */
const ignored = () => {}

function fromPool(client: PostgresClient & { connect(): Promise<unknown> }, timeoutMs: number): Borrowing {
  /** Runs work on a connection; closes it when it is of no more use, and when time is over. */
  async function borrow<T>(work: (connection: Connection, sending: () => void) => Promise<T>): Promise<T> {
    let sent = false
    let over = false
    let connection: Connection | null = null
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        over = true
        connection?.release(true)
        connection = null
        reject(
          new Failed(new PostgresStoreError('UNAVAILABLE', `No answer within ${timeoutMs} ms`), sent, true),
        )
      }, timeoutMs)
    })
    const done = (async () => {
      let broken = false
      try {
        const borrowed = (await client.connect()) as Connection
        if (over) {
          borrowed.release()
          throw new PostgresStoreError('UNAVAILABLE', 'The connection came too late')
        }
        connection = borrowed
        borrowed.on?.('error', ignored)
        // Somebody left a commit open on it: ours would be part of it, and undone with it.
        broken = borrowed.getTransactionStatus !== undefined && borrowed.getTransactionStatus() !== 'I'
        if (broken)
          throw new PostgresStoreError(
            'UNAVAILABLE',
            'The pool gave a connection with an open transaction block',
          )
        return await work(borrowed, () => {
          sent = true
        })
      } catch (error) {
        broken ||= isConnectionLost(error)
        throw new Failed(error, sent)
      } finally {
        // One that is of no more use may still break, and is listened to until it is gone.
        if (!broken) connection?.removeListener?.('error', ignored)
        connection?.release(broken)
        connection = null
      }
    })()
    // Whoever loses the race is not waited for, and not unhandled.
    done.catch(() => {})
    try {
      return await Promise.race([done, timeout])
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    statement: (text, values) =>
      borrow(async (connection, sending) => {
        sending()
        return (await connection.query(text, values)).rows
      }),
    commit: work =>
      borrow(async (connection, sending) => {
        await connection.query('BEGIN')
        let result: Awaited<ReturnType<typeof work>>
        try {
          const query = watched((text, values) => connection.query(text, values))
          result = await work(query.query)
          if (query.failed()) await connection.query('SELECT 1') // 25P02, where a COMMIT would be a ROLLBACK in silence
        } catch (error) {
          await connection.query('ROLLBACK')
          throw error
        }
        sending()
        await connection.query('COMMIT')
        return result
      }),
  }
}

/** Without a pool: the client has one connection, or pools them by itself. */
function fromOne(client: PostgresClient, timeoutMs: number): Borrowing {
  async function inTime<T>(work: () => Promise<T>, isSent: () => boolean): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () =>
          reject(
            new Failed(new PostgresStoreError('UNAVAILABLE', `No answer within ${timeoutMs} ms`), true, true),
          ),
        timeoutMs,
      )
    })
    const done = work().catch((error: unknown) => {
      throw new Failed(error, isSent())
    })
    done.catch(() => {})
    try {
      return await Promise.race([done, timeout])
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    statement: (text, values) =>
      inTime(
        async () => (await client.query(text, values)).rows,
        () => true,
      ),
    commit: work => {
      let sent = false
      return inTime(
        async () => {
          if (client.transaction === undefined)
            throw new PostgresStoreError('CLIENT_UNFIT', 'no transaction()')
          return (await client.transaction(async connection => {
            const query = watched((text, values) => connection.query(text, values))
            const result = await work(query.query)
            if (query.failed()) await connection.query('SELECT 1')
            sent = true
            return result
          })) as Awaited<ReturnType<typeof work>>
        },
        () => sent,
      )
    },
  }
}

/** The operator's own statements may fail and be caught by the operator: the commit must not be taken for one then. */
function watched(run: Query): { query: Query; failed(): boolean } {
  let failed = false
  return {
    failed: () => failed,
    query: async (text, values) => {
      try {
        return await run(text, values)
      } catch (error) {
        failed = true
        throw error
      }
    },
  }
}
