/** Ten real schemas on PostgreSQL: of SQL migrations, Prisma, TypeORM, Rails, Supabase. */

// cspell:ignore Supabase arfcase confxsd casinoking moromike openora blurifycom fkey dotacasino Lebim inori igaming zetik lazymak slamseven dharmesh odleral getlago lago
import { type RealSchema, rowUuid, unitsOf, uuids } from './real-schema.js'

const [anna, ben] = uuids

/** golang-migrate. */
const arfcase: RealSchema = {
  name: 'arfcase',
  repository: 'confxsd/arf-case',
  engine: 'PostgreSQL',
  ddl: [
    'CREATE TABLE users (id bigserial PRIMARY KEY, username varchar(32) UNIQUE NOT NULL, password varchar(72) NOT NULL)',
    `CREATE TABLE "wallets" ("id" bigserial PRIMARY KEY, "user_id" bigint NOT NULL, "balance" bigint NOT NULL DEFAULT 0,
      "currency" varchar NOT NULL, "created_at" timestamptz NOT NULL DEFAULT (now()))`,
    'ALTER TABLE "wallets" ADD FOREIGN KEY ("user_id") REFERENCES "users" ("id")',
    `CREATE TABLE "transfers" ("id" bigserial PRIMARY KEY, "from_wallet_id" bigint NOT NULL, "to_wallet_id" bigint NOT NULL,
      "amount" bigint NOT NULL, "created_at" timestamptz NOT NULL DEFAULT (now()))`,
    'ALTER TABLE "transfers" ADD FOREIGN KEY ("from_wallet_id") REFERENCES "wallets" ("id")',
    'ALTER TABLE "transfers" ADD FOREIGN KEY ("to_wallet_id") REFERENCES "wallets" ("id")',
  ],
  prepared: {
    why: 'no key says that a user has one wallet in a currency',
    statements: ['CREATE UNIQUE INDEX wallets_account ON wallets (user_id, currency)'],
  },
  right: {
    players: 'public.wallets',
    ...{ id: 'user_id', balance: 'balance', currency: 'currency', 'minor-units': '2', 'may-bet': 'anyone' },
  },
  expects: [
    /id: 'user_id', idType: 'bigint'/,
    /accountPerCurrency: true/,
    /balanceType: 'minor-units', minorUnits: 2/,
  ],
  // The wallets have the numbers of other users.
  players: ['1', '2'],
  rows: `INSERT INTO users VALUES (1, 'anna', 'h'), (2, 'ben', 'h');
    INSERT INTO wallets (id, user_id, balance, currency) VALUES (1, 2, 10000, 'EUR'), (2, 1, 10000, 'EUR'), (3, 1, 10000, 'USD')`,
  audit: { accounts: ['EUR', 'USD'] },
}

