-- The balance, which the wallet checks, stays the sum. Of it, bonus is bonus money, and the rest is cash. No CHECK
-- may compare the two: a bet changes the balance first, and the bonus after it.
ALTER TABLE accounts
  ADD COLUMN bonus numeric NOT NULL DEFAULT 0 CHECK (bonus >= 0),
  ADD COLUMN free_bets integer NOT NULL DEFAULT 0;

-- A row per bet that bonus money or a free bet has touched. A bet without a row was paid in cash alone.
CREATE TABLE bet_funds (
  bet_id text COLLATE "C" PRIMARY KEY,
  bonus_stake numeric NOT NULL,
  returned numeric NOT NULL,
  bonus_returned numeric NOT NULL,
  free_bets integer NOT NULL
);

-- Every change of a player's bonus: their sum is the bonus. The reference is wallet-<walletTransactionId>, or the PAM's.
CREATE TABLE bonus_entries (
  reference text COLLATE "C" PRIMARY KEY,
  player_id text COLLATE "C" NOT NULL,
  bet_id text COLLATE "C",
  amount numeric NOT NULL
);
