/** `createPostgresRelay`: the relay over the outbox of PostgreSQL. */
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
  postponeStatement,
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
      const rows = (await ask(claimStatement(tables), [limit, leaseMs])) as ClaimedRow[]
      return { claimed: rows.filter(row => row.is_claimed).map(claimedOf), more: rows.length === limit }
    },
    async remove(delivered) {
      await ask(removeStatement(tables), [JSON.stringify(delivered.map(keyOf))])
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

type ClaimedRow = Row & { event_number: string; attempts: number; is_claimed: boolean }

const claimedOf = (row: ClaimedRow): Claimed => ({
  event: recordedTransactionOf(row),
  eventNumber: row.event_number,
  attempts: row.attempts,
})

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
  if (code === '42P01' || code === '3F000')
    return storeError('SCHEMA_MISSING', `The schema ${schemaName} has no outbox: migrate with outbox: true`, {
      cause,
    })
  return startError(cause)
}
