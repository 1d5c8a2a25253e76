/** The interface of a driver, and its connections: deadlines, lost connections, transaction blocks. */
import { isA } from '../../foreign-values.js'
import { CallbackFailed, type Deadline, withDeadline } from '../database/deadline.js'
import type { Query } from '../database/within-transaction.js'
import { type EventSource, type Notice, reportsOfClient, reportsOfConnection } from './connection-events.js'
import { type DriverConnection, inDriverTransaction } from './driver-transactions.js'
import { errors, isConnectionLost, mayComeAfterCommit, storeError } from './errors.js'
import {
  type Call,
  type CanPrepare,
  createPreparing,
  type PreparedStatement,
  rowsOfProcedure,
  type Send,
} from './prepared-statements.js'
import { emptyCommit } from './sql/fragments.js'
import { inTransaction } from './transactions.js'

/**
 * Anything that runs a statement: a `Pool` of pg, a PGlite, what `fromPostgresJs`, `fromKnex`, `fromTypeOrm`
 * or `fromSlonik` returns, or a wrapper of a few lines around another driver.
 */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Of a pool: borrows a connection. With it, a connection that hangs is closed after `timeoutMs`. */
  connect?(): Promise<unknown>
  /** Of a pool: the number of its connections. It tells a pool from a connection, which has connect() too. */
  readonly totalCount?: number
  /** Of PGlite and wrappers: runs a function between BEGIN and COMMIT, and ROLLBACK when it throws. */
  transaction?(work: (connection: DriverConnection) => Promise<unknown>): Promise<unknown>
  /** Of one connection of pg, from 8.17: `I` outside a transaction block, `null` before it is connected. */
  getTransactionStatus?(): string | null
  /**
   * Of a wrapper: calls the listener with every notice of the server, before the answer to the statement that
   * it belongs to. It reports commits that were made without the synchronous standby: without it they look
   * like others. Not needed with a `Pool` or a `Client` of pg.
   */
  onNotice?(listener: (notice: Notice) => void): unknown
}

/** A connection of a pool. */
interface Connection extends CanPrepare {
  query(statement: string | PreparedStatement, values?: unknown[]): Promise<{ rows: unknown[] }>
  release(error?: Error | boolean): void
  /** Of pg: 'error' is emitted when the connection breaks, also to its running query. */
  on?(event: string, listener: (about: never) => void): unknown
  /** Of pg from 8.17: `I` outside a transaction block. */
  getTransactionStatus?(): string | null
}

interface Pool {
  connect(): Promise<unknown>
  /** Of pg. 'connect' is emitted for every new connection, before a caller gets it. */
  on?(event: 'connect' | 'error', listener: (connection: Partial<Connection>) => void): unknown
}

/**
 * Waits until the synchronous standby has confirmed every earlier commit of this client, by a commit that
 * changes nothing: standbys confirm commits in order.
 *
 * @throws {StoreError} `COMMIT_UNKNOWN` when that wait was cancelled
 */
export async function confirmCommits(client: PostgresClient): Promise<void> {
  const reportsOf = isPool(client) ? reportsOfConnection : reportsOfClient
  await onOneConnection(client, connection =>
    replicated(reportsOf(connection), () => connection.query(`SELECT ${emptyCommit}`)),
  )
}

/** Borrows a connection of a pool for `work`; any other client is one connection. */
export async function onOneConnection<T>(
  client: PostgresClient,
  work: (connection: Pick<PostgresClient, 'query'> & EventSource) => Promise<T>,
): Promise<T> {
  if (!isPool(client)) return await work(client)
  const connection = (await client.connect()) as Connection
  try {
    return await work(connection)
  } finally {
    connection.release()
  }
}

/** A single Client of pg has connect() too, but it lends no connections. */
export const isPool = (client: PostgresClient): client is PostgresClient & Pool =>
  typeof client.connect === 'function' && client.totalCount !== undefined

/** Throws if the rows must not be used: then the connection is closed. */
type Accept = (rows: unknown[]) => void

/** Runs a statement and returns its rows. */
export type Ask = <Row = unknown>(text: string, values?: unknown[]) => Promise<Row[]>

