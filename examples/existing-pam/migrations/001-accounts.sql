-- The PAM before the adoption: accounts, a cash ledger with two rows per booking, and events for other systems.
CREATE TABLE pam.accounts (
  account_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The id of the player in other systems.
  account_no text COLLATE "C" NOT NULL UNIQUE,
  currency text NOT NULL,
  -- In hundredths, for every currency.
  balance_cents bigint NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'blocked')),
  -- Responsible gaming: the stake limit per day. NULL: no limit.
  stake_limit_cents bigint CHECK (stake_limit_cents >= 0)
);

CREATE TABLE pam.cash_ledger (
  entry_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The rows of one booking sum to 0.
  booking uuid NOT NULL,
  side text NOT NULL CHECK (side IN ('player', 'bank', 'sportsbook')),
  account_id bigint REFERENCES pam.accounts,
  amount_cents bigint NOT NULL,
  reference text NOT NULL,
  booked_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((side = 'player') = (account_id IS NOT NULL))
);
CREATE INDEX ON pam.cash_ledger (account_id);

CREATE FUNCTION pam.book(account bigint, cents bigint, against text, reference text)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
  booking uuid := gen_random_uuid();
BEGIN
  INSERT INTO pam.cash_ledger (booking, side, account_id, amount_cents, reference)
  VALUES
    (booking, 'player', account, cents, reference),
    (booking, against, NULL, -cents, reference);
END
$$;

CREATE TABLE pam.outbox (
  event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  payload jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
