/** What this store asks of a driver, and how it borrows a connection of it. */
import { isConnectionLost, PostgresStoreError } from './errors.js'

/** Runs one statement with its parameters, and gives its rows. */
export type Query = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>

/** Anything that runs a statement: a `Pool` of pg, a PGlite, or a few lines of your own around another driver. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Of a pool: borrows a connection. With it, a connection that hangs is closed and not waited for. */
  connect?(): Promise<unknown>
  /** Of PGlite: runs a function inside BEGIN and COMMIT, and ROLLBACK when it throws. */
  transaction?(work: (connection: { query: Query }) => Promise<unknown>): Promise<unknown>
  /** Of a single connection of pg, from 8.17: `I` outside of a transaction block. */
  getTransactionStatus?(): string | null
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

export interface Connections {
  /** Runs one statement, which is its own commit. */
  statement(text: string, values: unknown[]): Promise<unknown[]>
  /** Runs `work` between BEGIN and COMMIT; ROLLBACK when it throws, and then what it threw is thrown. */
  commit<T>(work: (query: Query) => Promise<T>): Promise<T>
}

/** What a failed statement or commit leaves behind: its error, and whether anything was sent that could have been done. */
export class QueryFailed extends Error {
  override readonly name = 'Failed'
  readonly sent: boolean
  readonly timedOut: boolean
  constructor(cause: unknown, sent: boolean, timedOut = false) {
    super('the database failed', { cause })
    this.sent = sent
    this.timedOut = timedOut
  }
}

/** What `work` throws for reasons of its own. It was undone, and the connection is sound. */
export class CallbackFailed extends Error {}

/** @throws {PostgresStoreError} `UNSUPPORTED_CLIENT` */
export function connectionsFrom(client: PostgresClient, timeoutMs: number, commits: boolean): Connections {
  if (typeof client !== 'object' || client === null || typeof client.query !== 'function') {
    throw new PostgresStoreError(
      'UNSUPPORTED_CLIENT',
      'The client must have query(text, values): a Pool of pg, a PGlite, …',
    )
  }
  // A single pg Client has connect() as well, but nothing that pools: its connect takes a callback or gives nothing.
  const pool = typeof client.connect === 'function' && 'totalCount' in client
  if (pool) return fromPool(client as PostgresClient & Pool, timeoutMs)
  if (commits && typeof client.transaction !== 'function') {
    throw new PostgresStoreError(
      'UNSUPPORTED_CLIENT',
      'withinTransaction needs a client with connections to borrow: a Pool of pg, or a PGlite',
    )
  }
  return fromOne(client, timeoutMs)
}

interface Pool {
  connect(): Promise<unknown>
  /** Of pg: told of every new connection, before it is lent. */
  on?(event: 'connect', listener: (connection: Partial<Connection>) => void): unknown
}

function fromPool(client: PostgresClient & Pool, timeoutMs: number): Connections {
  // A server that shuts down may end a connection in the very packet that makes it ready: before we have it, and when the
  // pool listens no more. Nobody listening would end the process.
  client.on?.('connect', connection => connection.on?.('error', () => {}))

  /** Runs work on a connection; closes it when it is of no more use, and when time is over. */
  async function borrow<T>(work: (connection: Connection, sending: () => void) => Promise<T>): Promise<T> {
    let sent = false
    let over = false
    let lost = false
    let connection: Connection | null = null
    // What breaks a connection, the statement that runs on it is told, and pg emits it as well.
    const onLost = () => {
      lost = true
    }
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        over = true
        connection?.release(true)
        connection = null
        reject(
          new QueryFailed(
            new PostgresStoreError('UNAVAILABLE', `No answer within ${timeoutMs} ms`),
            sent,
            true,
          ),
        )
      }, timeoutMs)
    })
    const done = (async () => {
      let broken = false
      try {
        let borrowed = (await client.connect()) as Connection
        // Somebody left a commit open on it: ours would be part of it, and undone with it.
        while (!over && isInBlock(borrowed)) {
          borrowed.on?.('error', () => {})
          borrowed.release(true)
          borrowed = (await client.connect()) as Connection
        }
        if (over) {
          borrowed.release(isInBlock(borrowed))
          throw new PostgresStoreError('UNAVAILABLE', 'The connection came too late')
        }
        connection = borrowed
        lost = false
        borrowed.on?.('error', onLost)
        return await work(borrowed, () => {
          // Broken while nothing ran on it, or given up: then nothing of what comes is done, certainly.
          if (lost || over) throw new PostgresStoreError('UNAVAILABLE', 'The connection was lost')
          sent = true
        })
      } catch (error) {
        broken = !(error instanceof CallbackFailed) && isConnectionLost(error)
        throw new QueryFailed(error, sent)
      } finally {
        // One that is of no more use may still break, and is listened to until it is gone.
        if (!broken) connection?.removeListener?.('error', onLost)
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
        const { rows } = await connection.query(text, values)
        mustNotBeInBlock(connection)
        return rows
      }),
    commit: work =>
      borrow(async (connection, sending) => {
        await connection.query(`BEGIN; ${openBlock}`)
        let result: Awaited<ReturnType<typeof work>>
        try {
          result = await work((text, values) => connection.query(text, values))
        } catch (error) {
          await connection.query('ROLLBACK')
          throw error
        }
        sending()
        try {
          await connection.query(`${closeBlock}; COMMIT`)
        } catch (error) {
          if (!isBlockBroken(error)) throw error
          await connection.query('ROLLBACK')
          throw blockBroken(error)
        }
        return result
      }),
  }
}

