/** The outbox: its table, and the statements of the relay. */
import { sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import { lookup } from './fragments.js'
import { transactionFields } from './lookups.js'

export const outboxStatements = (schema: string) => [
  sql`
    -- An event for each recorded transaction that is not delivered yet. Its content is the transaction.
    -- The number is the wallet_transaction_id, drawn while the player's row is locked: the events of a bet
    -- have the order of their commits.
    CREATE TABLE IF NOT EXISTS ${schema}.outbox (
      bet_id text COLLATE "C" NOT NULL,
      event_number bigint NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      -- When a relay may claim it: at once, after the lease of another one, after a pause. NULL: a dead letter.
      due_at timestamptz DEFAULT now(),
      -- Why the last attempt failed.
      problem text,
      PRIMARY KEY (bet_id, event_number)
    )`,
  sql`
    CREATE INDEX IF NOT EXISTS outbox_due_at ON ${schema}.outbox (due_at)`,
]

type Schema = Pick<Tables, 'schema'>

/**
 * Called with the limit and the lease in milliseconds. An event behind an earlier one of its bet is not
 * claimed, and not looked at again before that one is: whoever sees an event sees the earlier ones of its bet,
 * or they are delivered.
 */
export const claimStatement = ({ schema }: Schema) => sql`
  WITH candidate AS MATERIALIZED (
    SELECT event.bet_id, event.event_number
    FROM ${schema}.outbox event
    WHERE event.due_at <= now()
    ORDER BY event.due_at
    LIMIT $1::integer
    FOR UPDATE SKIP LOCKED
  ),

  claimed AS (
    UPDATE ${schema}.outbox event
    SET
      attempts = event.attempts + CASE WHEN earlier.is_blocking THEN 0 ELSE 1 END,
      due_at = CASE
        WHEN earlier.due_at > now() THEN earlier.due_at
        ELSE now() + $2::integer * interval '1 millisecond'
      END
    FROM candidate
    ${lookup(
      sql`
        SELECT true AS is_blocking, first.due_at
        FROM ${schema}.outbox first
        WHERE first.bet_id = candidate.bet_id
          AND first.event_number < candidate.event_number
        ORDER BY first.event_number
        LIMIT 1`,
      'earlier',
    )}
    WHERE event.bet_id = candidate.bet_id
      AND event.event_number = candidate.event_number
    RETURNING event.event_number, event.attempts, earlier.is_blocking
  )

  SELECT
    claimed.event_number::text AS event_number,
    claimed.attempts,
    claimed.is_blocking IS NOT TRUE AS is_claimed,
    content.*
  FROM claimed
  ${lookup(
    sql`
      SELECT
        ${transactionFields({ schema })}
      FROM ${schema}.transactions stored
      WHERE stored.wallet_transaction_id = claimed.event_number::text`,
    'content',
  )}
  ORDER BY claimed.event_number`

/**
 * Called with the delivered events as JSON. The events behind them are due, unless another relay has claimed
 * them since.
 */
export const removeStatement = ({ schema }: Schema) => sql`
  WITH removed AS (
    DELETE FROM ${schema}.outbox event
    USING jsonb_to_recordset($1::text::jsonb) AS delivered (bet_id text, event_number bigint)
    WHERE event.bet_id = delivered.bet_id
      AND event.event_number = delivered.event_number
    RETURNING event.bet_id, event.event_number
  )
  UPDATE ${schema}.outbox event
  SET due_at = now()
  FROM removed
  WHERE event.bet_id = removed.bet_id
    AND event.event_number > removed.event_number
    AND event.attempts = 0
    AND event.due_at > now()`

/** Called with the failed attempts as JSON. */
export const postponeStatement = ({ schema }: Schema) => sql`
  UPDATE ${schema}.outbox event
  SET due_at = now() + failed.pause_ms * interval '1 millisecond', problem = failed.problem
  FROM jsonb_to_recordset($1::text::jsonb)
    AS failed (bet_id text, event_number bigint, attempts integer, pause_ms integer, problem text)
  WHERE event.bet_id = failed.bet_id
    AND event.event_number = failed.event_number
    AND event.attempts = failed.attempts`

export const statsStatement = ({ schema }: Schema) => sql`
  SELECT
    count(due_at)::integer AS queued,
    (count(*) - count(due_at))::integer AS dead,
    (
      SELECT (extract(epoch FROM clock_timestamp() - stored.recorded_at) * 1000)::float8
      FROM ${schema}.transactions stored
      WHERE stored.wallet_transaction_id = min(event.event_number)::text
    ) AS oldest_ms
  FROM ${schema}.outbox event`

export const retryStatement = ({ schema }: Schema) => sql`
  WITH retried AS (
    UPDATE ${schema}.outbox
    SET due_at = now(), attempts = 0
    WHERE due_at IS NULL
    RETURNING 1
  )
  SELECT count(*)::integer AS retried FROM retried`
