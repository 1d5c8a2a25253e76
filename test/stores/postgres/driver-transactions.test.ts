/**
 * Database transactions that a driver begins and ends, as postgres.js does: when the session ends it rejects at once, connects
 * again, and sends what is left of the callback over the new session. `test/libraries/drivers` has the real drivers.
 */
import pg from 'pg'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { PostgresClient } from '../../../src/stores/postgres/index.js'
import { createPostgresStore, migratePostgres, type Query } from '../../../src/stores/postgres/index.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { until } from '../../until.js'
import { endOf, longTimeouts, outOfTime, placing } from './wallet.js'

const { url, pool: admin, drop } = await freshDatabase()
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(drop)

type Work = Parameters<NonNullable<PostgresClient['transaction']>>[0]

/** One connection. Whoever has it keeps it when its session ends, and another session takes its place. */
class Driver {
  /** Every statement in its order, with the number of the session. */
  readonly sent: string[] = []
  readonly #together: boolean
  #session: Promise<pg.Client> = this.#connect()
  #sessions = 0
  #closed = new Set<(error: Error) => void>()
  #free: Promise<unknown> = Promise.resolve()
  failCommit = false
  /** Other code's, right after the driver's BEGIN. */
  afterBegin: string | null = null

  /** @param together whether it has `simpleQuery` */
  constructor(together: boolean) {
    this.#together = together
  }

  async #connect(): Promise<pg.Client> {
    const session = new pg.Client({ connectionString: url })
    session.on('error', () => {})
    session.on('end', () => {
      if (this.ended) return
      this.#session = this.#connect()
      for (const reject of this.#closed) reject(new Error('the session has ended'))
    })
    await session.connect()
    this.#sessions += 1
    return session
  }
  ended = false

  query: Query = async (text, values) => {
    const session = await this.#session
    this.sent.push(`${this.#sessions} ${text}`)
    return await session.query(text, values)
  }

  transactions = 0
  async transaction(work: Work): Promise<unknown> {
    this.transactions += 1
    const done = this.#free.then(() => this.#begin(work))
    this.#free = done.catch(() => {})
    return await done
  }

