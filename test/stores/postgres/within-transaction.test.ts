/**
 * The operator's own rows in the same database transaction: all or nothing, whatever the hook does and
 * whatever fails.
 */
import { PGlite } from '@electric-sql/pglite'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
} from '../../../src/handlers.js'
import type { OutcomeEvent } from '../../../src/index.js'
import {
  createPostgresStore,
  migratePostgres,
  type PendingCommit,
  type PostgresStore,
  type PostgresStoreOptions,
  type Query,
} from '../../../src/stores/postgres/index.js'
import { faultOf, placeBet, rollbackBet, settlement, unsettlement } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { unreadable } from '../../unreadable-errors.js'
import { until } from '../../until.js'
import {
  endOf,
  expectBooksToBalance,
  idle,
  longTimeouts,
  openWallet,
  outOfTime,
  placing,
  settling,
  type Wallet,
} from './wallet.js'

const { url, pool: admin, drop } = await freshDatabase({ pool: { max: 20 } })
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(drop)

let pglite: PGlite
beforeAll(async () => {
  pglite = await PGlite.create()
})
afterAll(() => pglite.close())

type Hook = (query: Query, commits: readonly PendingCommit[], schema: string) => Promise<void>

/** The same on a pool and on PGlite. */
interface Books {
  store: PostgresStore
  rows(text: string): Promise<unknown[][]>
  recorded(): Promise<unknown[][]>
  /** The transactionIds in the hook's ledger: `place-1`. */
  ledger(): Promise<unknown[][]>
}

const ledgerTable =
  'CREATE TABLE SCHEMA.ledger (transaction_id text NOT NULL, reference text, odds text, balance numeric)'

/** Writes a ledger entry for each, as the hook of a PAM would. */
async function writeLedger(query: Query, commits: readonly PendingCommit[], schema: string): Promise<void> {
  for (const { changes, walletTransactionId, balance } of commits) {
    const { odds } = changes.request as { odds?: unknown }
    await query(`INSERT INTO ${schema}.ledger VALUES ($1, $2, $3, $4)`, [
      changes.transaction.transactionId,
      walletTransactionId,
      odds ?? null,
      balance,
    ])
  }
}

async function onPool(
  hook: Hook,
  options: PostgresStoreOptions = {},
  pool: pg.PoolConfig = {},
): Promise<Books & { wallet: Wallet }> {
  let schema = ''
  const wallet = await openWallet({
    admin,
    url,
    ddl: ledgerTable,
    options: {
      ...longTimeouts,
      ...options,
      withinTransaction: (query, commits) => hook(query, commits, schema),
    },
    pool,
  })
  schema = wallet.schema
  closing.push(() => wallet.close())
  return { wallet, store: wallet.store, ...reading(wallet.rows) }
}

let schemas = 0
async function onPGlite(hook: Hook, options: PostgresStoreOptions = {}): Promise<Books> {
  schemas += 1
  const schema = `wallet_${schemas}`
  await migratePostgres(pglite, { schema })
  await pglite.exec(`INSERT INTO ${schema}.players SELECT unnest('{alice,bob,carol}'::text[]), 'EUR', 100;
    ${ledgerTable.replace('SCHEMA', schema)}`)
  closing.push(() => pglite.exec(`DROP SCHEMA ${schema} CASCADE`))
  const store = createPostgresStore(pglite, {
    timeoutMs: 120_000,
    ...options,
    schema,
    withinTransaction: (query, commits) => hook(query, commits, schema),
  })
  await store.ready()
  return {
    store,
    ...reading(async text => {
      const { rows } = await pglite.query<unknown[]>(text.replaceAll('SCHEMA', schema), [], {
        rowMode: 'array',
      })
      return rows
    }),
  }
}

function reading(rows: (text: string) => Promise<unknown[][]>) {
  return {
    rows,
    recorded: () =>
      rows(
        'SELECT operation, transaction_id, delta::text, error_code FROM SCHEMA.transactions ORDER BY 1, 2',
      ),
    ledger: () => rows('SELECT transaction_id FROM SCHEMA.ledger ORDER BY 1'),
  }
}

