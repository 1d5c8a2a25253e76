/** `forgetPlayer` while calls of that player are in flight: what was loaded before does not bring the id back. */
import { recordSettlement } from 'bet-wallet'
import { forgetPlayer } from 'bet-wallet/postgres'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { settlement } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { endOf, longTimeouts, openWallet, placing, settling, until } from './wallet.js'

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

const ways: [name: string, players: readonly string[]][] = [
  ['alone', ['alice']],
  ['in a batch', ['alice', 'bob']],
]

test.each(ways)('a commit that loaded the bet before is a conflict, %s', async (_, players) => {
  const wallet = await open(players)
  await forgetPlayer(admin, { schema: wallet.schema }, 'alice')
  const [result] = await Promise.all(
    players.map((playerId, n) => wallet.store.commit(settling({ n, playerId }))),
  )
  expect(result).toEqual({ status: 'conflict' })
  expect(await wallet.rows(ofAlice)).toEqual([[0, 0]])
})

test.each(ways)('a commit that runs meanwhile is a conflict, %s', async (_, players) => {
  const wallet = await open(players)
  const session = await wallet.otherSession()
  await session.query('BEGIN')
  const { pseudonym } = await forgetPlayer(session, { schema: wallet.schema }, 'alice')
  const results = Promise.all(
    players.map((playerId, n) => endOf(wallet.store.commit(settling({ n, playerId })))),
  )
  await until(async () => (await wallet.waiting()).length > 0)
  await session.query('COMMIT')
  expect((await results).map(end => (end instanceof Error ? end : end.status))).toEqual(
    ['conflict', 'committed'].slice(0, players.length),
  )
  expect(await wallet.rows(ofAlice)).toEqual([[0, 0]])
  expect((await wallet.rows(bets))[0]).toEqual(['bet-0', pseudonym, null])
  // The call is then decided again: it names another player than the bet's.
  expect(
    await recordSettlement(wallet.store, settlement({ transactionId: 'settle-0', betId: 'bet-0' })),
  ).toMatchObject({ ok: false, errorCode: 'INVALID_PLAYER' })
})

test('a commit that was first is waited for; its transaction is counted, and the next run replaces it', async () => {
  const wallet = await open(['alice', 'bob'])
  const stop = await wallet.stopCommitsOf('alice')
  const settled = Promise.all(
    ['alice', 'bob'].map((playerId, n) => wallet.store.commit(settling({ n, playerId }))),
  )
  await stop.reached()
  const { schema } = wallet
  const forgotten = forgetPlayer(admin, { schema }, 'alice')
  await until(async () => {
    const [waiting] = await wallet.rows(`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%forgotten_bets%'`)
    return waiting !== undefined
  })
  await stop.release()
  expect(await settled).toMatchObject([{ status: 'committed' }, { status: 'committed' }])
  const { pseudonym, ...counts } = await forgotten
  expect(counts).toEqual({ bets: 1, transactions: 1, remaining: 1 })
  expect((await wallet.rows(bets))[0]).toEqual(['bet-0', pseudonym, '60'])
  expect(await forgetPlayer(admin, { schema }, 'alice')).toMatchObject({ transactions: 1, remaining: 0 })
})
