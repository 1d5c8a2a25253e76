/** The outbox: its table, and the statements of the relay. */
import { sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import { type DatabaseFunction, defineFunction, lookup, waitForDisk } from './fragments.js'
import { transactionFields } from './lookups.js'
import { schemaVersion } from './version.js'

export const outboxStatements = (schema: string) => [
  sql`
    -- An event for each recorded transaction that is not delivered yet. Its content is the transaction.
    -- The number is the wallet_transaction_id, drawn while the player's row is locked: the events of a bet
    -- have the order of their commits.
    CREATE TABLE IF NOT EXISTS ${schema}.outbox (
      bet_id text COLLATE "C" NOT NULL,
      event_number bigint NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      -- When a relay may claim it: at once, after another's lease, after a pause. NULL: a dead letter.
      due_at timestamptz DEFAULT now(),
      -- Why the last attempt failed.
      problem text,
      PRIMARY KEY (bet_id, event_number)
    )`,
  sql`
    CREATE INDEX IF NOT EXISTS outbox_due_at ON ${schema}.outbox (due_at)`,
]

/** The function that relays call: without a hash, as it does not depend on the options. */
export const claimFunctionName = `claim_events_v${schemaVersion}`

/**
 * Leases events that are due. One behind an earlier event of its bet waits until that one is due again: it is
 * returned as blocked.
 *
 * Two statements, so that the second sees what is committed when the events are locked: who sees an event
 * sees the earlier ones of its bet, or they are delivered. In one, a relay that has just delivered the
 * earlier event could not wake the later one.
 */
export function claimFunction(tables: Tables): DatabaseFunction {
  const { schema } = tables
  return defineFunction(tables, {
    name: claimFunctionName,
    comment: '-- For the relay: leases events that are due, of each bet only the first.',
    parameters: sql`
      events_max integer,
      lease_ms integer`,
    returns: sql`
      TABLE (event_number bigint, attempts integer, is_blocked boolean)`,
    rows: 100,
    body: sql`
      #variable_conflict use_column
      DECLARE
        bet_ids text[];
        event_numbers bigint[];
      BEGIN
        -- The claim commits after the events it has read: what it returns, no crash or failover takes back.
        PERFORM ${waitForDisk};

        SELECT array_agg(due.bet_id), array_agg(due.event_number)
        INTO bet_ids, event_numbers
        FROM (
          SELECT event.bet_id, event.event_number
          FROM ${schema}.outbox event
          WHERE event.due_at <= now()
          ORDER BY event.due_at
          LIMIT events_max
          FOR UPDATE SKIP LOCKED
        ) due;

        RETURN QUERY
        UPDATE ${schema}.outbox event
        SET
          attempts = event.attempts + CASE WHEN earlier.is_blocking THEN 0 ELSE 1 END,
          due_at = CASE
            WHEN earlier.due_at > now() THEN earlier.due_at
            ELSE now() + lease_ms * interval '1 millisecond'
          END
        FROM unnest(bet_ids, event_numbers) AS due (bet_id, event_number)
        ${lookup(
          sql`
            SELECT true AS is_blocking, first.due_at
            FROM ${schema}.outbox first
            WHERE first.bet_id = due.bet_id
              AND first.event_number < due.event_number
            ORDER BY first.event_number
            LIMIT 1`,
          'earlier',
        )}
        WHERE event.bet_id = due.bet_id
          AND event.event_number = due.event_number
        RETURNING event.event_number, event.attempts, earlier.is_blocking IS TRUE;
      END`,
  })
}

type Schema = Pick<Tables, 'schema'>

export const claimStatement = ({ schema }: Schema) => sql`
  SELECT event_number::text, attempts, is_blocked
  FROM ${schema}.${claimFunctionName}($1, $2)`

/** The transactions of events, called with their numbers as an array. */
export const contentStatement = ({ schema }: Schema) => sql`
  SELECT
    ${transactionFields({ schema })}
  FROM ${schema}.transactions stored
  WHERE stored.wallet_transaction_id = ANY ($1::text::text[])`

const given = (columns: string) =>
  `jsonb_to_recordset($1::text::jsonb) AS given (bet_id text, event_number bigint${columns})`

/** Called with events as JSON. */
export const removeStatement = ({ schema }: Schema) => sql`
  DELETE FROM ${schema}.outbox event
  USING ${given('')}
  WHERE event.bet_id = given.bet_id
    AND event.event_number = given.event_number`

/** Called with removed events as JSON: those behind them are due, unless a relay has claimed them since. */
export const releaseStatement = ({ schema }: Schema) => sql`
  UPDATE ${schema}.outbox event
  SET due_at = now()
  FROM ${given('')}
  WHERE event.bet_id = given.bet_id
    AND event.event_number > given.event_number
    AND event.attempts = 0
    AND event.due_at > now()`

/** Called with failed attempts as JSON. Not one that another relay has claimed since. */
export const postponeStatement = ({ schema }: Schema) => sql`
  UPDATE ${schema}.outbox event
  SET due_at = now() + given.pause_ms * interval '1 millisecond', problem = given.problem
  FROM ${given(', attempts integer, pause_ms integer, problem text')}
  WHERE event.bet_id = given.bet_id
    AND event.event_number = given.event_number
    AND event.attempts = given.attempts`

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
