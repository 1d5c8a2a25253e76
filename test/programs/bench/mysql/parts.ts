/** The parts of the bench, by their names for `--only`, in the order in which they run. */
import { createMysqlStore, migrateMysql } from 'bet-wallet/mysql'
import type { RowDataPacket } from 'mysql2'
import { startGalera } from '../../../mariadb/cluster.js'
import { noGalera } from '../../../mariadb/installation.js'
import { isMysql } from '../../../mysql/engine.js'
import { noGroup, startGroup } from '../../../mysql/group.js'
import { compareLives } from '../lives.js'
import { inTurn, type Measured, ratioOf } from '../measure.js'
import type { PartResult, Ratio } from '../report.js'
import { anyPlayer } from '../requests.js'
import { type Placing, tally } from '../tally.js'
import { byHand, checkBooks, checkLives, type Ground, library, loadPast, withDatabase } from './ground.js'
import { sendByHand } from './hand-written.js'
import { hooksPart } from './hooks.js'

/** The library against hand-written code with prepared statements. */
function compared(
  title: string,
  placing: Placing,
  ratios: (measured: [Measured, Measured]) => Ratio[],
): (ground: Ground) => Promise<PartResult> {
  return ground =>
    withDatabase(ground, async database => {
      const [ours, theirs] = [tally(), tally()]
      const measured = await inTurn(
        [library(database, placing, ours), byHand(database, placing, theirs)],
        ground.options,
      )
      await checkBooks(database, 'wallet', ours.accepted)
      await checkBooks(database, 'hand', theirs.accepted)
      return { title, measured, ratios: ratios(measured), notes: [] }
    })
}

const times = (measured: [Measured, Measured], least: number): Ratio => ({
  name: 'times the placebets per second',
  value: ratioOf(measured, s => s.perSecond),
  limit: { least },
})

const crowd = compared('64 concurrent callers', { callers: 64, player: anyPlayer }, measured => [
  times(measured, 3),
])

const lone = compared('One lone caller', { callers: 1, player: anyPlayer }, measured => [
  { name: 'of the latency (p50)', value: ratioOf(measured, s => s.p50Ms), limit: { most: 1.1 } },
])

const hotPlayer = compared(
  'One player alone, 256 concurrent bets',
  { callers: 256, player: () => '1' },
  measured => [times(measured, 0.8)],
)

/** The life of a bet: the library against a wallet written by hand. */
function life(ground: Ground): Promise<PartResult> {
  return withDatabase(ground, database => {
    const { pool, store, options, serverTime } = database
    const prefixes = { library: 'wallet', 'by hand': 'hand' } as const
    return compareLives({
      options,
      store,
      serverTime,
      byHand: (operation, request) => sendByHand(pool, operation, request),
      prepare: async () => {},
      checkBooks: (whose, books) => checkLives(database, prefixes[whose], books),
      leastTimes: 3,
    })
  })
}

const crowdPlacing = { callers: 64, player: anyPlayer }
/** Of the small database of `growth`, and of both of `lookup-indexes`. Fewer with a small `--transactions`. */
const storedAtMost = { growth: 10_000, lookupIndexes: 200_000 }

/** Time per placebet with many stored transactions, compared with few. */
function growth(ground: Ground): Promise<PartResult> {
  const { transactions, ids } = ground.options
  const fewTransactions = Math.min(storedAtMost.growth, transactions)
  const named = (count: number) => `${count.toLocaleString('en')} stored`
  return withDatabase(ground, few =>
    withDatabase(ground, async many => {
      await loadPast(many, transactions)
      await loadPast(few, fewTransactions)
      const [ofMany, ofFew] = [tally(), tally()]
      const measured = await inTurn(
        [
          library(many, crowdPlacing, ofMany, named(transactions)),
          {
            ...library(few, crowdPlacing, ofFew, named(fewTransactions)),
            // Removes the bets of the previous round.
            async prepare() {
              await few.pool.query('TRUNCATE wallet_bets')
              await few.pool.query('TRUNCATE wallet_transactions')
              await few.pool.query('UPDATE wallet_players SET balance = 1000000000')
              ofFew.accepted = 0
              await loadPast(few, fewTransactions)
            },
          },
        ],
        ground.options,
      )
      await checkBooks(many, 'wallet', transactions + ofMany.accepted)
      await checkBooks(few, 'wallet', fewTransactions + ofFew.accepted)
      const value = ratioOf(measured, s => 1 / s.perSecond)
      return {
        title: `Growth: 64 concurrent callers, ids ${ids}`,
        measured,
        ratios: [{ name: 'of the time per placebet', value, limit: { most: 1.25 } }],
        notes: [],
      }
    }),
  )
}

