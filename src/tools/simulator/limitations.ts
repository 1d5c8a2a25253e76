/** What a simulation cannot see: in general, and because of how it went. */
import type { Account } from './books.js'
import type { Settings } from './options.js'
import type { SimulationCounts } from './report.js'

/** Fewer bets do not have every scenario several times. */
const betsLeast = 500

/** One sentence each. `durationMs` is that of the run. */
export function limitationsOf(
  settings: Settings,
  accounts: readonly Account[],
  counts: SimulationCounts,
  durationMs: number,
): string[] {
  const { chaos, concurrency, pauseMs, settle } = settings
  const settles = settle !== 'unsupported'
  const decimals = accounts.reduce((most, { minorUnits }) => Math.max(most, minorUnits), 0)
  const isFaultless = Object.values(chaos).every(probability => probability === 0)
  const seconds = (milliseconds: number) => `${Math.ceil(milliseconds / 1000)} s`
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
    [
      true,
      `What the wallet forgets later than ${seconds(Math.max(durationMs, pauseMs))} after a call: use --pause (pauseMs).`,
    ],
    [true, 'What the wallet loses when it is restarted: restart it during a run, which waits for it.'],
    [true, 'Passwords, malformed requests, statuses and error codes: run the audit.'],
  ]
  return sentences.filter(([applies]) => applies).map(([, sentence]) => sentence)
}
