/** What becomes of a commit, for every error between BEGIN and COMMIT: on a real server, by commit and commit_one. */
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { classifyError } from '../../../src/stores/mysql/errors.js'
import { createMysqlStore } from '../../../src/stores/mysql/index.js'
import { readPage, rowsOf, sectionOf } from '../../docs/pages.js'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { noServer, processList } from '../../mysql/engine.js'
import { until, untilReady } from '../../until.js'
import { openWallet, placeBet, settle, type Wallet, type WalletSetup } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

type Outcome = readonly [
  name: string,
  errno: number,
  outcome: 'conflict' | 'unavailable' | 'unknown' | 'rejected',
]

/** The errors of the table of outcomes. */
const outcomes: readonly Outcome[] = [
  ['a deadlock, or a conflict with another node', 1213, 'conflict'],
  ['a row that has changed', 1020, 'conflict'],
  ['a lock wait', 1205, 'unavailable'],
  ['a read-only server', 1290, 'unavailable'],
  ['a read-only engine', 1836, 'unavailable'],
  ['a read-only database transaction', 1792, 'unavailable'],
  ['a full table', 1114, 'unavailable'],
  ['a full disk', 1021, 'unavailable'],
  ['no room for locks', 1206, 'unavailable'],
  ['no room for database transactions', 1637, 'unavailable'],
  ['too many connections', 1040, 'unavailable'],
  ['too many connections of the user', 1203, 'unavailable'],
  ['a user that has used up a resource', 1226, 'unavailable'],
  ['offline mode', 3032, 'unavailable'],
  ['offline mode, with its reason', 6400, 'unavailable'],
  ['offline mode, with its user', 6401, 'unavailable'],
  ...[3781, 3782, 3783, 3796, 3797, 3798, 3799].map(
    (errno): Outcome => ['a group that waits', errno, 'unavailable'],
  ),
  ['a primary that is replaced', 4094, 'unavailable'],
  ['an error of a COMMIT', 1180, 'unknown'],
  ['an error of a ROLLBACK', 1181, 'unknown'],
  ['a node without a majority', 1047, 'unknown'],
  ['an interrupted statement', 1317, 'unknown'],
  ['a statement that took too long', 1969, 'unknown'],
  ['a statement that took too long, on MySQL', 3024, 'unknown'],
  ['a server that shuts down', 1053, 'unknown'],
  ['a connection that was killed', 1927, 'unknown'],
  ['a connection that was idle for too long, on MySQL', 4031, 'unknown'],
  ['a hook of Group Replication', 3100, 'unknown'],
  ['a commit that a node ends that leaves its group', 3101, 'unknown'],
  ['an error without a number of its own', 1105, 'unknown'],
  ...Array.from({ length: 10 }, (_, index): Outcome => ['a broken packet', 1152 + index, 'unknown']),
  ['a duplicate key of a hook or a trigger', 1062, 'rejected'],
  ['the same, by its name', 1586, 'rejected'],
  ["a SIGNAL of the PAM's trigger", 1644, 'rejected'],
  ['a missing privilege', 1142, 'rejected'],
]

test.each(outcomes)('%s (%i): %s', (_, errno, expected) => {
  const error = Object.assign(new Error('injected'), { errno, sqlState: 'HY000' })
  expect(classifyError(error, true)).toBe(expected)
  expect(classifyError(new Error('wrapped', { cause: error }), true)).toBe(expected)
})

test.each([
  ['PROCEDURE bet_wallet.wallet_load_v1_00aa11bb_22cc33dd does not exist', 'unavailable'],
  ['PROCEDURE bet_wallet.credit_bet_v1 does not exist', 'unavailable'],
  ['PROCEDURE pam.credit does not exist', 'rejected'],
  ['SAVEPOINT mine does not exist', 'rejected'],
])('1305, %s: %s', (message, expected) => {
  const error = Object.assign(new Error(message), { errno: 1305, sqlState: '42000' })
  expect(classifyError(error, true)).toBe(expected)
})

/** Rows of the page's table: the numbers in the first cell, and the outcome. */
const rowsOfPage = rowsOf(sectionOf(readPage('docs/mysql.md'), 'Errors of the server'))
const outcomeWords = { conflict: /^conflict/, unavailable: /^unavailable/, unknown: /^unknown/ }

