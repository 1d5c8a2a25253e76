/**
 * Rules of the operator: reserved funds that are declared refuse a bet, any other CHECK or trigger that fails is a
 * fault, and nothing is recorded (D29).
 */
import { handlePlaceBet, handleUnsettlement, recordSettlement, type WalletOutcome } from 'bet-wallet'
import { describe, expect, it } from 'vitest'
import { placeBet, settlement, unsettlement } from '../../fixtures.js'
import { databaseOfFile, endOf, type Wallet } from './wallet.js'

const { open } = await databaseOfFile()

const players = { table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'balance' }

const wallet = (ddl: string, reserved?: string) =>
  open({ ddl, options: { players: { ...players, ...(reserved && { reserved }) } } })

const refused = { ok: false, errorCode: 'INSUFFICIENT_FUNDS' }
const accounts = `CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text NOT NULL, balance numeric NOT NULL`
const fill = `INSERT INTO SCHEMA.accounts (id, currency, balance) VALUES ('alice', 'EUR', 100)`

/** The store's error of a debit, with the rule that the server names. */
const fault = (rule: string) => ({
  name: 'WalletError',
  cause: {
    name: 'StoreError',
    code: 'DATABASE_REJECTED',
    message: expect.stringMatching(new RegExp(`${rule}.*players[.]reserved`)),
  },
})

const least = 'ALTER TABLE SCHEMA.accounts ADD held numeric GENERATED ALWAYS AS (50) STORED'
const columns = 'id, ccy AS currency, available'

describe('a minimum balance of the PAM', () => {
  const minimums: [where: string, rule: string, ddl: string, declared: string][] = [
    ['on the table', 'accounts_balance_check', `${accounts} CHECK (balance >= 50)); ${fill}`, least],
    [
      'on the table, over several columns',
      'accounts_check',
      `${accounts}, credit_limit numeric NOT NULL DEFAULT -50, CHECK (balance + credit_limit >= 0)); ${fill}`,
      'ALTER TABLE SCHEMA.accounts ADD held numeric GENERATED ALWAYS AS (-credit_limit) STORED',
    ],
    [
      'on the base table of a view',
      'base_available_check',
      `CREATE TABLE SCHEMA.base (id text PRIMARY KEY, ccy text, available numeric CHECK (available >= 50));
        CREATE VIEW SCHEMA.accounts AS SELECT ${columns} AS balance FROM SCHEMA.base; ${fill}`,
      `CREATE OR REPLACE VIEW SCHEMA.accounts AS SELECT ${columns} AS balance, 50::numeric AS held FROM SCHEMA.base`,
    ],
    [
      'on the base table of a view of a view',
      'base_available_check',
      `CREATE TABLE SCHEMA.base (id text PRIMARY KEY, ccy text, available numeric CHECK (available >= 50));
        CREATE VIEW SCHEMA.middle AS SELECT ${columns} AS funds FROM SCHEMA.base;
        CREATE VIEW SCHEMA.accounts AS SELECT id, currency, funds AS balance FROM SCHEMA.middle; ${fill}`,
      `CREATE OR REPLACE VIEW SCHEMA.accounts AS
        SELECT id, currency, funds AS balance, 50::numeric AS held FROM SCHEMA.middle`,
    ],
    [
      'on a column that is generated from the balance',
      'accounts_spare_check',
      `${accounts}, spare numeric GENERATED ALWAYS AS (balance - 50) STORED CHECK (spare >= 0)); ${fill}`,
      least,
    ],
    [
      'on a partition',
      'Part 0_balance_check',
      `${accounts}) PARTITION BY HASH (id);
        CREATE TABLE SCHEMA."Part 0" PARTITION OF SCHEMA.accounts FOR VALUES WITH (MODULUS 1, REMAINDER 0);
        ALTER TABLE SCHEMA."Part 0" ADD CHECK (balance >= 50); ${fill}`,
      least,
    ],
    [
      'in the domain of the column',
      'money_check',
      `CREATE DOMAIN SCHEMA.money AS numeric CHECK (VALUE >= 50);
        CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text NOT NULL, balance SCHEMA.money); ${fill}`,
      least,
    ],
    [
      'in a domain over a domain',
      'amount_check',
      `CREATE DOMAIN SCHEMA.amount AS numeric CHECK (VALUE >= 50);
        CREATE DOMAIN SCHEMA."Money" AS SCHEMA.amount;
        CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text NOT NULL, balance SCHEMA."Money"); ${fill}`,
      least,
    ],
  ]

  it.each(minimums)(
    '%s, declared: INSUFFICIENT_FUNDS, recorded and replayed',
    async (_, _rule, ddl, declared) => {
      const made = await wallet(`${ddl}; ${declared}`, 'held')
      expect(await handlePlaceBet(made.store, placeBet({ amount: '60' }))).toMatchObject(refused)
      expect(await made.recorded()).toEqual(['placebet place-1 0'])
      expect(await handlePlaceBet(made.store, placeBet({ amount: '60' }))).toMatchObject({
        ...refused,
        replayed: true,
      })
      const bet = placeBet({ amount: '50', transactionId: 'place-2', betId: 'bet-2' })
      expect(await handlePlaceBet(made.store, bet)).toMatchObject({ ok: true, balance: '0.00' })
      expect(await made.balanceOf('alice')).toBe('50')
    },
  )

  it.each(minimums)(
    '%s, not declared: a fault that names it, and nothing is recorded',
    async (_, rule, ddl) => {
      const made = await wallet(ddl)
      expect(
        await endOf<WalletOutcome>(handlePlaceBet(made.store, placeBet({ amount: '60' }))),
      ).toMatchObject(fault(rule))
      expect(await made.recorded()).toEqual([])
      expect(await made.balanceOf('alice')).toBe('100')
      expect(await handlePlaceBet(made.store, placeBet({ amount: '50' }))).toMatchObject({
        ok: true,
        balance: '50.00',
      })
    },
  )
})

