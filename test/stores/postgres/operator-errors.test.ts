/**
 * Errors of the operator's code: triggers, constraints, foreign keys, generated columns, views, row-level security,
 * hooks, deferred triggers. Each is a fault of the one player, whatever its SQLSTATE: nothing is recorded, no clawback
 * is given up, and when the cause is gone the same call succeeds.
 */
import { handlePlaceBet, handleUnsettlement, recordSettlement, type WalletError } from 'bet-wallet'
import { describe, expect, it } from 'vitest'
import type { CommitResult, WalletChanges } from '../../../src/store.js'
import { serverErrorOf } from '../../../src/stores/postgres/driver-errors.js'
import type { PostgresStoreOptions } from '../../../src/stores/postgres/index.js'
import { bet, live, placeBet, reversed, settlement, transaction, unsettlement } from '../../fixtures.js'
import { databaseOfFile, endOf, placing, settling, type Wallet } from './wallet.js'

const { admin, open: openWallet } = await databaseOfFile()

type Operation = 'placebet' | 'unsettlement' | 'settlement'
const operations: readonly Operation[] = ['placebet', 'unsettlement', 'settlement']
const debits = operations.slice(0, 2)

/** What makes the calls of alice fail. SCHEMA stands for the schema. */
interface Cause {
  /** The SQLSTATE that the server answers with. */
  code: string
  install: string
  remove: string
  /** More SQL before the migration. */
  ddl?: string
  /** The operations that fail; default: all. */
  fails?: readonly Operation[]
  /** Whether withinTransaction is used, and what it runs for alice. */
  hook?: string
  /** An error that says that no changes were made: 503. */
  unavailable?: true
}

/** A trigger of the players' table, for alice alone. */
const trigger = (
  body: string,
  { time = 'AFTER UPDATE', when = '', deferred = false } = {},
): Pick<Cause, 'install' | 'remove'> => ({
  install: `CREATE FUNCTION SCHEMA.rule() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NEW; END $$;
    CREATE ${deferred ? 'CONSTRAINT' : ''} TRIGGER rule ${time} ON SCHEMA.accounts
      ${deferred ? 'DEFERRABLE INITIALLY DEFERRED' : ''} FOR EACH ROW
      WHEN (NEW.id = 'alice' ${when}) EXECUTE FUNCTION SCHEMA.rule()`,
  remove: 'DROP TRIGGER rule ON SCHEMA.accounts',
})

const raising = (code: string, fields = '') => `RAISE EXCEPTION 'injected' USING ERRCODE = '${code}'${fields}`
const before = { time: 'BEFORE UPDATE' }
const deferred = { deferred: true }
const audit = (column: string, value: string): Pick<Cause, 'ddl' | 'install' | 'remove'> => ({
  ddl: `CREATE TABLE SCHEMA.audit (id serial, ${column})`,
  ...trigger(`INSERT INTO SCHEMA.audit (value) VALUES (${value})`),
})
/** A rule that the rows meet, and that alice's row would not. */
const rule = (condition: string): Pick<Cause, 'install' | 'remove'> => ({
  install: `UPDATE SCHEMA.accounts SET email = 'none' WHERE id = 'alice';
    ALTER TABLE SCHEMA.accounts ADD CONSTRAINT rule CHECK (${condition}) NOT VALID`,
  remove: 'ALTER TABLE SCHEMA.accounts DROP CONSTRAINT rule',
})