/** SQL migrations. A double entry ledger, of which a snapshot stands beside the wallet. */
const casinoking: RealSchema = {
  name: 'casinoking',
  repository: 'moromike/casinoking-platform',
  engine: 'PostgreSQL',
  ddl: [
    `CREATE TABLE users (id uuid PRIMARY KEY, email varchar(320) NOT NULL UNIQUE, role varchar(32) NOT NULL, status varchar(32) NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(), CONSTRAINT users_role_check CHECK (role IN ('player', 'admin')),
      CONSTRAINT users_status_check CHECK (status IN ('active', 'suspended')))`,
    `CREATE TABLE ledger_accounts (id uuid PRIMARY KEY, account_code varchar(128) NOT NULL UNIQUE, account_type varchar(64) NOT NULL,
      owner_user_id uuid NULL REFERENCES users (id), currency_code varchar(16) NOT NULL, status varchar(32) NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`,
    `CREATE TABLE wallet_accounts (id uuid PRIMARY KEY, user_id uuid NOT NULL REFERENCES users (id),
      ledger_account_id uuid NOT NULL UNIQUE REFERENCES ledger_accounts (id), wallet_type varchar(32) NOT NULL,
      currency_code varchar(16) NOT NULL, balance_snapshot numeric(18, 6) NOT NULL DEFAULT 0, status varchar(32) NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT wallet_accounts_user_wallet_currency_key UNIQUE (user_id, wallet_type, currency_code))`,
    `CREATE TABLE ledger_transactions (id uuid PRIMARY KEY, user_id uuid NOT NULL REFERENCES users (id), transaction_type varchar(64) NOT NULL,
      reference_type varchar(64) NULL, reference_id uuid NULL, idempotency_key varchar(128) UNIQUE NULL, created_at timestamptz NOT NULL DEFAULT now())`,
    `CREATE TABLE ledger_entries (id uuid PRIMARY KEY, transaction_id uuid NOT NULL REFERENCES ledger_transactions (id),
      ledger_account_id uuid NOT NULL REFERENCES ledger_accounts (id), entry_side varchar(16) NOT NULL CHECK (entry_side IN ('debit', 'credit')),
      amount numeric(18, 6) NOT NULL CHECK (amount > 0), created_at timestamptz NOT NULL DEFAULT now())`,
    'CREATE INDEX idx_wallet_accounts_user_id ON wallet_accounts (user_id)',
  ],
  prepared: {
    why: 'a user has a wallet of cash and one of bonus, and the status is that of the user too',
    statements: [
      `CREATE VIEW player_wallets AS SELECT user_id, currency_code, balance_snapshot, status,
        (SELECT users.status FROM users WHERE users.id = user_id) AS user_status
        FROM wallet_accounts WHERE wallet_type = 'cash' AND currency_code = 'CHIP'`,
    ],
    of: 'public.wallet_accounts',
  },
  right: {
    players: 'public.player_wallets',
    ...{ id: 'user_id', balance: 'balance_snapshot', currency: 'currency_code' },
    'may-bet': 'status=active; user_status=active',
  },
  // Entries add up to it: the bets will not stand there.
  asks: ['balance'],
  exclude: "UPDATE users SET status = 'suspended' WHERE email = 'a@x'",
  expects: [
    /table: 'public.player_wallets', id: 'user_id', idType: 'uuid'/,
    /balance: 'balance_snapshot'/,
    /Bets will not stand in public.ledger_entries/,
  ],
  players: uuids,
  rows: `INSERT INTO users VALUES ('${anna}', 'a@x', 'player', 'active'), ('${ben}', 'b@x', 'player', 'active');
    INSERT INTO ledger_accounts SELECT ('018f6b1e-0000-7000-9000-00000000000' || n)::uuid, 'wallet-' || n, 'player', NULL, 'CHIP', 'active' FROM generate_series(1, 3) n;
    INSERT INTO wallet_accounts VALUES
      ('${rowUuid(11)}', '${anna}', '${rowUuid(1)}', 'cash', 'CHIP', 1000, 'active'),
      ('${rowUuid(12)}', '${anna}', '${rowUuid(2)}', 'bonus', 'CHIP', 50, 'active'),
      ('${rowUuid(13)}', '${ben}', '${rowUuid(3)}', 'cash', 'CHIP', 1000, 'active')`,
  audit: { currency: 'CHIP', minorUnits: unitsOf('CHIP', 6) },
}

