/** Bets of players whose rows other writers lock for milliseconds, while other rows stay locked. */
import { setTimeout as sleep } from 'node:timers/promises'
import { handlePlaceBet, WalletError } from 'bet-wallet'
import pg from 'pg'
import { type Contestant, drive, forSeconds, inTurn, ratioOf } from '../measure.js'
import type { PartResult } from '../report.js'
import { placeBetOf } from '../requests.js'
import { type Tally, tally } from '../tally.js'
import { type BenchDatabase, checkBooks, type Ground, quieten, withDatabase } from './ground.js'

/** Players of a game that locks their rows again and again. */
const playing = Array.from({ length: 10 }, (_, index) => String(1 + index))
const heldMs = 15
/** Until the game locks the row again. */
const freeMs = 1.7
/** Players whose rows stay locked; they bet too. */
const stuck = Array.from({ length: 5 }, (_, index) => String(101 + index))
const betPauseMs = 100

export function locks(ground: Ground): Promise<PartResult> {
  return withDatabase(ground, async database => {
    const writers = new pg.Pool({ connectionString: database.url, max: playing.length + stuck.length })
    const answers = tally()
    try {
      const measured = await inTurn(
        [
          betting(database, writers, answers, `${stuck.length} rows stuck`, stuck),
          betting(database, writers, answers, 'none stuck', []),
        ],
        ground.options,
      )
      await checkBooks(database, 'bet_wallet', answers.accepted)
      return {
        title:
          `Row locks: ${playing.length} players bet while their rows are locked for ${heldMs} ms, ` +
          `${Math.round((100 * heldMs) / (heldMs + freeMs))} % of the time`,
        measured,
        ratios: [
          {
            name: 'of the p50 without rows that stay locked',
            value: ratioOf(measured, s => s.p50Ms),
            limit: { most: 1.5 },
          },
          { name: 'of the p99', value: ratioOf(measured, s => s.p99Ms), limit: { most: 1.5 } },
        ],
        notes: [
          'Bets of the players whose rows stay locked are not in the figures: each ends as UNAVAILABLE.',
        ],
      }
    } finally {
      await writers.end()
    }
  })
}

function betting(
  database: BenchDatabase,
  writers: pg.Pool,
  answers: Tally,
  name: string,
  stuckPlayers: readonly string[],
): Contestant {
  const { store, serverTime, options } = database
  const place = (player: string) => handlePlaceBet(store, placeBetOf(player, options.ids))
  return {
    name,
    prepare: () => quieten(database, 'bet_wallet'),
    async run(seconds) {
      const work = { goesOn: true }
      const locked = await Promise.all(stuckPlayers.map(player => lock(writers, player)))
      const others = [
        ...playing.map(player => lockAgainAndAgain(writers, player, work)),
        ...stuckPlayers.map(player => betInVain(() => place(player), work)),
      ]
      const free = [...playing]
      try {
        return await drive(
          { callers: playing.length, pauseMs: betPauseMs, goesOn: forSeconds(seconds), serverTime },
          async () => {
            const player = free.shift() as string
            answers.accept(await place(player))
            free.push(player)
          },
        )
      } finally {
        work.goesOn = false
        await Promise.all(others)
        await Promise.all(locked.map(unlock => unlock()))
      }
    },
  }
}

/** Locks the player's row; returns what unlocks it. */
async function lock(writers: pg.Pool, player: string): Promise<() => Promise<void>> {
  const writer = await writers.connect()
  await writer.query('BEGIN')
  await writer.query('SELECT FROM bet_wallet.players WHERE player_id = $1 FOR UPDATE', [player])
  return async () => {
    await writer.query('COMMIT')
    writer.release()
  }
}

async function lockAgainAndAgain(writers: pg.Pool, player: string, work: { goesOn: boolean }): Promise<void> {
  while (work.goesOn) {
    const unlock = await lock(writers, player)
    await sleep(heldMs)
    await unlock()
    await sleep(freeMs)
  }
}

async function betInVain(place: () => Promise<unknown>, work: { goesOn: boolean }): Promise<void> {
  while (work.goesOn) {
    try {
      await place()
      throw new Error('A bet of a player whose row is locked was answered')
    } catch (error) {
      if (!(error instanceof WalletError) || error.code !== 'UNAVAILABLE') throw error
    }
    await sleep(betPauseMs)
  }
}
