/** `createPostgresRelay`: the relay over the outbox of PostgreSQL. */
import {
  createOutbox,
  type DueRow,
  type OutboxErrors,
  type OutboxStats,
  type OutboxTable,
} from '../database/outbox.js'
import { createRelay, type Relay, type RelayOptions, relayStatementMs } from '../database/relay.js'
import type { Row } from '../database/rows.js'
import { checkRowSecurity } from './check-visibility.js'
import { connectionsFrom, type PostgresClient } from './client.js'
import { check, classify, hasCode, startError, storeError } from './errors.js'
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
  viewsStatement,
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
    // XX: a row, an index or a page is damaged.
    isRejected: error =>
      hasCode(error.cause, 'XX000', 'XX001', 'XX002') ||
      classify(error, tables.schemaName).kind === 'rejected',
    lacksPrivilege: cause => hasCode(cause, '42501'),
    hasNoOutbox: cause => hasCode(cause, '42P01', '42883', '3F000'),
  }
  const ask = async <T>(text: string, ...values: unknown[]) => (await statement(text, values)) as T[]
  return createOutbox({
    errors,
    async mustSeeTransactions() {
      await checkRowSecurity(connections.statement, tables)
      const [view] = await ask<{ name: string }>(viewsStatement, tables.schemaName)
      if (view !== undefined)
        throw storeError(
          'SCHEMA_VERSION',
          `${tables.schemaName}.${view.name} is no table: a view can hide transactions from the relay`,
        )
    },
    lease: (limit, leaseMs) => ask<DueRow>(claimStatement(tables), limit, leaseMs),
    async contents(due) {
      const numbers = due.map(({ eventNumber }) => eventNumber)
      const rows = await ask<Row>(contentStatement(tables), `{${numbers.join(',')}}`)
      return rows.map(row => [String(row.wallet_transaction_id), row])
    },
    async remove(events) {
      await ask(removeStatement(tables), events)
      await ask(releaseStatement(tables), events)
    },
    postpone: events => ask(postponeStatement(tables), events),
    async stats() {
      const [stats] = await ask<OutboxStats>(statsStatement(tables))
      return stats ?? { queued: 0, oldestMs: null, dead: 0 }
    },
    async retry() {
      const [row] = await ask<{ retried: number }>(retryStatement(tables))
      return row?.retried ?? 0
    },
  })
}