/** Without a pool: the client has one connection, or pools them by itself. */
function fromOne(client: PostgresClient, timeoutMs: number): Connections {
  /** @param work asks `isOver` before it does what cannot be undone */
  async function inTime<T>(work: (isOver: () => boolean, sending: () => void) => Promise<T>): Promise<T> {
    let sent = false
    let over = false
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        over = true
        reject(
          new QueryFailed(
            new PostgresStoreError('UNAVAILABLE', `No answer within ${timeoutMs} ms`),
            sent,
            true,
          ),
        )
      }, timeoutMs)
    })
    const sending = () => {
      sent = true
    }
    const done = work(() => over, sending).catch((error: unknown) => {
      throw new QueryFailed(error, sent)
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
      inTime(async (_, sending) => {
        if (isInBlock(client))
          throw new PostgresStoreError('UNAVAILABLE', 'The connection has an open transaction block')
        sending()
        const { rows } = await client.query(text, values)
        mustNotBeInBlock(client)
        return rows
      }),
    commit: work =>
      inTime(async (isOver, sending) => {
        if (client.transaction === undefined)
          throw new PostgresStoreError('UNSUPPORTED_CLIENT', 'no transaction()')
        const mustBeInTime = () => {
          if (isOver()) throw new CallbackFailed('It took too long, and was answered so')
        }
        return (await client.transaction(async connection => {
          mustBeInTime()
          await connection.query(openBlock)
          const result = await work((text, values) => connection.query(text, values))
          await connection.query(closeBlock).catch((error: unknown) => {
            throw isBlockBroken(error) ? blockBroken(error) : error
          })
          mustBeInTime()
          sending()
          return result
        })) as Awaited<ReturnType<typeof work>>
      }),
  }
}

/**
 * A statement of the operator's may fail without our hearing of it, and the COMMIT would be a ROLLBACK in silence; or the
 * operator may end the block. So there is a mark in it, which is found again only if all went well until then.
 */
const openBlock = 'SAVEPOINT bet_wallet'
const closeBlock = 'RELEASE SAVEPOINT bet_wallet'

/** 25P02 in_failed_sql_transaction, 25P01 no_active_sql_transaction, 3B001 invalid_savepoint_specification. */
function isBlockBroken(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === '25P02' || code === '25P01' || code === '3B001'
}

function blockBroken(cause: unknown): CallbackFailed {
  return new CallbackFailed(
    'withinTransaction passed over a statement that failed, or ended the commit itself',
    {
      cause,
    },
  )
}

type StatusTeller = Pick<Connection, 'getTransactionStatus'>

function isInBlock(connection: StatusTeller): boolean {
  return connection.getTransactionStatus !== undefined && connection.getTransactionStatus() !== 'I'
}

/** A BEGIN may have waited in the driver for its turn, and so have come before our statement. */
function mustNotBeInBlock(connection: StatusTeller): void {
  if (isInBlock(connection))
    throw new PostgresStoreError('COMMIT_UNKNOWN', "It was done in somebody else's transaction block")
}
