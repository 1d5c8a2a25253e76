/** `createPostgresRelay`: the relay over the outbox of PostgreSQL. */
import type { RecordedTransaction } from '../../lookups/records.js'
import { recordedTransactionOf } from '../database/lookups.js'
import {
  asked,
  type Claimed,
  createRelay,
  deliveredJson,
  failedJson,
  type OutboxErrors,
  type OutboxTable,
  type Relay,
  type RelayOptions,
  relayStatementMs,
} from '../database/relay.js'
import type { Row } from '../database/rows.js'
import { webhookSender as sender, type WebhookOptions } from '../database/webhooks.js'
import { connectionsFrom, type PostgresClient } from './client.js'
import { check, hasCode, startError, storeError } from './errors.js'
import { withoutHangingCommits } from './hanging-commits.js'
import { withLockTimeout } from './lock-timeout.js'
import {
  claimStatement,
  contentStatement,
  postponeStatement,
  releaseStatement,
  removeStatement,
  retryStatement,
  statsStatement,
} from './sql/outbox.js'
import { type PostgresTables, tablesOf } from './tables.js'

export interface PostgresRelayOptions extends RelayOptions, Pick<PostgresTables, 'schema'> {}

/**
 * Creates a relay, which delivers the events of the outbox when it is started. It holds no connection while
 * it delivers.
 *
 * @param client as for the store; one connection is enough
 * @throws {StoreError} `INVALID_OPTIONS` or `UNSUPPORTED_CLIENT`
 */
export function createPostgresRelay(client: PostgresClient, options: PostgresRelayOptions): Relay {
  return createRelay(check, options, schema => postgresOutbox(client, schema))
}

export function postgresOutbox(client: PostgresClient, schema: string | undefined): OutboxTable {
  const tables = tablesOf(schema === undefined ? {} : { schema })
  const connections = connectionsFrom(client, {
    timeoutMs: relayStatementMs,
    transactions: false,
    durable: true,
  })
  const statement = withLockTimeout(withoutHangingCommits(connections, relayStatementMs), relayStatementMs)
  const errors: OutboxErrors = {
    schemaName: tables.schemaName,
    ...{ makeError: storeError, startError },
    lacksPrivilege: cause => hasCode(cause, '42501'),
    hasNoOutbox: cause => hasCode(cause, '42P01', '42883', '3F000'),
  }
  const ask = (text: string, values: unknown[] = []) => asked(statement(text, values), errors)
  return {
    async claim(limit, leaseMs) {
      const due = (await ask(claimStatement(tables), [limit, leaseMs])) as DueRow[]
      const leased = due.filter(row => !row.is_blocked)
      const numbers = leased.map(row => row.event_number)
      const rows = numbers.length === 0 ? [] : await ask(contentStatement(tables), [`{${numbers.join(',')}}`])
      const events = new Map(
        (rows as Row[]).map(row => [row.wallet_transaction_id, recordedTransactionOf(row)]),
      )
      return { claimed: leased.flatMap(row => claimedOf(row, events)), more: due.length === limit }
    },
    async remove(delivered) {
      const events = deliveredJson(delivered)
      await ask(removeStatement(tables), [events])
      await ask(releaseStatement(tables), [events])
    },
    async postpone(failed) {
      await ask(postponeStatement(tables), [failedJson(failed)])
    },
    async stats() {
      const [row] = (await ask(statsStatement(tables))) as StatsRow[]
      return { queued: row?.queued ?? 0, oldestMs: row?.oldest_ms ?? null, dead: row?.dead ?? 0 }
    },
    async retryDeadLetters() {
      const [row] = (await ask(retryStatement(tables))) as { retried: number }[]
      return row?.retried ?? 0
    },
  }
}

type StatsRow = Record<'queued' | 'dead', number> & { oldest_ms: number | null }

/** Makes the `deliver` of a relay: webhooks. @throws {StoreError} `INVALID_OPTIONS`, naming the option */
export const webhookSender = (options: WebhookOptions): RelayOptions['deliver'] => sender(check, options)

interface DueRow {
  event_number: string
  attempts: number
  is_blocked: boolean
}

function claimedOf(
  { event_number: eventNumber, attempts }: DueRow,
  events: ReadonlyMap<unknown, RecordedTransaction>,
): Claimed[] {
  const event = events.get(eventNumber)
  return event === undefined ? [] : [{ event, eventNumber, attempts }]
}
