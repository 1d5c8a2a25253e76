/** The check of the client and its session: rows, read-only servers, warnings, database transactions. */

import { CallbackFailed, QueryFailed } from '../database/deadline.js'
import type { Durability } from '../database/durability.js'
import type { Connections } from './client.js'
import { describeError } from './driver-errors.js'
import { type DurabilityRow, durabilityColumns, durabilityOf } from './durability.js'
import { hasCode, storeError } from './errors.js'
import type { CommitConnections } from './hanging-commits.js'
import type { Timelines } from './timeline.js'

/**
 * @param transactions whether `transaction` is needed
 * @throws {StoreError} the problem
 * @throws {QueryFailed}
 */
export async function checkClient(connections: Connections, transactions: boolean): Promise<void> {
  const session = await sessionOf(connections)
  if (session.client_encoding !== 'UTF8') {
    throw storeError(
      'UNSUPPORTED_CLIENT',
      `client_encoding is ${session.client_encoding}, so that ids would be other ids in the database (D24). It must be UTF8`,
    )
  }
  if (session.read_only === 'on') {
    throw storeError(
      'DATABASE_REJECTED',
      'Database transactions of this role are read-only: default_transaction_read_only is on',
    )
  }
  // SyncRepWaitForLSN warns with a WARNING.
  if (/^(?:error|fatal|panic)$/.test(session.client_min_messages)) {
    throw storeError(
      'NOT_DURABLE',
      `client_min_messages is ${session.client_min_messages}: it hides the warning that a commit may not have reached the ` +
        'synchronous standby. Set it for this role: ALTER ROLE … SET client_min_messages = warning',
    )
  }
  if (transactions) await tryTransaction(connections)
}

/**
 * Asks the database now whether it can be written to, and learns its timeline.
 *
 * @throws {StoreError} `UNAVAILABLE`: it must not be written to
 * @throws {QueryFailed}
 */
export async function ping(
  connections: Connections,
  committing: Pick<CommitConnections, 'mustNotHang'>,
  timelines: Timelines,
): Promise<Durability> {
  const session = await timelines.learn(timeline => sessionOf(connections, timeline))
  if (session.read_only === 'on') throw storeError('UNAVAILABLE', 'Database transactions are read-only')
  await committing.mustNotHang()
  return durabilityOf(session)
}

type Texts = 'read_only' | 'client_min_messages' | 'client_encoding' | 'a_text' | 'an_amount'

interface SessionRow extends DurabilityRow, Record<Texts, string> {
  in_recovery: boolean
  a_null: null
  an_index: number
  timeline: string | null
}

/**
 * @param timeline its expression
 * @throws {StoreError} `UNAVAILABLE` on a standby, `UNSUPPORTED_CLIENT`
 */
async function sessionOf(connections: Connections, timeline = 'NULL::text'): Promise<SessionRow> {
  const [row] = await connections.statement<SessionRow>(
    `SELECT
      pg_is_in_recovery() AS in_recovery,
      current_setting('transaction_read_only') AS read_only,
      current_setting('client_min_messages') AS client_min_messages,
      current_setting('client_encoding') AS client_encoding,
      ' A'::text AS a_text,
      '1.50'::text AS an_amount,
      NULL::text AS a_null,
      1 AS an_index,
      ${timeline} AS timeline,
      ${durabilityColumns}`,
  )
  const isUnchanged =
    row?.a_text === ' A' &&
    row.an_amount === '1.50' &&
    row.a_null === null &&
    typeof row.an_index !== 'bigint' &&
    typeof row.in_recovery === 'boolean' &&
    typeof row.client_min_messages === 'string'
  if (!isUnchanged)
    throw storeError(
      'UNSUPPORTED_CLIENT',
      'client.query must return each row as an object under the names of its columns, with snake_case names, and ' +
        `booleans, texts and NULL unchanged; it returned ${JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`,
    )
  if (row.in_recovery)
    throw storeError('UNAVAILABLE', 'The database is unavailable: this server is a standby')
  return row
}

/**
 * PgBouncer with statement pooling accepts every statement but BEGIN. A wrapper may run each statement on
 * another connection.
 */
async function tryTransaction(connections: Connections): Promise<void> {
  try {
    await connections.transaction(query => query('SELECT 1'))
  } catch (error) {
    const cause = error instanceof QueryFailed ? error.cause : error
    const words = describeError(cause)
    const isWithoutBlock = cause instanceof CallbackFailed || hasCode(cause, '25P01', '3B001')
    if (!isWithoutBlock && !words.includes('statement pooling')) throw error
    throw storeError(
      'UNSUPPORTED_CLIENT',
      `withinTransaction needs database transactions, which this client or its pooler does not allow: ${words}. ` +
        'PgBouncer needs pool_mode = transaction or session',
      { cause },
    )
  }
}
