/** `bet-wallet/postgres`: the store over PostgreSQL, with your own players' table. */
export type { QueueStats } from '../../batches/index.js'
export type { Durability, DurabilityLevel } from '../database/durability.js'
export { StoreError, type StoreErrorCode } from '../database/errors.js'
export type { ImportedTransaction, ImportReport } from '../database/import.js'
export type { MigrationSettings } from '../database/migration-settings.js'
export type { OutboxStats } from '../database/outbox.js'
export type { Delivery, Relay, RelayOptions } from '../database/relay.js'
export type { PlayersTable } from '../database/tables.js'
export type { PendingCommit, Query } from '../database/within-transaction.js'
export type { PostgresClient } from './client.js'
export {
  fromKnex,
  fromPostgresJs,
  fromSlonik,
  fromTypeOrm,
  type PostgresJsSql,
  type SlonikPool,
} from './driver-clients.js'
export { importBets, importTransactions } from './import.js'
export { createPostgresLookups, type PostgresLookupOptions } from './lookups.js'
export { type MigrationSqlSettings, migratePostgres, postgresMigrationSql } from './migrate.js'
export { createPostgresRelay, type PostgresRelayOptions } from './relay.js'
export { createPostgresStore, type PostgresStore, type PostgresStoreOptions } from './store.js'
export type { PostgresTables } from './tables.js'