const causes: [name: string, cause: Cause][] = [
  ['an audit column that is too short', { code: '22001', ...audit('value varchar(3)', "'too long'") }],
  ['an audit column that is too narrow', { code: '22003', ...audit('value numeric(3,2)', 'NEW.balance') }],
  ['an audit column of another type', { code: '22P02', ...audit('value integer', 'NEW.id::integer') }],
  ['a division by zero', { code: '22012', ...audit('value numeric', '1 / (NEW.balance - NEW.balance)') }],
  ['an audit column that is NOT NULL', { code: '23502', ...audit('value text NOT NULL', 'NULL') }],
  ['a CHECK of the audit', { code: '23514', ...audit('value text CHECK (false)', "'a'") }],
  [
    'a CHECK of the audit with the name of the minimum balance',
    { code: '23514', ...audit('value text CONSTRAINT least CHECK (false)', "'a'") },
  ],
  [
    'the domain of the balance in the audit',
    {
      code: '23514',
      ...audit('value SCHEMA.money', '-99'),
      ddl: 'CREATE TABLE SCHEMA.audit (id serial, value SCHEMA.money)',
    },
  ],
  [
    'a foreign key of the audit',
    {
      code: '23503',
      ...audit('value text', "'a'"),
      ddl: `CREATE TABLE SCHEMA.kinds (kind text PRIMARY KEY);
        CREATE TABLE SCHEMA.audit (id serial, value text REFERENCES SCHEMA.kinds)`,
    },
  ],
  [
    'a unique index of the audit',
    {
      code: '23505',
      ...audit('value text', "'a'"),
      ddl: `CREATE TABLE SCHEMA.audit (id serial, value text UNIQUE); INSERT INTO SCHEMA.audit (value) VALUES ('a')`,
    },
  ],
  [
    'an exclusion constraint of the audit',
    {
      code: '23P01',
      ...audit('value int4range', "'[1,2)'"),
      ddl: `CREATE TABLE SCHEMA.audit (id serial, value int4range, EXCLUDE USING gist (value WITH &&));
        INSERT INTO SCHEMA.audit (value) VALUES ('[1,2)')`,
    },
  ],
  [
    'row-level security of the audit',
    {
      code: '42501',
      ...audit('value text', "'a'"),
      ddl: `CREATE TABLE SCHEMA.audit (id serial, value text);
        ALTER TABLE SCHEMA.audit ENABLE ROW LEVEL SECURITY;
        ALTER TABLE SCHEMA.audit FORCE ROW LEVEL SECURITY;
        CREATE ROLE SCHEMA_writer; GRANT USAGE ON schema SCHEMA TO SCHEMA_writer;
        GRANT ALL ON ALL TABLES IN schema SCHEMA TO SCHEMA_writer;
        GRANT ALL ON ALL SEQUENCES IN schema SCHEMA TO SCHEMA_writer`,
      install: `${trigger("INSERT INTO SCHEMA.audit (value) VALUES ('a')").install};
        ALTER FUNCTION SCHEMA.rule() OWNER TO SCHEMA_writer; ALTER FUNCTION SCHEMA.rule() SECURITY DEFINER`,
      remove: `${trigger('').remove}; DROP OWNED BY SCHEMA_writer; DROP ROLE SCHEMA_writer`,
    },
  ],
  ['a table that is missing', { code: '42P01', ...trigger('INSERT INTO SCHEMA.nowhere VALUES (1)') }],
  [
    'a view with a CHECK OPTION',
    {
      code: '44000',
      ...audit('value integer', '1'),
      ddl: `CREATE TABLE SCHEMA.base (id serial, value integer);
        CREATE VIEW SCHEMA.audit AS SELECT * FROM SCHEMA.base WHERE value < 1 WITH CHECK OPTION`,
    },
  ],
  [
    'the minimum balance of another row, which a trigger books on',
    {
      code: '23514',
      ...trigger("UPDATE SCHEMA.accounts SET balance = balance - 1 WHERE id = 'house'"),
      ddl: "INSERT INTO SCHEMA.accounts VALUES ('house', 'EUR', 0)",
    },
  ],
  [
    'a CHECK of another column, which a trigger changes with the balance',
    {
      code: '23514',
      ...trigger("NEW.email = 'none'", { ...before, when: 'AND OLD.balance IS DISTINCT FROM NEW.balance' }),
      ddl: "ALTER TABLE SCHEMA.accounts ADD CONSTRAINT mail CHECK (email LIKE '%@%')",
    },
  ],
  [
    'a CHECK of the balance and another column, which a trigger changes with the balance',
    {
      code: '23514',
      ...trigger("NEW.email = 'none'", { ...before, when: 'AND OLD.balance IS DISTINCT FROM NEW.balance' }),
      ddl: "ALTER TABLE SCHEMA.accounts ADD CONSTRAINT mail CHECK (balance > 500 OR email LIKE '%@%')",
      fails: operations,
    },
  ],
  [
    'the same for debits alone',
    {
      code: '23514',
      ...trigger("NEW.email = 'none'", { ...before, when: 'AND NEW.balance < OLD.balance' }),
      ddl: "ALTER TABLE SCHEMA.accounts ADD CONSTRAINT mail CHECK (balance > 500 OR email LIKE '%@%')",
      fails: debits,
    },
  ],
  [
    'a trigger that debits too much, so that the minimum balance fails',
    {
      code: '23514',
      ...trigger('NEW.balance = NEW.balance - 1000', { ...before, when: 'AND NEW.balance < OLD.balance' }),
      fails: debits,
    },
  ],
  [
    'a trigger that debits too much, and not from a higher balance',
    {
      code: '23514',
      ...trigger('NEW.balance = NEW.balance - 100', { ...before, when: 'AND NEW.balance < OLD.balance' }),
      fails: ['unsettlement'],
    },
  ],
  [
    'a CHECK of another column, which a trigger changes where the balance is low',
    {
      code: '23514',
      ...trigger("NEW.email = 'none'", { ...before, when: 'AND NEW.balance < 140' }),
      ddl: "ALTER TABLE SCHEMA.accounts ADD CONSTRAINT mail CHECK (email LIKE '%@%')",
      fails: debits,
    },
  ],
  [
    'a trigger that sets the balance, so that the minimum balance fails',
    { code: '23514', ...trigger('NEW.balance = -1', before) },
  ],
  [
    'a trigger that rounds the balance',
    { code: '27000', ...trigger('NEW.balance = round(NEW.balance / 7) ', before) },
  ],
  [
    'a column whose rule depends on how often the row was changed',
    {
      code: '23514',
      ...trigger('NEW.version = NEW.version + 1', before),
      ddl: 'ALTER TABLE SCHEMA.accounts ADD version integer DEFAULT 0 CHECK (version < 1)',
    },
  ],
  [
    'a rule about another column, which an old row does not meet',
    { code: '23514', ...rule("email LIKE '%@%'") },
  ],
  [
    'a rule about the balance and another column, which an old row does not meet',
    { code: '23514', ...rule("email LIKE '%@%' AND balance >= 0") },
  ],
  [
    'a generated column that cannot hold its value',
    {
      code: '22003',
      ddl: `ALTER TABLE SCHEMA.accounts ADD factor numeric DEFAULT 0;
        ALTER TABLE SCHEMA.accounts ADD product numeric(9,2) GENERATED ALWAYS AS
          (CASE WHEN balance = 140 THEN 0 ELSE balance * factor END) STORED`,
      install: "UPDATE SCHEMA.accounts SET factor = 999999 WHERE id = 'alice'",
      remove: "UPDATE SCHEMA.accounts SET factor = 0 WHERE id = 'alice'",
    },
  ],
  [
    'a CHECK of a column that is generated from another one, which a trigger changes where the balance is low',
    {
      code: '23514',
      ...trigger('NEW.factor = -1', { ...before, when: 'AND NEW.balance < 140' }),
      ddl: `ALTER TABLE SCHEMA.accounts ADD factor numeric DEFAULT 1;
        ALTER TABLE SCHEMA.accounts ADD doubled numeric GENERATED ALWAYS AS (factor * 2) STORED CHECK (doubled > 0)`,
      fails: debits,
    },
  ],
  ...['transactions', 'bets'].map((table): [string, Cause] => [
    `a unique index of a table ${table} in another schema`,
    {
      code: '23505',
      ddl: `CREATE schema SCHEMA_pam; CREATE TABLE SCHEMA_pam.${table} (value text UNIQUE);
        INSERT INTO SCHEMA_pam.${table} VALUES ('a')`,
      ...trigger(`INSERT INTO SCHEMA_pam.${table} VALUES ('a')`),
    },
  ]),
  [
    'a unique index of the players’ table, by a trigger',
    {
      code: '23505',
      ...trigger("NEW.email = 'bob@example.com'", before),
      ddl: 'CREATE UNIQUE INDEX ON SCHEMA.accounts (email)',
    },
  ],
  [
    'a trigger of the library’s own table',
    {
      code: '23505',
      ddl: "CREATE TABLE SCHEMA.audit (value text UNIQUE); INSERT INTO SCHEMA.audit VALUES ('alice')",
      install: `CREATE FUNCTION SCHEMA.rule() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO SCHEMA.audit VALUES (NEW.player_id); RETURN NEW; END $$;
        CREATE TRIGGER rule AFTER INSERT ON SCHEMA.transactions FOR EACH ROW WHEN (NEW.player_id = 'alice')
          EXECUTE FUNCTION SCHEMA.rule()`,
      remove: 'DROP TRIGGER rule ON SCHEMA.transactions',
    },
  ],
  ...['22003', '22001', '23514', '23505', '23P01', 'P0001'].map((code): [string, Cause] => [
    `a deferred trigger that raises ${code} at COMMIT`,
    { code, ...trigger(raising(code), deferred) },
  ]),
  [
    'a deferred trigger whose error names the minimum balance',
    {
      code: '23514',
      ...trigger(raising('23514', ", schema = 'SCHEMA', table = 'accounts', constraint = 'least'"), deferred),
    },
  ],
  [
    'a trigger whose error names the minimum balance',
    {
      code: '23514',
      ...trigger(raising('23514', ", schema = 'SCHEMA', table = 'accounts', constraint = 'least'"), {
        when: 'AND NEW.balance < 140',
      }),
      fails: debits,
    },
  ],
  [
    'a trigger whose error names the domain of the balance',
    {
      code: '23514',
      ...trigger(raising('23514', ", schema = 'SCHEMA', datatype = 'money', constraint = 'money_check'")),
    },
  ],
  // Classes of which the server itself has some that do not say whether it rolled back.
  ...[
    '22003',
    '22001',
    '23505',
    '44000',
    '27000',
    'P0001',
    'ERULE',
    '58030',
    '08001',
    '08006',
    'F0000',
    '57P01',
  ]
    .concat(['XX000', 'XX001', '40003'])
    .map((code): [string, Cause] => [`a trigger that raises ${code}`, { code, ...trigger(raising(code)) }]),
  ...['25006', '25P02', '53100', '57014', '55P03'].map((code): [string, Cause] => [
    `a trigger that raises ${code}`,
    { code, ...trigger(raising(code)), unavailable: true },
  ]),
  ...['22003', '22001', '23505', '23P01', '23514'].map((code): [string, Cause] => [
    `a hook whose statement raises ${code}`,
    {
      code,
      hook: `DO $$ BEGIN IF EXISTS (SELECT FROM SCHEMA.switch) THEN ${raising(code)}; END IF; END $$`,
      ddl: 'CREATE TABLE SCHEMA.switch (on_ boolean)',
      install: 'INSERT INTO SCHEMA.switch VALUES (true)',
      remove: 'DELETE FROM SCHEMA.switch',
    },
  ]),
  ...['22003', '23505', '23514'].map((code): [string, Cause] => [
    `a hook whose table raises ${code} at COMMIT`,
    {
      code,
      hook: 'INSERT INTO SCHEMA.ledger VALUES (1)',
      ddl: 'CREATE TABLE SCHEMA.ledger (id integer)',
      install: `CREATE FUNCTION SCHEMA.rule() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          ${raising(code, ", schema = 'SCHEMA', table = 'accounts', constraint = 'least'")}; END $$;
        CREATE CONSTRAINT TRIGGER rule AFTER INSERT ON SCHEMA.ledger DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
          EXECUTE FUNCTION SCHEMA.rule()`,
      remove: 'DROP TRIGGER rule ON SCHEMA.ledger',
    },
  ]),
]