export interface Connections {
  /** Runs one statement as a database transaction of its own. @throws {QueryFailed} */
  readonly statement: Ask
  /** The same for a call, prepared where the client can do that. @throws {QueryFailed} */
  call(call: Call, values: unknown[], accept: Accept): Promise<unknown[]>
  /**
   * The same for one that commits: of the procedure, unless the connection tells that other code has left a
   * database transaction open.
   *
   * @throws {QueryFailed}
   */
  commit(calls: CommitCalls, values: unknown[], accept: Accept): Promise<unknown[]>
  /** Whether the client has database transactions. */
  readonly transacts: boolean
  /**
   * Runs `work` between BEGIN and COMMIT. When it throws: ROLLBACK.
   *
   * @param first statements right after BEGIN
   * @throws {QueryFailed}
   */
  transaction<T>(work: (query: Query) => Promise<T>, first?: readonly string[]): Promise<T>
}

/** What commits, in both forms. */
export interface CommitCalls {
  function: Call
  procedure: Call
}

/** A borrowed connection, or a client that is no pool. */
type Lent = Pick<Connection, 'query' | 'getTransactionStatus' | 'connection'>

/** Runs `work` on a connection, with a function that sends what may commit. @throws {QueryFailed} */
type Borrow = <T>(work: (connection: Lent, send: Send) => Promise<T>) => Promise<T>

/**
 * @param transactions whether `transaction` is needed
 * @param durable whether a COMMIT must wait for the disk and the standbys
 * @throws {StoreError} `UNSUPPORTED_CLIENT`
 */
export function connectionsFrom(
  client: PostgresClient,
  { timeoutMs, transactions, durable }: { timeoutMs: number; transactions: boolean; durable: boolean },
): Connections {
  mustBeClient(client, transactions)
  const borrow = isPool(client) ? borrowOfPool(client, timeoutMs) : borrowOfClient(client, timeoutMs)
  const send = createPreparing()
  async function run<Row>(connection: Lent, sendOn: Send, call: Call, values: unknown[], accept?: Accept) {
    const answer = rowsOf(await send(connection, sendOn, { ...call, values }))
    // A BEGIN of other code may have been queued in the driver before our statement.
    if (isInBlock(connection))
      throw storeError('COMMIT_UNKNOWN', 'Executed inside a database transaction that other code had opened')
    const rows = call.isProcedure ? rowsOfProcedure(answer) : answer
    accept?.(rows)
    return rows as Row[]
  }
  return {
    transacts: isPool(client) || typeof client.transaction === 'function',
    statement: (text, values = []) => borrow((...lent) => run(...lent, { text }, values)),
    call: (call, values, accept) => borrow((...lent) => run(...lent, call, values, accept)),
    commit: (calls, values, accept) =>
      borrow((connection, sendOn) =>
        connection.getTransactionStatus === undefined
          ? run(connection, sendOn, calls.procedure, values, accept).catch(mayComeAfterCommit)
          : run(connection, sendOn, calls.function, values, accept),
      ),
    transaction: (work, first = []) => {
      if (isPool(client)) return borrow((...lent) => inTransaction(...lent, { first, durable }, work))
      return withDeadline(timeoutMs, errors.make, async deadline => {
        if (client.transaction === undefined)
          throw storeError('UNSUPPORTED_CLIENT', 'The client has no transaction()')
        const begin = client.transaction.bind(client)
        return await replicated(reportsOfClient(client), () =>
          inDriverTransaction(begin, deadline, { first, durable }, work),
        )
      })
    },
  }
}

/** @throws {StoreError} `UNSUPPORTED_CLIENT` */
function mustBeClient(client: PostgresClient, transactions: boolean): void {
  if (typeof client !== 'object' || client === null || typeof client.query !== 'function') {
    // Never its value: a URL contains a password.
    const what = client === null ? 'null' : typeof client
    throw storeError(
      'UNSUPPORTED_CLIENT',
      `The client must be an object with query(text, values): a Pool of pg, a PGlite, or what fromPostgresJs, fromKnex, ` +
        `fromTypeOrm or fromSlonik returns; it is ${what}`,
    )
  }
  if (transactions && !isPool(client) && typeof client.transaction !== 'function')
    throw storeError(
      'UNSUPPORTED_CLIENT',
      'withinTransaction needs a client with database transactions: a Pool of pg, a PGlite, or what fromPostgresJs, ' +
        'fromKnex, fromTypeOrm or fromSlonik returns',
    )
}

