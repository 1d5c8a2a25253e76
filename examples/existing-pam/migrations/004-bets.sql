-- The adoption: the PAM's own table of bets, written by withinTransaction in wallet.ts.
CREATE TABLE pam.bets (
  bet_id text COLLATE "C" PRIMARY KEY,
  account_id bigint NOT NULL REFERENCES pam.accounts,
  stake_cents bigint NOT NULL,
  odds numeric,
  bet_type text,
  placed_at timestamptz NOT NULL DEFAULT now(),
  rolled_back_at timestamptz,
  UNIQUE (bet_id, account_id)
);
CREATE INDEX ON pam.bets (account_id, placed_at);

-- A settlement needs an existing bet of the same player.
ALTER TABLE pam.settlements
  ADD FOREIGN KEY (bet_id, account_id) REFERENCES pam.bets (bet_id, account_id);

-- The settlement code is unchanged. The trigger notes each credit on the bet in the same database transaction, so that an
-- unsettlement knows the amount to debit. Multiplied by 0.01, because a division of numerics may round.
CREATE FUNCTION pam.note_credit()
RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
  PERFORM bet_wallet.credit_bet_v1(NEW.bet_id, NEW.kind, NEW.amount_cents * 0.01);
  RETURN NULL;
END
$$;
CREATE TRIGGER note_credit
  AFTER INSERT ON pam.settlements
  FOR EACH ROW EXECUTE FUNCTION pam.note_credit();