/** A table with a minimum balance, in the column's domain and as a CHECK: both are met by every call. */
const accounts = `CREATE DOMAIN SCHEMA.money AS numeric(12,2) CHECK (VALUE >= -10);
  CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text NOT NULL,
    balance SCHEMA.money NOT NULL CONSTRAINT least CHECK (balance >= 0), email text);
  INSERT INTO SCHEMA.accounts SELECT name, 'EUR', 100, name || '@example.com'
    FROM unnest('{alice,bob,carol}'::text[]) name`
const players = { table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'balance' }

interface Scene {
  wallet: Wallet
  run(text: string): Promise<void>
}

/** Each player has two bets of 10; the first is settled with 60. Then the cause is installed. */
async function open({ ddl = '', hook, install }: Cause): Promise<Scene> {
  let schema = ''
  const withinTransaction: PostgresStoreOptions['withinTransaction'] = async (query, pending) => {
    if (pending.some(({ changes }) => changes.transaction.playerId === 'alice'))
      await query((hook ?? '').replaceAll('SCHEMA', schema))
  }
  const wallet = await openWallet({
    ddl: `${accounts}; ${ddl}`,
    options: { players, connectionsMax: 1, ...(hook === undefined ? {} : { withinTransaction }) },
  })
  schema = wallet.schema
  const run = async (text: string) => void (await admin.query(text.replaceAll('SCHEMA', schema)))
  for (const [index, playerId] of ['alice', 'bob', 'carol'].entries()) {
    const [first, second] = [index * 10 + 1, index * 10 + 2]
    await Promise.all([first, second].map(n => wallet.store.commit(placing({ playerId, n, amount: '10' }))))
    const credits = { BET_PAID: live('60') }
    await wallet.store.commit(settling({ playerId, n: first, amount: '60', bet: { stake: '10', credits } }))
  }
  await run(install)
  return { wallet, run }
}

