/** The outbox: its table, and the statements of the relay. */
import { dueMinutesMax } from '../../database/outbox.js'
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
      -- Claims. A relay that was overtaken has a lower number, and changes nothing.
      attempts integer NOT NULL DEFAULT 0,
      -- Failed attempts.
      failures integer NOT NULL DEFAULT 0,
      recorded_at timestamptz NOT NULL DEFAULT now(),
      -- When a relay may claim it: at once, after another's lease, after a pause. NULL: a dead letter.
      due_at timestamptz DEFAULT now(),
      -- Why the last attempt failed.
      problem text,
      PRIMARY KEY (bet_id, event_number)
    )`,
  sql`
    CREATE INDEX IF NOT EXISTS outbox_due_at ON ${schema}.outbox (due_at)`,
]

const latestDue = `now() + interval '${dueMinutesMax} minutes'`

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
      TABLE (
        bet_id text,
        event_number bigint,
        attempts integer,
        failures integer,
        is_blocked boolean,
        is_gone boolean
      )`,
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
          SELECT * FROM (
            SELECT event.bet_id, event.event_number
            FROM ${schema}.outbox event
            WHERE event.due_at <= now()
            ORDER BY event.due_at
            LIMIT events_max
            FOR UPDATE SKIP LOCKED
          ) waiting
          UNION ALL
          -- Written by a clock that was ahead: no lease and no pause of this one is as long.
          SELECT * FROM (
            SELECT event.bet_id, event.event_number
            FROM ${schema}.outbox event
            WHERE event.due_at > ${latestDue}
            ORDER BY event.due_at
            LIMIT events_max
            FOR UPDATE SKIP LOCKED
          ) of_another_clock
          LIMIT events_max
        ) due;

        RETURN QUERY
        UPDATE ${schema}.outbox event
        SET
          attempts = event.attempts + CASE WHEN earlier.is_blocking THEN 0 ELSE 1 END,
          due_at = CASE
            WHEN earlier.due_at > now() AND earlier.due_at <= ${latestDue} THEN earlier.due_at
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
        RETURNING
          event.bet_id,
          event.event_number,
          event.attempts,
          event.failures,
          earlier.is_blocking IS TRUE,
          NOT EXISTS (
            SELECT FROM ${schema}.transactions stored
            WHERE stored.wallet_transaction_id = event.event_number::text
          );
      END`,
  })
}

type Schema = Pick<Tables, 'schema'>

export const claimStatement = ({ schema }: Schema) => sql`
  SELECT
    bet_id AS "betId",
    event_number::text AS "eventNumber",
    event_number::text AS "walletTransactionId",
    attempts,
    failures,
    is_blocked AS "isBlocked",
    is_gone AS "isGone"
  FROM ${schema}.${claimFunctionName}($1, $2)`

/** Transactions, called with their references as an array. */
export const contentStatement = ({ schema }: Schema) => sql`
  SELECT
    ${transactionFields}
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

/**
 * Called with removed events as JSON: the next event of each bet is due, unless a relay has claimed it since.
 * Also one that is due already: a relay may be about to postpone it, as it has seen the removed one.
 */
export const releaseStatement = ({ schema }: Schema) => sql`
  UPDATE ${schema}.outbox event
  SET due_at = now()
  FROM ${given('')}
  WHERE event.bet_id = given.bet_id
    AND event.event_number = (
      SELECT min(next.event_number)
      FROM ${schema}.outbox next
      WHERE next.bet_id = given.bet_id
    )
    AND event.attempts = 0
    AND event.due_at IS NOT NULL`

/** Called with failed attempts as JSON. Not one that another relay has claimed since. */
export const postponeStatement = ({ schema }: Schema) => sql`
  UPDATE ${schema}.outbox event
  SET
    due_at = now() + given.pause_ms * interval '1 millisecond',
    problem = given.problem,
    failures = given.failures
  FROM ${given(', attempts integer, failures integer, pause_ms integer, problem text')}
  WHERE event.bet_id = given.bet_id
    AND event.event_number = given.event_number
    AND event.attempts = given.attempts`

/** The age counts the hours of a clock that was ahead too. */
export const statsStatement = ({ schema }: Schema) => sql`
  SELECT
    count(due_at)::integer AS queued,
    (count(*) - count(due_at))::integer AS dead,
    (max(abs(extract(epoch FROM clock_timestamp() - recorded_at))) * 1000)::float8 AS "oldestMs"
  FROM ${schema}.outbox`

export const retryStatement = ({ schema }: Schema) => sql`
  WITH retried AS (
    UPDATE ${schema}.outbox
    SET due_at = now(), failures = 0
    WHERE due_at IS NULL
    RETURNING 1
  )
  SELECT count(*)::integer AS retried FROM retried`

/** Called with the name of the schema: what a relay reads of it that is no table. */
export const viewsStatement = sql`
  SELECT c.relname::text AS name
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1
    AND c.relname IN ('outbox', 'transactions')
    AND c.relkind NOT IN ('r', 'p')`
