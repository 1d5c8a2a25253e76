/** `createMysqlRelay`: the relay over the outbox of MySQL and MariaDB. */
import { QueryFailed } from '../database/deadline.js'
import { transactionsOf } from '../database/lookups.js'
import { createOutbox, type DueRow, type OutboxTable } from '../database/outbox.js'
import { createRelay, type Relay, type RelayOptions, relayStatementMs } from '../database/relay.js'
import { connectionsFrom } from './client.js'
import type { MysqlClient } from './driver.js'
import { check, classify, hasNumber, statementErrors, storeError } from './errors.js'
import { lookupRowOf, text, type Values } from './rows.js'
import type { Session } from './session.js'
import {
  contentStatement,
  dueStatement,
  leaseStatement,
  lockStatement,
  postponeStatement,
  releaseStatement,
  removeStatement,
  retryStatement,
  statsStatement,
} from './sql/outbox.js'
import { rightsOf } from './sql/rights.js'
import { type MysqlTables, type Tables, tablesOf } from './tables.js'

export interface MysqlRelayOptions extends RelayOptions, Pick<MysqlTables, 'schema'> {}

/**
 * Creates a relay, which delivers the events of the outbox when it is started. It holds no connection while
 * it delivers.
 *
 * @param client as for the store; one connection is enough
 * @throws {StoreError} `INVALID_OPTIONS` or `UNSUPPORTED_CLIENT`
 */
export function createMysqlRelay(client: MysqlClient, options: MysqlRelayOptions): Relay {
  return createRelay(check, options, schema => mysqlOutbox(client, schema))
}

/** Of statements that change several tables, also where all their names have a schema. */
const noDatabaseSelected = 1046

export function mysqlOutbox(client: MysqlClient, schema: string | undefined): OutboxTable {
  const tables = tablesOf(schema === undefined ? {} : { schema })
  const connections = connectionsFrom(client, {
    timeoutMs: relayStatementMs,
    lockTimeoutMs: relayStatementMs,
  })
  const transaction = <T>(work: (database: Session) => Promise<T>) =>
    connections.transaction(work).catch((error: unknown) => {
      if (!(error instanceof QueryFailed && hasNumber(error.cause, noDatabaseSelected))) throw error
      return connections.transaction(async database => {
        await database.run(`USE ${tables.schema}`)
        return await work(database)
      })
    })
  const run = (text: string, ...values: unknown[]) => transaction(database => database.run(text, values))
  return createOutbox({
    errors: {
      ...statementErrors,
      isRejected: error => classify(error).kind === 'rejected',
      isMissing: cause => hasNumber(cause, 1146, 1049),
    },
    schemaName: tables.schemaName,
    rights: rightsOf(tables, 'relay'),
    mustSeeTransactions: () => transaction(database => mustSeeTransactions(database, tables)),
    lease: (limit, leaseMs) => transaction(database => lease(database, tables, { limit, leaseMs })),
    async contents(ids) {
      const rows = await connections.read(contentStatement(tables), [JSON.stringify(ids)])
      return transactionsOf(rows.map(lookupRowOf))
    },
    remove: events => run(removeStatement(tables), events),
    release: events => run(releaseStatement(tables), events),
    postpone: events => run(postponeStatement(tables), events),
    async stats() {
      const [row = []] = await transaction(database => database.rows(statsStatement(tables)))
      const [queued, dead, oldestMs] = row
      return {
        queued: Number(queued),
        dead: Number(dead),
        oldestMs: oldestMs === null ? null : Number(oldestMs),
      }
    },
    retry: () => transaction(database => database.run(retryStatement(tables))),
  })
}

/** Also a temporary table of other code on this connection has the name. */
async function mustSeeTransactions(database: Session, tables: Tables): Promise<void> {
  for (const name of ['wallet_outbox', 'wallet_transactions']) {
    const [[, definition] = []] = await database.rows(`SHOW CREATE TABLE ${tables.schema}.${name}`)
    if (/^CREATE TABLE/.test(String(definition))) continue
    throw storeError(
      'SCHEMA_VERSION',
      `${tables.schemaName}.${name} is a view or a temporary table, which can hide transactions from the relay`,
    )
  }
}

async function lease(
  database: Session,
  tables: Tables,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<DueRow[]> {
  const locked = (await database.rows(lockStatement(tables, limit))).map(([number]) => String(number))
  if (locked.length === 0) return []
  const rows = await database.rows(dueStatement(tables), [JSON.stringify(locked)])
  const due = rows.map(dueOf)
  if (due.some(({ isGone }) => isGone)) await mustSeeTransactions(database, tables)
  const events = due.map(({ eventNumber, isBlocked, earlierDueAt }) => ({
    event_number: eventNumber,
    is_claimed: isBlocked ? 0 : 1,
    earlier_due_at: earlierDueAt,
  }))
  await database.run(leaseStatement(tables), [JSON.stringify(events), leaseMs])
  return due
}

function dueOf(values: Values): DueRow & { earlierDueAt: string | null } {
  const [number, id, betId, attempts, failures, isBlocked, isGone, earlierDueAt] = values
  return {
    eventNumber: String(number),
    walletTransactionId: String(id),
    betId: String(betId),
    attempts: Number(attempts),
    failures: Number(failures),
    isBlocked: String(isBlocked) === '1',
    isGone: String(isGone) === '1',
    earlierDueAt: text(earlierDueAt),
  }
}
