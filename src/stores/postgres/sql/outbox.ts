/** The outbox: its table. */
import { sql } from '../../database/sql-text.js'

export const outboxStatements = (schema: string) => [
  sql`
    -- An event for each recorded transaction that is not delivered yet. The transaction is its content.
    -- The number is the wallet_transaction_id, drawn while the player's row is locked: the events of a bet
    -- have the order of their commits.
    CREATE TABLE IF NOT EXISTS ${schema}.outbox (
      bet_id text COLLATE "C" NOT NULL,
      event_number bigint NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      -- When a relay may claim it: at once, after the lease of another one, after a pause. NULL: a dead letter.
      due_at timestamptz DEFAULT now(),
      -- Why the last attempt failed.
      problem text,
      PRIMARY KEY (bet_id, event_number)
    )`,
  sql`
    CREATE INDEX IF NOT EXISTS outbox_due_at ON ${schema}.outbox (due_at)`,
]
