/** One poisoned item, an error text, a row or a statement, fails alone: no event of another bet waits for it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { handlePlaceBet, recordSettlement } from '../../src/index.js'
import type { RecordedTransaction } from '../../src/lookups/index.js'
import type { Relay, RelayOptions } from '../../src/stores/database/relay.js'
import { createPostgresStore, migratePostgres } from '../../src/stores/postgres/index.js'
import { postgresOutbox } from '../../src/stores/postgres/relay.js'
import { placeBet, settlement } from '../fixtures.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { until } from '../until.js'
import { databases, relayOf, type Wallet, withLongPauses } from './databases.js'
import { poisons } from './poisons.js'

/** What the column has; where the database is not in UTF-8, escaped. */
const stored: Readonly<Record<string, RegExp>> = {
  'an emoji that the limit divides': /^x{499}(?:\ufffd|)$|^x{499}\\$/,
  'half of an emoji': /^answered (?:\ufffd|\\u\{fffd\})$/, // cspell:disable-line
  'an emoji': /^(?:🎲 ü|\\u\{1f3b2\} \\u\{fc\}) no$/,
  'a NUL': /^answered $/,
  'a megabyte': /^é{500}$/,
  'an error without a message': /^Error$/,
}

describe.each(databases.filter(({ skipped }) => skipped === null))('on $name', ({ open }) => {
  let wallet: Wallet
  beforeAll(async () => {
    wallet = await open()
    await wallet.rows(wallet.keepSql)
  })
  afterAll(() => wallet.close())
  const delivered: string[] = []
  const errors: [error: unknown, transactionId: string | undefined][] = []
  beforeEach(async () => {
    await wallet.rows('DELETE FROM KEPT')
    await wallet.rows('DELETE FROM OUTBOX')
    delivered.length = 0
    errors.length = 0
  })

  let bets = 0
  /** A bet with two events: `p-<n>` and `s-<n>`. */
  async function twoEvents(): Promise<[placed: string, settled: string]> {
    bets += 1
    const betId = `bet-${bets}`
    await handlePlaceBet(wallet.store, placeBet({ betId, transactionId: `p-${bets}`, amount: '1' }))
    await recordSettlement(wallet.store, settlement({ betId, transactionId: `s-${bets}`, amount: '1' }))
    return [`p-${bets}`, `s-${bets}`]
  }
  const betOf = (transactionId: string) => `bet-${transactionId.slice(2)}`
  /** As if the lease or pause of this event had passed. */
  const makeDue = (transactionId: string) =>
    wallet.rows(
      `UPDATE OUTBOX SET due_at = ${wallet.inHoursSql(-1)} WHERE bet_id = '${betOf(transactionId)}'`,
    )
  const rowOf = async (transactionId: string) =>
    (
      await wallet.rows(
        `SELECT problem, attempts, failures, due_at FROM OUTBOX WHERE bet_id = '${betOf(transactionId)}'
          ORDER BY event_number LIMIT 1`,
      )
    )[0]

  async function running(
    options: Partial<RelayOptions> = {},
    outbox = withLongPauses(wallet.outbox),
  ): Promise<Relay> {
    const relay = relayOf(outbox, {
      async deliver({ transactionId }) {
        delivered.push(transactionId)
      },
      onError: (error, event) => errors.push([error, event?.transactionId]),
      ...options,
    })
    await relay.start()
    return relay
  }
  /** Rejects the events of one bet with this, and delivers the others. */
  const rejecting = (transactionId: string, error: () => unknown) => async (event: RecordedTransaction) => {
    if (event.transactionId === transactionId) throw error()
    delivered.push(event.transactionId)
  }

  it.each(Object.keys(poisons))(
    'given a delivery that rejects with %s, then its failure is recorded, all others are delivered, and the relay can stop',
    async name => {
      const [placed, settled] = await twoEvents()
      const deliver = rejecting(placed, poisons[name] as () => unknown)
      const relay = await running({ deliver, inFlightMax: 2 })
      const others = [...(await twoEvents()), ...(await twoEvents())]
      await until(async () => delivered.length === others.length && (await rowOf(placed))?.problem !== null)
      await relay.stop()
      expect([...delivered].sort()).toEqual([...others].sort())
      expect(errors.map(([, transactionId]) => transactionId)).toEqual([placed])
      expect(await rowOf(placed)).toMatchObject({ attempts: 1, failures: 1 })
      expect(String((await rowOf(placed))?.problem)).toMatch(stored[name] ?? /^an error without text$/)
      delivered.length = 0
      const healthy = await running()
      await wallet.passTime()
      await until(() => delivered.length === 2)
      await healthy.stop()
      expect(delivered).toEqual([placed, settled])
    },
  )

  it('given a row that cannot be read, then its event fails, and all others are delivered', async () => {
    const [placed, settled] = await twoEvents()
    await wallet.rows(`${wallet.spoilDateSql} WHERE transaction_id = '${placed}'`)
    const others = [...(await twoEvents()), ...(await twoEvents())]
    const relay = await running()
    await until(async () => delivered.length === others.length && (await rowOf(placed))?.problem !== null)
    const failure = [expect.objectContaining({ message: expect.stringContaining('bet-') }), undefined]
    expect(errors).toEqual([failure])
    expect(await rowOf(placed)).toMatchObject({ attempts: 1, failures: 1 })
    // As soon as it is repaired, it is delivered.
    await wallet.rows(
      `UPDATE TRANSACTIONS SET transaction_date = recorded_at WHERE transaction_id = '${placed}'`,
    )
    await wallet.passTime()
    await until(() => delivered.length === others.length + 2)
    await relay.stop()
    expect(delivered.slice(others.length)).toEqual([placed, settled])
  })

  it('given a row that can never be read, then it is a dead letter after its attempts', async () => {
    const [placed] = await twoEvents()
    await wallet.rows(`${wallet.spoilDateSql} WHERE transaction_id = '${placed}'`)
    const relay = await running({ attemptsMax: 2 })
    await until(async () => {
      await wallet.passTime()
      return (await relay.stats()).dead === 1
    })
    await relay.stop()
    expect(delivered).toEqual([])
    expect(errors).toHaveLength(2)
    expect(String((await rowOf(placed))?.problem)).not.toBe('null')
  })

  it('given a failure that the database rejects even alone, then the others are recorded, its place is free, and its lease decides', async () => {
    await wallet.rows("ALTER TABLE OUTBOX ADD CONSTRAINT storable CHECK (problem <> 'poison')")
    try {
      const [placed, settled] = await twoEvents()
      const failing = [(await twoEvents())[0], (await twoEvents())[0]]
      const relay = await running({
        inFlightMax: 3,
        async deliver({ transactionId }, { attempt }) {
          if (transactionId === placed && attempt === 1) throw new Error('poison')
          if (failing.includes(transactionId) && attempt === 1) throw new Error('no')
          delivered.push(transactionId)
        },
      })
      for (const each of failing) await until(async () => (await rowOf(each))?.problem === 'no')
      // As many as there are places.
      const others = [...(await twoEvents()), ...(await twoEvents()), ...(await twoEvents())]
      await until(() => delivered.length === others.length)
      expect(await rowOf(placed)).toMatchObject({ problem: null, attempts: 1, failures: 0 })
      for (const each of [placed, ...failing]) await makeDue(each)
      await until(async () => (await relay.stats()).queued === 0)
      await relay.stop()
      expect(delivered.filter(id => betOf(id) === betOf(placed))).toEqual([placed, settled])
      expect(errors.filter(([, id]) => id === undefined)).toHaveLength(1)
    } finally {
      await wallet.rows('ALTER TABLE OUTBOX DROP CONSTRAINT storable')
    }
  })

  it('given a delivered event that the database cannot delete, then the others are deleted, its place is free, and it comes again', async () => {
    const [placed, settled] = await twoEvents()
    await wallet.rows(
      `INSERT INTO KEPT (bet_id, event_number) SELECT bet_id, event_number FROM OUTBOX
        WHERE bet_id = '${betOf(placed)}' ORDER BY event_number LIMIT 1`,
    )
    const first = await twoEvents()
    const relay = await running({ inFlightMax: 2 })
    await until(() => delivered.length === 3)
    const others = [...first, ...(await twoEvents()), ...(await twoEvents())]
    await until(() => delivered.length === others.length + 1)
    await until(async () => (await relay.stats()).queued === 2)
    await wallet.rows('DELETE FROM KEPT')
    await makeDue(placed)
    await until(async () => (await relay.stats()).queued === 0)
    await relay.stop()
    expect(delivered.filter(id => betOf(id) === betOf(placed))).toEqual([placed, placed, settled])
    expect([...new Set(delivered)].sort()).toEqual([placed, settled, ...others].sort())
    expect(errors.map(([, id]) => id)).toEqual([undefined])
  })

  it('given more events than places whose transactions are gone, then they are dead letters, reported, and all others are delivered', async () => {
    const gone: string[] = []
    for (let n = 0; n < 5; n += 1) gone.push((await twoEvents())[0])
    for (const id of gone) await wallet.rows(`DELETE FROM TRANSACTIONS WHERE transaction_id = '${id}'`)
    expect((await wallet.outbox.stats()).oldestMs).toBeGreaterThan(0)
    const others = await twoEvents()
    const relay = await running({ inFlightMax: 4 })
    // Each has one event behind it.
    await until(async () => {
      const { queued, dead } = await relay.stats()
      return queued === gone.length && dead === gone.length
    })
    expect(await relay.stats()).toMatchObject({ oldestMs: expect.any(Number) })
    await relay.stop()
    expect(delivered).toEqual(others)
    expect(errors).toHaveLength(gone.length)
    for (const [error] of errors)
      expect(error).toMatchObject({ message: expect.stringMatching(/the transaction .* is missing/) })
    for (const id of gone)
      expect(await rowOf(id)).toMatchObject({ due_at: null, problem: expect.stringContaining('is missing') })
  })

  it('given an event that was claimed often and failed once, then it is no dead letter before its failures are enough', async () => {
    const [placed] = await twoEvents()
    // Of relays that were killed.
    for (let n = 0; n < 5; n += 1) {
      await wallet.outbox.claim(10, 60_000)
      await wallet.passTime()
    }
    const ends: object[] = []
    const relay = await running(
      { attemptsMax: 2, deliver: () => Promise.reject(new Error('no')) },
      {
        ...wallet.outbox,
        postpone(failed) {
          ends.push(...failed.map(({ attempts, failures, pauseMs }) => ({ attempts, failures, pauseMs })))
          return withLongPauses(wallet.outbox).postpone(failed)
        },
      },
    )
    await until(async () => (await rowOf(placed))?.problem === 'no')
    await makeDue(placed)
    await until(async () => (await relay.stats()).dead === 1)
    await relay.stop()
    expect(ends).toEqual([
      { attempts: 6, failures: 1, pauseMs: 1_000 },
      { attempts: 7, failures: 2, pauseMs: null },
    ])
    expect(await relay.retryDeadLetters()).toBe(1)
    // As many attempts as before: the failures of yesterday do not count.
    expect(await rowOf(placed)).toMatchObject({ attempts: 7, failures: 0 })
  })

  it('given a dead letter that is retried, then a relay that was overtaken before does not end the new lease', async () => {
    await twoEvents()
    const claim = async () => (await wallet.outbox.claim(10, 600_000)).claimed
    const overtaken = await claim()
    await wallet.passTime()
    const [last] = await claim()
    if (last === undefined) throw new Error('nothing was claimed')
    const failed = { pauseMs: null, problem: 'no', failures: 1 }
    await wallet.outbox.postpone([{ ...last, ...failed }])
    expect(await wallet.outbox.retryDeadLetters()).toBe(1)
    expect(await claim()).toHaveLength(1)
    await wallet.outbox.postpone(overtaken.map(each => ({ ...each, ...failed, pauseMs: 0 })))
    expect(await claim()).toEqual([])
  })
})

it('given a row of PostgreSQL that is damaged, then its event alone waits for its lease', async () => {
  const { pool, drop } = await freshDatabase()
  await migratePostgres(pool, { outbox: true })
  await pool.query(`INSERT INTO bet_wallet.players VALUES ('alice', 'EUR', 100);
    CREATE FUNCTION damaged() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'invalid page in block 7' USING ERRCODE = 'XX001'; END $$;
    CREATE TRIGGER damaged BEFORE DELETE ON bet_wallet.outbox FOR EACH ROW
      WHEN (OLD.bet_id = 'damaged') EXECUTE FUNCTION damaged()`)
  const store = createPostgresStore(pool, { outbox: true, allowNotDurable: true })
  for (const betId of ['a', 'damaged', 'b'])
    await handlePlaceBet(store, placeBet({ betId, transactionId: betId, amount: '1' }))
  const outbox = postgresOutbox(pool, undefined)
  const { claimed } = await outbox.claim(10, 60_000)
  expect(await outbox.remove(claimed)).toMatchObject([{ message: expect.stringContaining('invalid page') }])
  const { rows } = await pool.query('SELECT bet_id FROM bet_wallet.outbox')
  expect(rows).toEqual([{ bet_id: 'damaged' }])
  await drop()
})
