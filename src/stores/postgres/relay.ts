/** `createPostgresRelay`: the relay over the outbox of PostgreSQL. */
import type { RecordedTransaction } from '../../lookups/records.js'
import { QueryFailed } from '../database/deadline.js'
import { recordedTransactionOf } from '../database/lookups.js'
import {
  type Claimed,
  createRelay,
  type Failed,
  type OutboxTable,
  type Relay,
  type RelayOptions,
  relayStatementMs,
} from '../database/relay.js'
import type { Row } from '../database/rows.js'
import { webhookSender as sender, type WebhookOptions } from '../database/webhooks.js'
import { connectionsFrom, type PostgresClient } from './client.js'
import { serverErrorOf } from './driver-errors.js'
import { check, startError, storeError } from './errors.js'
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
  const ask = async (text: string, values: unknown[] = []) => {
    try {
      return await connections.statement(text, values)
    } catch (error) {
      throw error instanceof QueryFailed ? relayError(error.cause, tables.schemaName) : error
    }
  }
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
      const events = JSON.stringify(delivered.map(keyOf))
      await ask(removeStatement(tables), [events])
      await ask(releaseStatement(tables), [events])
    },
    async postpone(failed) {
      await ask(postponeStatement(tables), [JSON.stringify(failed.map(failureOf))])
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

/**
 * Makes the `deliver` of a relay: a POST of a `WebhookBody` as JSON, signed by Standard Webhooks. Any answer
 * but 2xx is a failed attempt, redirects too. The header `webhook-id` is the `walletTransactionId`: the same
 * for each attempt.
 *
 * @throws {StoreError} `INVALID_OPTIONS`, naming the option
 */
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

const keyOf = ({ event, eventNumber }: Claimed) => ({ bet_id: event.betId, event_number: eventNumber })

const failureOf = ({ attempts, pauseMs, problem, ...claimed }: Failed) => ({
  ...keyOf(claimed as Claimed),
  attempts,
  pause_ms: pauseMs,
  problem,
})

function relayError(cause: unknown, schemaName: string): unknown {
  const { code, message } = serverErrorOf(cause) ?? { code: '', message: '' }
  if (code === '42501')
    return storeError('INSUFFICIENT_PRIVILEGE', `This role lacks privileges of the relay (${message})`, {
      cause,
    })
  if (code === '42P01' || code === '42883' || code === '3F000')
    return storeError('SCHEMA_MISSING', `The schema ${schemaName} has no outbox: migrate with outbox: true`, {
      cause,
    })
  return startError(cause)
}