const balances = 'SELECT player_id, balance::text FROM SCHEMA.players ORDER BY 1'
const untouched = [
  ['alice', '100'],
  ['bob', '100'],
  ['carol', '100'],
]
const done = expect.objectContaining({ status: 'committed' })
const unavailable = { status: 'unavailable' }
/** What failed in the hook. */
const causeOf = (result: unknown) => {
  const { cause } = result as { cause?: unknown }
  expect(cause).toMatchObject({ code: 'HOOK_FAILED', problem: expect.stringMatching(/no changes were made/) })
  return (cause as Error).cause
}
const batch = () => ['alice', 'bob', 'carol'].map((playerId, i) => placing({ playerId, n: i + 1 }))
const isOf = (playerId: string) => (commit: PendingCommit) => commit.changes.transaction.playerId === playerId

/** Commits all at once, so that they share a database transaction; returns how each ended. */
const commitAll = (store: PostgresStore, changes: readonly Parameters<PostgresStore['commit']>[0][]) =>
  Promise.all(changes.map(each => endOf(store.commit(each))))

describe.each([
  ['a pool of pg', onPool],
  ['PGlite', onPGlite],
])('on %s', (_, open) => {
  it('several requests of one batch: the hook is called once, and its rows are in their database transaction', async () => {
    const calls: (readonly PendingCommit[])[] = []
    const { store, rows } = await open(async (query, commits, schema) => {
      calls.push(commits)
      await writeLedger(query, commits, schema)
    })
    const requests = ['alice', 'bob', 'carol'].map((playerId, n) =>
      placeBet({ playerId, transactionId: `place-${n}`, betId: `bet-${n}`, odds: '1.85' }),
    )
    const outcomes = await Promise.all(requests.map(each => handlePlaceBet(store, each)))
    expect(outcomes.map(outcome => outcome.ok && outcome.balance)).toEqual(['70.00', '70.00', '70.00'])
    expect(calls).toHaveLength(1)
    const references = outcomes.map(outcome => outcome.ok && outcome.walletTransactionId)
    expect(await rows('SELECT * FROM SCHEMA.ledger ORDER BY 1')).toEqual([
      ['place-0', references[0], '1.85', '70'],
      ['place-1', references[1], '1.85', '70'],
      ['place-2', references[2], '1.85', '70'],
    ])
    expect(
      await rows(`SELECT DISTINCT xmin::text FROM (SELECT xmin FROM SCHEMA.ledger
        UNION ALL SELECT xmin FROM SCHEMA.transactions UNION ALL SELECT xmin FROM SCHEMA.bets) written`),
    ).toHaveLength(1)
  })

  it('a replay writes no row: the hook is not called where nothing is committed', async () => {
    let calls = 0
    const { store, ledger } = await open(async (query, commits, schema) => {
      calls += 1
      await writeLedger(query, commits, schema)
    })
    await handlePlaceBet(store, placeBet())
    expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true, replayed: true })
    // The records of the conflict are returned as without a hook.
    expect(await store.commit(placing())).toMatchObject({
      status: 'conflict',
      snapshot: { transaction: { transactionId: 'place-1' }, bet: { betId: 'bet-1' } },
    })
    expect(calls).toBe(1)
    expect(await ledger()).toEqual([['place-1']])
  })

  it('is called with recorded refusals', async () => {
    const seen: unknown[] = []
    const { store, ledger } = await open(async (query, commits, schema) => {
      seen.push(...commits.map(({ changes }) => changes.transaction.refusal?.errorCode))
      await writeLedger(query, commits, schema)
    })
    expect(await handlePlaceBet(store, placeBet({ amount: '100.01' }))).toMatchObject({ ok: false })
    expect(seen).toEqual(['INSUFFICIENT_FUNDS'])
    expect(await ledger()).toEqual([['place-1']])
  })

  it('throws for one request: that request is rolled back, the rest of the batch is committed', async () => {
    class PamRule extends Error {
      readonly code = 'E_RULE'
    }
    const { store, rows, ledger } = await open(async (query, commits, schema) => {
      await writeLedger(query, commits, schema)
      if (commits.some(isOf('bob'))) throw new PamRule('not bob')
    })
    const results = await commitAll(store, batch())
    expect(results).toEqual([done, unavailable, done])
    expect(causeOf(results[1])).toMatchObject({ cause: expect.any(PamRule) })
    expect(await ledger()).toEqual([['place-1'], ['place-3']])
    expect(await rows(balances)).toEqual([
      ['alice', '70'],
      ['bob', '100'],
      ['carol', '70'],
    ])
    expect(
      await faultOf(
        handlePlaceBet(store, placeBet({ playerId: 'bob', transactionId: 'place-9', betId: 'bet-9' })),
      ),
    ).toMatchObject({ code: 'UNAVAILABLE', retryable: true })
  })

  it.each(unreadable)('throws a value %s: the rest of the batch is committed', async (_name, make) => {
    const { store, ledger } = await open(async (query, commits, schema) => {
      await writeLedger(query, commits, schema)
      if (commits.some(isOf('bob'))) throw make()
    })
    expect(await commitAll(store, batch())).toEqual([done, unavailable, done])
    expect(await ledger()).toEqual([['place-1'], ['place-3']])
  })

  it('fails in a statement for one request: that request is rolled back, the rest of the batch is committed', async () => {
    const { store, ledger, recorded } = await open(async (query, commits, schema) => {
      await writeLedger(query, commits, schema)
      if (commits.some(isOf('bob'))) await query('SELECT 1/0')
    })
    const results = await commitAll(store, batch())
    expect(results).toEqual([done, unavailable, done])
    expect(causeOf(results[1])).toMatchObject({ code: '22012' })
    expect(await ledger()).toEqual([['place-1'], ['place-3']])
    expect(await recorded()).toHaveLength(2)
  })

  const misuses: [name: string, misuse: (query: Query) => unknown][] = [
    ['swallows the error of a statement', query => query('SELECT 1/0').catch(() => {})],
    ['rolls back', query => query('ROLLBACK')],
    [
      'rolls back, and begins a new block',
      async query => {
        await query('ROLLBACK')
        await query('BEGIN')
      },
    ],
    // The savepoint of the store, if its name were known.
    ['rolls back to a savepoint', query => query('ROLLBACK TO SAVEPOINT bet_wallet').catch(() => {})],
    [
      'rolls back, and begins a new block with a savepoint',
      async query => {
        await query('ROLLBACK')
        await query('BEGIN')
        await query('SAVEPOINT bet_wallet')
      },
    ],
  ]
  it.each(misuses)(
    '%s: that request is not answered as committed, the rest of the batch is',
    async (_, misuse) => {
      const { store, rows, ledger, recorded } = await open(async (query, commits, schema) => {
        await writeLedger(query, commits, schema)
        if (commits.some(isOf('bob'))) await misuse(query)
      })
      const results = await commitAll(store, batch())
      expect(results).toEqual([done, expect.any(Error), done])
      expect(String(results[1])).toMatch(
        /withinTransaction swallowed a failed statement or ended the database transaction/,
      )
      expect(await ledger()).toEqual([['place-1'], ['place-3']])
      expect(await recorded()).toHaveLength(2)
      expect(await rows(balances)).toEqual([
        ['alice', '70'],
        ['bob', '100'],
        ['carol', '70'],
      ])
    },
  )

  it('does not await its query: that request is rolled back, the rest of the batch is committed', async () => {
    const { store, ledger, recorded } = await open(async (query, commits, schema) => {
      await writeLedger(query, commits, schema)
      if (commits.some(isOf('bob'))) void query('SELECT 1/0')
    })
    const results = await commitAll(store, batch())
    expect(results).toEqual([done, unavailable, done])
    expect(String(causeOf(results[1]))).toMatch(/withinTransaction did not await its query: SELECT …/)
    expect(await ledger()).toEqual([['place-1'], ['place-3']])
    expect(await recorded()).toHaveLength(2)
  })

  it('swallows a failed statement: the connection goes back without a transaction block', async () => {
    const { wallet, store } = await onPool(
      async query => {
        await query('SELECT 1/0').catch(() => {})
      },
      {},
      { max: 1 },
    )
    await expect(store.commit(placing())).rejects.toThrow(/swallowed a failed statement/)
    expect((await wallet.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  it('commits by itself: the recorded transaction is found and replayed', async () => {
    const { store, recorded, ledger } = await open(async (query, commits, schema) => {
      await writeLedger(query, commits, schema)
      await query('COMMIT')
    })
    expect(await handlePlaceBet(store, placeBet())).toMatchObject({
      ok: true,
      replayed: true,
      balance: '70.00',
    })
    expect(await recorded()).toEqual([['placebet', 'place-1', '-30', null]])
    expect(await ledger()).toEqual([['place-1']])
  })

  it('rolls back to a savepoint of its own: the batch is committed', async () => {
    const { store, ledger } = await open(async (query, commits, schema) => {
      await query('SAVEPOINT mine')
      await query('SELECT 1/0').catch(() => query('ROLLBACK TO SAVEPOINT mine'))
      await writeLedger(query, commits, schema)
    })
    expect(await commitAll(store, batch())).toEqual([done, done, done])
    expect(await ledger()).toHaveLength(3)
  })

  it('refuses a placebet: the refusal is final, its rows are rolled back, the rest of the batch is committed', async () => {
    let strict = true
    const { store, rows, ledger, recorded } = await open(async (query, commits, schema) => {
      await writeLedger(query, commits, schema)
      for (const commit of commits) {
        if (strict && isOf('bob')(commit) && commit.changes.transaction.refusal === null)
          commit.refuse('LIMIT_REACHED', 'The daily limit is reached')
      }
    })
    const requests = ['alice', 'bob', 'carol'].map((playerId, n) =>
      placeBet({ playerId, transactionId: `place-${n}`, betId: `bet-${n}` }),
    )
    const refused = {
      ok: false,
      errorCode: 'LIMIT_REACHED',
      description: 'The daily limit is reached',
    }
    const outcomes = await Promise.all(requests.map(each => handlePlaceBet(store, each)))
    expect(outcomes).toMatchObject([
      { ok: true, balance: '70.00' },
      { ...refused, replayed: false },
      { ok: true, balance: '70.00' },
    ])
    strict = false
    expect(await handlePlaceBet(store, requests[1])).toMatchObject({ ...refused, replayed: true })
    expect(await recorded()).toEqual([
      ['placebet', 'place-0', '-30', null],
      ['placebet', 'place-1', '0', 'LIMIT_REACHED'],
      ['placebet', 'place-2', '-30', null],
    ])
    // The refused request has only the row of its recorded refusal, with the old balance.
    expect(await rows("SELECT balance::text FROM SCHEMA.ledger WHERE transaction_id = 'place-1'")).toEqual([
      ['100'],
    ])
    expect(await ledger()).toHaveLength(3)
    expect(await rows('SELECT bet_id FROM SCHEMA.bets ORDER BY 1')).toEqual([['bet-0'], ['bet-2']])
  })

  it('refuses an unsettlement: INSUFFICIENT_FUNDS, and the clawback is owed to the platform (D7)', async () => {
    const { store, rows } = await open(async (_, commits) => {
      for (const { changes, refuse } of commits)
        if (changes.transaction.operation === 'unsettlement' && changes.account.delta !== '0')
          refuse('FROZEN', 'The account is frozen')
    })
    await handlePlaceBet(store, placeBet())
    await recordSettlement(store, settlement())
    const events: OutcomeEvent[] = []
    const refused = { ok: false, errorCode: 'INSUFFICIENT_FUNDS' }
    expect(
      await handleUnsettlement(store, unsettlement(), { onOutcome: event => void events.push(event) }),
    ).toMatchObject({ ...refused, replayed: false })
    expect(events).toMatchObject([{ storeRefusal: { errorCode: 'FROZEN' } }])
    expect(await handleUnsettlement(store, unsettlement())).toMatchObject({ ...refused, replayed: true })
    expect(await rows('SELECT bet_paid_live, bet_paid_owed::text FROM SCHEMA.bets')).toEqual([[null, '60']])
    expect(await rows("SELECT balance::text FROM SCHEMA.players WHERE player_id = 'alice'")).toEqual([
      ['130'],
    ])
    expect(await handleRollbackBet(store, rollbackBet())).toMatchObject({
      ok: false,
      errorCode: 'INVALID_BET',
    })
  })

  it('must not refuse a credit: a fault, and the rest of the batch is committed', async () => {
    const { store, recorded, rows } = await open(async (_, commits) => {
      for (const { changes, refuse } of commits)
        if (changes.transaction.operation === 'settlement') refuse('NO', 'no')
    })
    await handlePlaceBet(store, placeBet())
    const results = await commitAll(store, [settling(), placing({ playerId: 'bob', n: 2 })])
    expect(results).toEqual([unavailable, done])
    expect(causeOf(results[0])).toMatchObject({
      cause: new TypeError('refuse: only a debit or a new bet can be refused'),
    })
    expect(await recorded()).toEqual([
      ['placebet', 'place-1', '-30', null],
      ['placebet', 'place-2', '-30', null],
    ])
    expect(await rows(balances)).toEqual([
      ['alice', '70'],
      ['bob', '70'],
      ['carol', '100'],
    ])
    const fault = await faultOf(recordSettlement(store, settlement()))
    expect(fault).toMatchObject({ code: 'UNAVAILABLE', retryable: true })
  })

  it('takes too long: requests are answered in time, and nothing is committed, not even when it ends', async () => {
    let end = () => {}
    const ended = new Promise<void>(resolve => {
      end = resolve
    })
    let late: Promise<unknown> = Promise.resolve()
    let hanging = false
    const { store, rows, ledger, recorded } = await open(async (query, commits, schema) => {
      await writeLedger(query, commits, schema)
      hanging = true
      await ended
      late = endOf(writeLedger(query, commits, schema))
      await late
    }, longTimeouts)
    const results = await outOfTime(
      () => commitAll(store, batch()),
      () => hanging,
    )
    expect(results).toEqual(Array(3).fill({ status: 'unavailable' }))
    end()
    await ended
    await late
    expect(await rows(balances)).toEqual(untouched)
    expect(await ledger()).toEqual([])
    expect(await recorded()).toEqual([])
  })

  it('has ended: query and refuse throw', async () => {
    let kept: Query | undefined
    let commit: PendingCommit | undefined
    const { store, ledger } = await open(async (query, commits) => {
      kept = query
      commit = commits[0]
    })
    expect(await commitAll(store, [placing()])).toEqual([done])
    await expect(kept?.('SELECT 1')).rejects.toThrow('query: withinTransaction has ended')
    expect(() => commit?.refuse('LATE', 'too late')).toThrow('refuse: withinTransaction has ended')
    expect(await ledger()).toEqual([])
  })
})

describe('a failure during the database transaction', () => {
  const pidOf = async (query: Query) =>
    ((await query('SELECT pg_backend_pid() AS pid')).rows as { pid: number }[])[0]?.pid
  const terminate = (pid: number | undefined) => admin.query('SELECT pg_terminate_backend($1)', [pid])

  /** Terminates the connection of the hook, and waits until the driver has noticed. */
  async function cut(query: Query): Promise<void> {
    await terminate(await pidOf(query))
    await until(async () => /not queryable/.test(String(await endOf(query('SELECT 1')))))
  }

  it('terminated while the hook runs: no changes were made, so the batch is retried, and committed once', async () => {
    let calls = 0
    const { wallet, store, ledger } = await onPool(async (query, commits, schema) => {
      calls += 1
      await writeLedger(query, commits, schema)
      if (calls === 1) await cut(query)
    })
    expect(await commitAll(store, batch())).toEqual([done, done, done])
    expect(calls).toBe(2)
    expect(await ledger()).toEqual([['place-1'], ['place-2'], ['place-3']])
    await expectBooksToBalance(wallet)
    await idle(wallet.pool)
  })

  it('a value that a table of the operator cannot hold: a fault, never a refusal', async () => {
    const { store, recorded } = await onPool(async query => {
      await query(`SELECT 'too long'::varchar(3)::text, 1e10::numeric(4, 2)`)
    })
    const result = await store.commit(batch()[0] as never)
    expect(result).toEqual(unavailable)
    expect(causeOf(result)).toMatchObject({ code: '22003' })
    expect(await recorded()).toEqual([])
  })

  it('terminated every time: unavailable, and nothing is recorded', async () => {
    const { wallet, store, ledger, recorded, rows } = await onPool(async (query, commits, schema) => {
      await writeLedger(query, commits, schema)
      await cut(query)
    })
    expect(await commitAll(store, batch())).toEqual(Array(3).fill({ status: 'unavailable' }))
    expect(await ledger()).toEqual([])
    expect(await recorded()).toEqual([])
    expect(await rows(balances)).toEqual(untouched)
    await idle(wallet.pool)
  })

  it('terminated during COMMIT: unknown, nothing is recorded, and the retry commits all of it once', async () => {
    const { wallet, store, ledger, recorded, rows } = await onPool(writeLedger)
    // Stops in COMMIT, after all statements.
    const stop = await wallet.stopCommitsOf('alice')
    await rows('DROP TRIGGER stop ON SCHEMA.transactions')
    await rows(`CREATE CONSTRAINT TRIGGER stop AFTER INSERT ON SCHEMA.transactions DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION SCHEMA.stop()`)
    const fault = faultOf(handlePlaceBet(store, placeBet()))
    const pid = await stop.reached()
    expect(await rows(`SELECT query FROM pg_stat_activity WHERE pid = ${pid}`)).toEqual([
      [expect.stringContaining('COMMIT')],
    ])
    await terminate(pid)
    expect(await fault).toMatchObject({ code: 'COMMIT_UNKNOWN', retryable: false })
    expect(await ledger()).toEqual([])
    expect(await recorded()).toEqual([])
    await stop.release()
    expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true, replayed: false })
    expect(await ledger()).toEqual([['place-1']])
    await expectBooksToBalance(wallet)
  })

  it('a deferred trigger fails before COMMIT: other code gets no connection with a failed database transaction', async () => {
    const wallet = await openWallet({
      ...{ admin, url },
      options: { async withinTransaction() {} },
      pool: { max: 1 },
    })
    closing.push(wallet.close)
    await wallet.rows(`CREATE FUNCTION SCHEMA.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'not today'; END $$`)
    await wallet.rows(`CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON SCHEMA.transactions DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION SCHEMA.fail()`)
    expect(await endOf(wallet.store.commit(placing()))).toMatchObject({
      code: 'DATABASE_REJECTED',
      message: expect.stringContaining('not today'),
    })
    expect((await wallet.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  it('a deferred constraint fails at COMMIT for one request: the rest of the batch is committed', async () => {
    const { wallet, store, ledger } = await onPool(writeLedger)
    await wallet.rows(`CREATE FUNCTION SCHEMA.rule() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.transaction_id = 'place-2' THEN RAISE EXCEPTION 'not this one'; END IF; RETURN NULL; END $$`)
    await wallet.rows(`CREATE CONSTRAINT TRIGGER rule AFTER INSERT ON SCHEMA.ledger DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION SCHEMA.rule()`)
    expect(await commitAll(store, batch())).toEqual([
      done,
      expect.objectContaining({
        code: 'DATABASE_REJECTED',
        message: expect.stringContaining('not this one'),
      }),
      done,
    ])
    expect(await ledger()).toEqual([['place-1'], ['place-3']])
    await expectBooksToBalance(wallet)
    await idle(wallet.pool)
  })

  it('a statement that is cancelled for one request: the rest of the batch is committed', async () => {
    const { wallet, store, ledger } = await onPool(writeLedger)
    const stop = await wallet.stopCommitsOf('alice')
    const results = commitAll(store, batch())
    const cancel = async () => admin.query('SELECT pg_cancel_backend($1)', [await stop.reached()])
    // The whole batch, then alice alone.
    await cancel()
    await until(async () => (await ledger()).length === 2)
    await cancel()
    expect(await results).toEqual([{ status: 'unavailable' }, done, done])
    expect(await ledger()).toEqual([['place-2'], ['place-3']])
    await expectBooksToBalance(wallet)
    await idle(wallet.pool)
  })

  it('a row of the hook that another writer has locked: the rest of the batch is committed', async () => {
    const { wallet, store, ledger } = await onPool(
      async (query, commits, schema) => {
        await query(`UPDATE ${schema}.ledger SET balance = 0 WHERE transaction_id = ANY ($1)`, [
          commits.map(({ changes }) => changes.transaction.playerId),
        ])
        await writeLedger(query, commits, schema)
      },
      { lockTimeoutMs: 100 },
    )
    await wallet.rows("INSERT INTO SCHEMA.ledger VALUES ('alice')")
    const other = await wallet.otherSession()
    await other.query('BEGIN')
    await other.query(`SELECT FROM ${wallet.schema}.ledger FOR UPDATE`)
    expect(await commitAll(store, batch())).toEqual([{ status: 'unavailable' }, done, done])
    await other.query('COMMIT')
    expect(await ledger()).toEqual([['alice'], ['place-2'], ['place-3']])
    await expectBooksToBalance(wallet)
  })

  it('a serialization failure in the hook is a conflict, and succeeds on the next attempt', async () => {
    let calls = 0
    const { store, ledger } = await onPool(async (query, commits, schema) => {
      calls += 1
      await writeLedger(query, commits, schema)
      if (calls === 1)
        await query("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = 'serialization_failure'; END $$")
    })
    expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true, replayed: false })
    expect(calls).toBe(2)
    expect(await ledger()).toEqual([['place-1']])
  })
})

describe('a call that waits for the row lock of a player', () => {
  it.each(unreadable)(
    'the hook throws a value %s: the calls of other locked players go on',
    async (_, make) => {
      const { wallet, store } = await onPool(async (_query, commits) => {
        if (commits.some(isOf('bob'))) throw make()
      })
      const other = await wallet.otherSession()
      await other.query('BEGIN')
      await other.query(`SELECT FROM ${wallet.schema}.players FOR UPDATE`)
      const results = commitAll(store, batch())
      await until(() => store.stats.lockWaits.queued === 3)
      await other.query('COMMIT')
      expect(await results).toEqual([done, unavailable, done])
      await until(() => store.stats.lockWaits.inFlight === 0)
    },
  )
})

describe('connections', () => {
  it('stay open when the hook throws or refuses', async () => {
    const { wallet, store } = await onPool(
      async (_, commits) => {
        for (const { changes, refuse } of commits) {
          if (changes.transaction.playerId === 'alice') refuse('NO', 'no')
          if (changes.transaction.playerId === 'bob') throw new Error('no')
        }
      },
      {},
      { max: 1 },
    )
    let removed = 0
    wallet.pool.on('remove', () => {
      removed += 1
    })
    expect(await commitAll(store, batch())).toEqual([
      { status: 'refused', errorCode: 'NO', description: 'no' },
      unavailable,
      done,
    ])
    expect(removed).toBe(0)
    expect(wallet.pool).toMatchObject({ totalCount: 1, idleCount: 1, waitingCount: 0 })
  })

  it('a hook that hangs loses its own connection, and no other', async () => {
    let hangs = true
    let hanging = false
    const { wallet, store, ledger } = await onPool(
      async (query, commits, schema) => {
        await writeLedger(query, commits, schema)
        if (!hangs) return
        hanging = true
        await new Promise(() => {})
      },
      {},
      { max: 1 },
    )
    const result = await outOfTime(
      () => store.commit(placing()),
      () => hanging,
    )
    expect(result).toEqual({ status: 'unavailable' })
    hangs = false
    expect(await store.commit(placing())).toEqual(done)
    expect(await ledger()).toEqual([['place-1']])
    expect(wallet.pool).toMatchObject({ totalCount: 1, idleCount: 1, waitingCount: 0 })
  })
})