/** Prisma. Modules refer to each other by id only, without foreign keys. */
const openora: RealSchema = {
  name: 'openora',
  repository: 'blurifycom/openora',
  engine: 'PostgreSQL',
  ddl: [
    `CREATE TYPE "WalletTransactionType" AS ENUM ('deposit', 'withdrawal', 'bet', 'win')`,
    `CREATE TYPE "WalletTransactionStatus" AS ENUM ('pending', 'completed', 'failed')`,
    `CREATE TABLE "wallet" ("id" TEXT NOT NULL, "userId" TEXT NOT NULL, "tenantId" TEXT NOT NULL, "balance" DECIMAL(65,30) NOT NULL DEFAULT 0,
      "currency" TEXT NOT NULL DEFAULT 'USD', "updatedAt" TIMESTAMP(3) NOT NULL, CONSTRAINT "wallet_pkey" PRIMARY KEY ("id"))`,
    `CREATE TABLE "wallet_transaction" ("id" TEXT NOT NULL, "walletId" TEXT NOT NULL, "tenantId" TEXT NOT NULL, "type" "WalletTransactionType" NOT NULL,
      "amount" DECIMAL(65,30) NOT NULL, "currency" TEXT NOT NULL, "status" "WalletTransactionStatus" NOT NULL DEFAULT 'pending', "metadata" JSONB,
      "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, CONSTRAINT "wallet_transaction_pkey" PRIMARY KEY ("id"))`,
    `CREATE TABLE "player" ("id" TEXT NOT NULL, "userId" TEXT NOT NULL, "displayName" TEXT NOT NULL, "country" TEXT, "currency" TEXT NOT NULL DEFAULT 'USD',
      "status" TEXT NOT NULL DEFAULT 'active', "kycStatus" TEXT NOT NULL DEFAULT 'pending', "level" INTEGER NOT NULL DEFAULT 1,
      "totalWagered" DECIMAL(18,2) NOT NULL DEFAULT 0, "totalDeposits" DECIMAL(18,2) NOT NULL DEFAULT 0, "lastSeenAt" TIMESTAMP(3),
      "tenantId" TEXT NOT NULL DEFAULT 'default', CONSTRAINT "player_pkey" PRIMARY KEY ("id"))`,
    'CREATE UNIQUE INDEX "wallet_userId_key" ON "wallet"("userId")',
    'CREATE INDEX "wallet_tenantId_idx" ON "wallet"("tenantId")',
    'CREATE INDEX "wallet_transaction_walletId_idx" ON "wallet_transaction"("walletId")',
    'CREATE UNIQUE INDEX "player_userId_key" ON "player"("userId")',
    'CREATE INDEX "player_status_idx" ON "player"("status")',
    'ALTER TABLE "wallet_transaction" ADD CONSTRAINT "wallet_transaction_walletId_fkey" FOREIGN KEY ("walletId") REFERENCES "wallet"("id") ON DELETE RESTRICT ON UPDATE CASCADE',
  ],
  right: {
    players: 'public.wallet',
    ...{ id: 'userId', balance: 'balance', currency: 'currency', 'may-bet': 'player.status=active' },
  },
  exclude: `UPDATE "player" SET "status" = 'self_excluded' WHERE "userId" = 'u-anna'`,
  expects: [/table: 'public.wallet', id: 'userId', currency: 'currency', balance: 'balance'/],
  players: ['u-anna', 'u-ben'],
  rows: `INSERT INTO "wallet" VALUES ('cm1', 'u-anna', 'acme', 100, 'EUR', now()), ('cm2', 'u-ben', 'acme', 100, 'EUR', now());
    INSERT INTO "player" ("id", "userId", "displayName", "status") VALUES ('p-1', 'u-anna', 'Anna', 'active'), ('p-2', 'u-ben', 'Ben', 'active')`,
}

/** Prisma. A wallet per currency, of an enum. */
const dotacasino: RealSchema = {
  name: 'dotacasino',
  repository: 'Lebim01/dotacasino-api',
  engine: 'PostgreSQL',
  ddl: [
    `CREATE TYPE "Currency" AS ENUM ('USD')`,
    `CREATE TYPE "KycStatus" AS ENUM ('PENDING', 'SUBMITTED', 'UNDER_REVIEW', 'APPROVED', 'REJECTED', 'SUSPENDED')`,
    `CREATE TABLE "User" ("id" TEXT NOT NULL, "email" TEXT NOT NULL, "country" TEXT NOT NULL, "kycStatus" "KycStatus" NOT NULL DEFAULT 'PENDING',
      "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "passwordHash" TEXT NOT NULL, "displayName" TEXT, CONSTRAINT "User_pkey" PRIMARY KEY ("id"))`,
    `CREATE TABLE "Wallet" ("id" TEXT NOT NULL, "userId" TEXT NOT NULL, "currency" "Currency" NOT NULL DEFAULT 'USD',
      "balance" DECIMAL(65,30) NOT NULL DEFAULT 0, CONSTRAINT "Wallet_pkey" PRIMARY KEY ("id"))`,
    `CREATE TABLE "LedgerEntry" ("id" TEXT NOT NULL, "walletId" TEXT NOT NULL, "kind" TEXT NOT NULL, "amount" DECIMAL(65,30) NOT NULL, "meta" JSONB NOT NULL,
      "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, "balanceAfter" DECIMAL(65,30), "idempotencyKey" TEXT, CONSTRAINT "LedgerEntry_pkey" PRIMARY KEY ("id"))`,
    'CREATE UNIQUE INDEX "User_email_key" ON "User"("email")',
    'CREATE UNIQUE INDEX "Wallet_userId_currency_key" ON "Wallet"("userId", "currency")',
    'CREATE UNIQUE INDEX "LedgerEntry_idempotencyKey_key" ON "LedgerEntry"("idempotencyKey")',
    'ALTER TABLE "Wallet" ADD CONSTRAINT "Wallet_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE RESTRICT ON UPDATE CASCADE',
    'ALTER TABLE "LedgerEntry" ADD CONSTRAINT "LedgerEntry_walletId_fkey" FOREIGN KEY ("walletId") REFERENCES "Wallet"("id") ON DELETE RESTRICT ON UPDATE CASCADE',
  ],
  right: {
    players: 'public.Wallet',
    ...{ id: 'userId', balance: 'balance', currency: 'currency' },
    'may-bet': 'User.kycStatus=PENDING,SUBMITTED,UNDER_REVIEW,APPROVED',
  },
  exclude: `UPDATE "User" SET "kycStatus" = 'SUSPENDED' WHERE "id" = 'u-anna'`,
  expects: [/id: 'userId'/, /accountPerCurrency: true/, /balance: 'balance'/],
  players: ['u-anna', 'u-ben'],
  rows: `INSERT INTO "User" ("id", "email", "country", "passwordHash") VALUES ('u-anna', 'a@x', 'MX', 'h'), ('u-ben', 'b@x', 'MX', 'h');
    INSERT INTO "Wallet" VALUES ('w-1', 'u-anna', 'USD', 100), ('w-2', 'u-ben', 'USD', 100)`,
  audit: { currency: 'USD' },
}