/** What the indexes of lookups cost a placebet: the same store, with them and without. */
function lookupIndexes(ground: Ground): Promise<PartResult> {
  const storedTransactions = Math.min(storedAtMost.lookupIndexes, ground.options.transactions)
  return withDatabase(ground, plain =>
    withDatabase(ground, async indexed => {
      await migrateMysql(indexed.pool, { schema: indexed.schema }, { lookupIndexes: true })
      await loadPast(indexed, storedTransactions)
      await loadPast(plain, storedTransactions)
      const [ofIndexed, ofPlain] = [tally(), tally()]
      const measured = await inTurn(
        [
          library(indexed, crowdPlacing, ofIndexed, 'with the indexes of lookups'),
          library(plain, crowdPlacing, ofPlain, 'without them'),
        ],
        ground.options,
      )
      await checkBooks(indexed, 'wallet', storedTransactions + ofIndexed.accepted)
      await checkBooks(plain, 'wallet', storedTransactions + ofPlain.accepted)
      return {
        title: `The indexes of lookups: 64 concurrent callers, ids ${ground.options.ids}`,
        measured,
        ratios: [times(measured, 0.95)],
        notes: [],
      }
    }),
  )
}

/** What the outbox costs a placebet: the same store, with it and without. */
function outbox(ground: Ground): Promise<PartResult> {
  return withDatabase(ground, plain =>
    withDatabase(ground, async database => {
      const { pool, schema } = database
      const tables = { schema, outbox: true }
      await migrateMysql(pool, tables, { allowOtherOptions: true })
      const store = createMysqlStore(pool, { ...tables, ...ground.options.store })
      await store.ready()
      const [ofWith, ofWithout] = [tally(), tally()]
      const measured = await inTurn(
        [
          library({ ...database, store }, crowdPlacing, ofWith, 'with the outbox'),
          library(plain, crowdPlacing, ofWithout, 'without it'),
        ],
        ground.options,
      )
      await checkBooks(database, 'wallet', ofWith.accepted)
      await checkBooks(plain, 'wallet', ofWithout.accepted)
      const [events] = await pool.query<RowDataPacket[]>('SELECT COUNT(*) AS count FROM wallet_outbox')
      if (events[0]?.count !== ofWith.accepted)
        throw new Error(`${events[0]?.count} events of ${ofWith.accepted} placebets`)
      return {
        title: 'The outbox: 64 concurrent callers',
        measured,
        ratios: [times(measured, 0.9)],
        notes: [],
      }
    }),
  )
}

/** What a commit costs on a cluster of three nodes on this machine: Galera, or a group of MySQL. */
async function cluster(ground: Ground): Promise<PartResult> {
  const [kind, missing] = isMysql ? ['nodes of Group Replication', noGroup] : ['Galera nodes', noGalera]
  const title = `Three ${kind} on this machine: 64 concurrent callers, and a lone one`
  if (missing !== null) return { title, measured: [], ratios: [], notes: [missing] }
  const three = isMysql ? await startGroup() : await startGalera()
  try {
    return await withDatabase(ground, single =>
      withDatabase({ ...ground, server: three.nodes[0] }, async node => {
        const measured: Measured[] = []
        const ratios: Ratio[] = []
        const [onCluster, onSingle] = [tally(), tally()]
        for (const callers of [64, 1]) {
          const placing = { callers, player: anyPlayer }
          const name = (where: string) => `${where}, ${callers === 1 ? 'lone' : `${callers} callers`}`
          const pair = await inTurn(
            [
              library(node, placing, onCluster, name('cluster')),
              library(single, placing, onSingle, name('one server')),
            ],
            ground.options,
          )
          measured.push(...pair)
          ratios.push({
            name: `of the latency (p50), ${callers} callers`,
            value: ratioOf(pair, s => s.p50Ms),
          })
        }
        await checkBooks(node, 'wallet', onCluster.accepted)
        await checkBooks(single, 'wallet', onSingle.accepted)
        return { title, measured, ratios, notes: [] }
      }),
    )
  } finally {
    await three.stop()
  }
}

export const parts: ReadonlyMap<string, (ground: Ground) => Promise<PartResult>> = new Map([
  ['crowd', crowd],
  ['lone', lone],
  ['hot-player', hotPlayer],
  ['life', life],
  ['growth', growth],
  ['lookup-indexes', lookupIndexes],
  ['outbox', outbox],
  ['hooks', hooksPart],
  ['cluster', cluster],
])
