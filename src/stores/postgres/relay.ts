/** `createPostgresRelay`: the relay over the outbox of PostgreSQL. */
import { createOutbox, type DueRow, type OutboxStats, type OutboxTable } from '../database/outbox.js'
import { createRelay, type Relay, type RelayOptions, relayStatementMs } from '../database/relay.js'
import type { Row } from '../database/rows.js'
import { checkRowSecurity } from './check-visibility.js'
import { connectionsFrom, type PostgresClient } from './client.js'
import { check, classify, hasCode, statementErrors, storeError } from './errors.js'
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
import { rightsOf } from './sql/rights.js'
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
  const ask = async <T>(text: string, ...values: unknown[]) => (await statement(text, values)) as T[]
  return createOutbox({
    errors: {
      ...statementErrors,
      // XX: a row, an index or a page is damaged.
      isRejected: error =>
        hasCode(error.cause, 'XX000', 'XX001', 'XX002') ||
        classify(error, tables.schemaName).kind === 'rejected',
      isMissing: cause => hasCode(cause, '42P01', '42883', '3F000'),
    },
    schemaName: tables.schemaName,
    rights: rightsOf(tables, 'relay'),
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
    contents: ids => ask<Row>(contentStatement(tables), `{${ids.join(',')}}`),
    remove: events => ask(removeStatement(tables), events),
    release: events => ask(releaseStatement(tables), events),
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
