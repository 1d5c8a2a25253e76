/** What a run cannot see: in general, and because of how it went. */
import type { Account } from './books.js'
import type { Settings } from './options.js'
import type { SimulationCounts } from './report.js'

/** Fewer bets do not have every situation several times. */
const betsLeast = 500

/** One sentence each. `durationMs` is that of the run. */
export function limitationsOf(
  { chaos, concurrency, pauseMs, settle }: Settings,
  accounts: readonly Account[],
  counts: SimulationCounts,
  durationMs: number,
): string[] {
  const settles = settle !== 'unsupported'
  const decimals = Math.max(...accounts.map(({ minorUnits }) => minorUnits))
  const isFaultless = Object.values(chaos).every(probability => probability === 0)
  const seconds = Math.ceil(Math.max(durationMs, pauseMs) / 1000)
  const sentences: [boolean, string][] = [
    [
      counts.betsRefusedForFunds === 0,
      'No bet was refused for funds: the players had too much money for that to be tested.',
    ],
    [
      settles && counts.clawbacksRefused === 0,
      'No clawback was refused for funds: uncollected clawbacks were not tested.',
    ],
    [!settles, 'Settlements and unsettlements: none were sent.'],
    [isFaultless, 'Lost, late and duplicated calls: the network had no faults.'],
    [!isFaultless && counts.lateBetsRefused === 0, 'Bets that arrive after their rollback: there were none.'],
    [concurrency === 1, 'Races: one call was sent after the other.'],
    [
      counts.bets < betsLeast,
      `Rare situations: ${counts.bets} bets are too few. Place ${betsLeast} or more.`,
    ],
    [true, `Amounts with more than ${decimals} decimals: no player has a currency with more.`],
    [true, `What the wallet forgets later than ${seconds} s after a call: use --pause (pauseMs).`],
    [true, 'What the wallet loses when it is restarted: restart it during a run, which waits for it.'],
    [true, 'Deadlocks, passwords, malformed requests, statuses and error codes: run the audit.'],
  ]
  return sentences.filter(([applies]) => applies).map(([, sentence]) => sentence)
}
