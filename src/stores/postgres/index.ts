/** `bet-wallet/postgres`: the store over PostgreSQL, with your own players' table. */
export type { QueueStats } from '../../batches/index.js'
export type { PostgresClient, Query } from './client.js'
export { type PostgresErrorCode, PostgresStoreError } from './errors.js'
export { type ImportReport, importBets, importTransactions } from './import.js'
export {
  type MigrationSettings,
  type MigrationSqlSettings,
  migratePostgres,
  postgresMigrationSql,
} from './migrate.js'
export { createPostgresStore, type PostgresStore, type PostgresStoreOptions } from './store.js'
export type { PlayersTable, PostgresTables } from './tables.js'
export type { PendingCommit } from './within-transaction.js'