/** A wrapper of seamless games: a unique index, by the player's name. */
const seamless: RealSchema = {
  name: 'seamless',
  repository: 'ninja73/seamless-api-wrapper',
  engine: 'PostgreSQL',
  ddl: [
    `CREATE TABLE balances ("id" BIGSERIAL NOT NULL PRIMARY KEY, "player_name" VARCHAR NOT NULL, "currency" VARCHAR NOT NULL, "amount" INTEGER NOT NULL,
      "game_id" VARCHAR, "last_session_id" VARCHAR, "free_round_left" INTEGER, "created_at" TIMESTAMP, "updated_at" TIMESTAMP)`,
    'CREATE UNIQUE INDEX balances_player_currency ON balances (player_name, currency)',
    `CREATE TABLE transactions ("id" BIGSERIAL NOT NULL PRIMARY KEY, "balance_id" BIGINT NOT NULL, "withdraw" INTEGER NOT NULL, "deposit" INTEGER NOT NULL,
      "transaction_ref" VARCHAR NOT NULL, "game_round_ref" VARCHAR, "created_at" TIMESTAMP, CONSTRAINT fk_balance FOREIGN KEY (balance_id) REFERENCES balances (id))`,
    'CREATE UNIQUE INDEX transactions_uniq_idx ON transactions (transaction_ref)',
  ],
  right: {
    players: 'public.balances',
    ...{
      id: 'player_name',
      balance: 'amount',
      currency: 'currency',
      'minor-units': '2',
      'may-bet': 'anyone',
    },
  },
  expects: [
    /id: 'player_name'/,
    /accountPerCurrency: true/,
    /balance: 'amount', balanceType: 'minor-units', minorUnits: 2/,
  ],
  players: ['anna', 'ben'],
  rows: `INSERT INTO balances (player_name, currency, amount) VALUES ('anna', 'EUR', 10000), ('ben', 'EUR', 10000), ('ben', 'USD', 5)`,
}

