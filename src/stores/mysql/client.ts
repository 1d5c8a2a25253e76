/** The connections of the store: each of its calls on a prepared session, under a deadline. */
import { isA } from '../../foreign-values.js'
import { CallbackFailed, type Deadline, withDeadline } from '../database/deadline.js'
import type { Failure } from '../database/errors.js'
import type { ConfirmedRecords } from './confirmed-records.js'
import { acquire, type CallbackPool, type MysqlClient } from './driver.js'
import { errors, isServerFault, storeError } from './errors.js'
import type { Values } from './rows.js'
import { checkMembership } from './server-state.js'
import { Servers } from './servers.js'
import { type Results, type Session, type SessionLimits, sessionOf } from './session.js'
import { beforeCommit, inTransaction } from './transactions.js'

export interface Connections {
  readonly servers: Pick<Servers, 'hasSeveral' | 'begin' | 'look' | 'onEach'>
  /** Runs a query, on the first server that answers. @throws {QueryFailed} */
  read(text: string, values: unknown[]): Promise<readonly Values[]>
  /** The same for a procedure: the rows of its first result. @throws {QueryFailed} */
  readByCall(
    text: string,
    values: unknown[],
    accept: (rows: readonly Values[]) => void,
  ): Promise<readonly Values[]>
  /** Calls a procedure that commits. @returns what `read` makes of its results @throws {QueryFailed} */
  call<T extends object>(text: string, values: unknown[], read: (results: Results) => T): Promise<T>
  /** Runs `work` between BEGIN and COMMIT. When it throws: ROLLBACK. @throws {QueryFailed} */
  transaction<T>(work: (database: Session) => Promise<T>): Promise<T>
  /** Runs `work` on a connection of the first server that answers. @throws {QueryFailed} */
  onAny<T>(work: (database: Session) => Promise<T>): Promise<T>
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
        withConnection(pool, deadline, limits, session => work(session, deadline)),
      ),
    records,
  )
  const onAny = <T>(work: (session: Session) => Promise<T>) =>
    // 1205 is how a cluster's node without a majority ends the wait of a read.
    servers.onFirstAvailable(({ kind }) => kind !== 'rejected', work)
  /** Nothing was done, and another server may do it. */
  const canCommitElsewhere = ({ kind, lost }: Failure) => kind === 'unavailable' && lost
  const onPrimary = <T>(work: (session: Session, deadline: Deadline) => Promise<T>) =>
    servers.onFirstAvailable(
      canCommitElsewhere,
      async (session, deadline) => {
        await checkMembership(session)
        const commit = () => work(session, deadline)
        return await (records === null ? commit() : records.sending(session, commit))
      },
      true,
    )
  return {
    servers,
    read: (text, values) =>
      onAny(async session => {
        const rows = await session.rows(text, values)
        // Its end reports what the query has changed in the session, as a function of a view can.
        await session.run('DO 0')
        return rows
      }),
    readByCall: (text, values, accept) =>
      onAny(async session => {
        await checkMembership(session)
        const [rows] = await session.call(text, values)
        accept(rows)
        return rows
      }),
    call: (text, values, read) =>
      onPrimary(async (session, deadline) => {
        beforeCommit(deadline)
        return read(await session.call(text, values))
      }),
    transaction: work => onPrimary((session, deadline) => inTransaction(session, deadline, work)),
    onAny,
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
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const connection = await acquire(pool)
  if (deadline.expired) {
    connection.release()
    throw storeError('UNAVAILABLE', 'Timed out waiting for a connection')
  }
  deadline.onExpiry = () => connection.destroy()
  const session = sessionOf(connection)
  let broken = false
  try {
    await session.prepare(limits)
    return await work(session)
  } catch (error) {
    broken = !isA(error, CallbackFailed)
    // The locks of what is still open end now: an interrupted procedure runs no handler.
    if (!deadline.expired && !(broken && isServerFault(error))) await session.run('ROLLBACK').catch(() => {})
    throw error
  } finally {
    if (!deadline.expired) {
      if (broken || session.isChanged) connection.destroy()
      else connection.release()
    }
  }
}
