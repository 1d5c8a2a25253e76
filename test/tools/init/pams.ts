/** Twelve players' tables, as PAMs have them, on each engine; and what an operator answers for them. */

import { isMysql } from '../../mysql/engine.js'

export interface Pam {
  name: string
  /** Its statements; `SERIAL`, `UUID` and others stand for the types of an engine. */
  ddl: readonly string[]
  /** The options of `init` that it cannot find out itself. */
  options: readonly string[]
  /** What the written file store.ts contains. */
  expects: readonly RegExp[]
  /** The playerIds of two players with 100.00 EUR. */
  players: readonly [string, string]
  /** Their rows. */
  rows: string
  /** Dependencies in package.json. */
  dependencies?: readonly string[]
  isCommonJs?: boolean
}

const uuids = ['018f6b1e-0000-7000-8000-000000000001', '018f6b1e-0000-7000-8000-000000000002'] as const

/** A view that can be updated everywhere, where one with a subquery cannot. */
const viewOnMysql = isMysql
  ? [
      "CREATE VIEW pam.player_accounts AS SELECT account_no, CASE currency_ref WHEN 1 THEN 'EUR' END AS currency, balance FROM pam.accounts",
    ]
  : []

export type Kind = 'postgres' | 'mysql'

/** The same PAM on both engines, but for a few words. */
export function pamsOn(engine: Kind): Pam[] {
  const on = (postgres: string, mysql: string) => (engine === 'postgres' ? postgres : mysql)
  const serial = on('bigint GENERATED ALWAYS AS IDENTITY', 'bigint unsigned AUTO_INCREMENT')
  const text = on('text', 'varchar(64) COLLATE utf8mb4_general_ci')
  const time = on('timestamptz', 'datetime(3)')
  const currencyEnum = on('pam.currency_code', "enum('EUR', 'USD')")
  const uuid = on('uuid', 'binary(16)')
  const asUuid = (id: string) => on(`'${id}'`, `UNHEX(REPLACE('${id}', '-', ''))`)
  const quoted = (name: string) => on(`"${name}"`, `\`${name}\``)
  return [
    {
      name: 'a bigint key, an account number, cents',
      ddl: [
        `CREATE TABLE pam.accounts (account_id ${serial} PRIMARY KEY, account_no ${text} NOT NULL UNIQUE, currency char(3) NOT NULL,
          balance_cents bigint NOT NULL DEFAULT 0, status varchar(10) NOT NULL DEFAULT 'active', created_at ${time} NOT NULL)`,
        `CREATE TABLE pam.ledger_entries (entry_id ${serial} PRIMARY KEY, account_id bigint, balance_after bigint)`,
      ],
      options: ['--id', 'account_no', '--minor-units', '2'],
      expects: [
        /table: 'pam.accounts', id: 'account_no'/,
        /balance: 'balance_cents', balanceType: 'minor-units', minorUnits: 2/,
      ],
      players: ['anna', 'ben'],
      rows: `INSERT INTO pam.accounts (account_no, currency, balance_cents, created_at) VALUES ('anna', 'EUR', 10000, now()), ('ben', 'EUR', 10000, now())`,
      dependencies: ['express'],
    },
    {
      name: 'a uuid, decimals, one currency for all',
      ddl: [
        `CREATE TABLE pam.users (id ${uuid} PRIMARY KEY, email varchar(120) NOT NULL UNIQUE, password_hash varchar(255) NOT NULL,
          balance decimal(18,2) NOT NULL DEFAULT 0, bonus_balance decimal(18,2) NOT NULL DEFAULT 0, is_active boolean NOT NULL)`,
      ],
      options: ['--currency', 'EUR'],
      expects: [
        /table: 'pam.bet_wallet_players', id: 'id', idType: 'uuid', currency: 'currency'/,
        /CREATE OR REPLACE VIEW \W+pam\W+bet_wallet_players/,
      ],
      players: uuids,
      rows: `INSERT INTO pam.users VALUES (${asUuid(uuids[0])}, 'a@x', 'h', 100, 5, true), (${asUuid(uuids[1])}, 'b@x', 'h', 100, 0, true)`,
      dependencies: ['koa'],
    },
    {
      name: 'a bigint id, decimals, a CHECK about the balance',
      ddl: [
        `CREATE TABLE pam.players (player_id bigint PRIMARY KEY, username varchar(40) NOT NULL UNIQUE, currency_code varchar(3) NOT NULL,
          real_balance decimal(20,4) NOT NULL, locked_balance decimal(20,4) NOT NULL DEFAULT 0, state smallint NOT NULL DEFAULT 1,
          CONSTRAINT no_credit CHECK (real_balance >= 0))`,
      ],
      options: [],
      expects: [/id: 'player_id', idType: 'bigint', currency: 'currency_code'/, /balance: 'real_balance',/],
      players: ['7', '8'],
      rows: `INSERT INTO pam.players (player_id, username, currency_code, real_balance) VALUES (7, 'anna', 'EUR', 100), (8, 'ben', 'EUR', 100)`,
    },
    {
      name: 'a row per player and currency',
      ddl: [
        `CREATE TABLE pam.wallets (player_id bigint NOT NULL, currency char(3) NOT NULL, amount_minor bigint NOT NULL,
          version int NOT NULL DEFAULT 0, PRIMARY KEY (player_id, currency))`,
      ],
      options: ['--currency', 'EUR', '--minor-units', '2', '--balance', 'amount_minor'],
      expects: [/WHERE \W+currency\W+ = 'EUR'/, /idType: 'bigint'/],
      players: ['41', '42'],
      rows: `INSERT INTO pam.wallets (player_id, currency, amount_minor) VALUES (41, 'EUR', 10000), (41, 'USD', 5), (42, 'EUR', 10000)`,
      dependencies: ['express'],
    },
    {
      name: 'the tables of Prisma',
      ddl: [
        `CREATE TABLE pam.${quoted('Wallet')} (${quoted('id')} ${serial} PRIMARY KEY, ${quoted('userId')} ${on('text', 'varchar(191) COLLATE utf8mb4_unicode_ci')} NOT NULL,
          ${quoted('balance')} ${on('decimal(65,30)', 'decimal(30,18)')} NOT NULL DEFAULT 0, ${quoted('currency')} ${on('text', 'varchar(191)')} NOT NULL, ${quoted('updatedAt')} ${on('timestamp(3)', 'datetime(3)')} NOT NULL)`,
        `CREATE UNIQUE INDEX ${quoted('Wallet_userId_key')} ON pam.${quoted('Wallet')} (${quoted('userId')})`,
      ],
      options: ['--id', 'userId'],
      expects: [/table: 'pam.Wallet', id: 'userId'/],
      players: ['cm1anna', 'cm1ben'],
      rows: `INSERT INTO pam.${quoted('Wallet')} (${['userId', 'balance', 'currency', 'updatedAt'].map(quoted).join(', ')}) VALUES ('cm1anna', 100, 'EUR', now()), ('cm1ben', 100, 'EUR', now())`,
      dependencies: ['prisma'],
    },
    {
      name: 'a key that the application fills',
      ddl: [
        `CREATE TABLE pam.${quoted('Wallet')} (${quoted('id')} ${on('text', 'varchar(191)')} PRIMARY KEY, brand_id int NOT NULL, ${quoted('userId')} ${on('text', 'varchar(191)')} NOT NULL UNIQUE,
          currency ${on('text', 'varchar(191)')} NOT NULL, balance decimal(18,2) NOT NULL, ${quoted('seq')} ${on('bigint GENERATED ALWAYS AS IDENTITY', 'int NOT NULL DEFAULT 0')}, UNIQUE (brand_id, ${quoted('userId')}))`,
      ],
      options: ['--id', 'userId'],
      expects: [/table: 'pam.Wallet', id: 'userId'/],
      players: ['cm1anna', 'cm1ben'],
      rows: `INSERT INTO pam.${quoted('Wallet')} (${quoted('id')}, brand_id, ${quoted('userId')}, currency, balance) VALUES ('w1', 1, 'cm1anna', 'EUR', 100), ('w2', 1, 'cm1ben', 'EUR', 100)`,
    },
    {
      name: 'a view of the operator',
      ddl: [
        `CREATE TABLE pam.persons (person bigint PRIMARY KEY, money decimal(18,2) NOT NULL, iso char(3) NOT NULL, name varchar(80) NOT NULL)`,
        'CREATE VIEW pam.player_balances AS SELECT person AS player_id, iso AS currency, money AS balance FROM pam.persons',
      ],
      options: [],
      expects: [/table: 'pam.player_balances', id: 'player_id', idType: 'bigint'/],
      players: ['501', '502'],
      rows: `INSERT INTO pam.persons VALUES (501, 100, 'EUR', 'Anna'), (502, 100, 'EUR', 'Ben')`,
    },
    {
      name: 'an enum of currencies, minor units by currency',
      ddl: [
        ...(engine === 'postgres' ? ["CREATE TYPE pam.currency_code AS ENUM ('EUR', 'USD', 'JPY')"] : []),
        `CREATE TABLE pam.customer_accounts (customer_ref varchar(36) ${on('', 'CHARACTER SET ascii')} PRIMARY KEY, currency ${currencyEnum} NOT NULL DEFAULT 'EUR',
          balance int ${on('', 'unsigned')} NOT NULL, blocked_at ${time})`,
      ],
      options: ['--minor-units', 'EUR=2,USD=2'],
      expects: [/minorUnits: \{ EUR: 2, USD: 2 \}/],
      players: ['c-1', 'c-2'],
      rows: `INSERT INTO pam.customer_accounts (customer_ref, currency, balance) VALUES ('c-1', 'EUR', 10000), ('c-2', 'EUR', 10000)`,
      dependencies: ['koa'],
    },
    {
      name: 'reserved words, and CHECKs about ids and currencies',
      ddl: [
        `CREATE TABLE pam.${quoted('user')} (${quoted('playerId')} ${on('text', 'varchar(36)')} PRIMARY KEY, ${quoted('currency')} char(3) NOT NULL,
          ${quoted('availableBalance')} ${on('numeric', 'decimal(18,2)')} NOT NULL, ${quoted('order')} int NOT NULL, ${quoted('virtual')} int NOT NULL,
          CONSTRAINT codes CHECK (${quoted('currency')} IN ('EUR', 'USD')), CONSTRAINT ids CHECK (length(${quoted('playerId')}) = 4))`,
      ],
      options: ['--minor-units', 'none'],
      expects: [/table: 'pam.user', id: 'playerId'/, /balance: 'availableBalance'/],
      players: ['p-01', 'p-02'],
      rows: `INSERT INTO pam.${quoted('user')} VALUES ('p-01', 'EUR', 100, 1, 0), ('p-02', 'EUR', 100, 2, 0)`,
      dependencies: ['express'],
      isCommonJs: true,
    },
    {
      name: 'a currency behind a foreign key',
      ddl: [
        `CREATE TABLE pam.currencies (id int PRIMARY KEY, iso_code char(3) NOT NULL, title varchar(40) NOT NULL)`,
        `CREATE TABLE pam.accounts (account_no ${text} PRIMARY KEY, currency_ref int NOT NULL, balance decimal(18,2) NOT NULL,
          CONSTRAINT of_currency FOREIGN KEY (currency_ref) REFERENCES pam.currencies (id))`,
        ...(engine === 'mysql' ? viewOnMysql : []),
      ],
      options: engine === 'mysql' && isMysql ? ['--players', 'pam.player_accounts'] : [],
      expects:
        engine === 'mysql' && isMysql
          ? [/table: 'pam.player_accounts'/]
          : [/table: 'pam.bet_wallet_players', id: 'account_no'/, /\(SELECT c\.\W*iso_code/],
      players: ['anna', 'ben'],
      rows: `INSERT INTO pam.currencies VALUES (1, 'EUR', 'Euro'); INSERT INTO pam.accounts VALUES ('anna', 1, 100), ('ben', 1, 100)`,
    },
    {
      name: 'a balance as text',
      ddl: [
        `CREATE TABLE pam.member (member_no varchar(20) PRIMARY KEY, balance varchar(40) NOT NULL, currency varchar(8) NOT NULL)`,
      ],
      options: ['--minor-units', 'none'],
      expects: [/balanceType: 'text'/],
      players: ['m1', 'm2'],
      rows: `INSERT INTO pam.member VALUES ('m1', '100', 'EUR'), ('m2', '100', 'EUR')`,
      isCommonJs: true,
    },
    {
      name: 'whole units of one currency, a computed balance, several tables',
      ddl: [
        ...(engine === 'postgres' ? ['CREATE DOMAIN pam.amount AS bigint CHECK (value >= 0)'] : []),
        `CREATE TABLE pam.player (id ${serial} PRIMARY KEY, uuid ${on('uuid', 'char(36)')} NOT NULL UNIQUE, nickname varchar(30) NOT NULL UNIQUE,
          cash_cents ${on('pam.amount', 'bigint')} NOT NULL, held_cents bigint NOT NULL DEFAULT 0,
          balance bigint GENERATED ALWAYS AS (cash_cents - held_cents) STORED)`,
        `CREATE TABLE pam.agents (id ${serial} PRIMARY KEY, balance decimal(18,2))`,
        `CREATE TABLE pam.player_floats (player_id bigint PRIMARY KEY, balance double precision)`,
      ],
      options: ['--id', 'uuid', '--minor-units', '2', '--currency', 'EUR'],
      expects: [/balance: 'cash_cents', balanceType: 'minor-units'/, /'EUR'/],
      players: uuids,
      rows: `INSERT INTO pam.player (uuid, nickname, cash_cents) VALUES ('${uuids[0]}', 'a', 10000), ('${uuids[1]}', 'b', 10000)`,
      dependencies: ['koa'],
    },
  ]
}