describe('a rule that has nothing to do with the balance', () => {
  const withEmail = `${accounts}, email text); ${fill};
    ALTER TABLE SCHEMA.accounts ADD CONSTRAINT email_ok CHECK (email LIKE '%@%') NOT VALID`
  const fix = (made: Wallet) => made.rows("UPDATE SCHEMA.accounts SET email = 'alice@example.com'")

  it('and that an old row does not meet is a fault for a placebet; after it is fixed, the bet is taken', async () => {
    const made = await wallet(`${withEmail.replace('email text', "email text DEFAULT 'none'")}`)
    expect(await endOf<WalletOutcome>(handlePlaceBet(made.store, placeBet()))).toMatchObject(
      fault('email_ok'),
    )
    expect(await made.recorded()).toEqual([])
    expect(await made.balanceOf('alice')).toBe('100')
    await fix(made)
    expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({ ok: true, balance: '70.00' })
  })

  it('is a fault for an unsettlement too: the clawback is not given up', async () => {
    const made = await wallet(`${accounts}, email text); ${fill}`)
    await handlePlaceBet(made.store, placeBet())
    await recordSettlement(made.store, settlement({ amount: '15' }))
    await made.rows("UPDATE SCHEMA.accounts SET email = 'none'")
    await made.rows("ALTER TABLE SCHEMA.accounts ADD CONSTRAINT email_ok CHECK (email LIKE '%@%') NOT VALID")
    expect(await endOf<WalletOutcome>(handleUnsettlement(made.store, unsettlement()))).toMatchObject(
      fault('email_ok'),
    )
    expect(await made.recorded()).toEqual(['placebet place-1 -30', 'settlement settle-1 15'])
    expect(await made.rows('SELECT bet_paid_live, bet_paid_owed FROM SCHEMA.bets')).toEqual([['15', '0']])
    await fix(made)
    expect(await handleUnsettlement(made.store, unsettlement())).toMatchObject({ ok: true, balance: '70.00' })
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
    expect(await endOf<WalletOutcome>(handlePlaceBet(made.store, placeBet()))).toMatchObject(fault('small'))
    expect(await made.recorded()).toEqual([])
    expect(await handlePlaceBet(made.store, placeBet({ amount: '10' }))).toMatchObject({ ok: true })
    expect(await made.rows('SELECT amount::text FROM SCHEMA.ledger')).toEqual([['-10']])
  })

  it.each(['check_violation', 'raise_exception'])('is a fault where a trigger raises %s', async condition => {
    const made = await wallet(`${accounts}); ${fill};
      CREATE FUNCTION SCHEMA.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.balance < 80 THEN RAISE EXCEPTION 'too low' USING ERRCODE = '${condition}'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON SCHEMA.accounts FOR EACH ROW EXECUTE FUNCTION SCHEMA.refuse()`)
    expect(await endOf<WalletOutcome>(handlePlaceBet(made.store, placeBet()))).toMatchObject(fault('too low'))
    expect(await made.recorded()).toEqual([])
  })
})
