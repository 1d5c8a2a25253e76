/** The check of the client and its session: rows, read-only servers, warnings, database transactions. */

import { CallbackFailed, QueryFailed } from '../database/deadline.js'
import type { Durability } from '../database/durability.js'
import { StoreError } from '../database/errors.js'
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
  const { readOnly, clientMinMessages, clientEncoding } = await sessionOf(connections)
  if (clientEncoding !== 'UTF8') {
    throw storeError(
      'UNSUPPORTED_CLIENT',
      `client_encoding is ${clientEncoding}, so that ids would be other ids in the database (D24). It must be UTF8`,
    )
  }
  if (readOnly) {
    throw storeError(
      'DATABASE_REJECTED',
      'Database transactions of this role are read-only: default_transaction_read_only is on',
    )
  }
  // SyncRepWaitForLSN warns with a WARNING.
  if (/^(?:error|fatal|panic)$/.test(clientMinMessages)) {
    throw storeError(
      'NOT_DURABLE',
      `client_min_messages is ${clientMinMessages}: it hides the warning that a commit may not have reached the ` +
        'synchronous standby. Set it for this role: ALTER ROLE … SET client_min_messages = warning',
    )
  }
  if (transactions) await tryTransaction(connections)
}

/**
 * Asks the database now whether it can be written to, and learns its timeline.
 *
 * @throws {StoreError} `UNAVAILABLE`; the message says why
 */
export async function ping(
  connections: Connections,
  committing: Pick<CommitConnections, 'mustNotHang'>,
  timelines: Timelines,
): Promise<Durability> {
  try {
    const { readOnly, durability } = await timelines.learn(timeline => sessionOf(connections, timeline))
    if (readOnly) throw storeError('UNAVAILABLE', 'Database transactions are read-only')
    await committing.mustNotHang()
    return durability
  } catch (error) {
    if (error instanceof StoreError && error.code === 'UNAVAILABLE') throw error
    const cause = error instanceof QueryFailed ? error.cause : error
    throw storeError('UNAVAILABLE', `The database is unavailable: ${describeError(cause)}`, {
      cause,
    })
  }
}

interface Session {
  readOnly: boolean
  clientMinMessages: string
  clientEncoding: unknown
  durability: Durability
  timeline: string | null
}

/**
 * @param timeline its expression
 * @throws {StoreError} `UNAVAILABLE` on a standby, `UNSUPPORTED_CLIENT`
 */
async function sessionOf(connections: Connections, timeline = 'NULL::text'): Promise<Session> {
  const [row] = (await connections.statement(
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
    [],
  )) as (Partial<DurabilityRow> & {
    in_recovery?: unknown
    read_only?: unknown
    client_min_messages?: unknown
    client_encoding?: unknown
    a_text?: unknown
    an_amount?: unknown
    a_null?: unknown
    an_index?: unknown
    timeline?: string | null
  })[]
  const isUnchanged =
    row?.a_text === ' A' &&
    row.an_amount === '1.50' &&
    row.a_null === null &&
    typeof row.an_index !== 'bigint'
  if (!isUnchanged || typeof row.in_recovery !== 'boolean' || typeof row.client_min_messages !== 'string') {
    throw storeError(
      'UNSUPPORTED_CLIENT',
      'client.query must return each row as an object under the names of its columns, with snake_case names, and ' +
        `booleans, texts and NULL unchanged; it returned ${JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`,
    )
  }
  if (row.in_recovery)
    throw storeError('UNAVAILABLE', 'The database is unavailable: this server is a standby')
  return {
    readOnly: row.read_only === 'on',
    clientMinMessages: row.client_min_messages,
    clientEncoding: row.client_encoding,
    durability: durabilityOf(row as DurabilityRow),
    timeline: row.timeline ?? null,
  }
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
