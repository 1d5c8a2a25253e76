-- As schema.sql, for MySQL and MariaDB.
ALTER TABLE accounts
  ADD COLUMN stake_per_day decimal(38, 18),
  ADD COLUMN loss_per_week decimal(38, 18),
  ADD COLUMN no_bets_until datetime;

-- Ids as bytes: every collation would make some of them equal on one of the two servers.
CREATE TABLE limited_bets (
  bet_id varbinary(1020) PRIMARY KEY,
  player_id varbinary(1020) NOT NULL,
  day date NOT NULL,
  staked decimal(38, 18) NOT NULL,
  lost decimal(38, 18) NOT NULL,
  INDEX (player_id, day)
) ENGINE = InnoDB;
