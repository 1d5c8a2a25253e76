/** Four real schemas: on MySQL of Prisma and Laravel, on MariaDB of plain SQL. */

// cspell:ignore Laravel sdkgis dmdiak moseremzy cleo lamports popgame Myrmekes fkey bavix qsmartisp
import { type RealSchema, unitsOf, uuids } from './real-schema.js'

const [anna, ben] = uuids

/** Plain SQL. The wallet has a number of its own, and no key on the player. */
const sdkgis: RealSchema = {
  name: 'sdkgis',
  repository: 'dmdiak/sdkgis',
  engine: 'MariaDB',
  ddl: [
    'CREATE TABLE players (id INT(11) NOT NULL AUTO_INCREMENT, name VARCHAR(20) NOT NULL, email VARCHAR(20) NOT NULL, PRIMARY KEY (id)) ENGINE=InnoDB',
    `CREATE TABLE balances (id INT(11) NOT NULL AUTO_INCREMENT, player_id INT(11) NOT NULL, amount DECIMAL(15,2) NOT NULL DEFAULT '0.00',
      currency VARCHAR(4) NOT NULL, PRIMARY KEY (id), FOREIGN KEY (player_id) REFERENCES players (id)) ENGINE=InnoDB`,
    `CREATE TABLE transactions (id INT(11) NOT NULL AUTO_INCREMENT, player_id INT(11) NOT NULL, balance_id INT(11) NOT NULL, transaction_id VARCHAR(255) NOT NULL,
      action VARCHAR(20) NOT NULL, amount DECIMAL(15,2) NOT NULL, currency VARCHAR(4) NOT NULL, PRIMARY KEY (id),
      FOREIGN KEY (player_id) REFERENCES players (id), FOREIGN KEY (balance_id) REFERENCES balances (id)) ENGINE=InnoDB`,
  ],
  prepared: {
    why: 'no key says that a player has one balance in a currency',
    statements: ['ALTER TABLE balances ADD UNIQUE KEY account (player_id, currency)'],
  },
  right: {
    players: 'pam.balances',
    ...{ id: 'player_id', balance: 'amount', currency: 'currency', 'may-bet': 'anyone' },
  },
  expects: [/id: 'player_id', idType: 'bigint'/, /accountPerCurrency: true/, /balance: 'amount'/],
  players: ['1', '2'],
  rows: `INSERT INTO players VALUES (1, 'Anna', 'a@x'), (2, 'Ben', 'b@x');
    INSERT INTO balances VALUES (1, 2, 100, 'EUR'), (2, 1, 100, 'EUR'), (3, 1, 100, 'USD')`,
  audit: { accounts: ['EUR', 'USD'] },
}

/** Plain SQL. Balance and currency may be NULL. */
const moseremzy: RealSchema = {
  name: 'moseremzy',
  repository: 'moseremzy/sportsbook-platform',
  engine: 'MariaDB',
  ddl: [
    `CREATE TABLE users (id INT AUTO_INCREMENT PRIMARY KEY, username VARCHAR(100) NOT NULL, email VARCHAR(150) NOT NULL UNIQUE, password_hash VARCHAR(255) NOT NULL,
      balance DECIMAL(12,2) DEFAULT 0, currency VARCHAR(10), created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
      updated_at DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)`,
    `CREATE TABLE bet_slips (id INT AUTO_INCREMENT PRIMARY KEY, user_id INT NOT NULL, total_odd DECIMAL(10,2) NOT NULL, stake DECIMAL(12,0) NOT NULL,
      possible_win DECIMAL(12,0), status ENUM('pending', 'won', 'lost', 'partial', 'void') DEFAULT 'pending', settled_at DATETIME NULL, FOREIGN KEY (user_id) REFERENCES users (id))`,
  ],
  right: {
    players: 'pam.users',
    ...{ id: 'id', balance: 'balance', currency: 'currency', 'may-bet': 'anyone' },
  },
  expects: [/table: 'pam.users', id: 'id', idType: 'bigint', currency: 'currency', balance: 'balance'/],
  players: ['1', '2'],
  rows: `INSERT INTO users (id, username, email, password_hash, balance, currency) VALUES (1, 'anna', 'a@x', 'h', 100, 'NGN'), (2, 'ben', 'b@x', 'h', 100, 'NGN'),
    (3, 'cleo', 'c@x', 'h', 100, NULL), (4, 'dan', 'd@x', 'h', NULL, 'NGN')`,
  audit: { currency: 'NGN' },
}

