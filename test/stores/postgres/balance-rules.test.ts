/** Which CHECKs mean insufficient funds: only a rule about the balance, wherever it is defined (M4). */
import { handlePlaceBet, handleUnsettlement, recordSettlement, type WalletOutcome } from 'bet-wallet'
import { createPostgresStore } from 'bet-wallet/postgres'
import { describe, expect, it } from 'vitest'
import { placeBet, settlement, unsettlement } from '../../fixtures.js'
import { databaseOfFile, endOf, placing, type Wallet } from './wallet.js'

const { open } = await databaseOfFile()

const players = { table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'balance' }

const wallet = (ddl: string) => open({ ddl, options: { players } })

const refused = { ok: false, errorCode: 'INSUFFICIENT_FUNDS' }
const accounts = `CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text NOT NULL, balance numeric NOT NULL`
const fill = `INSERT INTO SCHEMA.accounts (id, currency, balance) VALUES ('alice', 'EUR', 100)`

describe('a minimum balance of the PAM', () => {
  const minimums: [where: string, ddl: string][] = [
    ['on the table', `${accounts} CHECK (balance >= 50)); ${fill}`],
    [
      'on the table, over several columns',
      `${accounts}, credit_limit numeric NOT NULL DEFAULT -50, CHECK (balance + credit_limit >= 0)); ${fill}`,
    ],
    [
      'on the base table of a view',
      `CREATE TABLE SCHEMA.base (id text PRIMARY KEY, ccy text, available numeric CHECK (available >= 50));
        CREATE VIEW SCHEMA.accounts AS SELECT id, ccy AS currency, available AS balance FROM SCHEMA.base; ${fill}`,
    ],
    [
      'on the base table of a view of a view',
      `CREATE TABLE SCHEMA.base (id text PRIMARY KEY, ccy text, available numeric CHECK (available >= 50));
        CREATE VIEW SCHEMA.middle AS SELECT id, ccy AS currency, available AS funds FROM SCHEMA.base;
        CREATE VIEW SCHEMA.accounts AS SELECT id, currency, funds AS balance FROM SCHEMA.middle; ${fill}`,
    ],
    [
      'on a column that is generated from the balance',
      `${accounts}, spare numeric GENERATED ALWAYS AS (balance - 50) STORED CHECK (spare >= 0)); ${fill}`,
    ],
    [
      'on a partition',
      `${accounts}) PARTITION BY HASH (id);
        CREATE TABLE SCHEMA."Part 0" PARTITION OF SCHEMA.accounts FOR VALUES WITH (MODULUS 1, REMAINDER 0);
        ALTER TABLE SCHEMA."Part 0" ADD CHECK (balance >= 50); ${fill}`,
    ],
    [
      'in the domain of the column',
      `CREATE DOMAIN SCHEMA.money AS numeric CHECK (VALUE >= 50);
        CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text NOT NULL, balance SCHEMA.money); ${fill}`,
    ],
    [
      'in a domain over a domain',
      `CREATE DOMAIN SCHEMA.amount AS numeric CHECK (VALUE >= 50);
        CREATE DOMAIN SCHEMA."Money" AS SCHEMA.amount;
        CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text NOT NULL, balance SCHEMA."Money"); ${fill}`,
    ],
  ]

  it.each(minimums)('%s: INSUFFICIENT_FUNDS, recorded and replayed', async (_, ddl) => {
    const made = await wallet(ddl)
    expect(await handlePlaceBet(made.store, placeBet({ amount: '60' }))).toMatchObject(refused)
    expect(await made.recorded()).toEqual(['placebet place-1 0'])
    expect(await handlePlaceBet(made.store, placeBet({ amount: '60' }))).toMatchObject({
      ...refused,
      replayed: true,
    })
    // Both kinds of commit: alone, and with another player's.
    const bet = placeBet({ amount: '50', transactionId: 'place-2', betId: 'bet-2' })
    expect(await handlePlaceBet(made.store, bet)).toMatchObject({ ok: true, balance: '50' })
    expect(await made.balanceOf('alice')).toBe('50')
  })

  it('of a row that another session locks meanwhile: unavailable, and nothing is refused', async () => {
    const made = await wallet(minimums[0]?.[1] ?? '')
    const other = await made.otherSession()
    const client = {
      async query(text: string, values?: unknown[]) {
        // Also asked by the check at start, with no player.
        if (text.includes('is_balance_rule') && values?.length !== 0)
          await other.query(`BEGIN; UPDATE ${made.schema}.accounts SET currency = currency`)
        return made.pool.query(text, values)
      },
    }
    const table = { ...players, table: `${made.schema}.accounts` }
    const store = createPostgresStore(client, {
      ...{ schema: made.schema, players: table, lockTimeoutMs: 50 },
    })
    expect(await store.commit(placing({ amount: '60' }))).toEqual({ status: 'unavailable' })
    await other.query('ROLLBACK')
    expect(await made.recorded()).toEqual([])
  })
})