test.each(Object.entries(outcomeWords))('the page names every error that is %s', (outcome, words) => {
  const cells = rowsOfPage.filter(([, cell = '']) => words.test(cell)).map(([cell = '']) => cell)
  const numbers = [...cells.join(' ').matchAll(/(\d{4})(?: to (\d{4}))?/g)].flatMap(
    ([, first, last = first]) =>
      Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index),
  )
  const tested = outcomes.filter(([, , each]) => each === outcome).map(([, errno]) => errno)
  if (outcome === 'unavailable') tested.push(1305)
  expect(numbers.sort()).toEqual(tested.sort())
})

test('an error of the network is unknown once something was sent', () => {
  const error = Object.assign(new Error('injected'), { code: 'ECONNRESET', errno: -104, fatal: true })
  expect(classifyError(error, true)).toBe('unknown')
  expect(classifyError(error, false)).toBe('unavailable')
})

describe.skipIf(noServer !== null)(`on a real server${reason}`, () => {
  let admin: Pool
  let config: mysql.PoolOptions
  const wallets: Wallet[] = []
  const open = async (setup: Partial<WalletSetup> = {}) => {
    const wallet = await openWallet({ admin, config, ...setup })
    wallets.push(wallet)
    await wallet.store.ready()
    return wallet
  }
  beforeAll(async () => {
    config = (await sharedMariadb()).config
    admin = mysql.createPool({ ...config, connectionLimit: 20, connectTimeout: 120_000 })
  })
  afterEach(async () => {
    for (const wallet of wallets.splice(0)) await wallet.close()
  })
  afterAll(() => admin.end())

  /** Bob's commits fail when their transaction is written: without a ROLLBACK, the next commit would store it. */
  const failBob = (wallet: Wallet, errno: number) =>
    wallet.run(`CREATE TRIGGER SCHEMA.fail AFTER UPDATE ON SCHEMA.wallet_players FOR EACH ROW
      IF NEW.player_id = 'bob' THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = 'injected'; END IF`)

  const resultOf = (commit: Promise<{ status: string }>): Promise<string> =>
    commit.then(
      ({ status }) => status,
      (error: { code?: string; message: string }) => error.code ?? error.message,
    )

  /** One broken packet is enough. */
  const injected = outcomes.filter(([, errno]) => errno <= 1152 || errno > 1161)

  describe.each(injected)('%s (%i)', (_, errno, outcome) => {
    const expected = {
      conflict: 'conflict',
      unavailable: 'unavailable',
      unknown: 'COMMIT_UNKNOWN',
      // The SIGNAL of a trigger that stops a debit: the store names it.
      rejected: errno === 1644 ? 'DATABASE_REJECTED' : expect.stringMatching(/ER_/),
    }[outcome]

    test('of a single commit: nothing is recorded, and the connection carries nothing over', async () => {
      const wallet = await open({ options: { connectionsMax: 1 } })
      await failBob(wallet, errno)
      expect(await resultOf(wallet.store.commit(placeBet(1, 'bob')))).toEqual(expected)
      expect(await resultOf(wallet.store.commit(placeBet(2, 'alice')))).toBe('committed')
      expect(await wallet.recorded()).toEqual(['placebet t-2 -30'])
      expect(await wallet.balanceOf('bob')).toBe('100')
      expect(await wallet.rows('SELECT COUNT(*) FROM SCHEMA.wallet_bets')).toEqual([[1]])
    })

    test('of one commit of a batch: the others are committed, unless it is an error of the server', async () => {
      const wallet = await open({ options: { connectionsMax: 1 } })
      await failBob(wallet, errno)
      const results = await Promise.all(
        [placeBet(1, 'alice'), placeBet(2, 'bob'), placeBet(3, 'carol')].map(changes =>
          resultOf(wallet.store.commit(changes)),
        ),
      )
      if (outcome === 'unknown' && ![1105, 1317, 1969, 3024].includes(errno)) {
        expect(results).toEqual(['COMMIT_UNKNOWN', 'COMMIT_UNKNOWN', 'COMMIT_UNKNOWN'])
        expect(await resultOf(wallet.store.commit(placeBet(4, 'alice')))).toBe('committed')
        expect(await wallet.recorded()).toEqual(['placebet t-4 -30'])
      } else if (outcome === 'unavailable' && results[0] === 'unavailable') {
        // The server itself is read-only, full of connections, offline or not ready: no user's commit can succeed.
        const ofGroup = [3781, 3782, 3783, 3796, 3797, 3798, 3799, 4094]
        expect([1290, 1836, 1040, 1203, 1226, 3032, 6400, 6401, ...ofGroup]).toContain(errno)
        expect(await wallet.recorded()).toEqual([])
      } else {
        expect(results).toEqual(['committed', expected, 'committed'])
        expect(await wallet.recorded()).toEqual(['placebet t-1 -30', 'placebet t-3 -30'])
      }
      expect(await wallet.balanceOf('bob')).toBe('100')
    })

    test('with withinTransaction, in the statement of the hook', async () => {
      const wallet = await open({
        options: {
          connectionsMax: 1,
          async withinTransaction(query, pending) {
            for (const { changes } of pending) {
              if (changes.transaction.playerId !== 'bob') continue
              await query(`INSERT INTO ${schemaOf()}.fails VALUES (1)`)
            }
          },
        },
      })
      function schemaOf() {
        return wallets.at(-1)?.schema
      }
      await wallet.run('CREATE TABLE SCHEMA.fails (id integer) ENGINE = InnoDB')
      await wallet.run(
        `CREATE TRIGGER SCHEMA.fail BEFORE INSERT ON SCHEMA.fails FOR EACH ROW
          SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = 'injected'`,
      )
      const result = await resultOf(wallet.store.commit(placeBet(1, 'bob')))
      // COMMIT was not sent yet: no changes were made.
      expect(result).toBe(outcome === 'conflict' ? 'conflict' : 'unavailable')
      expect(await resultOf(wallet.store.commit(placeBet(2, 'alice')))).toBe('committed')
      expect(await wallet.recorded()).toEqual(['placebet t-2 -30'])
    })
  })

  test('a duplicate key in the library’s own tables is a conflict', async () => {
    const wallet = await open()
    await wallet.store.commit(placeBet(1, 'alice'))
    // The lookup of guard 1 does not see it: the write does.
    await wallet.run(`CREATE TRIGGER SCHEMA.again BEFORE INSERT ON SCHEMA.wallet_transactions FOR EACH ROW
      IF NEW.player_id = 'bob' THEN SET NEW.transaction_id = 't-1'; END IF`)
    expect(await wallet.store.commit(placeBet(2, 'bob'))).toMatchObject({ status: 'conflict' })
    const ends = [placeBet(3, 'carol'), placeBet(4, 'bob')].map(changes => wallet.store.commit(changes))
    expect(await Promise.all(ends)).toMatchObject([{ status: 'committed' }, { status: 'conflict' }])
  })

  test('so is an id of this process that another one has made too, in every language of the server', async () => {
    const wallet = await open()
    wallet.pool.pool.on('connection', session => session.query("SET lc_messages = 'de_DE'"))
    await wallet.store.commit(placeBet(1, 'alice'))
    for (const table of ['wallet_transactions', 'wallet_bets'])
      await wallet.run(`CREATE TRIGGER SCHEMA.again_${table} BEFORE INSERT ON SCHEMA.${table} FOR EACH ROW
        IF NEW.player_id = '${table === 'wallet_bets' ? 'bob' : 'carol'}' THEN
          SET NEW.id = (SELECT id FROM SCHEMA.wallet_transactions WHERE transaction_id = 't-1'); END IF`)
    for (const player of ['bob', 'carol'])
      expect(await wallet.store.commit(placeBet(player, player))).toMatchObject({ status: 'conflict' })
  })

  test('a lock wait for a bet ends after lockTimeoutMs: unavailable, and not committed later', async () => {
    const wallet = await open({ options: { lockTimeoutMs: 1_000, connectionsMax: 1 } })
    await wallet.store.commit(placeBet(1))
    const other = await wallet.otherSession()
    await other.query('BEGIN')
    await other.query(`SELECT 1 FROM ${wallet.schema}.wallet_bets WHERE bet_id = 'b-1' FOR UPDATE`)
    expect(await wallet.store.commit(settle(1))).toEqual({ status: 'unavailable' })
    await other.query('ROLLBACK')
    expect(await wallet.store.commit(placeBet(2, 'bob'))).toMatchObject({ status: 'committed' })
    expect(await wallet.recorded()).toEqual(['placebet t-1 -30', 'placebet t-2 -30'])
    expect(await wallet.balanceOf('alice')).toBe('70')
  })

  test('a wait for a metadata lock, as of an ALTER, ends after timeoutMs on the server too', async () => {
    const wallet = await open()
    const { pool, rows, schema, recorded, otherSession } = wallet
    const store = createMysqlStore(pool, { schema, timeoutMs: 2_000 })
    await untilReady(store)
    const blocker = await otherSession()
    await blocker.query(`LOCK TABLES ${schema}.wallet_transactions WRITE`)
    const waiting = async () =>
      (
        await rows(
          `SELECT 1 FROM ${processList} WHERE STATE = 'Waiting for table metadata lock' AND INFO LIKE '%${schema}%'`,
        )
      ).length
    const statusOf = ({ status }: { status: string }) => status
    const codeOf = ({ code }: { code: string }) => code
    const calls = [1, 2, 3, 4].map(number => store.commit(placeBet(number)).then(statusOf, codeOf))
    await expect.poll(waiting).toBeGreaterThan(0)
    for (const call of calls) expect(['unavailable', 'COMMIT_UNKNOWN']).toContain(await call)
    // The time limit is the server's. Without it, they wait for a year, and commit then.
    await expect.poll(waiting).toBe(0)
    await blocker.query('UNLOCK TABLES')
    expect(await recorded()).toEqual([])
    expect(await wallet.store.commit(placeBet(5))).toMatchObject({ status: 'committed' })
  })

  test('players whose rows are locked hold no connection: single commits of others go on', async () => {
    const wallet = await open({ options: { lockTimeoutMs: 60_000, connectionsMax: 2 } })
    const session = await wallet.otherSession()
    await session.query('START TRANSACTION')
    // One by one: for two of three players the server may read, and lock, the whole table.
    for (const player of ['alice', 'bob'])
      await session.query(`SELECT 1 FROM ${wallet.schema}.wallet_players WHERE player_id = ? FOR UPDATE`, [
        player,
      ])
    const answered: string[] = []
    const commit = async (number: number, playerId: string) => {
      const result = await wallet.store.commit(placeBet(number, playerId))
      answered.push(playerId)
      return result
    }
    const alice = commit(1, 'alice')
    await until(() => wallet.store.stats.lockWaits.queued + wallet.store.stats.lockWaits.inFlight === 1)
    const bob = commit(2, 'bob')
    await until(() => wallet.store.stats.lockWaits.queued + wallet.store.stats.lockWaits.inFlight === 2)
    expect(await commit(3, 'carol')).toMatchObject({ status: 'committed' })
    expect(answered).toEqual(['carol'])
    await session.query('COMMIT')
    for (const waiting of [alice, bob]) expect(await waiting).toMatchObject({ status: 'committed' })
  })

  test('a player whose row is locked is waited for, and delays no other player of the batch', async () => {
    const wallet = await open({ options: { lockTimeoutMs: 60_000 } })
    const other = await wallet.otherSession()
    await other.query('BEGIN')
    await other.query(`SELECT 1 FROM ${wallet.schema}.wallet_players WHERE player_id = 'alice' FOR UPDATE`)
    const waiting = wallet.store.commit(placeBet(1, 'alice'))
    expect(await wallet.store.commit(placeBet(2, 'bob'))).toMatchObject({ status: 'committed' })
    await until(() => wallet.store.stats.lockWaits.queued === 1)
    await other.query('ROLLBACK')
    expect(await waiting).toMatchObject({ status: 'committed', balance: '70' })
  })

  describe.each(['KILL', 'KILL QUERY'])('%s while a commit runs', kill => {
    test('its outcome is unknown; nothing is recorded, and nothing is committed by the next one', async () => {
      const wallet = await open({ options: { connectionsMax: 1 } })
      const hold = await wallet.otherSession()
      const lock = `${wallet.schema} hold`
      await hold.query('DO GET_LOCK(?, 0)', [lock])
      await wallet.run(`CREATE TRIGGER SCHEMA.hold AFTER INSERT ON SCHEMA.wallet_transactions FOR EACH ROW
        DO IF(NEW.player_id = 'bob', GET_LOCK('${lock}', 600), 0)`)
      const commit = resultOf(wallet.store.commit(placeBet(1, 'bob')))
      let ids: number[] = []
      await until(async () => {
        ids = await wallet.waiting()
        return ids.length > 0
      })
      await wallet.run(`${kill} ${ids[0]}`)
      expect(await commit).toBe('COMMIT_UNKNOWN')
      await hold.query('DO RELEASE_LOCK(?)', [lock])
      expect(await resultOf(wallet.store.commit(placeBet(2, 'alice')))).toBe('committed')
      expect(await wallet.recorded()).toEqual(['placebet t-2 -30'])
    })
  })

  test('while a commit is blocked, placebets are shed at once from half of queueMax on', async () => {
    const wallet = await open({ options: { connectionsMax: 1, queueMax: 4 } })
    await wallet.store.commit(placeBet(0, 'carol'))
    const hold = await wallet.otherSession()
    const lock = `${wallet.schema} hold`
    await hold.query('DO GET_LOCK(?, 0)', [lock])
    await wallet.run(`CREATE TRIGGER SCHEMA.hold AFTER INSERT ON SCHEMA.wallet_transactions FOR EACH ROW
      DO IF(NEW.player_id = 'bob', GET_LOCK('${lock}', 600), 0)`)
    const blocked = wallet.store.commit(placeBet(1, 'bob'))
    await until(async () => (await wallet.waiting()).length > 0)
    const queued = ['alice', 'carol'].map((player, n) => wallet.store.commit(placeBet(2 + n, player, '1')))
    expect(await wallet.store.commit(placeBet(4, 'alice', '1'))).toEqual({ status: 'unavailable' })
    const settlement = wallet.store.commit(settle(0, 'carol'))
    expect(wallet.store.stats.commits).toEqual({ queued: 3, inFlight: 1, shed: 1 })
    await hold.query('DO RELEASE_LOCK(?)', [lock])
    for (const commit of [blocked, ...queued, settlement])
      expect(await commit).toMatchObject({ status: 'committed' })
    expect(wallet.store.stats.commits).toEqual({ queued: 0, inFlight: 0, shed: 1 })
    expect(await wallet.recorded()).toHaveLength(5)
  })

  test('no answer within timeoutMs: unknown, and the connection is closed', async () => {
    const wallet = await open({ options: { connectionsMax: 1, timeoutMs: 10_000 } })
    const hold = await wallet.otherSession()
    const lock = `${wallet.schema} hold`
    await hold.query('DO GET_LOCK(?, 0)', [lock])
    await wallet.run(`CREATE TRIGGER SCHEMA.hold AFTER INSERT ON SCHEMA.wallet_transactions FOR EACH ROW
      DO IF(NEW.player_id = 'bob', GET_LOCK('${lock}', 600), 0)`)
    expect(await resultOf(wallet.store.commit(placeBet(1, 'bob')))).toBe('COMMIT_UNKNOWN')
    await hold.query('DO RELEASE_LOCK(?)', [lock])
    expect(await resultOf(wallet.store.commit(placeBet(2, 'alice')))).toBe('committed')
  })

  test('a trigger that changes the balance otherwise: a fault, and nothing is recorded', async () => {
    const wallet = await open()
    await wallet.run(`CREATE TRIGGER SCHEMA.round BEFORE UPDATE ON SCHEMA.wallet_players FOR EACH ROW
      SET NEW.balance = ROUND(NEW.balance)`)
    // It is a condition of the library, and no rule that players.reserved could replace.
    await expect(wallet.store.commit(placeBet(1, 'alice', '0.4'))).rejects.toMatchObject({
      code: 'ER_SIGNAL_EXCEPTION',
      message: expect.stringMatching(/see its triggers/),
    })
    const results = await Promise.allSettled([
      wallet.store.commit(placeBet(2, 'alice', '0.4')),
      wallet.store.commit(placeBet(3, 'bob', '1')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(await wallet.recorded()).toEqual(['placebet t-3 -1'])
  })
})
