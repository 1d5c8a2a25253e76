/** `bet-wallet/postgres`: the store over PostgreSQL, with the players' table that you have. */
export type { BatchLoad } from './batches.js'
export type { PostgresClient, Query } from './client.js'
export { type PostgresErrorCode, PostgresStoreError } from './failure.js'
export { type ImportReport, importBets, importTransactions } from './import.js'
export { migratePostgres, postgresMigration } from './migrate.js'
export {
  createPostgresStore,
  type PostgresCommit,
  type PostgresStore,
  type PostgresStoreOptions,
} from './store.js'
export type { PlayersTable, PostgresTables } from './tables.js'
