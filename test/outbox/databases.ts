/** The databases that the outbox is the same on, each with a wallet of its own whose store writes events. */
import { PGlite } from '@electric-sql/pglite'
import { createPool } from 'mysql2/promise'
import type { WalletLookups } from '../../src/lookups/index.js'
import { optionChecks } from '../../src/option-checks.js'
import type { WalletStore } from '../../src/store.js'
import type { OutboxTable } from '../../src/stores/database/outbox.js'
import { createRelay, type Relay, type RelayOptions } from '../../src/stores/database/relay.js'
import { createMysqlLookups, createMysqlStore, migrateMysql } from '../../src/stores/mysql/index.js'
import { mysqlOutbox } from '../../src/stores/mysql/relay.js'
import {
  createPostgresLookups,
  createPostgresStore,
  migratePostgres,
  type PostgresClient,
} from '../../src/stores/postgres/index.js'
import { postgresOutbox } from '../../src/stores/postgres/relay.js'
import { freshMariadb } from '../mariadb/fresh-database.js'
import { noServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { forgetOnMysql, forgetOnPostgres } from '../stores/forget-player.js'

/** A wallet with the players alice and bob (100 EUR), and its outbox. */
export interface Wallet {
  store: WalletStore
  lookups: WalletLookups
  outbox: OutboxTable
  forgetPlayer(playerId: string): Promise<{ pseudonym: string }>
  /** Makes every event due that is no dead letter: as if leases and pauses had passed. */
  passTime(): Promise<void>
  /** The seconds until an event is due, as SQL. */
  pauseSql: string
  /** A time in hours from now, as SQL. */
  inHoursSql(hours: number): string
  /** Sets the platform's date of some transactions to one that no event can have, as SQL without its WHERE. */
  spoilDateSql: string
  /** Creates a table whose rows keep events from being deleted, as SQL; `KEPT` is its name. */
  keepSql: string
  /** Any statement; `OUTBOX`, `TRANSACTIONS` and `SCHEMA` stand for the names. */
  rows(text: string): Promise<readonly Record<string, unknown>[]>
  close(): Promise<void>
}

export const check = optionChecks(message => {
  throw new TypeError(message)
})

/** A failed event is due again when the test says so. */
export const withLongPauses = (outbox: OutboxTable): OutboxTable => ({
  ...outbox,
  postpone: failed => outbox.postpone(failed.map(each => ({ ...each, pauseMs: each.pauseMs && 840_000 }))),
})

/** A relay of this outbox, or of one that is faulty; it looks often, and no delivery takes too long by itself. */
export const relayOf = (outbox: OutboxTable, options: RelayOptions): Relay =>
  createRelay(check, { pollMs: 2, timeoutMs: 840_000, ...options }, () => outbox)

/** A statement of many rows locks them in another order than a relay that works meanwhile: either may be the victim. */
async function despiteDeadlocks(statement: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await statement()
      return
    } catch (error) {
      const { code } = error as { code?: unknown }
      if (code !== 'ER_LOCK_DEADLOCK' && code !== '40P01') throw error
    }
  }
}

async function openPostgres(client: PostgresClient, close: () => Promise<void>): Promise<Wallet> {
  const options = { outbox: true }
  await migratePostgres(client, options, { lookupIndexes: true })
  await client.query("INSERT INTO bet_wallet.players VALUES ('alice', 'EUR', 100), ('bob', 'EUR', 100)")
  const rows: Wallet['rows'] = async text =>
    (
      await client.query(
        text
          .replaceAll('OUTBOX', 'bet_wallet.outbox')
          .replaceAll('TRANSACTIONS', 'bet_wallet.transactions')
          .replaceAll('KEPT', 'bet_wallet.kept')
          .replaceAll('SCHEMA', 'bet_wallet'),
      )
    ).rows as Record<string, unknown>[]
  return {
    store: createPostgresStore(client, { ...options, timeoutMs: 120_000, allowNotDurable: true }),
    lookups: createPostgresLookups(client),
    outbox: postgresOutbox(client, undefined),
    forgetPlayer: playerId => forgetOnPostgres(client, { playerId, outbox: true }),
    passTime: () =>
      despiteDeadlocks(() =>
        rows("UPDATE OUTBOX SET due_at = now() - interval '1 hour' WHERE due_at IS NOT NULL"),
      ),
    pauseSql: 'extract(epoch FROM due_at - now())::float8',
    inHoursSql: hours => `now() + interval '${hours} hours'`,
    spoilDateSql: "UPDATE TRANSACTIONS SET transaction_date = 'infinity'",
    keepSql: `CREATE TABLE KEPT (bet_id text COLLATE "C", event_number bigint,
      FOREIGN KEY (bet_id, event_number) REFERENCES OUTBOX (bet_id, event_number))`,
    rows,
    close,
  }
}

async function openMysql(): Promise<Wallet> {
  const { config, pool, drop } = await freshMariadb()
  const schema = config.database
  const options = { schema, outbox: true }
  await migrateMysql(pool, options, { lookupIndexes: true })
  await pool.query("INSERT INTO wallet_players VALUES ('alice', 'EUR', 100), ('bob', 'EUR', 100)")
  // A relay needs no selected database.
  const { database: _, ...server } = config
  const withoutDatabase = createPool({ ...server, connectionLimit: 4 })
  const rows: Wallet['rows'] = async text =>
    (
      await pool.query(
        text
          .replaceAll('OUTBOX', 'wallet_outbox')
          .replaceAll('TRANSACTIONS', 'wallet_transactions')
          .replaceAll('KEPT', 'wallet_kept')
          .replaceAll('SCHEMA', schema),
      )
    )[0] as Record<string, unknown>[]
  return {
    store: createMysqlStore(pool, { ...options, timeoutMs: 120_000, allowNotDurable: true }),
    lookups: createMysqlLookups(pool, { schema }),
    outbox: mysqlOutbox(withoutDatabase, schema),
    forgetPlayer: playerId => forgetOnMysql(pool, { schema, playerId, outbox: true }),
    passTime: () =>
      despiteDeadlocks(() =>
        rows('UPDATE OUTBOX SET due_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR WHERE due_at IS NOT NULL'),
      ),
    pauseSql: 'TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), due_at) / 1000000',
    inHoursSql: hours => `UTC_TIMESTAMP(6) + INTERVAL ${hours} HOUR`,
    // IGNORE: as in a session that is not strict.
    spoilDateSql: "UPDATE IGNORE TRANSACTIONS SET transaction_date = '0000-00-00'",
    keepSql: `CREATE TABLE KEPT (bet_id varchar(255), event_number bigint unsigned,
      FOREIGN KEY (event_number) REFERENCES OUTBOX (event_number))`,
    rows,
    async close() {
      await withoutDatabase.end()
      await drop()
    },
  }
}

export const databases: readonly { name: string; skipped: string | null; open(): Promise<Wallet> }[] = [
  {
    name: 'PostgreSQL',
    skipped: null,
    async open() {
      const { pool, drop } = await freshDatabase()
      return await openPostgres(pool, drop)
    },
  },
  {
    name: 'PostgreSQL in LATIN1',
    skipped: null,
    async open() {
      const { pool, drop } = await freshDatabase({ encoding: 'LATIN1' })
      return await openPostgres(pool, drop)
    },
  },
  {
    name: 'PGlite',
    skipped: null,
    async open() {
      const client = await PGlite.create()
      return await openPostgres(client, () => client.close())
    },
  },
  { name: 'MySQL or MariaDB', skipped: noServer, open: openMysql },
]