/** The calls of a player, as changes of commits. */
function changesOf(playerId: string): Record<Operation, WalletChanges> {
  const index = ['alice', 'bob', 'carol'].indexOf(playerId) * 10
  return {
    placebet: placing({ playerId, n: index + 3, amount: '10' }),
    settlement: settling({ playerId, n: index + 2, amount: '20', bet: { stake: '10' } }),
    unsettlement: {
      transaction: transaction({
        ...{ operation: 'unsettlement', transactionId: `unsettle-${index + 1}`, betId: `bet-${index + 1}` },
        ...{
          playerId,
          amount: null,
          currency: null,
          type: 'UNSCORED',
          delta: '-60',
          walletTransactionId: null,
        },
      }),
      bet: bet({
        ...{ playerId, betId: `bet-${index + 1}`, stake: '10', revision: 3 },
        credits: { BET_PAID: reversed('60') },
      }),
      credit: null,
      account: { currency: 'EUR', delta: '-60', floor: '0' },
      request: {},
    },
  }
}

const handle = ({ store }: Wallet, operation: Operation) =>
  ({
    placebet: () =>
      handlePlaceBet(store, placeBet({ transactionId: 'place-3', betId: 'bet-3', amount: '10' })),
    unsettlement: () => handleUnsettlement(store, unsettlement()),
    settlement: () =>
      recordSettlement(store, settlement({ transactionId: 'settle-2', betId: 'bet-2', amount: '20' })),
  })[operation]()