/** Supabase: a column for each currency, a trigger, row level security. */
const inori: RealSchema = {
  name: 'inori',
  repository: 'Inori0o0/igaming-platform-fullstack',
  engine: 'PostgreSQL',
  ddl: [
    `CREATE TABLE users (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), auth_user_id uuid UNIQUE, email text UNIQUE, display_name text,
      is_guest boolean DEFAULT false, created_at timestamptz DEFAULT now(), banned_at timestamptz)`,
    `CREATE TABLE wallets (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      coin_balance numeric(18, 2) DEFAULT 0, btc_balance numeric(18, 8) DEFAULT 0, eth_balance numeric(18, 8) DEFAULT 0, updated_at timestamptz DEFAULT now())`,
    'CREATE INDEX idx_wallets_user_id ON wallets (user_id)',
    `CREATE TABLE transactions (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), user_id uuid NOT NULL REFERENCES users (id), type text NOT NULL,
      currency text NOT NULL, amount numeric(18, 8) NOT NULL, balance_after numeric(18, 2), status text NOT NULL DEFAULT 'completed')`,
    `CREATE FUNCTION touch_updated_at() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new.updated_at = now(); RETURN new; END'`,
    'CREATE TRIGGER trg_wallets_touch BEFORE UPDATE ON wallets FOR EACH ROW EXECUTE FUNCTION touch_updated_at()',
    'ALTER TABLE wallets ENABLE ROW LEVEL SECURITY',
    `CREATE POLICY wallets_select_own ON wallets FOR SELECT USING (user_id::text = current_setting('request.user', true))`,
    `CREATE POLICY wallets_update_own ON wallets FOR UPDATE USING (user_id::text = current_setting('request.user', true))`,
  ],
  prepared: {
    why: 'no key says that a user has one wallet',
    statements: ['ALTER TABLE wallets ADD CONSTRAINT wallets_user_id_key UNIQUE (user_id)'],
  },
  right: {
    players: 'public.wallets',
    ...{ id: 'user_id', balance: 'coin_balance', currency: 'COIN', 'may-bet': 'users.banned_at=null' },
  },
  exclude: "UPDATE users SET banned_at = now() WHERE email = 'a@x'",
  expects: [/id: 'user_id', idType: 'uuid'/, /balance: 'coin_balance'/, /'COIN'/],
  players: uuids,
  rows: `INSERT INTO users (id, email) VALUES ('${anna}', 'a@x'), ('${ben}', 'b@x');
    INSERT INTO wallets (id, user_id, coin_balance) VALUES ('${rowUuid(1)}', '${anna}', 100), ('${rowUuid(2)}', '${ben}', 100)`,
  audit: { currency: 'COIN', minorUnits: unitsOf('COIN', 2) },
}

/** TypeORM: the key is the user and an enum of assets. */
const zetik: RealSchema = {
  name: 'zetik',
  repository: 'lazymak3r/zetik-backend',
  engine: 'PostgreSQL',
  ddl: [
    'CREATE SCHEMA "balance"',
    'CREATE SCHEMA "users"',
    `CREATE TYPE "balance"."wallets_asset_enum" AS ENUM ('BTC', 'ETH', 'USDT', 'USDC', 'SOL')`,
    `CREATE TABLE "users"."users" ("id" uuid NOT NULL, "username" character varying NOT NULL, "email" character varying, "isBanned" boolean NOT NULL DEFAULT false,
      "mutedUntil" TIMESTAMP, "createdAt" TIMESTAMP NOT NULL DEFAULT now(), CONSTRAINT "PK_users" PRIMARY KEY ("id"), CONSTRAINT "UQ_username" UNIQUE ("username"))`,
    `CREATE TABLE "balance"."wallets" ("userId" uuid NOT NULL, "asset" "balance"."wallets_asset_enum" NOT NULL, "balance" numeric(20,8) NOT NULL DEFAULT '0',
      "isPrimary" boolean NOT NULL DEFAULT false, "createdAt" TIMESTAMP NOT NULL DEFAULT now(), "updatedAt" TIMESTAMP NOT NULL DEFAULT now(),
      CONSTRAINT "PK_wallets" PRIMARY KEY ("userId", "asset"))`,
    'CREATE UNIQUE INDEX "IDX_wallets" ON "balance"."wallets" ("userId", "asset")',
    `CREATE TYPE "balance"."vaults_asset_enum" AS ENUM ('BTC', 'ETH', 'USDT', 'USDC', 'SOL')`,
    `CREATE TABLE "balance"."vaults" ("userId" uuid NOT NULL, "asset" "balance"."vaults_asset_enum" NOT NULL, "balance" numeric(20,8) NOT NULL DEFAULT '0',
      "createdAt" TIMESTAMP NOT NULL DEFAULT now(), CONSTRAINT "PK_vaults" PRIMARY KEY ("userId", "asset"))`,
    `CREATE TABLE "balance"."balance_history" ("operationId" character varying NOT NULL, "operation" character varying NOT NULL, "amount" numeric(20,8) NOT NULL DEFAULT '0',
      "asset" character varying(10) NOT NULL, "previousBalance" numeric(20,8) NOT NULL DEFAULT '0', "userId" uuid NOT NULL, "status" character varying NOT NULL DEFAULT 'CONFIRMED',
      CONSTRAINT "PK_history" PRIMARY KEY ("operationId", "operation"))`,
  ],
  right: {
    players: 'balance.wallets',
    ...{ id: 'userId', balance: 'balance', currency: 'asset', 'may-bet': 'users.isBanned=false' },
  },
  exclude: `UPDATE "users"."users" SET "isBanned" = true WHERE "username" = 'anna'`,
  expects: [/id: 'userId', idType: 'uuid'/, /accountPerCurrency: true/],
  players: uuids,
  rows: `INSERT INTO "users"."users" ("id", "username") VALUES ('${anna}', 'anna'), ('${ben}', 'ben');
    INSERT INTO "balance"."wallets" ("userId", "asset", "balance") VALUES ('${anna}', 'USDT', 100), ('${anna}', 'BTC', 1), ('${ben}', 'USDT', 100)`,
  audit: { currency: 'USDT', minorUnits: unitsOf('USDT', 8) },
}

