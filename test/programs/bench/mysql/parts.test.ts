/** Runs every part of the bench briefly and checks its books. Speed is not tested. */
import { beforeAll, describe, expect, it } from 'vitest'
import { sharedMariadb } from '../../../mariadb/fresh-database.js'
import { noServer } from '../../../mysql/engine.js'
import { optionsFrom } from '../options.js'
import { tableOf } from '../report.js'
import { placeBetOf } from '../requests.js'
import { checkBooks, type Ground, loadPast, withDatabase } from './ground.js'
import { sendByHand } from './hand-written.js'
import { parts } from './parts.js'

// The cluster has its own tests: three more servers for a few bets would be too much here.
const names = [...parts.keys()].filter(name => name !== 'cluster')
/** Random ids differ in one option of every part: one part is enough. */
const orders = (name: string) => (name === names[0] ? (['rising', 'random'] as const) : (['rising'] as const))
const tiny = ['--rounds', '1', '--seconds', '0.05', '--transactions', '1000']
const reason = noServer === null ? '' : ` (skipped: ${noServer})`

describe.skipIf(noServer !== null)(`the bench of the MySQL store${reason}`, () => {
  let ground: Ground
  beforeAll(async () => {
    ground = { server: await sharedMariadb(), options: optionsFrom('mysql', tiny, [...parts.keys()]) }
  })

  describe.each(names)('%s', name => {
    it.each(orders(name))('runs with %s ids, and its books balance', async ids => {
      const result = await parts.get(name)?.({ ...ground, options: { ...ground.options, ids } })
      if (result === undefined) throw new Error(`There is no part ${name}`)
      expect(result.ratios.length).toBeGreaterThan(0)
      // The server's processor time is counted in ticks of 10 ms: a run of 50 ms may have none.
      if (name !== 'life') for (const { value } of result.ratios) expect(value).toBeGreaterThan(0)
      expect(result.measured).toHaveLength(name === 'hooks' ? 4 : 2)
      for (const { samples } of result.measured) expect(samples[0]?.perSecond).toBeGreaterThan(0)
      if (name !== 'life') expect(tableOf(result)).not.toContain('NaN')
    })
  })

  it('finds books that do not balance', async () => {
    await withDatabase(ground, async database => {
      const { pool } = database
      await loadPast(database, 20)
      await checkBooks(database, 'wallet', 20)
      await expect(checkBooks(database, 'wallet', 21)).rejects.toThrow('books do not balance')
      await pool.query("UPDATE wallet_players SET balance = balance - 1 WHERE player_id = '7'")
      await expect(checkBooks(database, 'wallet', 20)).rejects.toThrow('"wrong":1')
      await pool.query("UPDATE wallet_players SET balance = balance + 1 WHERE player_id = '7'")
      await pool.query('DELETE FROM wallet_bets ORDER BY bet_id LIMIT 1')
      await expect(checkBooks(database, 'wallet', 20)).rejects.toThrow('"betless":1')
    })
  })

  it('compares with a placebet that debits the stake once, and refuses', async () => {
    await withDatabase(ground, async ({ pool }) => {
      const bet = placeBetOf('1', 'rising')
      const first = await sendByHand(pool, 'placebet', bet)
      expect(first).toMatchObject({ balance: '999999997.500000000000000000', currency: 'EUR' })
      expect(await sendByHand(pool, 'placebet', bet)).toEqual(first)
      const others = [
        [{ playerId: 'unknown-player' }, 'INVALID_PLAYER'],
        [{ currency: 'USD' }, 'INVALID_CURRENCY'],
        [{ amount: 1e12 }, 'INSUFFICIENT_FUNDS'],
      ] as const
      for (const [other, errorCode] of others) {
        expect(await sendByHand(pool, 'placebet', { ...placeBetOf('1', 'rising'), ...other })).toEqual({
          errorCode,
        })
      }
      const again = { ...placeBetOf('1', 'rising'), betId: bet.betId }
      expect(await sendByHand(pool, 'placebet', again)).toEqual({ errorCode: 'INVALID_BET' })
      // The refused placebet debited nothing.
      expect(await sendByHand(pool, 'placebet', placeBetOf('1', 'rising'))).toMatchObject({
        balance: '999999995.000000000000000000',
      })
    })
  })
})
