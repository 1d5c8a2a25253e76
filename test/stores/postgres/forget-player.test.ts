/** A player who is forgotten while calls are in flight: what was loaded before does not bring the id back. */
import { recordSettlement } from 'bet-wallet'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { settlement } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { until } from '../../until.js'
import { forgetOnPostgres, recipeFor } from '../forget-player.js'
import { endOf, longTimeouts, openWallet, placing, settling } from './wallet.js'

const { pool: admin, url, drop } = await freshDatabase({ pool: { max: 20 } })
afterAll(drop)

async function open(players: readonly string[]) {
  const wallet = await openWallet({ admin, url, options: longTimeouts })
  onTestFinished(() => wallet.close())
  for (const [n, playerId] of players.entries()) await wallet.store.commit(placing({ n, playerId }))
  return wallet
}
const bets = 'SELECT bet_id, player_id, bet_paid_live::text FROM SCHEMA.bets ORDER BY bet_id'
const ofAlice = `SELECT (SELECT count(*)::integer FROM SCHEMA.bets WHERE player_id = 'alice'),
  (SELECT count(*)::integer FROM SCHEMA.transactions WHERE player_id = 'alice')`

const forget = ({ schema }: { schema: string }) => forgetOnPostgres(admin, { schema, playerId: 'alice' })

/** Everything before its COMMIT, in an open database transaction. */
async function begunIn(wallet: Awaited<ReturnType<typeof open>>) {
  const session = await wallet.otherSession()
  const statements = recipeFor('postgres', { schema: wallet.schema, playerId: 'alice' })
  for (const statement of statements.slice(0, statements.indexOf('COMMIT'))) await session.query(statement)
  return session
}

const ways: [name: string, players: readonly string[]][] = [
  ['alone', ['alice']],
  ['in a batch', ['alice', 'bob']],
]

test.each(ways)('a commit that loaded the bet before is a conflict, %s', async (_, players) => {
  const wallet = await open(players)
  await forget(wallet)
  const [result] = await Promise.all(
    players.map((playerId, n) => wallet.store.commit(settling({ n, playerId }))),
  )
  expect(result?.status).toBe('conflict')
  expect(await wallet.rows(ofAlice)).toEqual([[0, 0]])
})

test.each(ways)('a commit that runs meanwhile is a conflict, %s', async (_, players) => {
  const wallet = await open(players)
  const session = await begunIn(wallet)
  const results = Promise.all(
    players.map((playerId, n) => endOf(wallet.store.commit(settling({ n, playerId })))),
  )
  await until(async () => (await wallet.waiting()).length > 0)
  await session.query('COMMIT')
  expect((await results).map(end => (end instanceof Error ? end : end.status))).toEqual(
    ['conflict', 'committed'].slice(0, players.length),
  )
  expect(await wallet.rows(ofAlice)).toEqual([[0, 0]])
  expect((await wallet.rows(bets))[0]).toEqual([
    'bet-0',
    expect.stringMatching(/^forgotten-[0-9a-f-]{36}$/),
    null,
  ])
  // The call is then decided again: it names another player than the bet's.
  expect(
    await recordSettlement(wallet.store, settlement({ transactionId: 'settle-0', betId: 'bet-0' })),
  ).toMatchObject({ ok: false, errorCode: 'INVALID_PLAYER' })
})

test('a commit that was first is waited for, before a transaction is locked; then its own is replaced too', async () => {
  const wallet = await open(['alice', 'bob'])
  const stop = await wallet.stopCommitsOf('alice')
  const settled = Promise.all(
    ['alice', 'bob'].map((playerId, n) => wallet.store.commit(settling({ n, playerId }))),
  )
  await stop.reached()
  const forgotten = forget(wallet)
  await until(async () => {
    const [waiting] = await wallet.rows(`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%forget.pseudonym%'`)
    return waiting !== undefined
  })
  const locked = "SELECT 1 FROM SCHEMA.transactions WHERE player_id = 'alice' FOR UPDATE NOWAIT"
  expect(await wallet.rows(locked)).toEqual([[1]])
  await stop.release()
  expect(await settled).toMatchObject([{ status: 'committed' }, { status: 'committed' }])
  const { pseudonym, ...counts } = await forgotten
  expect(counts).toEqual({ bets: 1, transactions: 2 })
  expect((await wallet.rows(bets))[0]).toEqual(['bet-0', pseudonym, '60'])
})

test('a bet that is placed before it ends keeps the id, and the next one replaces it', async () => {
  const wallet = await open(['alice'])
  const session = await begunIn(wallet)
  await wallet.store.commit(placing({ n: 1, playerId: 'alice' }))
  await session.query('COMMIT')
  expect(await wallet.rows(ofAlice)).toEqual([[1, 1]])
  expect(await forget(wallet)).toMatchObject({ bets: 1, transactions: 1 })
  expect(await forget(wallet)).toMatchObject({ bets: 0, transactions: 0 })
})