/** TypeORM, with what it makes of `@Column()` alone. */
const slamseven: RealSchema = {
  name: 'slamseven',
  repository: 'dharmesh312/slamseven-server',
  engine: 'PostgreSQL',
  ddl: [
    `CREATE TABLE "wallet" ("id" SERIAL NOT NULL, "balance" integer NOT NULL, "playerId" integer NOT NULL, "currency" character varying NOT NULL,
      CONSTRAINT "PK_wallet" PRIMARY KEY ("id"))`,
    `CREATE TABLE "player" ("id" SERIAL NOT NULL, "firstName" character varying NOT NULL, "lastName" character varying NOT NULL, "email" character varying NOT NULL,
      "phoneNumber" character varying NOT NULL, "password" character varying NOT NULL, "roleId" integer NOT NULL DEFAULT '1', CONSTRAINT "PK_player" PRIMARY KEY ("id"))`,
    `CREATE TABLE "wallet_deposit" ("id" SERIAL NOT NULL, "walletId" integer NOT NULL, "amount" integer NOT NULL, CONSTRAINT "PK_deposit" PRIMARY KEY ("id"))`,
  ],
  prepared: {
    why: 'no key says that a player has one wallet in a currency',
    statements: ['ALTER TABLE "wallet" ADD CONSTRAINT "UQ_account" UNIQUE ("playerId", "currency")'],
  },
  right: {
    players: 'public.wallet',
    ...{ id: 'playerId', balance: 'balance', currency: 'currency', 'minor-units': '2', 'may-bet': 'anyone' },
  },
  expects: [
    /id: 'playerId', idType: 'bigint'/,
    /accountPerCurrency: true/,
    /balanceType: 'minor-units', minorUnits: 2/,
  ],
  players: ['1', '2'],
  rows: `INSERT INTO "player" VALUES (1, 'Anna', 'A', 'a@x', '1', 'h'), (2, 'Ben', 'B', 'b@x', '2', 'h');
    INSERT INTO "wallet" ("id", "balance", "playerId", "currency") VALUES (1, 10000, 2, 'INR'), (2, 10000, 1, 'INR'), (3, 7, 1, 'EUR')`,
  audit: { currency: 'INR' },
}

/** The currency is a number, of which no table says the code. */
const odleral: RealSchema = {
  name: 'odleral',
  repository: 'Odleral/wallet',
  engine: 'PostgreSQL',
  ddl: [
    `CREATE TABLE wallet (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), owner_id uuid NOT NULL, balance integer NOT NULL DEFAULT 0, currency integer NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz)`,
    `CREATE TABLE transactions (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), wallet_id uuid NOT NULL, product_id uuid NOT NULL, correlation_id uuid NOT NULL,
      amount integer NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz)`,
    'CREATE UNIQUE INDEX transactions_correlation_id_idx ON transactions (correlation_id)',
    'CREATE INDEX wallet_id_idx ON wallet (id)',
  ],
  prepared: {
    why: 'no key says that an owner has one wallet, and the currency is a number of ISO 4217',
    statements: [
      'CREATE UNIQUE INDEX wallet_owner ON wallet (owner_id)',
      `CREATE VIEW player_wallet AS SELECT owner_id, CASE currency WHEN 978 THEN 'EUR' WHEN 398 THEN 'KZT' END AS currency, balance FROM wallet`,
    ],
    of: 'public.wallet',
  },
  right: {
    players: 'public.player_wallet',
    ...{ id: 'owner_id', balance: 'balance', currency: 'currency', 'minor-units': '2', 'may-bet': 'anyone' },
  },
  expects: [/table: 'public.player_wallet', id: 'owner_id', idType: 'uuid'/],
  players: uuids,
  rows: `INSERT INTO wallet VALUES ('${rowUuid(1)}', '${anna}', 10000, 978), ('${rowUuid(2)}', '${ben}', 10000, 978)`,
}

