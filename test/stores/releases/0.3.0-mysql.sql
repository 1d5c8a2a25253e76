-- Of release 0.3.0: written by test/stores/releases/write.ts. Never changed.

CREATE DATABASE kept_release;
USE kept_release;
-- Tables and procedures of bet-wallet, version 1.

-- This file can be run again, also while the wallet runs: tables, rows and procedures that are called are kept.

SET @bet_wallet_sql_mode = @@SESSION.sql_mode, @bet_wallet_character_set_client = @@SESSION.character_set_client, @bet_wallet_character_set_results = @@SESSION.character_set_results, @bet_wallet_collation_connection = @@SESSION.collation_connection;

SET SESSION sql_mode = 'STRICT_TRANS_TABLES,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO';

-- The character set of this file; procedures keep that of the session.

SET NAMES utf8mb4;

CREATE TABLE IF NOT EXISTS `kept_release`.wallet_players (
  id bigint unsigned NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY,
  player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ NOT NULL,
  currency varchar(16) NOT NULL,
  balance decimal(38,18) NOT NULL,
  UNIQUE KEY wallet_players_player_id (player_id),
  CONSTRAINT wallet_players_balance CHECK (balance >= 0)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */;

-- Bets with their credits. A row is stored with the first change of a bet.
CREATE TABLE IF NOT EXISTS `kept_release`.wallet_bets (
  id bigint unsigned NOT NULL PRIMARY KEY,
  bet_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ NOT NULL,
  player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ NOT NULL,
  currency varchar(16) NOT NULL,
  stake decimal(38,18) NOT NULL,
  status varchar(11) NOT NULL,
  bet_paid_live decimal(38,18),
  bet_paid_reversed decimal(38,18),
  bet_paid_owed decimal(38,18),
  voided_live decimal(38,18),
  voided_reversed decimal(38,18),
  voided_owed decimal(38,18),
  cashout_live decimal(38,18),
  cashout_reversed decimal(38,18),
  cashout_owed decimal(38,18),
  revision integer NOT NULL,
  -- UTC, whatever the time zone of the session.
  recorded_at datetime(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
  UNIQUE KEY wallet_bets_bet_id (bet_id),
  CONSTRAINT wallet_bets_valid CHECK (
    revision >= 1
    AND stake >= 0
    AND (
      status = 'PLACED'
      OR status = 'ROLLED_BACK' AND COALESCE(bet_paid_live, voided_live, cashout_live) IS NULL
    )
    AND (bet_paid_reversed IS NULL) = (bet_paid_owed IS NULL)
    AND (bet_paid_live IS NULL OR bet_paid_owed IS NOT NULL AND bet_paid_live >= 0)
    AND (bet_paid_owed IS NULL OR bet_paid_reversed >= 0 AND bet_paid_owed >= 0)
    AND (voided_reversed IS NULL) = (voided_owed IS NULL)
    AND (voided_live IS NULL OR voided_owed IS NOT NULL AND voided_live >= 0)
    AND (voided_owed IS NULL OR voided_reversed >= 0 AND voided_owed >= 0)
    AND (cashout_reversed IS NULL) = (cashout_owed IS NULL)
    AND (cashout_live IS NULL OR cashout_owed IS NOT NULL AND cashout_live >= 0)
    AND (cashout_owed IS NULL OR cashout_reversed >= 0 AND cashout_owed >= 0)
  )
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ COMMENT 'bet-wallet 1';

-- Every decided transaction of the platform: the idempotency record, by operation and transactionId (D1).
-- The reference that the platform is answered with is the id, or the text that was imported.
CREATE TABLE IF NOT EXISTS `kept_release`.wallet_transactions (
  id bigint unsigned NOT NULL PRIMARY KEY,
  operation varchar(12) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ NOT NULL,
  transaction_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ NOT NULL,
  player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ NOT NULL,
  bet_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ NOT NULL,
  amount decimal(38,18),
  currency varchar(16),
  type varchar(255),
  delta decimal(38,18) NOT NULL,
  -- Of the account that it changed, or that answered. NULL where it was imported.
  account_currency varchar(16),
  -- The balance of the account right after it, in whole units of the currency. NULL where it was imported.
  balance_after decimal(38,18),
  -- A final refusal (D6, D7). Both are NULL: a success.
  error_code varchar(64),
  description varchar(500),
  -- Which rule decided.
  reason varchar(64) NOT NULL,
  transaction_date datetime(3) NOT NULL,
  reference varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  recorded_at datetime(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
  UNIQUE KEY wallet_transactions_transaction_id (operation, transaction_id),
  UNIQUE KEY wallet_transactions_reference (reference),
  CONSTRAINT wallet_transactions_valid CHECK (
    (amount IS NULL) = (operation IN ('unsettlement', 'rollbackbet'))
    AND (type IS NULL) = (operation = 'placebet')
    AND operation IN ('placebet', 'settlement', 'unsettlement', 'rollbackbet')
    AND (amount IS NULL OR amount >= 0)
    AND (currency IS NULL) = (amount IS NULL)
    AND (error_code IS NULL) = (description IS NULL)
    AND (error_code IS NULL OR delta = 0)
  )
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ COMMENT 'bet-wallet 1';

-- Always empty. A server proves that it can commit by a row that is inserted and deleted again.
CREATE TABLE IF NOT EXISTS `kept_release`.wallet_proofs (
  id bigint unsigned NOT NULL PRIMARY KEY
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ COMMENT 'bet-wallet 1';

DELIMITER $$

-- Reads players, bets and transactions; with a proof_id, proves that this server is the primary.
CREATE /*M!100001 OR REPLACE */ PROCEDURE /*!80000 IF NOT EXISTS */ `kept_release`.wallet_load_v1_3bba7ff0_d412529d(
  key_array longtext CHARACTER SET utf8mb4,
  proof_id bigint unsigned
)
MODIFIES SQL DATA
SQL SECURITY INVOKER
COMMENT '{\n  "players.table": "kept_release.wallet_players",\n  "players.id": "player_id",\n  "players.idType": "text",\n  "players.currency": "currency",\n  "players.balance": "balance",\n  "players.balanceType": "numeric",\n  "players.minorUnits": null,\n  "players.idCollation": null\n}'
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK AND NO CHAIN NO RELEASE;
    RESIGNAL;
  END;
  SELECT
    item.key_index - 1,
    (@@GLOBAL.read_only NOT IN ('0', 'OFF') OR @@GLOBAL.innodb_read_only),
    CAST(CAST(IF(player.`player_id` IS NULL, NULL, COALESCE(CONVERT(player.`currency` USING utf8mb4), '')) AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(player.`balance` AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.player_id AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.currency AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.stake AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.status AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.bet_paid_live AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.bet_paid_reversed AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.bet_paid_owed AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.voided_live AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.voided_reversed AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.voided_owed AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.cashout_live AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.cashout_reversed AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.cashout_owed AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(bet.revision AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(recorded.player_id AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(recorded.bet_id AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(recorded.amount AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(recorded.currency AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(recorded.type AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(recorded.delta AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(recorded.account_currency AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(recorded.error_code AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(recorded.description AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(recorded.reason AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(recorded.transaction_date AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(COALESCE(recorded.reference, recorded.id) AS char CHARACTER SET utf8mb4) AS binary)
  FROM JSON_TABLE(key_array, '$[*]' COLUMNS (
    key_index FOR ORDINALITY,
    operation varchar(12) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[0]',
    transaction_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[1]',
    player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[2]',
    bet_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[3]'
  )) item
  LEFT JOIN `kept_release`.`wallet_players` player ON player.`player_id` = item.player_id
  LEFT JOIN `kept_release`.wallet_bets bet ON bet.bet_id = item.bet_id
  LEFT JOIN `kept_release`.wallet_transactions recorded
    ON recorded.operation = item.operation AND recorded.transaction_id = item.transaction_id

  LIMIT 18446744073709551615;
  -- The rows above tell of a read-only server.
  IF proof_id IS NOT NULL AND NOT (@@GLOBAL.read_only NOT IN ('0', 'OFF') OR @@GLOBAL.innodb_read_only) THEN
    START TRANSACTION;
    INSERT INTO `kept_release`.wallet_proofs (id) VALUES (proof_id);
    DELETE FROM `kept_release`.wallet_proofs WHERE id = proof_id;
    COMMIT AND NO CHAIN NO RELEASE;
  END IF;
END $$

-- Commits many items: checks the guards of each, and writes the accepted ones.
CREATE /*M!100001 OR REPLACE */ PROCEDURE /*!80000 IF NOT EXISTS */ `kept_release`.wallet_commit_v1_3bba7ff0_22c6fa5a(
  items longtext CHARACTER SET utf8mb4,
  player_ids longtext CHARACTER SET utf8mb4,
  balance_min decimal(65,20),
  balance_max decimal(65,20),
  commits boolean
)
MODIFIES SQL DATA
SQL SECURITY INVOKER
COMMENT '{\n  "players.table": "kept_release.wallet_players",\n  "players.id": "player_id",\n  "players.idType": "text",\n  "players.currency": "currency",\n  "players.balance": "balance",\n  "players.balanceType": "numeric",\n  "players.minorUnits": null,\n  "players.idCollation": null\n}'
BEGIN
  DECLARE committed, bets_to_change, to_load, wrong_balances integer DEFAULT 0;
  DECLARE proof_id bigint unsigned;
  DECLARE is_committing boolean DEFAULT false;
  DECLARE begin_time, recorded_time datetime(6) DEFAULT UTC_TIMESTAMP(6);
  -- MySQL undoes only the statement that failed. The rest would be committed by the next BEGIN.
  DECLARE EXIT HANDLER FOR 1213, 1020
  BEGIN
    IF commits THEN
      ROLLBACK AND NO CHAIN NO RELEASE;
    END IF;
    RESIGNAL;
  END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    IF commits THEN
      ROLLBACK AND NO CHAIN NO RELEASE;
    END IF;
    IF is_committing THEN
      RESIGNAL SET MYSQL_ERRNO = 1180;
    END IF;
    RESIGNAL;
  END;

  IF (@@GLOBAL.read_only NOT IN ('0', 'OFF') OR @@GLOBAL.innodb_read_only) THEN
    SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT = 'bet-wallet: this server is read-only';
  END IF;

  CREATE TEMPORARY TABLE IF NOT EXISTS `kept_release`.wallet_batch_players (
    player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ NOT NULL PRIMARY KEY,
    currency varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    balance decimal(65,20)
  ) ENGINE = MEMORY;
  CREATE TEMPORARY TABLE IF NOT EXISTS `kept_release`.wallet_batch_items (
    item_index integer NOT NULL PRIMARY KEY,
    verdict varchar(12) NOT NULL,
    stored_revision integer,
    operation varchar(12) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    transaction_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    bet_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    amount decimal(38,18),
    currency varchar(16) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    type varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    delta decimal(38,18),
    error_code varchar(64) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    description varchar(500) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    reason varchar(64) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    transaction_date varchar(23) CHARACTER SET ascii,
    balance_delta decimal(65,20),
    account_currency varchar(16) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    balance_floor decimal(65,20),
    bet_player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    bet_currency varchar(16) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    bet_stake decimal(38,18),
    bet_status varchar(11) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
    bet_revision integer,
    credits varchar(1000) CHARACTER SET ascii,
    id bigint unsigned
  ) ENGINE = MEMORY;
  DELETE FROM `kept_release`.wallet_batch_players;
  DELETE FROM `kept_release`.wallet_batch_items;

  IF commits THEN
    START TRANSACTION;
  END IF;

  -- Lock order: the players, then the bets, in every commit. It does not wait for a locked player.
  INSERT INTO `kept_release`.wallet_batch_players
  SELECT item.player_id, COALESCE(CONVERT(player.`currency` USING utf8mb4), ''), player.`balance`
  FROM JSON_TABLE(player_ids, '$[*]' COLUMNS (player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$')) item
  STRAIGHT_JOIN `kept_release`.`wallet_players` player ON player.`player_id` = item.player_id
  -- Beside JSON_TABLE, MySQL requires the table to lock (3569). MariaDB does not know OF.
  FOR UPDATE /*!80000 OF player */ SKIP LOCKED;

  INSERT INTO `kept_release`.wallet_batch_items
  SELECT
    item.item_index - 1,
    CASE
      WHEN recorded.id IS NOT NULL THEN 'conflict' -- guard 1
      -- Guard 2: the bet has not changed since it was loaded. That of a credit: the bet takes it.
      WHEN item.bet_revision = 0 AND (
        bet.player_id = item.bet_player_id
          AND bet.currency = item.bet_currency
          AND bet.status = item.bet_status
          AND COALESCE(
            COALESCE(bet.bet_paid_live, 0) + CAST(JSON_VALUE(item.credits, '$[0]') AS decimal(38,18)),
            COALESCE(bet.voided_live, 0) + CAST(JSON_VALUE(item.credits, '$[3]') AS decimal(38,18)),
            COALESCE(bet.cashout_live, 0) + CAST(JSON_VALUE(item.credits, '$[6]') AS decimal(38,18))
          ) < 100000000000000000000
      ) IS NOT TRUE THEN 'conflict'
      WHEN item.bet_revision > 0 AND COALESCE(bet.revision, 0) <> item.bet_revision - 1 THEN 'conflict'
      WHEN locked.player_id IS NULL THEN
        -- Busy: another writer holds the row lock.
        IF(EXISTS (
          SELECT 1 FROM `kept_release`.`wallet_players` player WHERE player.`player_id` = item.player_id
        ), 'busy', 'conflict')
      WHEN locked.currency <> item.account_currency THEN 'conflict' -- guard 3
      WHEN item.balance_delta IS NULL THEN 'committed'
      WHEN NOT (ABS(locked.balance) <= COALESCE(balance_max, ABS(locked.balance))) IS TRUE THEN 'conflict'
      WHEN (locked.balance + item.balance_delta < item.balance_floor) IS TRUE THEN 'conflict' -- guard 3, the floor
      WHEN IF(item.balance_delta > 0, locked.balance + item.balance_delta > balance_max, locked.balance + item.balance_delta < balance_min) IS TRUE THEN 'out-of-range'
      ELSE 'committed'
    END,
    IF(item.bet_revision IS NULL, NULL, bet.revision),
    item.operation,
    item.transaction_id,
    item.player_id,
    item.bet_id,
    item.amount,
    item.currency,
    item.type,
    item.delta,
    item.error_code,
    item.description,
    item.reason,
    item.transaction_date,
    item.balance_delta,
    item.account_currency,
    item.balance_floor,
    item.bet_player_id,
    item.bet_currency,
    item.bet_stake,
    item.bet_status,
    item.bet_revision,
    item.credits,
    item.id
  FROM JSON_TABLE(items, '$[*]' COLUMNS (
    item_index FOR ORDINALITY,
    operation varchar(12) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[0]' ERROR ON ERROR,
    transaction_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[1]' ERROR ON ERROR,
    player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[2]' ERROR ON ERROR,
    bet_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[3]' ERROR ON ERROR,
    amount decimal(38,18) PATH '$[4]' ERROR ON ERROR,
    currency varchar(16) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[5]' ERROR ON ERROR,
    type varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[6]' ERROR ON ERROR,
    delta decimal(38,18) PATH '$[7]' ERROR ON ERROR,
    error_code varchar(64) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[8]' ERROR ON ERROR,
    description varchar(500) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[9]' ERROR ON ERROR,
    reason varchar(64) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[10]' ERROR ON ERROR,
    transaction_date varchar(23) CHARACTER SET ascii PATH '$[11]' ERROR ON ERROR,
    balance_delta decimal(65,20) PATH '$[12]' ERROR ON ERROR,
    account_currency varchar(16) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[13]' ERROR ON ERROR,
    balance_floor decimal(65,20) PATH '$[14]' ERROR ON ERROR,
    bet_player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[15]' ERROR ON ERROR,
    bet_currency varchar(16) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[16]' ERROR ON ERROR,
    bet_stake decimal(38,18) PATH '$[17]' ERROR ON ERROR,
    bet_status varchar(11) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */ PATH '$[18]' ERROR ON ERROR,
    bet_revision integer PATH '$[19]' ERROR ON ERROR,
    credits varchar(1000) CHARACTER SET ascii PATH '$[20]' ERROR ON ERROR,
    id bigint unsigned PATH '$[21]' ERROR ON ERROR
  )) item
  LEFT JOIN `kept_release`.wallet_batch_players locked ON locked.player_id = item.player_id
  LEFT JOIN `kept_release`.wallet_transactions recorded
    ON recorded.operation = item.operation AND recorded.transaction_id = item.transaction_id
  LEFT JOIN `kept_release`.wallet_bets bet ON bet.bet_id = item.bet_id;

  SET recorded_time = UTC_TIMESTAMP(6);
  IF recorded_time NOT BETWEEN begin_time AND begin_time + INTERVAL 1 HOUR THEN
    SET recorded_time = begin_time;
  END IF;
  INSERT INTO `kept_release`.wallet_transactions (
    id,
    operation,
    transaction_id,
    player_id,
    bet_id,
    amount,
    currency,
    type,
    delta,
    account_currency,
    error_code,
    description,
    reason,
    transaction_date,
    balance_after,
    recorded_at
  )
  SELECT
    item.id,
    item.operation,
    item.transaction_id,
    item.player_id,
    item.bet_id,
    item.amount,
    item.currency,
    item.type,
    item.delta,
    item.account_currency,
    item.error_code,
    item.description,
    item.reason,
    item.transaction_date,
    IF(
      ABS(locked.balance + COALESCE(item.balance_delta, 0)) < 100000000000000000000
        AND ROUND(locked.balance + COALESCE(item.balance_delta, 0), 18) = locked.balance + COALESCE(item.balance_delta, 0),
      locked.balance + COALESCE(item.balance_delta, 0),
      NULL
    ),
    recorded_time
  FROM `kept_release`.wallet_batch_items item
  JOIN `kept_release`.wallet_batch_players locked ON locked.player_id = item.player_id
  WHERE item.verdict = 'committed';

  INSERT INTO `kept_release`.wallet_bets (
    id,
    bet_id,
    player_id,
    currency,
    stake,
    status,
    revision,
    recorded_at,
    bet_paid_live,
    bet_paid_reversed,
    bet_paid_owed,
    voided_live,
    voided_reversed,
    voided_owed,
    cashout_live,
    cashout_reversed,
    cashout_owed
  )
  SELECT
    item.id,
    item.bet_id,
    item.bet_player_id,
    item.bet_currency,
    item.bet_stake,
    item.bet_status,
    item.bet_revision,
    recorded_time,
    JSON_VALUE(item.credits, '$[0]'),
    JSON_VALUE(item.credits, '$[1]'),
    JSON_VALUE(item.credits, '$[2]'),
    JSON_VALUE(item.credits, '$[3]'),
    JSON_VALUE(item.credits, '$[4]'),
    JSON_VALUE(item.credits, '$[5]'),
    JSON_VALUE(item.credits, '$[6]'),
    JSON_VALUE(item.credits, '$[7]'),
    JSON_VALUE(item.credits, '$[8]')
  FROM `kept_release`.wallet_batch_items item
  WHERE item.verdict = 'committed'
    AND item.bet_revision IS NOT NULL
    AND item.stored_revision IS NULL;

  SELECT
    SUM(item.verdict = 'committed'),
    SUM(item.verdict = 'committed' AND item.stored_revision IS NOT NULL),
    SUM(IF(commits, item.verdict = 'conflict', item.verdict = 'committed' AND item.bet_revision <=> 0)),
    MIN(item.id)
  INTO committed, bets_to_change, to_load, proof_id
  FROM `kept_release`.wallet_batch_items item;
  IF bets_to_change > 0 THEN
    UPDATE `kept_release`.wallet_batch_items item
    STRAIGHT_JOIN `kept_release`.wallet_bets bet
      ON bet.bet_id = item.bet_id AND bet.revision = item.stored_revision
    SET
      bet.stake = COALESCE(item.bet_stake, bet.stake),
      bet.status = item.bet_status,
      bet.bet_paid_live = IF(
        item.bet_revision = 0,
        COALESCE(bet.bet_paid_live + CAST(JSON_VALUE(item.credits, '$[0]') AS decimal(38,18)), bet.bet_paid_live, JSON_VALUE(item.credits, '$[0]')),
        JSON_VALUE(item.credits, '$[0]')
      ),
      bet.bet_paid_reversed = IF(
        item.bet_revision = 0,
        COALESCE(bet.bet_paid_reversed, JSON_VALUE(item.credits, '$[1]')),
        JSON_VALUE(item.credits, '$[1]')
      ),
      bet.bet_paid_owed = IF(
        item.bet_revision = 0,
        COALESCE(bet.bet_paid_owed, JSON_VALUE(item.credits, '$[2]')),
        JSON_VALUE(item.credits, '$[2]')
      ),
      bet.voided_live = IF(
        item.bet_revision = 0,
        COALESCE(bet.voided_live + CAST(JSON_VALUE(item.credits, '$[3]') AS decimal(38,18)), bet.voided_live, JSON_VALUE(item.credits, '$[3]')),
        JSON_VALUE(item.credits, '$[3]')
      ),
      bet.voided_reversed = IF(
        item.bet_revision = 0,
        COALESCE(bet.voided_reversed, JSON_VALUE(item.credits, '$[4]')),
        JSON_VALUE(item.credits, '$[4]')
      ),
      bet.voided_owed = IF(
        item.bet_revision = 0,
        COALESCE(bet.voided_owed, JSON_VALUE(item.credits, '$[5]')),
        JSON_VALUE(item.credits, '$[5]')
      ),
      bet.cashout_live = IF(
        item.bet_revision = 0,
        COALESCE(bet.cashout_live + CAST(JSON_VALUE(item.credits, '$[6]') AS decimal(38,18)), bet.cashout_live, JSON_VALUE(item.credits, '$[6]')),
        JSON_VALUE(item.credits, '$[6]')
      ),
      bet.cashout_reversed = IF(
        item.bet_revision = 0,
        COALESCE(bet.cashout_reversed, JSON_VALUE(item.credits, '$[7]')),
        JSON_VALUE(item.credits, '$[7]')
      ),
      bet.cashout_owed = IF(
        item.bet_revision = 0,
        COALESCE(bet.cashout_owed, JSON_VALUE(item.credits, '$[8]')),
        JSON_VALUE(item.credits, '$[8]')
      ),
      bet.revision = item.stored_revision + 1
    WHERE item.verdict = 'committed';
    IF ROW_COUNT() <> bets_to_change THEN
      SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1020,
        MESSAGE_TEXT = 'bet-wallet: another writer changed the bet during this commit';
    END IF;
  END IF;

  UPDATE `kept_release`.wallet_batch_items item
  STRAIGHT_JOIN `kept_release`.`wallet_players` player ON player.`player_id` = item.player_id
  SET player.`balance` = player.`balance` + item.balance_delta
  WHERE item.verdict = 'committed' AND item.balance_delta IS NOT NULL;
  SELECT COUNT(*) INTO wrong_balances
  FROM `kept_release`.wallet_batch_items item
  STRAIGHT_JOIN `kept_release`.wallet_batch_players locked ON locked.player_id = item.player_id
  STRAIGHT_JOIN `kept_release`.`wallet_players` player ON player.`player_id` = item.player_id
  WHERE item.verdict = 'committed' AND item.balance_delta IS NOT NULL
    AND NOT player.`balance` <=> locked.balance + COALESCE(item.balance_delta, 0);
  IF wrong_balances > 0 THEN
    -- The row is locked: the difference comes from a trigger that rounds, replaces or suppresses the update.
    SIGNAL SQLSTATE '45000'
      SET MESSAGE_TEXT = 'bet-wallet: the balance in the players'' table is not the one written: see its triggers';
  END IF;

  SELECT item.item_index, item.verdict, CAST(CAST(locked.currency AS char CHARACTER SET utf8mb4) AS binary),
    CAST(CAST(locked.balance + COALESCE(item.balance_delta, 0) AS char CHARACTER SET utf8mb4) AS binary), CAST(CAST(item.id AS char CHARACTER SET utf8mb4) AS binary)
  FROM `kept_release`.wallet_batch_items item
  LEFT JOIN `kept_release`.wallet_batch_players locked ON locked.player_id = item.player_id
  LIMIT 18446744073709551615;
  IF to_load > 0 THEN
    IF commits AND committed = 0 THEN
      -- Nothing is written: the locks of players end before the wait for replicas.
      COMMIT AND NO CHAIN NO RELEASE;
      START TRANSACTION;
      INSERT INTO `kept_release`.wallet_proofs (id) VALUES (proof_id);
      DELETE FROM `kept_release`.wallet_proofs WHERE id = proof_id;
    END IF;
    SELECT
      item.item_index,
      (@@GLOBAL.read_only NOT IN ('0', 'OFF') OR @@GLOBAL.innodb_read_only),
      CAST(CAST(IF(player.`player_id` IS NULL, NULL, COALESCE(CONVERT(player.`currency` USING utf8mb4), '')) AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(player.`balance` AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.player_id AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.currency AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.stake AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.status AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.bet_paid_live AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.bet_paid_reversed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.bet_paid_owed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.voided_live AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.voided_reversed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.voided_owed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.cashout_live AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.cashout_reversed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.cashout_owed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.revision AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.player_id AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.bet_id AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.amount AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.currency AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.type AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.delta AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.account_currency AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.error_code AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.description AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.reason AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.transaction_date AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(COALESCE(recorded.reference, recorded.id) AS char CHARACTER SET utf8mb4) AS binary)
    FROM `kept_release`.wallet_batch_items item
    LEFT JOIN `kept_release`.`wallet_players` player ON player.`player_id` = item.player_id
    LEFT JOIN `kept_release`.wallet_bets bet ON bet.bet_id = item.bet_id
    LEFT JOIN `kept_release`.wallet_transactions recorded
      ON recorded.operation = item.operation AND recorded.transaction_id = item.transaction_id
    WHERE IF(commits, item.verdict = 'conflict', item.verdict = 'committed' AND item.bet_revision <=> 0)
    LIMIT 18446744073709551615;
  END IF;
  IF commits THEN
    SET is_committing = true;
    COMMIT AND NO CHAIN NO RELEASE;
  END IF;
END $$

-- Commits one item: the same guards, by small statements.
CREATE /*M!100001 OR REPLACE */ PROCEDURE /*!80000 IF NOT EXISTS */ `kept_release`.wallet_commit_one_v1_3bba7ff0_faa9e6b6(
  item_operation varchar(12) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_transaction_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_bet_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_amount decimal(38,18),
  item_currency varchar(16) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_type varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_delta decimal(38,18),
  item_error_code varchar(64) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_description varchar(500) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_reason varchar(64) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_transaction_date varchar(23) CHARACTER SET ascii,
  item_balance_delta decimal(65,20),
  item_account_currency varchar(16) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_balance_floor decimal(65,20),
  item_bet_player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_bet_currency varchar(16) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_bet_stake decimal(38,18),
  item_bet_status varchar(11) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  item_bet_revision integer,
  item_credits varchar(1000) CHARACTER SET ascii,
  item_id bigint unsigned,
  balance_min decimal(65,20),
  balance_max decimal(65,20),
  balance_length integer,
  commits boolean
)
MODIFIES SQL DATA
SQL SECURITY INVOKER
COMMENT '{\n  "players.table": "kept_release.wallet_players",\n  "players.id": "player_id",\n  "players.idType": "text",\n  "players.currency": "currency",\n  "players.balance": "balance",\n  "players.balanceType": "numeric",\n  "players.minorUnits": null,\n  "players.idCollation": null\n}'
BEGIN
  DECLARE verdict varchar(12) DEFAULT 'conflict';
  DECLARE is_recorded, is_locked, is_known boolean DEFAULT false;
  DECLARE stored_revision integer;
  DECLARE player_currency varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */;
  DECLARE balance_text varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */;
  DECLARE balance_before, balance_after, reserved_before decimal(65,20);
  DECLARE is_committing boolean DEFAULT false;
  DECLARE begin_time, recorded_time datetime(6) DEFAULT UTC_TIMESTAMP(6);
  -- MySQL undoes only the statement that failed. The rest would be committed by the next BEGIN.
  DECLARE EXIT HANDLER FOR 1213, 1020
  BEGIN
    IF commits THEN
      ROLLBACK AND NO CHAIN NO RELEASE;
    END IF;
    RESIGNAL;
  END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    IF commits THEN
      ROLLBACK AND NO CHAIN NO RELEASE;
    END IF;
    IF is_committing THEN
      RESIGNAL SET MYSQL_ERRNO = 1180;
    END IF;
    RESIGNAL;
  END;

  IF (@@GLOBAL.read_only NOT IN ('0', 'OFF') OR @@GLOBAL.innodb_read_only) THEN
    SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT = 'bet-wallet: this server is read-only';
  END IF;

  IF commits THEN
    START TRANSACTION;
  END IF;

  guards_and_writes: BEGIN
    -- Guard 1: the transaction is new.
    SELECT EXISTS (
      SELECT 1
      FROM `kept_release`.wallet_transactions recorded
      WHERE recorded.operation = item_operation
        AND recorded.transaction_id = item_transaction_id
    ) INTO is_recorded;
    IF is_recorded THEN
      LEAVE guards_and_writes;
    END IF;

    -- Guard 2: the bet has not changed since it was loaded. That of a credit: the bet takes it.
    -- Not SET … = (SELECT …): in a procedure that locks the row, and waits for it.
    IF item_bet_revision = 0 THEN
      SELECT bet.revision INTO stored_revision
      FROM `kept_release`.wallet_bets bet
      WHERE bet.bet_id = item_bet_id
        AND (
          bet.player_id = item_bet_player_id
            AND bet.currency = item_bet_currency
            AND bet.status = item_bet_status
            AND COALESCE(
              COALESCE(bet.bet_paid_live, 0) + CAST(JSON_VALUE(item_credits, '$[0]') AS decimal(38,18)),
              COALESCE(bet.voided_live, 0) + CAST(JSON_VALUE(item_credits, '$[3]') AS decimal(38,18)),
              COALESCE(bet.cashout_live, 0) + CAST(JSON_VALUE(item_credits, '$[6]') AS decimal(38,18))
            ) < 100000000000000000000
        );
      IF stored_revision IS NULL THEN
        LEAVE guards_and_writes;
      END IF;
    ELSEIF item_bet_revision IS NOT NULL THEN
      SELECT bet.revision INTO stored_revision FROM `kept_release`.wallet_bets bet WHERE bet.bet_id = item_bet_id;
      IF COALESCE(stored_revision, 0) <> item_bet_revision - 1 THEN
        LEAVE guards_and_writes;
      END IF;
    END IF;

    -- Lock order: the player, then the bet, in every commit. It does not wait for a locked player.
    SELECT true, COALESCE(CONVERT(player.`currency` USING utf8mb4), ''), player.`balance`,
      CAST(CAST(player.`balance` AS char CHARACTER SET utf8mb4) AS binary)
    INTO is_locked, player_currency, balance_before, balance_text
    FROM `kept_release`.`wallet_players` player
    WHERE player.`player_id` = item_player_id
    FOR UPDATE SKIP LOCKED;
    IF NOT is_locked THEN
      SELECT EXISTS (SELECT 1 FROM `kept_release`.`wallet_players` player WHERE player.`player_id` = item_player_id) INTO is_known;
      IF is_known THEN
        SET verdict = 'busy'; -- another writer holds the row lock
      END IF;
      LEAVE guards_and_writes;
    END IF;

    -- Guard 3: the currency and the floor of the balance.
    IF player_currency <> item_account_currency THEN
      LEAVE guards_and_writes;
    END IF;
    IF item_balance_delta IS NOT NULL THEN
      SET balance_after = balance_before + item_balance_delta;
      IF NOT (ABS(balance_before) <= COALESCE(balance_max, ABS(balance_before))) IS TRUE
        OR (balance_after < item_balance_floor) IS TRUE THEN
        LEAVE guards_and_writes;
      END IF;
      IF IF(item_balance_delta > 0, balance_after > balance_max, balance_after < balance_min) IS TRUE  THEN
        SET verdict = 'out-of-range';
        LEAVE guards_and_writes;
      END IF;
    END IF;

    SET recorded_time = UTC_TIMESTAMP(6);
    IF recorded_time NOT BETWEEN begin_time AND begin_time + INTERVAL 1 HOUR THEN
      SET recorded_time = begin_time;
    END IF;
    INSERT INTO `kept_release`.wallet_transactions (
      id,
      operation,
      transaction_id,
      player_id,
      bet_id,
      amount,
      currency,
      type,
      delta,
      account_currency,
      error_code,
      description,
      reason,
      transaction_date,
      balance_after,
      recorded_at
    )
    VALUES (
      item_id,
      item_operation,
      item_transaction_id,
      item_player_id,
      item_bet_id,
      item_amount,
      item_currency,
      item_type,
      item_delta,
      item_account_currency,
      item_error_code,
      item_description,
      item_reason,
      item_transaction_date,
      IF(
        ABS(COALESCE(balance_after, balance_before)) < 100000000000000000000
          AND ROUND(COALESCE(balance_after, balance_before), 18) = COALESCE(balance_after, balance_before),
        COALESCE(balance_after, balance_before),
        NULL
      ),
      recorded_time
    );

    IF stored_revision IS NOT NULL THEN
      UPDATE `kept_release`.wallet_bets bet
      SET
        bet.stake = COALESCE(item_bet_stake, bet.stake),
        bet.status = item_bet_status,
        bet.bet_paid_live = IF(
          item_bet_revision = 0,
          COALESCE(bet.bet_paid_live + CAST(JSON_VALUE(item_credits, '$[0]') AS decimal(38,18)), bet.bet_paid_live, JSON_VALUE(item_credits, '$[0]')),
          JSON_VALUE(item_credits, '$[0]')
        ),
        bet.bet_paid_reversed = IF(
          item_bet_revision = 0,
          COALESCE(bet.bet_paid_reversed, JSON_VALUE(item_credits, '$[1]')),
          JSON_VALUE(item_credits, '$[1]')
        ),
        bet.bet_paid_owed = IF(
          item_bet_revision = 0,
          COALESCE(bet.bet_paid_owed, JSON_VALUE(item_credits, '$[2]')),
          JSON_VALUE(item_credits, '$[2]')
        ),
        bet.voided_live = IF(
          item_bet_revision = 0,
          COALESCE(bet.voided_live + CAST(JSON_VALUE(item_credits, '$[3]') AS decimal(38,18)), bet.voided_live, JSON_VALUE(item_credits, '$[3]')),
          JSON_VALUE(item_credits, '$[3]')
        ),
        bet.voided_reversed = IF(
          item_bet_revision = 0,
          COALESCE(bet.voided_reversed, JSON_VALUE(item_credits, '$[4]')),
          JSON_VALUE(item_credits, '$[4]')
        ),
        bet.voided_owed = IF(
          item_bet_revision = 0,
          COALESCE(bet.voided_owed, JSON_VALUE(item_credits, '$[5]')),
          JSON_VALUE(item_credits, '$[5]')
        ),
        bet.cashout_live = IF(
          item_bet_revision = 0,
          COALESCE(bet.cashout_live + CAST(JSON_VALUE(item_credits, '$[6]') AS decimal(38,18)), bet.cashout_live, JSON_VALUE(item_credits, '$[6]')),
          JSON_VALUE(item_credits, '$[6]')
        ),
        bet.cashout_reversed = IF(
          item_bet_revision = 0,
          COALESCE(bet.cashout_reversed, JSON_VALUE(item_credits, '$[7]')),
          JSON_VALUE(item_credits, '$[7]')
        ),
        bet.cashout_owed = IF(
          item_bet_revision = 0,
          COALESCE(bet.cashout_owed, JSON_VALUE(item_credits, '$[8]')),
          JSON_VALUE(item_credits, '$[8]')
        ),
        bet.revision = stored_revision + 1
      WHERE bet.bet_id = item_bet_id
        AND bet.revision = stored_revision;
      IF ROW_COUNT() <> 1 THEN
        SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1020,
          MESSAGE_TEXT = 'bet-wallet: another writer changed the bet during this commit';
      END IF;
    ELSEIF item_bet_revision IS NOT NULL AND item_credits IS NULL THEN
      INSERT INTO `kept_release`.wallet_bets (
        id,
        bet_id,
        player_id,
        currency,
        stake,
        status,
        revision,
        recorded_at
      )
      VALUES (
        item_id,
        item_bet_id,
        item_bet_player_id,
        item_bet_currency,
        item_bet_stake,
        item_bet_status,
        item_bet_revision,
        recorded_time
      );
    ELSEIF item_bet_revision IS NOT NULL THEN
      INSERT INTO `kept_release`.wallet_bets (
        id,
        bet_id,
        player_id,
        currency,
        stake,
        status,
        revision,
        recorded_at,
        bet_paid_live,
        bet_paid_reversed,
        bet_paid_owed,
        voided_live,
        voided_reversed,
        voided_owed,
        cashout_live,
        cashout_reversed,
        cashout_owed
      )
      VALUES (
        item_id,
        item_bet_id,
        item_bet_player_id,
        item_bet_currency,
        item_bet_stake,
        item_bet_status,
        item_bet_revision,
        recorded_time,
        JSON_VALUE(item_credits, '$[0]'),
        JSON_VALUE(item_credits, '$[1]'),
        JSON_VALUE(item_credits, '$[2]'),
        JSON_VALUE(item_credits, '$[3]'),
        JSON_VALUE(item_credits, '$[4]'),
        JSON_VALUE(item_credits, '$[5]'),
        JSON_VALUE(item_credits, '$[6]'),
        JSON_VALUE(item_credits, '$[7]'),
        JSON_VALUE(item_credits, '$[8]')
      );
    END IF;

    IF item_balance_delta IS NOT NULL THEN
      UPDATE `kept_release`.`wallet_players` player
      SET player.`balance` = player.`balance` + item_balance_delta
      WHERE player.`player_id` = item_player_id;
      SELECT player.`balance`, CAST(CAST(player.`balance` AS char CHARACTER SET utf8mb4) AS binary)
      INTO balance_before, balance_text
      FROM `kept_release`.`wallet_players` player
      WHERE player.`player_id` = item_player_id;
      IF NOT balance_before <=> balance_after THEN
        -- The row is locked: the difference comes from a trigger that rounds, replaces or suppresses the update.
        SIGNAL SQLSTATE '45000'
          SET MESSAGE_TEXT = 'bet-wallet: the balance in the players'' table is not the one written: see its triggers';
      END IF;
    END IF;
    SET verdict = 'committed';
  END;

  SELECT 0, verdict, CAST(CAST(player_currency AS char CHARACTER SET utf8mb4) AS binary), CAST(CAST(balance_text AS char CHARACTER SET utf8mb4) AS binary), CAST(CAST(item_id AS char CHARACTER SET utf8mb4) AS binary);
  IF IF(commits, verdict = 'conflict', verdict = 'committed' AND item_bet_revision <=> 0) THEN
    IF commits AND true THEN
      -- Nothing is written: the locks of players end before the wait for replicas.
      COMMIT AND NO CHAIN NO RELEASE;
      START TRANSACTION;
      INSERT INTO `kept_release`.wallet_proofs (id) VALUES (item_id);
      DELETE FROM `kept_release`.wallet_proofs WHERE id = item_id;
    END IF;
    SELECT
      0,
      (@@GLOBAL.read_only NOT IN ('0', 'OFF') OR @@GLOBAL.innodb_read_only),
      CAST(CAST(IF(player.`player_id` IS NULL, NULL, COALESCE(CONVERT(player.`currency` USING utf8mb4), '')) AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(player.`balance` AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.player_id AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.currency AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.stake AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.status AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.bet_paid_live AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.bet_paid_reversed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.bet_paid_owed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.voided_live AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.voided_reversed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.voided_owed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.cashout_live AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.cashout_reversed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.cashout_owed AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(bet.revision AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.player_id AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.bet_id AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.amount AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.currency AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.type AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.delta AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.account_currency AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.error_code AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.description AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.reason AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(recorded.transaction_date AS char CHARACTER SET utf8mb4) AS binary),
      CAST(CAST(COALESCE(recorded.reference, recorded.id) AS char CHARACTER SET utf8mb4) AS binary)
    FROM (SELECT item_operation AS operation, item_transaction_id AS transaction_id, item_player_id AS player_id, item_bet_id AS bet_id) item
    LEFT JOIN `kept_release`.`wallet_players` player ON player.`player_id` = item.player_id
    LEFT JOIN `kept_release`.wallet_bets bet ON bet.bet_id = item.bet_id
    LEFT JOIN `kept_release`.wallet_transactions recorded
      ON recorded.operation = item.operation AND recorded.transaction_id = item.transaction_id

    LIMIT 18446744073709551615;
  END IF;
  IF commits THEN
    SET is_committing = true;
    COMMIT AND NO CHAIN NO RELEASE;
  END IF;
END $$

/*!80000 DROP PROCEDURE IF EXISTS `kept_release`.credit_bet_v1 */ /*M!100001 DO 0 */ $$

-- For PAM code that settles bets (D17): records the credit on the bet. Call it in the database
-- transaction that credits the player.
CREATE /*M!100001 OR REPLACE */ PROCEDURE `kept_release`.credit_bet_v1(
  settled_bet_id varchar(300) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  settlement_type varchar(20) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */,
  amount varchar(100) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */
)
MODIFIES SQL DATA
SQL SECURITY INVOKER
COMMENT '{\n  "players.table": "kept_release.wallet_players",\n  "players.id": "player_id",\n  "players.idType": "text",\n  "players.currency": "currency",\n  "players.balance": "balance",\n  "players.balanceType": "numeric",\n  "players.minorUnits": null,\n  "players.idCollation": null\n}'
BEGIN
  DECLARE known_player_id varchar(255) CHARACTER SET utf8mb4 COLLATE /*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */;
  DECLARE is_locked boolean;
  DECLARE unit decimal(19, 18);
  DECLARE credit decimal(38,18);
  DECLARE problem varchar(128) CHARACTER SET utf8mb4;
  IF settlement_type IS NULL OR settlement_type NOT IN ('BET_PAID', 'VOIDED', 'CASHOUT') THEN
    SIGNAL SQLSTATE '45000'
      SET MESSAGE_TEXT = 'bet-wallet: settlement_type must be BET_PAID, VOIDED or CASHOUT';
  END IF;
  IF amount IS NULL OR amount NOT REGEXP '^[0-9]{1,20}([.][0-9]{1,18}0*)?$' THEN
    SIGNAL SQLSTATE '45000'
      SET MESSAGE_TEXT = 'bet-wallet: amount must be at least 0, as a decimal: at most 20 digits, 18 decimals, no exponent';
  END IF;
  SET credit = CAST(amount AS decimal(38,18));
  IF settled_bet_id IS NULL OR CHAR_LENGTH(settled_bet_id) > 255 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'bet-wallet: settled_bet_id must have at most 255 characters';
  END IF;
  -- SELECT … INTO locks nothing. SET … = (SELECT …) locks the bet, and sees one that is newer than the
  -- snapshot of a database transaction in REPEATABLE READ.
  SELECT bet.player_id INTO known_player_id FROM `kept_release`.wallet_bets bet WHERE bet.bet_id = settled_bet_id;
  IF known_player_id IS NULL THEN
    SET known_player_id = (SELECT bet.player_id FROM `kept_release`.wallet_bets bet WHERE bet.bet_id = settled_bet_id);
  END IF;
  IF known_player_id IS NULL THEN
    SET problem = CONCAT('bet-wallet: unknown bet ', LEFT(settled_bet_id, 100));
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = problem;
  END IF;

  -- Lock order: the player, then the bet, as in every commit. To settle bets of several players in one
  -- database transaction, call this procedure in the order of the players' ids.
  SELECT true INTO is_locked FROM `kept_release`.`wallet_players` player
  WHERE player.`player_id` = known_player_id
  FOR UPDATE;

  -- The decimals of the balance are those of its column: credit no more of them.
  UPDATE `kept_release`.wallet_bets bet
  SET
    bet.bet_paid_live = IF(settlement_type = 'BET_PAID', COALESCE(bet.bet_paid_live, 0) + credit, bet.bet_paid_live),
    bet.bet_paid_reversed = IF(settlement_type = 'BET_PAID', COALESCE(bet.bet_paid_reversed, 0), bet.bet_paid_reversed),
    bet.bet_paid_owed = IF(settlement_type = 'BET_PAID', COALESCE(bet.bet_paid_owed, 0), bet.bet_paid_owed),
    bet.voided_live = IF(settlement_type = 'VOIDED', COALESCE(bet.voided_live, 0) + credit, bet.voided_live),
    bet.voided_reversed = IF(settlement_type = 'VOIDED', COALESCE(bet.voided_reversed, 0), bet.voided_reversed),
    bet.voided_owed = IF(settlement_type = 'VOIDED', COALESCE(bet.voided_owed, 0), bet.voided_owed),
    bet.cashout_live = IF(settlement_type = 'CASHOUT', COALESCE(bet.cashout_live, 0) + credit, bet.cashout_live),
    bet.cashout_reversed = IF(settlement_type = 'CASHOUT', COALESCE(bet.cashout_reversed, 0), bet.cashout_reversed),
    bet.cashout_owed = IF(settlement_type = 'CASHOUT', COALESCE(bet.cashout_owed, 0), bet.cashout_owed),
    bet.revision = bet.revision + 1
  WHERE bet.bet_id = settled_bet_id;
END $$

DELIMITER ;

SET SESSION sql_mode = @bet_wallet_sql_mode, SESSION character_set_client = @bet_wallet_character_set_client, SESSION character_set_results = @bet_wallet_character_set_results, SESSION collation_connection = @bet_wallet_collation_connection;


INSERT INTO kept_release.wallet_players (player_id, currency, balance) VALUES ('anna', 'EUR', '4.400000000000000000');
INSERT INTO kept_release.wallet_bets (id, bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at) VALUES (197156440798017730, 'bet-1', 'anna', 'EUR', '30.000000000000000000', 'PLACED', '55.500000000000000000', '0.000000000000000000', '0.000000000000000000', NULL, NULL, NULL, NULL, NULL, NULL, 2, '2026-11-28 09:09:30.851795');
INSERT INTO kept_release.wallet_bets (id, bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at) VALUES (197156440840616130, 'bet-2', 'anna', 'EUR', '10.250000000000000000', 'ROLLED_BACK', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, '2026-11-28 09:09:30.863993');
INSERT INTO kept_release.wallet_bets (id, bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at) VALUES (197156440899598530, 'bet-3', 'anna', 'EUR', '0.000000000000000000', 'ROLLED_BACK', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, '2026-11-28 09:09:30.881033');
INSERT INTO kept_release.wallet_bets (id, bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at) VALUES (197156440912705730, 'bet-4', 'anna', 'EUR', '20.000000000000000000', 'PLACED', NULL, '0.000000000000000000', '1000.000000000000000000', NULL, NULL, NULL, NULL, NULL, NULL, 3, '2026-11-28 09:09:30.885165');
INSERT INTO kept_release.wallet_bets (id, bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at) VALUES (197156440938920130, 'bet-5', 'anna', 'EUR', '2000.000000000000000000', 'PLACED', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, '2026-11-28 09:09:30.893849');
INSERT INTO kept_release.wallet_bets (id, bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, voided_live, voided_reversed, voided_owed, cashout_live, cashout_reversed, cashout_owed, revision, recorded_at) VALUES (197156441027393730, 'bet-7', 'anna', 'EUR', '1.100000000000000000', 'PLACED', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, '2026-11-28 09:09:30.920438');
INSERT INTO kept_release.wallet_transactions (id, operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, reference, recorded_at) VALUES (197156440798017730, 'placebet', 'place-1', 'anna', 'bet-1', '30.000000000000000000', 'EUR', NULL, '-30.000000000000000000', 'EUR', '970.000000000000000000', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00.000', NULL, '2026-11-28 09:09:30.851795');
INSERT INTO kept_release.wallet_transactions (id, operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, reference, recorded_at) VALUES (197156440824232130, 'settlement', 'settle-1', 'anna', 'bet-1', '55.500000000000000000', 'EUR', 'BET_PAID', '55.500000000000000000', 'EUR', '1025.500000000000000000', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00.000', NULL, '2026-11-28 09:09:30.859628');
INSERT INTO kept_release.wallet_transactions (id, operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, reference, recorded_at) VALUES (197156440840616130, 'placebet', 'place-2', 'anna', 'bet-2', '10.250000000000000000', 'EUR', NULL, '-10.250000000000000000', 'EUR', '1015.250000000000000000', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00.000', NULL, '2026-11-28 09:09:30.863993');
INSERT INTO kept_release.wallet_transactions (id, operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, reference, recorded_at) VALUES (197156440876660930, 'rollbackbet', 'rollback-2', 'anna', 'bet-2', NULL, NULL, 'TECHNICAL_ERROR', '10.250000000000000000', 'EUR', '1025.500000000000000000', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00.000', NULL, '2026-11-28 09:09:30.875566');
INSERT INTO kept_release.wallet_transactions (id, operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, reference, recorded_at) VALUES (197156440899598530, 'rollbackbet', 'rollback-3', 'anna', 'bet-3', NULL, NULL, 'TECHNICAL_ERROR', '0.000000000000000000', 'EUR', '1025.500000000000000000', NULL, NULL, 'TOMBSTONE_CREATED', '2026-11-21 10:00:00.000', NULL, '2026-11-28 09:09:30.881033');
INSERT INTO kept_release.wallet_transactions (id, operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, reference, recorded_at) VALUES (197156440912705730, 'placebet', 'place-4', 'anna', 'bet-4', '20.000000000000000000', 'EUR', NULL, '-20.000000000000000000', 'EUR', '1005.500000000000000000', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00.000', NULL, '2026-11-28 09:09:30.885165');
INSERT INTO kept_release.wallet_transactions (id, operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, reference, recorded_at) VALUES (197156440925812930, 'settlement', 'settle-4', 'anna', 'bet-4', '1000.000000000000000000', 'EUR', 'BET_PAID', '1000.000000000000000000', 'EUR', '2005.500000000000000000', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00.000', NULL, '2026-11-28 09:09:30.889529');
INSERT INTO kept_release.wallet_transactions (id, operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, reference, recorded_at) VALUES (197156440938920130, 'placebet', 'place-5', 'anna', 'bet-5', '2000.000000000000000000', 'EUR', NULL, '-2000.000000000000000000', 'EUR', '5.500000000000000000', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00.000', NULL, '2026-11-28 09:09:30.893849');
INSERT INTO kept_release.wallet_transactions (id, operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, reference, recorded_at) VALUES (197156440971688130, 'placebet', 'place-6', 'anna', 'bet-6', '5.510000000000000000', 'EUR', NULL, '0.000000000000000000', 'EUR', '5.500000000000000000', 'INSUFFICIENT_FUNDS', 'amount: insufficient funds', 'INSUFFICIENT_FUNDS', '2026-11-21 10:00:00.000', NULL, '2026-11-28 09:09:30.902978');
INSERT INTO kept_release.wallet_transactions (id, operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, reference, recorded_at) VALUES (197156441014286530, 'unsettlement', 'unsettle-4', 'anna', 'bet-4', NULL, NULL, 'UNSCORED', '0.000000000000000000', 'EUR', '5.500000000000000000', 'INSUFFICIENT_FUNDS', 'betId: insufficient funds to reverse the settlement', 'INSUFFICIENT_FUNDS', '2026-11-21 10:00:00.000', NULL, '2026-11-28 09:09:30.917064');
INSERT INTO kept_release.wallet_transactions (id, operation, transaction_id, player_id, bet_id, amount, currency, type, delta, account_currency, balance_after, error_code, description, reason, transaction_date, reference, recorded_at) VALUES (197156441027393730, 'placebet', 'place-7', 'anna', 'bet-7', '1.100000000000000000', 'EUR', NULL, '-1.100000000000000000', 'EUR', '4.400000000000000000', NULL, NULL, 'ACCEPTED', '2026-11-21 10:00:00.000', NULL, '2026-11-28 09:09:30.920438');
