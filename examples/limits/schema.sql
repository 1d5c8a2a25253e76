-- Limits are columns of the players' table: the wallet locks its row, so a change waits for the bet that is
-- being committed, and the next bet reads it. NULL: no limit. A cool-off and an exclusion end at no_bets_until (UTC).
ALTER TABLE accounts
  ADD COLUMN stake_per_day numeric,
  ADD COLUMN loss_per_week numeric,
  ADD COLUMN no_bets_until timestamp;

-- A row per accepted bet. Rows that are older than two weeks may be deleted.
CREATE TABLE limited_bets (
  bet_id text COLLATE "C" PRIMARY KEY,
  player_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  staked numeric NOT NULL,
  lost numeric NOT NULL
);
CREATE INDEX ON limited_bets (player_id, day);
