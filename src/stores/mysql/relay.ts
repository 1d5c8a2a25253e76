/** `createMysqlRelay`: the relay over the outbox of MySQL and MariaDB. */
import { QueryFailed } from '../database/deadline.js'
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
import { webhookSender as sender, type WebhookOptions } from '../database/webhooks.js'
import { connectionsFrom } from './client.js'
import type { MysqlClient } from './driver.js'
import { check, hasNumber, privilegeNumbers, startError, storeError } from './errors.js'
import { lookupRowOf, type Values } from './rows.js'
import type { Session } from './session.js'
import {
  contentStatement,
  leaseStatement,
  lockStatement,
  postponeStatement,
  releaseStatement,
  removeStatement,
  retryStatement,
  statsStatement,
} from './sql/outbox.js'
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
  const errors: OutboxErrors = {
    schemaName: tables.schemaName,
    ...{ makeError: storeError, startError },
    lacksPrivilege: cause => hasNumber(cause, ...privilegeNumbers),
    hasNoOutbox: cause => hasNumber(cause, 1146, 1049),
  }
  const transaction = <T>(work: (database: Session) => Promise<T>) => {
    const attempt = connections.transaction(work).catch((error: unknown) => {
      if (!(error instanceof QueryFailed && hasNumber(error.cause, noDatabaseSelected))) throw error
      return connections.transaction(async database => {
        await database.run(`USE ${tables.schema}`)
        return await work(database)
      })
    })
    return asked(attempt, errors)
  }
  return {
    claim: (limit, leaseMs) => transaction(database => claim(database, tables, { limit, leaseMs })),
    remove: delivered =>
      transaction(async database => {
        const events = deliveredJson(delivered)
        await database.run(removeStatement(tables), [events])
        await database.run(releaseStatement(tables), [events])
      }),
    async postpone(failed) {
      const events = failedJson(failed)
      await transaction(database => database.run(postponeStatement(tables), [events]))
    },
    async stats() {
      const [row = []] = await transaction(database => database.rows(statsStatement(tables)))
      const [queued, dead, oldestMs] = row
      return {
        queued: Number(queued),
        dead: Number(dead),
        oldestMs: oldestMs === null ? null : Number(oldestMs),
      }
    },
    retryDeadLetters: () => transaction(database => database.run(retryStatement(tables))),
  }
}

/** Makes the `deliver` of a relay: webhooks. @throws {StoreError} `INVALID_OPTIONS`, naming the option */
export const webhookSender = (options: WebhookOptions): RelayOptions['deliver'] => sender(check, options)

async function claim(
  database: Session,
  tables: Tables,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<{ claimed: Claimed[]; more: boolean }> {
  const locked = (await database.rows(lockStatement(tables, limit))).map(([number]) => String(number))
  if (locked.length === 0) return { claimed: [], more: false }
  const candidates = (await database.rows(contentStatement(tables), [JSON.stringify(locked)])).map(
    candidateOf,
  )
  const events = candidates.map(({ claimed, isBlocked, earlierDueAt }) => ({
    event_number: claimed.eventNumber,
    is_claimed: isBlocked ? 0 : 1,
    earlier_due_at: earlierDueAt,
  }))
  await database.run(leaseStatement(tables), [JSON.stringify(events), leaseMs])
  return {
    claimed: candidates.filter(({ isBlocked }) => !isBlocked).map(({ claimed }) => claimed),
    more: locked.length === limit,
  }
}

function candidateOf([number, attempts, isBlocked, earlierDueAt, ...content]: Values) {
  const { transaction } = lookupRowOf(content)
  const claimed: Claimed = {
    event: recordedTransactionOf(transaction ?? {}),
    eventNumber: String(number),
    attempts: Number(attempts),
  }
  return {
    claimed,
    isBlocked: String(isBlocked) === '1',
    earlierDueAt: earlierDueAt === null ? null : String(earlierDueAt),
  }
}