const liveCredits =
  "SELECT bet_id, bet_paid_live::text, bet_paid_owed::text FROM SCHEMA.bets WHERE player_id = 'alice' ORDER BY 1"

it.each(['XX001', '58030', '22012'])(
  'a load of one player that raises %s fails no other load',
  async code => {
    const wallet = await openWallet({
      ddl: `CREATE TABLE SCHEMA.base (id text PRIMARY KEY, currency text, balance numeric);
      CREATE FUNCTION SCHEMA.read(id text, amount numeric) RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN
        IF id = 'alice' THEN ${raising(code)}; END IF; RETURN amount; END $$;
      CREATE VIEW SCHEMA.accounts AS SELECT id, CASE WHEN SCHEMA.read(id, balance) >= 0 THEN currency END AS currency,
        balance FROM SCHEMA.base;
      INSERT INTO SCHEMA.base SELECT unnest('{alice,bob,carol}'::text[]), 'EUR', 100`,
      options: { players, connectionsMax: 1 },
    })
    const ends = await Promise.all(
      ['bob', 'alice', 'carol', 'dave'].map(playerId =>
        endOf<unknown>(
          wallet.store.load({ operation: 'rollbackbet', transactionId: 't-1', playerId, betId: 'bet-1' }),
        ),
      ),
    )
    expect(ends[1]).toBeInstanceOf(Error)
    expect([ends[0], ends[2], ends[3]]).toMatchObject([
      { accounts: [{ balance: '100' }] },
      { accounts: [{ balance: '100' }] },
      { accounts: [] },
    ])
  },
)

