/**
 * Two builds of the library, in one process and on one server, in turn: what a change costs or gains in the life of a
 * bet, or in placebets of many callers or of one.
 *
 *   npx tsx --tsconfig examples/tsconfig.json test/programs/bench/builds.ts --engine postgres \
 *     --before ../before/dist --after dist --rounds 5 --seconds 3 [--outbox] [--hook] \
 *     [--placebets 64]
 */
import { deepStrictEqual } from 'node:assert'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type * as Core from 'bet-wallet'
import type { MysqlStore } from 'bet-wallet/mysql'
import type { PostgresStore } from 'bet-wallet/postgres'
import { createMariadbDatabase } from '../../mariadb/database.js'
import { startServer } from '../../mysql/engine.js'
import { createDatabase, openPostgres } from '../../postgres/server.js'
import { type Books, living, type Send } from './lives.js'
import { type Contestant, drive, forSeconds, inTurn, ratioOf, type ServerTime } from './measure.js'
import { numbers, opening, serverTimeOf } from './mysql/ground.js'
import { postgresTimeOf } from './processor.js'
import { tableOf } from './report.js'
import { anyPlayer, placeBetOf, playersCount } from './requests.js'

const { values: args } = parseArgs({
  options: {
    engine: { type: 'string', default: 'postgres' },
    before: { type: 'string' },
    after: { type: 'string', default: 'dist' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    outbox: { type: 'boolean', default: false },
    hook: { type: 'boolean', default: false },
    // The number of callers, which send placebets instead of whole lives.
    placebets: { type: 'string' },
  },
})
if (args.before === undefined) throw new Error('--before: the folder dist of the other build')

type Whose = 'before' | 'after'
const folders = { before: args.before, after: args.after }
const importOf = async <T>(whose: Whose, name: string) =>
  (await import(pathToFileURL(resolve(folders[whose], `${name}.js`)).href)) as T

/** A hook that writes a row for each commit, as a ledger does. */
type Hook = (
  query: (text: string, values?: unknown[]) => Promise<unknown>,
  pending: readonly Pending[],
) => Promise<void>
interface Pending {
  walletTransactionId: string
  balance: string
  changes: { transaction: { playerId: string; delta: string } }
}

interface Opened {
  store: PostgresStore | MysqlStore
  prepare(): Promise<void>
  /** @throws Error when the balances are not the sums of the recorded transactions */
  recorded(): Promise<Books>
}

interface Ground {
  serverTime: ServerTime | null
  open(whose: Whose): Promise<Opened>
  close(): Promise<void>
}

async function onPostgres(): Promise<Ground> {
  const server = await openPostgres()
  const { pool, drop } = await createDatabase(server, { pool: { max: 16 } })
  return {
    serverTime: await postgresTimeOf(pool),
    async open(whose) {
      const schema = `wallet_${whose}`
      const { createPostgresStore, migratePostgres } = await importOf<typeof import('bet-wallet/postgres')>(
        whose,
        'postgres',
      )
      const options = { schema, outbox: args.outbox }
      await migratePostgres(pool, options)
      await pool.query(`CREATE TABLE ${schema}.ledger (reference text, player_id text, delta numeric, balance numeric);
        INSERT INTO ${schema}.players SELECT i::text, 'EUR', ${opening} FROM generate_series(1, ${playersCount}) i`)
      const insert = `INSERT INTO ${schema}.ledger SELECT * FROM unnest($1::text[], $2::text[], $3::numeric[], $4::numeric[])`
      const withinTransaction: Hook = async (query, pending) => void (await query(insert, columnsOf(pending)))
      const store = createPostgresStore(pool, {
        ...options,
        ...(args.hook && { withinTransaction: withinTransaction as never }),
      })
      await store.ready()
      return {
        store,
        async prepare() {
          await pool.query(`VACUUM (ANALYZE) ${schema}.players, ${schema}.bets, ${schema}.transactions`)
          await pool.query('CHECKPOINT')
        },
        async recorded() {
          const wrong = await pool.query(`SELECT 1 FROM ${schema}.players p LEFT JOIN
            (SELECT player_id, sum(delta) AS delta FROM ${schema}.transactions GROUP BY player_id) t USING (player_id)
            WHERE p.balance <> ${opening} + coalesce(t.delta, 0)`)
          deepStrictEqual(wrong.rows, [])
          const { rows } = await pool.query<{ name: string; count: number }>(`SELECT
            operation || ' ' || coalesce(error_code, 'ACCEPTED') AS name, count(*)::integer FROM ${schema}.transactions GROUP BY 1`)
          return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
        },
      }
    },
    async close() {
      // The DROP may terminate a connection (57P01).
      pool.on('error', error => {
        if ((error as { code?: unknown }).code !== '57P01') throw error
      })
      await drop()
      await server.stop()
    },
  }
}

async function onMysql(): Promise<Ground> {
  const server = await startServer({ settings: { innodb_buffer_pool_size: '1G' } })
  const first = await createMariadbDatabase(server.config)
  const made = [first.drop]
  return {
    serverTime: await serverTimeOf(first.pool),
    async open(whose) {
      const { config, pool, drop } = await createMariadbDatabase(server.config, {
        pool: { connectionLimit: 16 },
      })
      made.push(drop)
      const { createMysqlStore, migrateMysql } = await importOf<typeof import('bet-wallet/mysql')>(
        whose,
        'mysql',
      )
      const options = { schema: config.database, outbox: args.outbox }
      await migrateMysql(pool, options)
      await pool.query(
        'CREATE TABLE ledger (reference varchar(64), player_id varchar(255), delta decimal(38,18), balance decimal(38,18))',
      )
      await pool.query(`INSERT INTO wallet_players (player_id, currency, balance)
        SELECT seq, 'EUR', ${opening} FROM ${numbers(1, playersCount)}`)
      const withinTransaction: Hook = async (query, pending) =>
        void (await query(
          `INSERT INTO ${config.database}.ledger VALUES ${pending.map(() => '(?, ?, ?, ?)').join(', ')}`,
          pending.flatMap(each => rowOf(each)),
        ))
      const store = createMysqlStore(pool, {
        ...options,
        ...(args.hook && { withinTransaction: withinTransaction as never }),
      })
      await store.ready()
      return {
        store,
        prepare: async () =>
          void (await pool.query('ANALYZE TABLE wallet_players, wallet_bets, wallet_transactions')),
        async recorded() {
          const [wrong] = await pool.query(`SELECT 1 FROM wallet_players p LEFT JOIN
            (SELECT player_id, SUM(delta) AS delta FROM wallet_transactions GROUP BY player_id) t USING (player_id)
            WHERE p.balance <> ${opening} + COALESCE(t.delta, 0)`)
          deepStrictEqual(wrong, [])
          const [rows] =
            await pool.query(`SELECT CONCAT(operation, ' ', COALESCE(error_code, 'ACCEPTED')) AS name,
            COUNT(*) AS count FROM wallet_transactions GROUP BY 1`)
          return Object.fromEntries(
            (rows as { name: string; count: number }[]).map(({ name, count }) => [name, Number(count)]),
          )
        },
      }
    },
    async close() {
      for (const drop of made) await drop()
      await server.stop()
    },
  }
}

const rowOf = ({ walletTransactionId, balance, changes: { transaction } }: Pending) => [
  ...[walletTransactionId, transaction.playerId],
  ...[transaction.delta, balance],
]
const columnsOf = (pending: readonly Pending[]) =>
  [0, 1, 2, 3].map(column => pending.map(each => rowOf(each)[column]))

/** Placebets that are all accepted. */
function placing(callers: number, send: Send, books: Books): Contestant['run'] {
  const accepted = 'placebet ACCEPTED'
  return seconds =>
    drive({ callers, goesOn: forSeconds(seconds), serverTime: ground.serverTime }, async () => {
      const answer = await send('placebet', placeBetOf(anyPlayer(), 'rising'))
      if ('errorCode' in answer) throw new Error(answer.errorCode)
      books[accepted] = (books[accepted] ?? 0) + 1
    })
}

const ground = await (args.engine === 'postgres' ? onPostgres() : onMysql())
try {
  const contestants = await Promise.all(
    (['after', 'before'] as const).map(async whose => {
      const core = await importOf<typeof Core>(whose, 'index')
      const opened = await ground.open(whose)
      const handlers = {
        placebet: core.handlePlaceBet,
        settlement: core.recordSettlement,
        unsettlement: core.handleUnsettlement,
        rollbackbet: core.handleRollbackBet,
      }
      const books: Books = {}
      const send: Send = (operation, request) => handlers[operation](opened.store, request)
      const { prepare } = opened
      const settings = { options: { ids: 'rising' as const }, serverTime: ground.serverTime, prepare }
      const own = { name: whose, whose, send, books }
      const contestant =
        args.placebets === undefined
          ? living(settings, own)
          : { name: whose, prepare, run: placing(Number(args.placebets), send, books) }
      return { opened, books, contestant }
    }),
  )
  const [after, before] = contestants
  if (after === undefined || before === undefined) throw new Error('unreachable')
  const measured = await inTurn([after.contestant, before.contestant], {
    rounds: Number(args.rounds),
    seconds: Number(args.seconds),
  })
  for (const { opened, books } of contestants) deepStrictEqual(await opened.recorded(), { ...books })
  const ratios = [
    { name: 'times per second', value: ratioOf(measured, sample => sample.perSecond) },
    { name: "of the server's time", value: ratioOf(measured, sample => sample.serverUs) },
  ]
  const [one, other] = measured
  const each = one.samples.map((sample, round) =>
    (sample.perSecond / (other.samples[round]?.perSecond ?? Number.NaN)).toFixed(2),
  )
  const load = args.placebets === undefined ? 'lives' : `placebets, ${args.placebets} callers`
  const title = `${args.engine}, ${load}${args.outbox ? ', outbox' : ''}${args.hook ? ', hook' : ''}`
  console.log(tableOf({ title, measured, ratios, notes: [`Ratios of the rounds: ${each.join(' ')}`] }))
} finally {
  await ground.close()
}
