/** Defects that an attack on the store found: each changed a balance wrongly, hung, or ended the process. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { handlePlaceBet, handleRollbackBet, recordSettlement } from '../../../src/handlers.js'
import { createPostgresStore } from '../../../src/stores/postgres/index.js'
import { placeBet, rollbackBet, settlement } from '../../fixtures.js'
import { until } from '../../until.js'
import { databaseOfFile, endOf, placing, settling, type Wallet } from './wallet.js'

const { admin, url, opened, open: wallet } = await databaseOfFile()

const columns = { table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'balance' }
const keys = { operation: 'placebet', transactionId: 'place-1', playerId: 'alice', betId: 'bet-1' } as const

describe('a balance that is not a finite amount', () => {
  it.each([
    ['bigint', 'NULL', { balanceType: 'minor-units', minorUnits: 2 }],
    ['numeric', 'NULL', { balanceType: 'numeric' }],
    ['text', 'NULL', { balanceType: 'text' }],
    ['numeric', "'NaN'", { balanceType: 'numeric' }],
    ['text', "'Infinity'", { balanceType: 'text' }],
  ] as const)(
    '%s %s: it is not changed, nothing is recorded, and no balance is answered',
    async (type, value, kind) => {
      const made = await wallet({
        ddl: `CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance ${type});
        INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', ${value})`,
        options: { players: { ...columns, ...kind } },
      })
      expect(
        await made.store.commit({ ...settling({ playerId: 'alice', n: 1, amount: '50' }), bet: null }),
      ).toMatchObject({ status: 'conflict' })
      await expect(handleRollbackBet(made.store, rollbackBet())).rejects.toMatchObject(
        value === 'NULL'
          ? { cause: { problem: `${made.schema}.accounts.balance is NULL for the player "alice"` } }
          : { code: 'STORE_CONTRACT' },
      )
      expect(await made.recorded()).toEqual([])
    },
  )
})

it('a view whose CASE lacks the brand of a player: the fault names the column and the player', async () => {
  const made = await wallet({
    ddl: `CREATE TABLE SCHEMA.base (id text PRIMARY KEY, brand text, balance numeric(18,2));
      INSERT INTO SCHEMA.base VALUES ('alice', 'new', 100), ('bob', 'old', 100);
      CREATE VIEW SCHEMA.accounts AS
        SELECT id, CASE brand WHEN 'old' THEN 'EUR' END AS currency, balance FROM SCHEMA.base`,
    options: { players: columns },
  })
  const [alice, bob] = await Promise.all(
    ['alice', 'bob'].map(playerId =>
      endOf(
        handlePlaceBet(
          made.store,
          placeBet({ playerId, betId: `b-${playerId}`, transactionId: `t-${playerId}` }),
        ),
      ),
    ),
  )
  expect(alice).toMatchObject({
    ...{ code: 'LOAD_FAILED', call: { playerId: 'alice' } },
    cause: {
      code: 'INVALID_PLAYERS_TABLE',
      problem: `${made.schema}.accounts.currency is NULL, or empty, for the player "alice"`,
    },
  })
  expect(bob).toMatchObject({ ok: true, balance: '70.00' })
  expect(await made.recorded()).toEqual(['placebet t-bob -30'])
})

it.each([
  ['bigint', '7', 'alice'],
  ['bigint', '7', '07'],
  ['uuid', '6f1c2a9e-0000-4000-8000-00000000000a', '6F1C2A9E-0000-4000-8000-00000000000A'],
] as const)(
  '%s: a commit for an id in a format that the column does not print is a conflict; the rest of the batch is committed',
  async (idType, known, unknown) => {
    const made = await wallet({
      ddl: `CREATE TABLE SCHEMA.accounts (id ${idType} PRIMARY KEY, currency text, balance numeric(6,2));
      INSERT INTO SCHEMA.accounts VALUES ('${known}', 'EUR', 100)`,
      options: { players: { ...columns, idType } },
    })
    const placings = [known, unknown].map((playerId, n) =>
      made.store.commit(placing({ playerId, n, amount: '30' })),
    )
    expect(await Promise.all(placings)).toMatchObject([
      { status: 'committed', balance: '70.00' },
      expect.objectContaining({ status: 'conflict' }),
    ])
    expect(await made.recorded()).toEqual(['placebet place-0 -30'])
  },
)

it('a credit below its own floor does not cover a debit of the same batch', async () => {
  const made = await wallet({
    ddl: `CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance numeric(6,2));
      INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', -100)`,
    options: { players: columns },
  })
  const balance = (delta: string, floor: string) => ({
    bet: null,
    account: { currency: 'EUR', delta, floor },
  })
  const results = await Promise.all([
    made.store.commit({ ...settling({ playerId: 'alice', n: 1, amount: '50' }), ...balance('50', '0') }),
    made.store.commit({ ...placing({ playerId: 'alice', n: 2, amount: '20' }), ...balance('-20', '-80') }),
  ])
  expect(results).toEqual([
    expect.objectContaining({ status: 'conflict' }),
    expect.objectContaining({ status: 'conflict' }),
  ])
  expect(await made.balanceOf('alice')).toBe('-100.00')
})

describe("a trigger on the operator's table", () => {
  it.each([
    ['rounds the balance', 'NEW.balance = round(NEW.balance); RETURN NEW;'],
    ['recomputes it', 'NEW.balance = NEW.cash; RETURN NEW;'],
    ['sets it to NULL', 'NEW.balance = NULL; RETURN NEW;'],
    ['suppresses the update', 'RETURN NULL;'],
  ])('that %s: a fault that names the cause, and nothing is recorded', async (_, body) => {
    const made = await wallet({
      ddl: `CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance numeric, cash numeric DEFAULT 100);
        INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', 100), ('bob', 'EUR', 100);
        CREATE FUNCTION SCHEMA.rule() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
        CREATE TRIGGER rule BEFORE UPDATE ON SCHEMA.accounts FOR EACH ROW WHEN (NEW.id = 'alice') EXECUTE FUNCTION SCHEMA.rule()`,
      options: { players: columns },
    })
    const results = await Promise.all([
      endOf(made.store.commit(placing({ playerId: 'alice', n: 1, amount: '10.60' }))),
      endOf(made.store.commit(placing({ playerId: 'bob', n: 2, amount: '10.60' }))),
    ])
    expect(results).toEqual([
      expect.objectContaining({ code: '27000', message: expect.stringContaining('see its triggers') }),
      expect.objectContaining({ status: 'committed', balance: '89.40' }),
    ])
    expect(await made.recorded()).toEqual(['placebet place-2 -10.60'])
    expect(await made.balanceOf('alice')).toBe('100')
  })
})

it('a player whose row this role may read but not lock: unavailable after lockTimeoutMs, without endless retries', async () => {
  const { schema, rows } = await wallet()
  const role = `locked_out_${process.pid}`
  await rows(`CREATE ROLE ${role}`)
  const pool = new pg.Pool({ connectionString: url, max: 2, options: `-c role=${role}` })
  opened.push({
    async close() {
      await pool.end()
      await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
    },
  })
  await admin.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role};
    GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA ${schema} TO ${role};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`)
  const store = createPostgresStore(pool, { schema, lockTimeoutMs: 20 })
  // A start refuses such policies.
  await store.ready()
  await admin.query(`ALTER TABLE ${schema}.players ENABLE ROW LEVEL SECURITY;
    CREATE POLICY seen ON ${schema}.players FOR SELECT USING (true);
    CREATE POLICY changed ON ${schema}.players FOR UPDATE USING (player_id <> 'alice')`)
  expect(await store.commit(placing({ playerId: 'bob', n: 1 }))).toMatchObject({ status: 'committed' })
  expect(await store.commit(placing({ playerId: 'alice', n: 2 }))).toEqual({ status: 'unavailable' })
})

it('a bet that other SQL changes while a commit waits for the row of the bet is not overwritten', async () => {
  const made = await wallet({ options: { lockTimeoutMs: 120_000 } })
  await made.store.commit(placing({ playerId: 'alice', n: 1 }))
  const other = await made.otherSession()
  await other.query('BEGIN')
  await other.query(
    `UPDATE ${made.schema}.bets SET bet_paid_live = 60, bet_paid_reversed = 0, bet_paid_owed = 0, revision = 2`,
  )
  const paying = endOf(recordSettlement(made.store, settlement({ amount: '5' })))
  await until(async () => (await made.waiting()).length > 0)
  await other.query('COMMIT')
  expect(await paying).toMatchObject({ ok: true, balance: '75.00' })
  expect(await made.rows('SELECT bet_paid_live::text, revision FROM SCHEMA.bets')).toEqual([['65', 3]])
})

it('a server that closes a connection in the packet that makes it ready does not end this process', async () => {
  const message = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(body.length + 4)
    return Buffer.concat([Buffer.from(type), length, body])
  }
  const ready = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))])
  const goodbye = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'))
  let greeted = 0
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => {
      greeted += 1
      socket.end(Buffer.concat([ready, goodbye]))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'wallet', database: 'wallet', ssl: false })
  pool.on('error', () => {})
  const store = createPostgresStore(pool)
  await expect(handlePlaceBet(store, placeBet())).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(greeted).toBeGreaterThan(0)
  await pool.end()
  server.close()
  await once(server, 'close')
})

describe('a commit that conflicts', () => {
  const conflict = expect.objectContaining({ status: 'conflict' })
  const locks = async (made: Wallet) => await made.rows('SELECT xmax::text FROM SCHEMA.players ORDER BY 1')

  it('locks no row: a duplicate, a changed bet, a stake above the balance', async () => {
    const made = await wallet()
    expect(await made.store.commit(placing({ n: 1 }))).toMatchObject({ status: 'committed' })
    await made.rows('VACUUM FREEZE SCHEMA.players')
    const before = await locks(made)
    const duplicate = placing({ n: 1 })
    const sameBet = placing({ n: 1, fields: { transactionId: 'other' } })
    for (const each of [duplicate, sameBet, placing({ n: 2, amount: '70.01' })]) {
      expect(await made.store.commit(each)).toEqual(conflict)
    }
    expect(await locks(made)).toEqual(before)
    // Two in a batch: their players differ from that of the other.
    const others = placing({ playerId: 'bob', n: 1 })
    expect(await Promise.all([made.store.commit(sameBet), made.store.commit(others)])).toEqual([
      conflict,
      conflict,
    ])
    expect(await locks(made)).toEqual(before)
  })
})

describe('ids and texts with characters that mean something in an array', () => {
  const texts = [
    'NULL',
    'null',
    '{}',
    '"',
    '\\',
    '\\"',
    "'",
    'a,b',
    ' a ',
    '{"a",NULL}',
    'ü €',
    '"}, {"',
    '%s $1',
    '()',
  ]

  it.each(['alone', 'in one batch'])('are stored as they are, %s', async how => {
    const made = await wallet({ players: texts })
    const commits = texts.map((text, n) => {
      const ids = { transactionId: text, betId: text }
      const { transaction, bet, ...rest } = placing({ playerId: text, n, fields: ids })
      return { ...rest, transaction, bet: bet && { ...bet, betId: text } }
    })
    const results = []
    if (how === 'alone') for (const each of commits) results.push(await made.store.commit(each))
    else results.push(...(await Promise.all(commits.map(each => made.store.commit(each)))))
    expect(results).toMatchObject(texts.map(() => ({ status: 'committed', balance: '70' })))
    for (const [n, text] of texts.entries()) {
      const found = await made.store.load({
        operation: 'placebet',
        transactionId: text,
        playerId: text,
        betId: text,
      })
      expect(found.bet).toEqual(commits[n]?.bet)
      expect(found.transaction).toEqual({
        ...commits[n]?.transaction,
        walletTransactionId: expect.any(String),
      })
    }
  })

  it.each(['alone', 'in one batch'])('in a recorded refusal, %s', async how => {
    const made = await wallet()
    const description = 'no: {"a", NULL}, \\ and "quotes"'
    const refused = (playerId: string, n: number) => ({
      ...placing({ playerId, n, fields: { refusal: { errorCode: 'REFUSED', description }, delta: '0' } }),
      bet: null,
      balance: null,
    })
    const commits = how === 'alone' ? [refused('alice', 1)] : [refused('alice', 1), refused('bob', 2)]
    await Promise.all(commits.map(each => made.store.commit(each)))
    const found = await made.store.load({ ...keys, betId: 'bet-1' })
    expect(found.transaction?.refusal).toEqual({ errorCode: 'REFUSED', description })
  })
})
