/** Through PgBouncer: which pooling works, what is refused at start, and that its end loses nothing. */
import { createPostgresStore, migratePostgres, type PostgresStoreOptions } from 'bet-wallet/postgres'
import { walletStoreCases } from 'bet-wallet/testing'
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { handlePlaceBet } from '../../../src/handlers.js'
import type { PlaceBetRequest } from '../../../src/requests.js'
import { placeBet } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { noPgBouncer, noPreparedStatements, startPgBouncer } from '../../postgres/pgbouncer.js'
import { createDatabase, noServerOfOurOwn, startPostgres } from '../../postgres/server.js'
import { until } from '../../until.js'
import { numericAccounts, ownTable, postgresHarness } from './harness.js'
import { endOf, expectBooksToBalance, longTimeouts, openWallet, placing } from './wallet.js'

const skipped = noPgBouncer === null ? '' : ` (skipped: ${noPgBouncer})`
const hook: PostgresStoreOptions = {
  async withinTransaction(query, pending) {
    for (const { changes } of pending) await query('SELECT $1::text', [changes.transaction.transactionId])
  },
}

describe.skipIf(noPgBouncer !== null)(`PgBouncer${skipped}`, async () => {
  // The body of a suite runs even where the suite is skipped.
  const database = noPgBouncer === null ? await freshDatabase({ pool: { max: 20 } }) : null
  const admin = database?.pool as pg.Pool
  const bouncers = database && {
    transaction: await startPgBouncer(database.url, 'transaction'),
    statement: await startPgBouncer(database.url, 'statement'),
  }
  const at = (mode: 'transaction' | 'statement') => bouncers?.[mode].url ?? ''
  afterAll(async () => {
    await bouncers?.transaction.stop()
    await bouncers?.statement.stop()
    await database?.drop()
  })

  const variants: [
    mode: 'transaction' | 'statement',
    name: string,
    harness: Parameters<typeof postgresHarness>[0],
  ][] = [
    ['transaction', 'without a hook', { pool: admin, url: at('transaction'), accounts: ownTable }],
    [
      'transaction',
      'with withinTransaction',
      { pool: admin, url: at('transaction'), accounts: numericAccounts, options: hook },
    ],
    ['statement', 'without a hook', { pool: admin, url: at('statement'), accounts: ownTable }],
  ]
  describe.each(variants)('with pool_mode = %s, %s', (_, __, options) => {
    for (const { id, name, skip, run } of walletStoreCases(postgresHarness(options), { runs: 5 }))
      test.skipIf(skip !== null)(`${id} ${name}${skip === null ? '' : ` (${skip})`}`, run)
  })

  describe('with pool_mode = statement and withinTransaction', () => {
    it('is refused at start, with what to change', async () => {
      await migratePostgres(admin)
      const pool = new pg.Pool({ connectionString: at('statement') })
      pool.on('error', () => {})
      const store = createPostgresStore(pool, hook)
      const error = await endOf(store.ready())
      await createPostgresStore(pool).ready()
      await pool.end()
      expect(error).toMatchObject({
        code: 'UNSUPPORTED_CLIENT',
        message: expect.stringMatching(
          /withinTransaction needs .* statement pooling mode .* pool_mode = transaction/,
        ),
      })
    })
  })
})

describe.skipIf(noPgBouncer !== null || noServerOfOurOwn !== null)(`PgBouncer, of the test${skipped}`, () => {
  it('a cancelled wait for the standby is reported through it', async () => {
    const settings = { synchronous_standby_names: 'absent', synchronous_commit: 'local' }
    const server = await startPostgres({ settings })
    onTestFinished(() => server.stop())
    // The commits of PgBouncer's connections wait, those of ours do not.
    const database = await createDatabase(server, { pool: { options: '-c synchronous_commit=local' } })
    const { pool: admin, url } = database
    admin.on('error', () => {})
    onTestFinished(() => admin.end())
    await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = on`)
    const bouncer = await startPgBouncer(url, 'transaction')
    onTestFinished(() => bouncer.stop())
    const made = await openWallet({ admin, url: bouncer.url, options: longTimeouts })
    onTestFinished(() => made.close())
    let end: unknown
    const result = endOf(made.store.commit(placing())).then(ended => {
      end = ended
    })
    const cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    await until(async () => end !== undefined || (await admin.query(cancel)).rowCount === 1)
    await result
    expect(end).toMatchObject({ code: 'COMMIT_UNKNOWN' })
  })
})

const lacksPrepared = noPreparedStatements()
/** Fewer servers than clients: a name that pg has prepared comes to servers that do not know it. */
const prepared = { max_prepared_statements: 50, default_pool_size: 4 }

describe.skipIf(noPgBouncer !== null)(`PgBouncer that is killed under load${skipped}`, () => {
  it.for([
    ['it knows no prepared statements', {}, null],
    [
      `it knows prepared statements${lacksPrepared === null ? '' : ` (skipped: ${lacksPrepared})`}`,
      prepared,
      lacksPrepared,
    ],
  ] as const)(
    '%s: every success is recorded, every retry is answered, one debit each',
    async ([, settings, lacking], { skip }) => {
      skip(lacking !== null)
      const { url, pool: admin, drop } = await freshDatabase({ pool: { max: 20 } })
      onTestFinished(drop)
      const bouncer = await startPgBouncer(url, 'transaction', settings)
      onTestFinished(() => bouncer.stop())
      const players = Array.from({ length: 20 }, (_, i) => `p${i}`)
      const made = await openWallet({ admin, url: bouncer.url, players })
      onTestFinished(() => made.close())
      const bets: PlaceBetRequest[] = []
      const calls: Promise<unknown>[] = []
      let answered = 0
      const call = () => {
        const n = bets.length
        const bet = placeBet({
          playerId: `p${n % 20}`,
          transactionId: `place-${n}`,
          betId: `bet-${n}`,
          amount: '0.01',
        })
        bets.push(bet)
        const end = endOf(handlePlaceBet(made.store, bet))
        calls.push(end)
        end.then(() => {
          answered += 1
        })
      }
      for (let kills = 0; kills < 3; kills += 1) {
        const killAt = answered + 100
        let restarted = false
        let restarting: Promise<void> | null = null
        while (!restarted) {
          while (calls.length - answered < 32) call()
          await new Promise(setImmediate)
          if (answered > killAt && restarting === null) {
            restarting = (async () => {
              await bouncer.kill()
              await bouncer.start()
              restarted = true
            })()
          }
        }
        await restarting
      }
      const outcomes = await Promise.all(calls)
      const recorded = new Set((await made.recorded()).map(line => line.split(' ')[1]))
      bets.forEach(({ transactionId }, i) => {
        const outcome = outcomes[i] as { ok?: boolean; retryable?: boolean }
        expect(outcome).toMatchObject(outcomes[i] instanceof Error ? { name: 'WalletError' } : { ok: true })
        if (outcome.ok === true) expect(recorded).toContain(transactionId)
        if (outcome.retryable === true) expect(recorded).not.toContain(transactionId)
      })
      expect(outcomes.some(outcome => outcome instanceof Error)).toBe(true)
      for (let i = 0; i < bets.length; i += 64) {
        const some = bets.slice(i, i + 64)
        const retries = await Promise.all(some.map(each => handlePlaceBet(made.store, each)))
        expect(retries).toMatchObject(
          some.map(({ transactionId }) => ({ ok: true, replayed: recorded.has(transactionId) })),
        )
      }
      await expectBooksToBalance(made)
    },
  )
})
