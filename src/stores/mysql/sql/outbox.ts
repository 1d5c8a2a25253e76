/** The statements of the relay. Those with events are called with their JSON. */
import { dueMinutesMax } from '../../database/outbox.js'
import { lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import { asBytes, exactText } from './fragments.js'
import { transactionFields } from './lookups.js'

type Schema = Pick<Tables, 'schema'>

const now = 'UTC_TIMESTAMP(6)'
const later = (milliseconds: string) => `${now} + INTERVAL ${milliseconds} * 1000 MICROSECOND`

const latestDue = `${now} + INTERVAL ${dueMinutesMax} MINUTE`

/** A table of the events in a JSON array of objects. @param columns `attempts integer` */
const given = (...columns: string[]) => sql`
  JSON_TABLE(?, '$[*]' COLUMNS (
    event_number bigint unsigned PATH '$.event_number',
    ${lines(columns.map(column => `${column} PATH '$.${column.split(' ')[0]}'`))}
  )) given`

/**
 * Locks events that are due, but none that another relay has locked. Those after the latest time were written
 * by a clock that was ahead: no lease and no pause of this one is as long.
 */
export const lockStatement = ({ schema }: Schema, limit: number) => sql`
  SELECT ${asBytes('event_number')}
  FROM ${schema}.wallet_outbox
  WHERE due_at <= ${now} OR due_at > ${latestDue}
  ORDER BY due_at
  LIMIT ${limit}
  FOR UPDATE SKIP LOCKED`

const dueColumns = [
  'event.event_number',
  'event.id',
  'event.bet_id',
  'event.attempts + 1',
  'event.failures',
  'earlier.event_number IS NOT NULL',
  'recorded.id IS NULL',
  'earlier.due_at',
]

/**
 * Of locked events, whether each is blocked by an earlier one, and when that is due. In READ COMMITTED it
 * reads what is committed by now: who sees an event sees the earlier ones of its bet, or they are delivered.
 */
export const dueStatement = ({ schema }: Schema) => sql`
  SELECT
    ${lines(dueColumns.map(asBytes))}
  FROM JSON_TABLE(?, '$[*]' COLUMNS (event_number bigint unsigned PATH '$')) given
  STRAIGHT_JOIN ${schema}.wallet_outbox event ON event.event_number = given.event_number
  LEFT JOIN ${schema}.wallet_transactions recorded ON recorded.id = event.id
  LEFT JOIN ${schema}.wallet_outbox earlier ON earlier.event_number = (
    SELECT MIN(first.event_number)
    FROM ${schema}.wallet_outbox first
    WHERE first.bet_id = event.bet_id AND first.event_number < event.event_number
  )
  ORDER BY event.event_number`

/** The transactions of events, called with their ids in a JSON array. */
export const contentStatement = ({ schema }: Schema) => sql`
  SELECT
    ${transactionFields}
  FROM JSON_TABLE(?, '$[*]' COLUMNS (id bigint unsigned PATH '$')) given
  STRAIGHT_JOIN ${schema}.wallet_transactions recorded ON recorded.id = given.id`

/**
 * Leases events to this relay. One behind an earlier event of its bet waits until that one is due again.
 *
 * Called with the events, and the lease in milliseconds.
 */
export const leaseStatement = ({ schema }: Schema) => sql`
  UPDATE ${given('is_claimed integer', 'earlier_due_at datetime(6)')}
  STRAIGHT_JOIN ${schema}.wallet_outbox event ON event.event_number = given.event_number
  SET
    event.attempts = event.attempts + given.is_claimed,
    event.due_at = IF(
      given.earlier_due_at > ${now} AND given.earlier_due_at <= ${latestDue},
      given.earlier_due_at,
      ${later('?')}
    )`

export const removeStatement = ({ schema }: Schema) => sql`
  DELETE event
  FROM ${given(`bet_id ${exactText(255)}`)}
  STRAIGHT_JOIN ${schema}.wallet_outbox event ON event.event_number = given.event_number`

/**
 * The next event of each bet is due, unless another relay has claimed it since. Also one that is due already:
 * a relay may be about to postpone it, as it has seen the removed one.
 */
export const releaseStatement = ({ schema }: Schema) => sql`
  UPDATE (
    SELECT MIN(next.event_number) AS event_number
    FROM ${given(`bet_id ${exactText(255)}`)}
    STRAIGHT_JOIN ${schema}.wallet_outbox next ON next.bet_id = given.bet_id
    GROUP BY next.bet_id
  ) released
  STRAIGHT_JOIN ${schema}.wallet_outbox event ON event.event_number = released.event_number
  SET event.due_at = ${now}
  WHERE event.attempts = 0 AND event.due_at IS NOT NULL`

/** Not one that another relay has claimed since. */
export const postponeStatement = ({ schema }: Schema) => sql`
  UPDATE ${given('attempts integer', 'failures integer', 'pause_ms integer', 'problem varchar(500)')}
  STRAIGHT_JOIN ${schema}.wallet_outbox event
    ON event.event_number = given.event_number AND event.attempts = given.attempts
  SET
    event.due_at = ${later('given.pause_ms')},
    event.problem = given.problem,
    event.failures = given.failures`

/**
 * Queued, dead letters, and the age of the oldest in milliseconds, which counts the hours of a clock that was
 * ahead too.
 */
export const statsStatement = ({ schema }: Schema) => sql`
  SELECT
    COUNT(due_at),
    COUNT(*) - COUNT(due_at),
    MAX(ABS(TIMESTAMPDIFF(MICROSECOND, recorded_at, ${now}))) / 1000
  FROM ${schema}.wallet_outbox`

export const retryStatement = ({ schema }: Schema) => sql`
  UPDATE ${schema}.wallet_outbox SET due_at = ${now}, failures = 0 WHERE due_at IS NULL`
