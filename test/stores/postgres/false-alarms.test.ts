/**
 * Under kills and restarts, no server refuses as a former primary where there is none. Counted in the server's log:
 * a retry would hide it. A short run; before a release `SOAK_ANSWERS=20000` makes it a long one.
 */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { handlePlaceBet, handleRollbackBet } from '../../../src/handlers.js'
import {
  createPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from '../../../src/stores/postgres/index.js'
import { placeBet, rollbackBet } from '../../fixtures.js'
import { noPgBouncer, startPgBouncer } from '../../postgres/pgbouncer.js'
import {
  createDatabase,
  noServerOfOurOwn,
  type PostgresServer,
  startPostgres,
} from '../../postgres/server.js'
import { until } from '../../until.js'
import { endOf, expectBooksToBalance, openWallet, type Wallet } from './wallet.js'

const answersMin = Number(process.env.SOAK_ANSWERS ?? 400)
const callers = 24
const hook: PostgresStoreOptions = {
  async withinTransaction(query, pending) {
    await query('SELECT $1::integer', [pending.length])
  },
}
const variants: [
  name: string,
  how: { isolation?: string; options?: PostgresStoreOptions; pooler?: boolean },
][] = [
  ['one statement', {}],
  ['serializable', { isolation: 'serializable' }],
  ['withinTransaction, repeatable read', { isolation: 'repeatable read', options: hook }],
  ['PgBouncer, withinTransaction', { options: hook, pooler: true }],
]

let server: PostgresServer
beforeAll(async () => {
  if (noServerOfOurOwn === null) server = await startPostgres()
})
beforeEach(({ skip }) => skip(noServerOfOurOwn !== null, noServerOfOurOwn ?? ''))
afterAll(() => server?.stop())

const alarms = () => server.log().split('this server is a former primary').length - 1

/** Bets and rollbacks of 50 players by three processes, until enough are answered; meanwhile at least six faults. */
async function play(wallet: Wallet, stores: readonly PostgresStore[]): Promise<void> {
  let calls = 0
  let answered = 0
  let faults = 0
  const isOver = () => answered >= answersMin && faults >= 6
  const call = async (store: PostgresStore) => {
    const n = calls
    calls += 1
    const ids = { playerId: `p${n % 50}`, betId: `bet-${n}` }
    const end =
      n % 4 === 3
        ? await endOf(handleRollbackBet(store, rollbackBet({ ...ids, transactionId: `rollback-${n}` })))
        : await endOf(
            handlePlaceBet(
              store,
              placeBet({ ...ids, transactionId: `place-${n}`, amount: n % 7 === 0 ? '999' : '1' }),
            ),
          )
    if ('ok' in end) answered += 1
  }
  const caller = async (index: number) => {
    while (!isOver()) await call(stores[index % stores.length] as PostgresStore)
  }
  const fault = async () => {
    while (!isOver()) {
      faults += 1
      const next = answered + answersMin / 8
      if (faults % 4 === 2) {
        await (faults % 8 === 2 ? server.shutDown() : server.kill())
        await server.start()
      } else {
        await endOf(
          wallet.admin.query(
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND pid <> pg_backend_pid()',
            ['postgres'],
          ),
        )
      }
      await until(() => answered >= next || isOver())
    }
  }
  await Promise.all([...Array.from({ length: callers }, (_, index) => caller(index)), fault()])
}

describe('given one primary whose sessions and processes are killed', () => {
  it.for(variants)(
    'when calls are made by %s, then no server refuses as a former primary',
    async ([, how], { skip }) => {
      skip(how.pooler === true && noPgBouncer !== null, noPgBouncer ?? '')
      const database = await createDatabase(server)
      database.pool.on('error', () => {})
      const name = new URL(database.url).pathname.slice(1)
      if (how.isolation !== undefined)
        await database.pool.query(
          `ALTER DATABASE ${name} SET default_transaction_isolation = '${how.isolation}'`,
        )
      const pooler = how.pooler ? await startPgBouncer(database.url, 'transaction') : null
      onTestFinished(async () => pooler?.stop())
      const url = pooler?.url ?? database.url
      const players = Array.from({ length: 50 }, (_, n) => `p${n}`)
      const wallet = await openWallet({ admin: database.pool, url, players, options: how.options ?? {} })
      const stores = [wallet.store]
      for (const _ of [2, 3]) {
        const pool = new pg.Pool({ connectionString: url, max: 8 })
        pool.on('error', () => {})
        onTestFinished(() => pool.end())
        const store = createPostgresStore(pool, { schema: wallet.schema, ...how.options })
        await store.ready()
        stores.push(store)
      }
      const before = alarms()
      await play(wallet, stores)
      expect(alarms() - before).toBe(0)
      await expectBooksToBalance(wallet)
    },
  )

  it('when a server refuses as a former primary, then its log has it', async () => {
    const { pool, url } = await createDatabase(server)
    onTestFinished(() => pool.end())
    const wallet = await openWallet({ admin: pool, url })
    const [[load, system] = []] = await wallet.rows(
      `SELECT proname, (SELECT system_identifier FROM pg_control_system()) FROM pg_proc
        WHERE pronamespace = 'SCHEMA'::regnamespace AND proname ~ '^load_v'`,
    )
    const before = alarms()
    const refused = await endOf(wallet.rows(`SELECT * FROM SCHEMA.${load}('[]', false, 0, 99, ${system})`))
    expect(refused).toMatchObject({ code: '25006' })
    expect(alarms() - before).toBeGreaterThan(0)
  })
})