describe('a rule that has nothing to do with the balance', () => {
  const withEmail = `${accounts}, email text); ${fill};
    ALTER TABLE SCHEMA.accounts ADD CONSTRAINT email_ok CHECK (email LIKE '%@%') NOT VALID`
  const fix = (made: Wallet) => made.rows("UPDATE SCHEMA.accounts SET email = 'alice@example.com'")

  it('and that an old row does not meet is a fault for a placebet; after it is fixed, the bet is taken', async () => {
    const made = await wallet(`${withEmail.replace('email text', "email text DEFAULT 'none'")}`)
    expect(await endOf<WalletOutcome>(handlePlaceBet(made.store, placeBet()))).toBeInstanceOf(Error)
    expect(await made.recorded()).toEqual([])
    expect(await made.balanceOf('alice')).toBe('100')
    await fix(made)
    expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({ ok: true, balance: '70' })
  })

  it('is a fault for an unsettlement too: the clawback is not given up', async () => {
    const made = await wallet(`${accounts}, email text); ${fill}`)
    await handlePlaceBet(made.store, placeBet())
    await recordSettlement(made.store, settlement({ amount: '15' }))
    await made.rows("UPDATE SCHEMA.accounts SET email = 'none'")
    await made.rows("ALTER TABLE SCHEMA.accounts ADD CONSTRAINT email_ok CHECK (email LIKE '%@%') NOT VALID")
    expect(await endOf<WalletOutcome>(handleUnsettlement(made.store, unsettlement()))).toBeInstanceOf(Error)
    expect(await made.recorded()).toEqual(['placebet place-1 -30', 'settlement settle-1 15'])
    expect(await made.rows('SELECT bet_paid_live, bet_paid_owed FROM SCHEMA.bets')).toEqual([['15', '0']])
    await fix(made)
    expect(await handleUnsettlement(made.store, unsettlement())).toMatchObject({ ok: true, balance: '70' })
  })

  it('is a fault where a trigger of the players’ table breaks it in another table', async () => {
    const made = await wallet(
      `${accounts}); ${fill};
      CREATE TABLE SCHEMA.ledger (amount numeric CONSTRAINT small CHECK (amount > -20));
      CREATE FUNCTION SCHEMA.book() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO SCHEMA.ledger VALUES (NEW.balance - OLD.balance);
        RETURN NULL;
      END $$;
      CREATE TRIGGER book AFTER UPDATE ON SCHEMA.accounts FOR EACH ROW EXECUTE FUNCTION SCHEMA.book()`.replaceAll(
        '\n      ',
        ' ',
      ),
    )
    expect(await endOf<WalletOutcome>(handlePlaceBet(made.store, placeBet()))).toBeInstanceOf(Error)
    expect(await made.recorded()).toEqual([])
    expect(await handlePlaceBet(made.store, placeBet({ amount: '10' }))).toMatchObject({ ok: true })
    // The question whether a rule is about the balance leaves nothing behind.
    expect(await made.rows('SELECT amount::text FROM SCHEMA.ledger')).toEqual([['-10']])
  })

  it('is a fault where a trigger raises 23514 without a table', async () => {
    const made = await wallet(`${accounts}); ${fill};
      CREATE FUNCTION SCHEMA.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.balance < 80 THEN RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON SCHEMA.accounts FOR EACH ROW EXECUTE FUNCTION SCHEMA.refuse()`)
    expect(await endOf<WalletOutcome>(handlePlaceBet(made.store, placeBet()))).toBeInstanceOf(Error)
    expect(await made.recorded()).toEqual([])
  })
})
