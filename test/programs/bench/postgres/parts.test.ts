/** Runs every part of the bench briefly and checks its books. Speed is not tested. */
import { beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, sharedPostgres } from '../../../postgres/fresh-database.js'
import { drive, ratioOf } from '../measure.js'
import { optionsFrom } from '../options.js'
import { postgresTimeOf } from '../processor.js'
import { holds, tableOf } from '../report.js'
import { placeBetOf } from '../requests.js'
import { tally } from '../tally.js'
import { checkBooks, type Ground, loadPast, withDatabase } from './ground.js'
import { sendByHand } from './hand-written.js'
import { parts } from './parts.js'

const names = [...parts.keys()]
/** Random ids differ in one option of every part: one part is enough. */
const orders = (name: string) => (name === names[0] ? (['rising', 'random'] as const) : (['rising'] as const))
const tiny = ['--rounds', '1', '--seconds', '0.05', '--transactions', '1000', '--settlements', '200']

let ground: Ground
beforeAll(async () => {
  ground = { server: await sharedPostgres(), options: optionsFrom('postgres', tiny, names) }
})

describe.each(names)('%s', name => {
  it.each(orders(name))('runs with %s ids, and its books balance', async ids => {
    const result = await parts.get(name)?.({ ...ground, options: { ...ground.options, ids } })
    if (result === undefined) throw new Error(`There is no part ${name}`)
    if (result.measured.length === 0) {
      expect(result.notes).toEqual([expect.stringContaining('pgbench is not installed')])
      return
    }
    expect(result.ratios.length).toBeGreaterThan(0)
    // The server's processor time is counted in ticks of 10 ms: a run of 50 ms may have none.
    const isCounted = name !== 'floor' && name !== 'life'
    if (isCounted) for (const { value } of result.ratios) expect(value).toBeGreaterThan(0)
    for (const { samples } of result.measured) {
      expect(samples).toHaveLength(1)
      expect(samples[0]?.perSecond).toBeGreaterThan(0)
    }
    const table = tableOf(result)
    for (const { name } of result.measured) expect(table).toContain(name)
    if (isCounted) expect(table).not.toContain('NaN')
  })
})

describe('the books', () => {
  it('do not balance when a balance, a bet or an answer is wrong', async () => {
    await withDatabase(ground, async database => {
      const { pool } = database
      await loadPast(database, { count: 20 })
      await checkBooks(database, 'bet_wallet', 20)
      await expect(checkBooks(database, 'bet_wallet', 21)).rejects.toThrow('books do not balance')
      await pool.query(`UPDATE bet_wallet.players SET balance = balance - 1 WHERE player_id = '7'`)
      await expect(checkBooks(database, 'bet_wallet', 20)).rejects.toThrow('"wrong":1')
      await pool.query(`UPDATE bet_wallet.players SET balance = balance + 1 WHERE player_id = '7'`)
      await pool.query('DELETE FROM bet_wallet.bets WHERE bet_id = (SELECT min(bet_id) FROM bet_wallet.bets)')
      await expect(checkBooks(database, 'bet_wallet', 20)).rejects.toThrow('"betless":1')
    })
  })
})

describe('the hand-written placebet', () => {
  it('debits the stake once, and refuses', async () => {
    await withDatabase(ground, async ({ pool }) => {
      const bet = placeBetOf('1', 'rising')
      const first = await sendByHand(pool, 'placebet', bet)
      expect(first).toMatchObject({ balance: '999999997.5', currency: 'EUR' })
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
        balance: '999999995.0',
      })
    })
  })
})

describe('a measurement', () => {
  const sample = { perSecond: 1, p50Ms: null, p99Ms: null, nodeUs: null, serverUs: null }
  const measured = (name: string, ...perSecond: number[]) => ({
    name,
    samples: perSecond.map(value => ({ ...sample, perSecond: value })),
  })

  it('is judged by the median of the ratios of its rounds', () => {
    const pair = [measured('a', 10, 90, 30), measured('b', 10, 10, 10)] as const
    expect(ratioOf(pair, s => s.perSecond)).toBe(3)
  })

  it('holds at its limit, not beyond it, and not for NaN', () => {
    expect(holds({ name: '', value: 5, limit: { least: 5 } })).toBe(true)
    expect(holds({ name: '', value: 4.99, limit: { least: 5 } })).toBe(false)
    expect(holds({ name: '', value: 1.25, limit: { most: 1.25 } })).toBe(true)
    expect(holds({ name: '', value: 1.26, limit: { most: 1.25 } })).toBe(false)
    expect(holds({ name: '', value: Number.NaN, limit: { most: 1.25 } })).toBe(false)
    const broken = {
      title: '',
      measured: [],
      ratios: [{ name: 'x', value: 2, limit: { most: 1 } }],
      notes: [],
    }
    expect(tableOf(broken)).toContain('LIMIT EXCEEDED')
  })

  it('ends with the first failing request', async () => {
    const answers = tally()
    let sent = 0
    const failing = drive({ callers: 4, goesOn: () => true, serverTime: null }, async () => {
      sent += 1
      answers.accept({ ok: false, replayed: false, errorCode: 'INVALID_BET', description: 'no' })
    })
    await expect(failing).rejects.toThrow('INVALID_BET: no')
    expect(sent).toBe(4)
  })

  it('counts the processor time of the server, where it is visible', async ({ skip }) => {
    const { pool, drop } = await freshDatabase()
    try {
      const time = await postgresTimeOf(pool)
      if (time === null) return skip('the processes of the server are not visible from here')
      const before = time()
      await pool.query('SELECT count(*) FROM generate_series(1, 3000000)')
      expect(time()).toBeGreaterThan(before)
    } finally {
      await drop()
    }
  })
})

describe('the command line', () => {
  it('rejects unknown options and invalid values', () => {
    expect(() => optionsFrom('postgres', ['--only', 'crowd,nothing'], names)).toThrow('--only nothing')
    expect(() => optionsFrom('postgres', ['--rounds', '1.5'], names)).toThrow('--rounds 1.5')
    expect(() => optionsFrom('postgres', ['--seconds', '0'], names)).toThrow('--seconds 0')
    expect(() => optionsFrom('postgres', ['--ids', 'uuid'], names)).toThrow('--ids')
    expect(() => optionsFrom('postgres', ['--fast'], names)).toThrow('--fast')
  })

  it('sets parts, sizes and options of the store', () => {
    expect(
      optionsFrom('postgres', ['--only', 'lone', '--batch', '64', '--transactions', '5'], names),
    ).toMatchObject({
      only: ['lone'],
      rounds: 5,
      transactions: 5,
      store: { batchMax: 64 },
    })
  })
})