/** Rails: a customer has several wallets, so the platform must send the number of one. */
const lago: RealSchema = {
  name: 'lago',
  repository: 'getlago/lago-api',
  engine: 'PostgreSQL',
  ddl: [
    `CREATE TABLE "customers" ("id" uuid DEFAULT gen_random_uuid() NOT NULL PRIMARY KEY, "external_id" character varying NOT NULL, "name" character varying,
      "currency" character varying, "deleted_at" timestamp(6), "created_at" timestamp(6) NOT NULL, "updated_at" timestamp(6) NOT NULL)`,
    `CREATE TABLE "wallets" ("id" uuid DEFAULT gen_random_uuid() NOT NULL PRIMARY KEY, "customer_id" uuid NOT NULL, "status" integer NOT NULL, "name" character varying,
      "code" character varying, "rate_amount" decimal(30,5) DEFAULT '0.0' NOT NULL, "credits_balance" decimal(30,5) DEFAULT '0.0' NOT NULL,
      "consumed_credits" decimal(30,5) DEFAULT '0.0' NOT NULL, "terminated_at" timestamp(6), "created_at" timestamp(6) NOT NULL, "updated_at" timestamp(6) NOT NULL,
      "balance_cents" bigint DEFAULT 0 NOT NULL, "balance_currency" character varying NOT NULL, "consumed_amount_cents" bigint DEFAULT 0 NOT NULL,
      "consumed_amount_currency" character varying NOT NULL, "ongoing_balance_cents" bigint DEFAULT 0 NOT NULL,
      "ongoing_usage_balance_cents" bigint DEFAULT 0 NOT NULL, "lock_version" integer DEFAULT 0 NOT NULL)`,
    'CREATE INDEX "index_wallets_on_customer_id" ON "wallets" ("customer_id")',
    'CREATE UNIQUE INDEX "index_wallets_on_customer_id_and_code" ON "wallets" ("customer_id", "code") WHERE status = 0',
    'ALTER TABLE "wallets" ADD CONSTRAINT "fk_rails_wallets" FOREIGN KEY ("customer_id") REFERENCES "customers" ("id")',
    `CREATE TABLE "wallet_transactions" ("id" uuid DEFAULT gen_random_uuid() NOT NULL PRIMARY KEY, "wallet_id" uuid NOT NULL, "transaction_type" integer NOT NULL,
      "status" integer NOT NULL, "amount" decimal(30,5) DEFAULT '0.0' NOT NULL, "created_at" timestamp(6) NOT NULL)`,
    'ALTER TABLE "wallet_transactions" ADD CONSTRAINT "fk_rails_transactions" FOREIGN KEY ("wallet_id") REFERENCES "wallets" ("id")',
  ],
  right: {
    players: 'public.wallets',
    ...{ id: 'id', balance: 'balance_cents', currency: 'balance_currency', 'minor-units': '2' },
    'may-bet': 'status=0; terminated_at=null; customers.deleted_at=null',
  },
  // It numbers wallets, and not customers.
  asks: ['id'],
  exclude: `UPDATE "wallets" SET "terminated_at" = now() WHERE "id" = '${anna}'`,
  expects: [
    /id: 'id', idType: 'uuid'/,
    /balance: 'balance_cents', version: 'lock_version', balanceType: 'minor-units'/,
  ],
  players: uuids,
  rows: `INSERT INTO "customers" VALUES ('${rowUuid(1)}', 'c-1', 'Anna', 'EUR', NULL, now(), now());
    INSERT INTO "wallets" ("id", "customer_id", "status", "created_at", "updated_at", "balance_cents", "balance_currency", "consumed_amount_currency")
      VALUES ('${anna}', '${rowUuid(1)}', 0, now(), now(), 10000, 'EUR', 'EUR'), ('${ben}', '${rowUuid(1)}', 0, now(), now(), 10000, 'EUR', 'EUR')`,
}

export const postgresSchemas: readonly RealSchema[] = [
  ...[arfcase, casinoking, openora, dotacasino, seamless],
  ...[inori, zetik, slamseven, odleral, lago],
]