describe.each(causes)('%s', (_, cause) => {
  const { code, fails = operations, unavailable = false } = cause

  it('fails the call, which succeeds when the cause is gone', async () => {
    const { wallet, run } = await open(cause)
    const [recorded, balance, credits] = [
      await wallet.recorded(),
      await wallet.balanceOf('alice'),
      await wallet.rows(liveCredits),
    ]
    for (const operation of fails) {
      const error = (await endOf<unknown>(handle(wallet, operation))) as WalletError
      expect(error).toMatchObject({
        name: 'WalletError',
        code: unavailable ? 'UNAVAILABLE' : 'COMMIT_UNKNOWN',
      })
      expect(serverErrorOf(error.cause)?.code).toBe(code)
    }
    expect(await wallet.recorded()).toEqual(recorded)
    expect(await wallet.balanceOf('alice')).toBe(balance)
    expect(await wallet.rows(liveCredits)).toEqual(credits)
    await run(cause.remove)
    for (const operation of operations) expect(await handle(wallet, operation)).toMatchObject({ ok: true })
  })

  it('in a batch fails the calls of one player, and no other', async () => {
    const { wallet, run } = await open(cause)
    const recorded = await wallet.recorded()
    const calls = ['bob', 'alice', 'carol'].flatMap(playerId =>
      fails.map(operation => ({ playerId, changes: changesOf(playerId)[operation] })),
    )
    const ends = await Promise.all(
      calls.map(({ changes }) => endOf<CommitResult>(wallet.store.commit(changes))),
    )
    const failed = calls.flatMap(({ playerId }, index) => (playerId === 'alice' ? [ends[index]] : []))
    const others = calls.flatMap(({ playerId }, index) => (playerId === 'alice' ? [] : [ends[index]]))
    expect(others.map(end => (end instanceof Error ? end : end?.status))).toEqual(
      others.map(() => 'committed'),
    )
    for (const end of failed) {
      if (unavailable) expect(end).toEqual({ status: 'unavailable' })
      else expect(end).toBeInstanceOf(Error)
      expect(serverErrorOf(unavailable ? (end as { cause?: unknown }).cause : end)?.code).toBe(code)
    }
    const added = (await wallet.recorded()).filter(each => !recorded.includes(each))
    expect(added).toHaveLength(others.length)
    await run(cause.remove)
    for (const operation of operations) expect(await handle(wallet, operation)).toMatchObject({ ok: true })
  })
})
