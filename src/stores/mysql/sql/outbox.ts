/** The statements of the relay. Those with events are called with their JSON. */
import { lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import { asBytes, exactText } from './fragments.js'
import { transactionFields } from './lookups.js'

type Schema = Pick<Tables, 'schema'>

const now = 'UTC_TIMESTAMP(6)'
const later = (milliseconds: string) => `${now} + INTERVAL ${milliseconds} * 1000 MICROSECOND`

/** A table of the events in a JSON array of objects. */
const given = (...columns: (readonly [name: string, type: string])[]) => sql`
  JSON_TABLE(?, '$[*]' COLUMNS (
    event_number bigint unsigned PATH '$.event_number',
    ${lines(columns.map(([name, type]) => `${name} ${type} PATH '$.${name}'`))}
  )) given`

/** Locks events that are due, but none that another relay has locked. */
export const lockStatement = ({ schema }: Schema, limit: number) => sql`
  SELECT ${asBytes('event_number')}
  FROM ${schema}.wallet_outbox
  WHERE due_at <= ${now}
  ORDER BY due_at
  LIMIT ${limit}
  FOR UPDATE SKIP LOCKED`

/**
 * Locked events with their content, and when the earlier event that blocks one is due. In READ COMMITTED it
 * reads what is committed by now: who sees an event sees the earlier ones of its bet, or they are delivered.
 */
export const contentStatement = ({ schema }: Schema) => sql`
  SELECT
    ${lines(
      ['event.event_number', 'event.attempts + 1', 'earlier.event_number IS NOT NULL', 'earlier.due_at'].map(
        asBytes,
      ),
    )},
    ${transactionFields({ schema })}
  FROM JSON_TABLE(?, '$[*]' COLUMNS (event_number bigint unsigned PATH '$')) given
  STRAIGHT_JOIN ${schema}.wallet_outbox event ON event.event_number = given.event_number
  STRAIGHT_JOIN ${schema}.wallet_transactions recorded ON recorded.id = event.id
  LEFT JOIN ${schema}.wallet_outbox earlier ON earlier.event_number = (
    SELECT MIN(first.event_number)
    FROM ${schema}.wallet_outbox first
    WHERE first.bet_id = event.bet_id AND first.event_number < event.event_number
  )
  ORDER BY event.event_number`

/**
 * Leases events to this relay. One behind an earlier event of its bet waits until that one is due again.
 *
 * Called with the events, and the lease in milliseconds.
 */
export const leaseStatement = ({ schema }: Schema) => sql`
  UPDATE ${given(['is_claimed', 'integer'], ['earlier_due_at', 'datetime(6)'])}
  STRAIGHT_JOIN ${schema}.wallet_outbox event ON event.event_number = given.event_number
  SET
    event.attempts = event.attempts + given.is_claimed,
    event.due_at = IF(given.earlier_due_at > ${now}, given.earlier_due_at, ${later('?')})`

export const removeStatement = ({ schema }: Schema) => sql`
  DELETE event
  FROM ${given(['bet_id', exactText(255)])}
  STRAIGHT_JOIN ${schema}.wallet_outbox event ON event.event_number = given.event_number`

/** The events behind those that are removed are due, unless another relay has claimed them since. */
export const releaseStatement = ({ schema }: Schema) => sql`
  UPDATE ${given(['bet_id', exactText(255)])}
  STRAIGHT_JOIN ${schema}.wallet_outbox event
    ON event.bet_id = given.bet_id AND event.event_number > given.event_number
  SET event.due_at = ${now}
  WHERE event.attempts = 0 AND event.due_at > ${now}`

/** Not one that another relay has claimed since. */
export const postponeStatement = ({ schema }: Schema) => sql`
  UPDATE ${given(['attempts', 'integer'], ['pause_ms', 'integer'], ['problem', 'varchar(500)'])}
  STRAIGHT_JOIN ${schema}.wallet_outbox event
    ON event.event_number = given.event_number AND event.attempts = given.attempts
  SET event.due_at = ${later('given.pause_ms')}, event.problem = given.problem`

/** Queued, dead letters, and the age of the oldest in milliseconds. */
export const statsStatement = ({ schema }: Schema) => sql`
  SELECT
    COUNT(due_at),
    COUNT(*) - COUNT(due_at),
    (
      SELECT TIMESTAMPDIFF(MICROSECOND, recorded.recorded_at, ${now}) / 1000
      FROM ${schema}.wallet_outbox oldest
      JOIN ${schema}.wallet_transactions recorded ON recorded.id = oldest.id
      ORDER BY oldest.event_number
      LIMIT 1
    )
  FROM ${schema}.wallet_outbox`

export const retryStatement = ({ schema }: Schema) => sql`
  UPDATE ${schema}.wallet_outbox SET due_at = ${now}, attempts = 0 WHERE due_at IS NULL`