/** Pools that have the listeners below: one of each per pool, however many stores share it. */
const poolsWithListeners = new WeakSet<object>()

/**
 * An 'error' without a listener would end the process. A pool emits it when an idle connection breaks, which
 * it has closed by then. A server that shuts down may close a connection in the same packet that makes it
 * ready: before it is lent, and when the pool no longer listens to it.
 */
function listenForErrors(pool: Pool): void {
  if (poolsWithListeners.has(pool)) return
  poolsWithListeners.add(pool)
  pool.on?.('connect', reportsOfConnection)
  pool.on?.('error', () => {})
}

/** Closes the connection when it is broken, and when the deadline expires. */
function borrowOfPool(pool: Pool, timeoutMs: number): Borrow {
  listenForErrors(pool)
  return work =>
    withDeadline(timeoutMs, errors.make, async deadline => {
      const connection = await acquire(pool, deadline)
      deadline.onExpiry = () => connection.release(true)
      const reports = reportsOfConnection(connection)
      let broken = false
      try {
        return await work(connection, (statement, values) => {
          // Broken while nothing ran on it, or timed out: later statements are not sent.
          if (reports.lost || deadline.expired) throw storeError('UNAVAILABLE', 'The connection was lost')
          deadline.sent = true
          return replicated(reports, () => connection.query(statement, values))
        })
      } catch (error) {
        broken = !isA(error, CallbackFailed) && isConnectionLost(error)
        throw error
      } finally {
        if (!deadline.expired) connection.release(broken)
      }
    })
}

/**
 * Runs what may commit.
 *
 * @throws {StoreError} `COMMIT_UNKNOWN` when the wait for a synchronous standby was cancelled
 */
async function replicated<T>(reports: { cancelledWaits: number }, work: () => Promise<T>): Promise<T> {
  const { cancelledWaits } = reports
  const result = await work()
  if (reports.cancelledWaits === cancelledWaits) return result
  throw storeError(
    'COMMIT_UNKNOWN',
    'The wait for the synchronous standby was cancelled: the commit may be lost in a failover',
  )
}

/** @throws {StoreError} `UNSUPPORTED_CLIENT` for the result of a driver that returns rows in another form */
export function rowsOf<Row>(result: unknown): Row[] {
  const rows = (result as { rows?: unknown } | null | undefined)?.rows
  if (Array.isArray(rows)) return rows as Row[]
  throw storeError(
    'UNSUPPORTED_CLIENT',
    `client.query must resolve to { rows: […] }; it resolves to ${Array.isArray(result) ? 'an array' : typeof result}`,
  )
}

/**
 * Borrows a connection that has no open transaction block: ours would be part of it, and be rolled back with
 * it.
 */
async function acquire(pool: Pool, deadline: Deadline): Promise<Connection> {
  let connection = (await pool.connect()) as Connection
  while (!deadline.expired && isInBlock(connection)) {
    // It may emit errors until it is closed.
    reportsOfConnection(connection)
    connection.release(true)
    connection = (await pool.connect()) as Connection
  }
  if (!deadline.expired) return connection
  connection.release(isInBlock(connection))
  throw storeError('UNAVAILABLE', 'Timed out waiting for a connection')
}

/** Without a pool: the client is one connection, or has a pool inside. */
function borrowOfClient(client: PostgresClient, timeoutMs: number): Borrow {
  const reports = reportsOfClient(client)
  return work =>
    withDeadline(timeoutMs, errors.make, async deadline => {
      // A statement of a single Client of pg would be queued until the client is connected, and time out.
      if (client.getTransactionStatus?.() === null)
        throw storeError('UNSUPPORTED_CLIENT', 'The client is not connected: await client.connect()')
      if (isInBlock(client)) throw storeError('UNAVAILABLE', 'The connection has an open transaction block')
      const connection = client as Lent
      return await work(connection, (statement, values) => {
        // Timed out: a call whose name was unknown is not sent again.
        if (deadline.expired) throw storeError('UNAVAILABLE', 'Timed out; already answered')
        deadline.sent = true
        return replicated(reports, () => connection.query(statement, values))
      })
    })
}

function isInBlock(connection: Pick<Connection, 'getTransactionStatus'>): boolean {
  return connection.getTransactionStatus !== undefined && connection.getTransactionStatus() !== 'I'
}