/** Prisma. The amount is in lamports, and `type` says so. */
const popgame: RealSchema = {
  name: 'popgame',
  repository: 'Myrmekes-a/solana-pop-game',
  engine: 'MySQL',
  ddl: [
    `CREATE TABLE \`User\` (\`id\` VARCHAR(191) NOT NULL, \`wallet\` VARCHAR(191) NULL, \`createdAt\` DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
      UNIQUE INDEX \`User_wallet_key\`(\`wallet\`), PRIMARY KEY (\`id\`)) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`,
    `CREATE TABLE \`Balance\` (\`id\` VARCHAR(191) NOT NULL, \`userId\` VARCHAR(191) NOT NULL, \`type\` VARCHAR(191) NOT NULL, \`amount\` BIGINT NOT NULL,
      \`createdAt\` DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), \`updatedAt\` DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
      UNIQUE INDEX \`Balance_userId_key\`(\`userId\`), PRIMARY KEY (\`id\`)) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`,
    `CREATE TABLE \`Credit\` (\`id\` VARCHAR(191) NOT NULL, \`amount\` BIGINT NOT NULL, \`userId\` VARCHAR(191) NOT NULL, \`balanceId\` VARCHAR(191) NOT NULL,
      \`type\` VARCHAR(191) NOT NULL DEFAULT 'credit', \`confirmed\` BOOLEAN NOT NULL DEFAULT false, PRIMARY KEY (\`id\`)) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`,
    'ALTER TABLE `Balance` ADD CONSTRAINT `Balance_userId_fkey` FOREIGN KEY (`userId`) REFERENCES `User`(`id`) ON DELETE RESTRICT ON UPDATE CASCADE',
    'ALTER TABLE `Credit` ADD CONSTRAINT `Credit_balanceId_fkey` FOREIGN KEY (`balanceId`) REFERENCES `Balance`(`id`) ON DELETE RESTRICT ON UPDATE CASCADE',
  ],
  right: {
    players: 'pam.Balance',
    ...{ id: 'userId', balance: 'amount', currency: 'SOL', 'minor-units': '9', 'may-bet': 'anyone' },
  },
  expects: [
    /id: 'userId', idCollation: 'utf8mb4_unicode_ci'/,
    /balance: 'amount', balanceType: 'minor-units', minorUnits: 9/,
  ],
  players: uuids,
  rows: `INSERT INTO \`User\` (id) VALUES ('${anna}'), ('${ben}');
    INSERT INTO \`Balance\` (id, userId, type, amount) VALUES ('b-1', '${anna}', 'solana', 100000000000), ('b-2', '${ben}', 'solana', 100000000000)`,
  audit: { currency: 'SOL', minorUnits: unitsOf('SOL', 9) },
}

/** Laravel with bavix/laravel-wallet: minor units in a decimal without decimals, a row per holder and slug. */
const bavix: RealSchema = {
  name: 'bavix',
  repository: 'qsmartisp/casino-backend',
  engine: 'MySQL',
  ddl: [
    `CREATE TABLE users (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, email varchar(255) NOT NULL, password varchar(255) NOT NULL, disabled_at timestamp NULL,
      verification_status enum('unverified', 'verified', 'waiting') NOT NULL DEFAULT 'unverified', self_exclusion_until timestamp NULL, UNIQUE KEY users_email_unique (email))`,
    `CREATE TABLE wallets (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, holder_type varchar(255) NOT NULL, holder_id bigint unsigned NOT NULL,
      name varchar(255) NOT NULL, slug varchar(255) NOT NULL, uuid char(36) NOT NULL, description varchar(255) NULL, meta json NULL,
      balance decimal(64,0) NOT NULL DEFAULT 0, decimal_places smallint unsigned NOT NULL DEFAULT 2, created_at timestamp NULL, updated_at timestamp NULL,
      UNIQUE KEY wallets_holder_type_holder_id_slug_unique (holder_type, holder_id, slug), UNIQUE KEY wallets_uuid_unique (uuid),
      KEY wallets_holder_type_holder_id_index (holder_type, holder_id), KEY wallets_slug_index (slug))`,
    `CREATE TABLE transactions (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, payable_type varchar(255) NOT NULL, payable_id bigint unsigned NOT NULL,
      wallet_id bigint unsigned NOT NULL, type enum('deposit', 'withdraw') NOT NULL, amount decimal(64,0) NOT NULL, confirmed tinyint(1) NOT NULL, uuid char(36) NOT NULL,
      UNIQUE KEY transactions_uuid_unique (uuid), CONSTRAINT transactions_wallet_id_foreign FOREIGN KEY (wallet_id) REFERENCES wallets (id) ON DELETE CASCADE)`,
  ],
  prepared: {
    why: 'a holder has a wallet per slug, whose code no column has, and may be no user',
    statements: [
      `CREATE VIEW player_wallets AS SELECT holder_id AS player_id, 'EUR' AS currency, balance FROM wallets WHERE holder_type = 'App\\\\Models\\\\User' AND slug = 'eur'`,
    ],
    of: 'pam.wallets',
  },
  right: {
    players: 'pam.player_wallets',
    ...{ id: 'player_id', balance: 'balance', currency: 'currency', 'minor-units': '2', 'may-bet': 'anyone' },
  },
  expects: [
    /table: 'pam.player_wallets', id: 'player_id', idType: 'bigint'/,
    /balanceType: 'minor-units', minorUnits: 2/,
  ],
  players: ['1', '2'],
  rows: `INSERT INTO users (id, email, password) VALUES (1, 'a@x', 'h'), (2, 'b@x', 'h');
    INSERT INTO wallets (id, holder_type, holder_id, name, slug, uuid, balance) VALUES
      (1, 'App\\\\Models\\\\User', 2, 'EUR', 'eur', UUID(), 10000), (2, 'App\\\\Models\\\\User', 1, 'EUR', 'eur', UUID(), 10000),
      (3, 'App\\\\Models\\\\User', 1, 'CP', 'cp', UUID(), 77), (4, 'App\\\\Models\\\\Team', 1, 'EUR', 'eur', UUID(), 99)`,
}

export const mysqlSchemas: readonly RealSchema[] = [sdkgis, moseremzy, popgame, bavix]