  async #begin(work: Work): Promise<unknown> {
    await this.query('BEGIN')
    if (this.afterBegin !== null) await this.query(this.afterBegin)
    let closed = (_: Error) => {}
    const close = new Promise((_, reject) => {
      closed = reject
      this.#closed.add(reject)
    })
    const scope = async () => {
      let result: unknown
      try {
        result = await work({
          query: this.query,
          ...(this.#together && { simpleQuery: (text: string) => this.query(text) }),
        })
      } catch (error) {
        await this.query('ROLLBACK')
        throw error
      }
      if (this.failCommit) throw new Error('COMMIT was not sent')
      await this.query('COMMIT')
      return result
    }
    return await Promise.race([scope(), close]).finally(() => this.#closed.delete(closed))
  }

  async end(): Promise<void> {
    this.ended = true
    await (await this.#session).end()
  }
}

let schemas = 0

async function open(together: boolean, hook: (query: Query, ledger: string) => Promise<unknown>) {
  schemas += 1
  const schema = `driver_${schemas}`
  await migratePostgres(admin, { schema })
  await admin.query(`CREATE TABLE ${schema}.ledger (entry text);
    INSERT INTO ${schema}.players SELECT unnest('{alice,bob}'::text[]), 'EUR', 100`)
  const driver = new Driver(together)
  closing.push(() => driver.end())
  const store = createPostgresStore(driver, {
    ...{ schema, ...longTimeouts },
    async withinTransaction(query) {
      await hook(query, `${schema}.ledger`)
    },
  })
  await store.ready()
  driver.sent.length = 0
  driver.transactions = 0
  const texts = async (text: string) =>
    (await admin.query<{ found: string }>(text)).rows.map(row => row.found)
  return {
    ...{ driver, store, schema },
    ledger: () => texts(`SELECT entry AS found FROM ${schema}.ledger ORDER BY 1`),
    recorded: () => texts(`SELECT transaction_id AS found FROM ${schema}.transactions ORDER BY 1`),
  }
}

const done = expect.objectContaining({ status: 'committed' })
const kill = async (query: Query) => {
  const { rows } = await query('SELECT pg_backend_pid() AS pid')
  await admin.query('SELECT pg_terminate_backend($1, 10000)', [(rows[0] as { pid: number }).pid])
}

/** A promise that the test resolves. */
function gate() {
  let open = () => {}
  const passed = new Promise<void>(resolve => {
    open = resolve
  })
  return { passed, open: () => open() }
}

describe.each([
  ['with a COMMIT of ours', true],
  ['with the COMMIT of the driver', false],
])('%s', (_, together) => {
  test.each(['returns', 'throws'])(
    'a hook that outlives its session, writes and %s: nothing of it is sent',
    async ends => {
      const [retried, late, ended] = [gate(), gate(), gate()]
      let calls = 0
      const { store, driver, ledger, recorded } = await open(together, async (query, ledger) => {
        calls += 1
        if (calls === 1) {
          await kill(query)
          await retried.passed
          driver.sent.push('late')
          await endOf(query(`INSERT INTO ${ledger} VALUES ('late')`))
          late.open()
          if (ends === 'throws') throw new Error('late')
        } else {
          await query(`INSERT INTO ${ledger} VALUES ('first')`)
          retried.open()
          await late.passed
          // The callback of the first call has ended too.
          await new Promise(setImmediate)
          await new Promise(setImmediate)
          driver.sent.push('ended')
          await query(`INSERT INTO ${ledger} VALUES ('second')`)
          ended.open()
        }
      })
      expect(await store.commit(placing())).toEqual(done)
      expect(await ledger()).toEqual(['first', 'second'])
      expect(await recorded()).toEqual(['place-1'])
      expect(driver.sent.slice(driver.sent.indexOf('late'), driver.sent.indexOf('ended') + 1)).toEqual([
        'late',
        'ended',
      ])
    },
  )

  test('sessions that end again and again before COMMIT: the call is retried, and committed once', async () => {
    let calls = 0
    const { store, ledger } = await open(together, async (query, ledger) => {
      calls += 1
      await query(`INSERT INTO ${ledger} VALUES ('one')`)
      if (calls <= 3) await kill(query)
    })
    expect(await store.commit(placing())).toEqual(done)
    expect([calls, await ledger()]).toEqual([4, ['one']])
  })

  test('a hook that never ends: the driver rolls back, and goes on', async () => {
    let hanging = false
    const { store, driver, recorded } = await open(together, async () => {
      if (hanging) return
      hanging = true
      await new Promise(() => {})
    })
    const result = await outOfTime(
      () => store.commit(placing()),
      () => hanging,
    )
    expect(result).toEqual({ status: 'unavailable' })
    await until(() => driver.sent.some(text => text.endsWith('ROLLBACK')))
    expect(await store.commit(placing({ playerId: 'bob', n: 2 }))).toEqual(done)
    expect(await recorded()).toEqual(['place-2'])
  })

  test('a session that ends in a deferred trigger: known to have changed nothing', async () => {
    const { store, schema, recorded } = await open(together, (query, ledger) =>
      query(`INSERT INTO ${ledger} VALUES ('wrong')`),
    )
    await admin.query(`CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON ${schema}.ledger DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ${schema}.fail()`)
    expect(await store.commit(placing())).toEqual({ status: 'unavailable' })
    expect(await recorded()).toEqual([])
  })
})

test('a call that timed out before it had a session: it ends none', async () => {
  const { store, driver, recorded } = await open(true, async () => {})
  const held = gate()
  const own = driver.transaction(() => held.passed)
  const result = await outOfTime(
    () => store.commit(placing()),
    () => driver.transactions === 2,
  )
  expect(result).toEqual({ status: 'unavailable' })
  held.open()
  await own
  expect(await store.commit(placing({ playerId: 'bob', n: 2 }))).toEqual(done)
  expect(driver.sent.filter(text => !text.startsWith('1 '))).toEqual([])
  expect(await recorded()).toEqual(['place-2'])
})

test('a COMMIT of ours that was answered: a success, also when the driver rejects after it', async () => {
  const { store, driver, ledger, recorded } = await open(true, (query, ledger) =>
    query(`INSERT INTO ${ledger} VALUES ('one')`),
  )
  driver.failCommit = true
  expect(await store.commit(placing())).toEqual(done)
  expect([await ledger(), await recorded()]).toEqual([['one'], ['place-1']])
})

describe('a statement of other code on the session', () => {
  test.each(['ROLLBACK', 'COMMIT'])(
    '%s between two rows of the hook: the call is retried, and nothing is half recorded',
    async statement => {
      let calls = 0
      const { store, driver, ledger, recorded } = await open(true, async (query, ledger) => {
        calls += 1
        await query(`INSERT INTO ${ledger} VALUES ('first')`)
        if (calls === 1) await endOf(driver.query(statement))
        await query(`INSERT INTO ${ledger} VALUES ('second')`)
      })
      expect(await store.commit(placing())).toEqual(done)
      expect(await ledger()).toEqual(['first', 'second'])
      expect(await recorded()).toEqual(['place-1'])
    },
  )

  test('ROLLBACK, where the session has a role that may not end it: no row of the hook is committed alone', async () => {
    let calls = 0
    const { store, driver, schema, ledger, recorded } = await open(true, async (query, ledger) => {
      calls += 1
      if (calls === 1) await driver.query('ROLLBACK')
      await query(`INSERT INTO ${ledger} VALUES ('one')`)
    })
    await admin.query(`CREATE ROLE ${schema}; GRANT ALL ON SCHEMA ${schema} TO ${schema};
      GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${schema};
      GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO ${schema}`)
    closing.push(() => admin.query(`DROP OWNED BY ${schema}; DROP ROLE ${schema}`))
    await driver.query(`SET ROLE ${schema}`)
    expect(await store.commit(placing())).toEqual(done)
    expect([await ledger(), await recorded()]).toEqual([['one'], ['place-1']])
  })

  test.each(['ROLLBACK', 'COMMIT'])(
    '%s after the hook: a fault, and nothing is recorded',
    async statement => {
      const { store, driver, ledger, recorded } = await open(true, async (query, ledger) => {
        await query(`INSERT INTO ${ledger} VALUES ('one')`)
        void endOf(driver.query(statement))
      })
      await expect(store.commit(placing())).rejects.toThrow(/ended the database transaction/)
      expect([await ledger(), await recorded()]).toEqual([[], []])
    },
  )
})

test('a ROLLBACK of other code right after BEGIN: the store begins its own block', async () => {
  const { store, driver, ledger, recorded } = await open(true, (query, ledger) =>
    query(`INSERT INTO ${ledger} VALUES ('one')`),
  )
  driver.afterBegin = 'ROLLBACK'
  expect(await store.commit(placing())).toEqual(done)
  expect([await ledger(), await recorded()]).toEqual([['one'], ['place-1']])
})

test('a hook that throws after a ROLLBACK of other code: the driver sends none to the session of that code', async () => {
  const { store, driver, recorded } = await open(true, async () => {
    await driver.query('ROLLBACK')
    throw new Error('the hook failed')
  })
  expect(await store.commit(placing())).toMatchObject({ status: 'unavailable' })
  expect(driver.sent.filter(text => /^\d ROLLBACK$/.test(text))).toEqual(['1 ROLLBACK'])
  expect(await recorded()).toEqual([])
})

test('the name of a savepoint: one of few, and of one database transaction at a time', async () => {
  const [both, end] = [gate(), gate()]
  let calls = 0
  const hook = async () => {
    calls += 1
    if (calls === 2) both.open()
    await end.passed
  }
  const [one, other] = [await open(false, hook), await open(false, hook)]
  const commits = [one, other].map(({ store }) => store.commit(placing()))
  await both.passed
  end.open()
  await Promise.all(commits)
  await one.store.commit(placing({ playerId: 'bob', n: 2 }))
  const namesOf = ({ driver }: typeof one) =>
    driver.sent
      .flatMap(text => / SAVEPOINT (\w+)$/.exec(text)?.[1] ?? [])
      .filter((_, index) => index % 2 === 0)
  const [[first, third], [second]] = [namesOf(one), namesOf(other)]
  expect(first).toMatch(/^bet_wallet_[0-9a-f]{32}_0$/)
  expect(second).toBe(first?.replace(/0$/, '1'))
  expect(third).toBe(first)
})
