/** The connections of the store: each of its calls on a prepared session, under a deadline. */
import { CallbackFailed, type Deadline, withDeadline } from '../database/deadline.js'
import type { Failure } from '../database/errors.js'
import type { ConfirmedRecords } from './confirmed-records.js'
import {
  acquire,
  type CallbackPool,
  type Connection,
  callProcedure,
  changedSessions,
  execute,
  type MysqlClient,
  query,
} from './driver.js'
import { errors, isServerFault, storeError } from './errors.js'
import type { Values } from './rows.js'
import { checkMembership } from './server-state.js'
import { Servers } from './servers.js'
import { clusterOf, prepareSession, type Session, type SessionLimits, sessionOf } from './session.js'
import { beforeCommit, inTransaction } from './transactions.js'

export interface Connections {
  /** Whether there are several servers. */
  readonly isCluster: boolean
  /** Runs a query, on the first server that answers. @throws {QueryFailed} */
  read(text: string, values: unknown[]): Promise<readonly Values[]>
  /** The same for a procedure: the rows of its first result. @throws {QueryFailed} */
  readByCall(
    text: string,
    values: unknown[],
    accept: (rows: readonly Values[]) => void,
  ): Promise<readonly Values[]>
  /** Calls a procedure that commits. @returns what `read` makes of its rows @throws {QueryFailed} */
  call<T extends object>(text: string, values: unknown[], read: (rows: readonly Values[]) => T): Promise<T>
  /** Runs `work` between BEGIN and COMMIT. When it throws: ROLLBACK. @throws {QueryFailed} */
  transaction<T>(work: (database: Session) => Promise<T>): Promise<T>
  /** Runs `work` on a connection of the first server that answers. @throws {QueryFailed} */
  onAny<T>(work: (database: Session) => Promise<T>): Promise<T>
  /** Runs `work` on every server: a promise for each, in the order of the list. @throws {QueryFailed} */
  onEach<T>(work: (database: Session, cluster: string | null) => Promise<T>): readonly Promise<T>[]
  /** @see Servers.begin */
  begin(index: number, cluster: string | null): void
  /** @see Servers.look */
  look(): Promise<void>
}

/**
 * @param records those that a server must have; `null`: any server may be asked
 * @throws {StoreError} `UNSUPPORTED_CLIENT`
 */
export function connectionsFrom(
  client: MysqlClient,
  { timeoutMs, lockTimeoutMs }: SessionLimits,
  records: ConfirmedRecords | null = null,
): Connections {
  const pools = Array.isArray(client) ? client : [client]
  // Each server has its share, so that another one is asked in time.
  const serverTimeoutMs = Math.ceil(timeoutMs / pools.length)
  const limits = { timeoutMs: serverTimeoutMs, lockTimeoutMs }
  const servers = new Servers(
    pools,
    (pool, work, share = 1) =>
      withDeadline(serverTimeoutMs * share, errors.make, deadline =>
        withConnection(pool, deadline, limits, connection => work(connection, deadline)),
      ),
    records,
  )
  const onAny = <T>(work: (connection: Connection) => Promise<T>) =>
    // 1205 is how a cluster's node without a majority ends the wait of a read.
    servers.onFirstAvailable(({ kind }) => kind !== 'rejected', work)
  /** Nothing was done, and another server may do it. */
  const canCommitElsewhere = ({ kind, lost }: Failure) => kind === 'unavailable' && lost
  const onPrimary = <T>(work: (connection: Connection, deadline: Deadline) => Promise<T>) =>
    servers.onFirstAvailable(
      canCommitElsewhere,
      async (connection, deadline) => {
        await checkMembership(connection)
        return await work(connection, deadline)
      },
      true,
    )
  const sending = <T>(connection: Connection, commit: () => Promise<T>) =>
    records === null ? commit() : records.sending(connection, commit)
  return {
    isCluster: servers.isCluster,
    read: (text, values) =>
      onAny(async connection => {
        const rows = await execute(connection, text, values)
        // Its end reports what the query has changed in the session, as a function of a view can.
        await query(connection, 'DO 0')
        return rows
      }),
    readByCall: (text, values, accept) =>
      onAny(async connection => {
        await checkMembership(connection)
        const rows = await callProcedure(connection, text, values)
        accept(rows)
        return rows
      }),
    call: (text, values, read) =>
      onPrimary(async (connection, deadline) => {
        beforeCommit(deadline)
        return await sending(connection, async () => read(await callProcedure(connection, text, values)))
      }),
    transaction: work =>
      onPrimary((connection, deadline) =>
        sending(connection, () => inTransaction(connection, deadline, work)),
      ),
    onAny: work => onAny(connection => work(sessionOf(connection))),
    onEach: work => servers.onEach(connection => work(sessionOf(connection), clusterOf(connection))),
    begin: (index, cluster) => servers.begin(index, cluster),
    look: () => servers.look(),
  }
}

/**
 * Runs `work` on a connection. Closes the connection after an error, when its settings have changed, and when
 * the deadline expires.
 */
async function withConnection<T>(
  pool: CallbackPool,
  deadline: Deadline,
  limits: SessionLimits,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  let connection: Connection | null = null
  let broken = false
  deadline.onExpiry = () => {
    connection?.destroy()
    connection = null
  }
  try {
    const acquired = await acquire(pool)
    if (deadline.expired) {
      acquired.release()
      throw storeError('UNAVAILABLE', 'Timed out waiting for a connection')
    }
    connection = acquired
    await prepareSession(acquired, limits)
    return await work(acquired)
  } catch (error) {
    broken = !(error instanceof CallbackFailed)
    // The locks of what is still open end now: an interrupted procedure runs no handler.
    if (connection !== null && !(broken && isServerFault(error)))
      await query(connection, 'ROLLBACK').catch(() => {})
    throw error
  } finally {
    const borrowed = connection as Connection | null
    if (borrowed !== null && (broken || changedSessions.has(borrowed))) borrowed.destroy()
    else borrowed?.release()
    connection = null
  }
}
