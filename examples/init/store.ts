// store.ts
import { createPostgresStore, migratePostgres, type PlayersTable } from 'bet-wallet/postgres'
import pg from 'pg'

export const players: PlayersTable = {
  table: 'pam.accounts',
  id: 'account_no',
  currency: 'currency',
  balance: 'balance_cents',
  balanceType: 'minor-units',
  minorUnits: 2,
}
export const createPool = () =>
  new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5_000 })
export const pool = createPool()
export const store = createPostgresStore(pool, { players })

// Decimals of codes outside ISO 4217.
export const minorUnits = (currency: string) => new Map<string, number>([]).get(currency)

// For kit.ts: a copy of the table in a schema of its own, which the kit makes, fills and drops.
const copied: typeof players = { ...players, table: 'bet_wallet_kit.accounts' }
const options = { schema: 'bet_wallet_kit', players: copied }
export const copy = {
  create: [
    'DROP SCHEMA IF EXISTS bet_wallet_kit CASCADE',
    'CREATE SCHEMA bet_wallet_kit',
    'CREATE TABLE bet_wallet_kit."accounts" (LIKE "pam"."accounts" INCLUDING ALL)',
  ],
  insert:
    'INSERT INTO bet_wallet_kit."accounts" ("account_no", "currency", "balance_cents") VALUES ($1, $2, 0)',
  deposit:
    'UPDATE bet_wallet_kit."accounts" SET "balance_cents" = "balance_cents" + $1::numeric * 100 WHERE "account_no" = $2',
  changeCurrency: 'UPDATE bet_wallet_kit."accounts" SET "currency" = $1 WHERE "account_no" = $2',
  lock: 'SELECT FROM bet_wallet_kit."accounts" WHERE "account_no" = $1 FOR UPDATE',
  drop: 'DROP SCHEMA bet_wallet_kit CASCADE',
  migrate: () => migratePostgres(pool, options),
  createStore: (on: typeof pool) => createPostgresStore(on, options),
  connect: (to: typeof pool) => to.connect(),
  account: (playerId: string, _: string) => [playerId],
  hooks: {
    accountPerCurrency: null, // a player has one account
    refuseBets: null, // no rule of your own refuses a bet. closePlayer: your own exclusions
    limits: { digits: 18, scale: 2 }, // of the balance, a bigint
  },
}
