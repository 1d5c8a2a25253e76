-- The PAM before the adoption: settlements by its own code.
CREATE TABLE pam.settlements (
  settlement_id text PRIMARY KEY,
  account_id bigint NOT NULL REFERENCES pam.accounts,
  bet_id text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN ('BET_PAID', 'VOIDED', 'CASHOUT')),
  amount_cents bigint NOT NULL CHECK (amount_cents >= 0),
  settled_at timestamptz NOT NULL DEFAULT now()
);
