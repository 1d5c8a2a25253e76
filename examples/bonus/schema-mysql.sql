-- As schema.sql, for MySQL and MariaDB.
ALTER TABLE accounts
  ADD COLUMN bonus decimal(38, 18) NOT NULL DEFAULT 0 CHECK (bonus >= 0),
  ADD COLUMN free_bets integer NOT NULL DEFAULT 0;

CREATE TABLE bet_funds (
  bet_id varbinary(1020) PRIMARY KEY,
  bonus_stake decimal(38, 18) NOT NULL,
  returned decimal(38, 18) NOT NULL,
  bonus_returned decimal(38, 18) NOT NULL,
  free_bets integer NOT NULL
) ENGINE = InnoDB;

CREATE TABLE bonus_entries (
  reference varbinary(255) PRIMARY KEY,
  player_id varbinary(1020) NOT NULL,
  bet_id varbinary(1020),
  amount decimal(38, 18) NOT NULL
) ENGINE = InnoDB;
