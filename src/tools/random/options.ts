/** The options of a run, and their check. */

import { type DecimalText, parseDecimal } from '../numbers/decimal.js'
import { check, currenciesOf, textOption } from '../wire/checks.js'
import { Listeners } from '../wire/operator-functions.js'
import { targetOptionNames, targetSettingsOf, type WalletTarget } from '../wire/target.js'
import { type Chaos, chaosOf } from './chaos.js'
import { type SimulatorClock, systemClock } from './clock.js'
import type { FaultCommands } from './fault-commands.js'
import type { ClosedBet, DecidedTransaction, Difference, SimulationProgress } from './report.js'

/**
 * The wallet and the run. `settle` is `{ url: '/settlement' }` by default; with `'unsupported'` there are
 * bets and rollbacks only. `signal` ends betting: the balances are still reconciled.
 */
export interface SimulationOptions extends WalletTarget {
  /**
   * Players that the wallet knows and that have funds: ids, or objects. Use dedicated players whose balances
   * nothing else changes: the opening balances are read from the wallet, and from then on the books must
   * agree to the cent. {@link numberedPlayers} creates ids.
   */
  players: readonly (string | SimulatedPlayer)[]
  /**
   * The currencies of the accounts of every player, if a player has one account per currency (D28): 2 to 4.
   * Each has its own books, and needs funds.
   */
  accounts?: readonly string[]
  /**
   * The number of bets.
   *
   * @default 1_000, or no limit if there is a `durationMs`
   */
  bets?: number
  /**
   * How long bets are placed, in milliseconds.
   */
  durationMs?: number
  /**
   * The maximum request rate.
   *
   * @default no limit but `concurrency`
   */
  ratePerSecond?: number
  /**
   * The maximum number of requests in flight.
   *
   * @default 16
   */
  concurrency?: number
  /**
   * The faults of the network: from 0 (none) to 1 (the worst), or probabilities by name.
   *
   * @default 0.2
   */
  chaos?: number | Partial<Chaos>
  /**
   * Makes a run reproducible: exactly with a `concurrency` of 1 and the same wallet, balances, options and
   * `runId`.
   *
   * @default random
   */
  seed?: number
  /**
   * The beginning of all ids of the run: 1 to 40 letters, digits or "-". A wallet never forgets an id, so
   * every run needs another one.
   *
   * @default from the time, and random
   */
  runId?: string
  /**
   * The simulation is given up if the wallet answers no request for this time, or for 5,000 ms at most if it
   * has never answered definitely. A single transaction is given up if it is answered 5xx for this time, and
   * at least 60 times; a settlement sooner, if none has succeeded.
   *
   * @default 60_000
   */
  giveUpAfterMs?: number
  /**
   * The longest pause before a retry, in milliseconds.
   *
   * @default 1_000
   */
  backOffMsMax?: number
  /**
   * The pause, in milliseconds, before old transactions are sent again at the end: finds what a wallet
   * forgets. It begins when everything else is answered.
   *
   * @default 0
   */
  pauseMs?: number
  /**
   * The number of closed bets whose transactions are sent again at the end: a random sample of all.
   *
   * @default 2_000
   */
  rememberedBetsMax?: number
  /**
   * The number of differences in the report. All differences are counted.
   *
   * @default 100
   */
  differencesMax?: number
  /**
   * Called every `progressEveryMs`, and at the end of each phase. If a hook throws or rejects, the simulation
   * fails with its error; at its end it waits for all.
   */
  onProgress?(progress: SimulationProgress): unknown
  /**
   * How often `onProgress` is called, in milliseconds.
   *
   * @default 500
   */
  progressEveryMs?: number
  /** Called at once for every difference. */
  onDifference?(difference: Difference): unknown
  /** Called for every closed bet, for example to compare it with a database. */
  onBetClosed?(bet: ClosedBet): unknown
  /**
   * Called once for every transaction that the wallet accepted or finally refused. A refused settlement or
   * rollback is not final: it is reported when a retry is accepted. Together they are the platform's report.
   * At the end of a run, placebets without an answer are sent again, so that the report is complete.
   */
  onTransaction?(transaction: DecidedTransaction): unknown
  /**
   * Whether the report has a timeline, for the page of `bet-wallet simulate --html`: calls, faults, latencies
   * and balances over time.
   *
   * @default false
   */
  timeline?: boolean
  /** For tests. */
  clock?: SimulatorClock
}

export interface SimulatedPlayer {
  playerId: string
  /** If given, the wallet must answer balances in this currency. */
  currency?: string
  /** If given, the opening balance must be this: decimal text. */
  balance?: DecimalText
  /** @default generated */
  sessionId?: string
}

/**
 * Ids from a prefix: `numberedPlayers(3, 'sim-')` returns `['sim-1', 'sim-2', 'sim-3']`. The wallet must know
 * them.
 */
export function numberedPlayers(count: number, prefix: string): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)
}

const betsByDefault = 1_000
/** A seed that is easy to copy. */
const seedMax = 2 ** 32

/** Whole numbers: the default, the least and the most. */
const wholes = {
  concurrency: [16, 1, 10_000],
  giveUpAfterMs: [60_000, 0],
  backOffMsMax: [1_000, 0],
  pauseMs: [0, 0, 86_400_000],
  rememberedBetsMax: [2_000, 0],
  differencesMax: [100, 1],
  progressEveryMs: [500, 1],
} as const satisfies Partial<Record<keyof SimulationOptions, readonly [number, number, number?]>>

const hooks = ['onProgress', 'onDifference', 'onBetClosed', 'onTransaction'] as const
const others = [
  'players',
  'accounts',
  'bets',
  'durationMs',
  'ratePerSecond',
  'chaos',
  'seed',
  'runId',
  'timeline',
  'clock',
]
const optionNames = [...targetOptionNames, ...hooks, ...Object.keys(wholes), ...others]

export type Settings = ReturnType<typeof settingsOf>

/**
 * Checks all options and completes them.
 *
 * @throws {AuditError} `INVALID_OPTIONS`, naming the option
 */
export function settingsOf(options: SimulationOptions) {
  check.names(options, optionNames)
  for (const name of hooks) check.func(name, options[name])
  const clock = options.clock ?? systemClock
  const listeners = new Listeners()
  const { bets, durationMs = null, ratePerSecond = null } = options
  if (ratePerSecond !== null && !(ratePerSecond > 0)) check.invalid('ratePerSecond must be a number above 0')
  const counted = Object.entries(wholes).map(([name, [standard, ...range]]) => [
    name,
    check.whole(name, options[name as keyof typeof wholes] ?? standard, ...(range as [number, number?])),
  ])
  const players = playersOf(options.players)
  const accounts = currenciesOf('accounts', options.accounts)
  if (accounts !== null && players.some(({ currency, balance }) => (currency ?? balance) !== undefined))
    check.invalid('players: beside accounts, no currency and no balance of a player can be given')
  const betsMax = bets ?? (durationMs === null ? betsByDefault : null)
  return {
    ...targetSettingsOf(options, { url: '/settlement' }),
    ...(Object.fromEntries(counted) as Record<keyof typeof wholes, number>),
    clock,
    seed: check.whole('seed', options.seed ?? Math.floor(Math.random() * seedMax), 0),
    runId: runIdOf(options.runId, clock),
    players,
    /** `null`: each player has one account. */
    currencies: accounts,
    chaos: chaosOf(options.chaos ?? 0.2),
    betsMax: betsMax === null ? null : check.whole('bets', betsMax, 0),
    durationMs: durationMs === null ? null : check.whole('durationMs', durationMs, 0),
    ratePerSecond,
    /** The four that follow. */
    listeners,
    onProgress: listeners.of(options.onProgress?.bind(options)),
    onDifference: listeners.of(options.onDifference?.bind(options)) ?? (() => {}),
    onBetClosed: listeners.of(options.onBetClosed?.bind(options)),
    onTransaction: listeners.of(options.onTransaction?.bind(options)),
    timeline: check.boolean('timeline', options.timeline ?? false),
    /** The operator's commands that inject faults. With them every answered call is sent again at the end. */
    faults: null as FaultCommands | null,
  }
}

function runIdOf(runId: unknown, clock: SimulatorClock): string {
  if (runId === undefined)
    return `${clock.date().toString(36)}${Math.floor(Math.random() * 36 ** 4).toString(36)}`
  if (typeof runId === 'string' && /^[A-Za-z0-9-]{1,40}$/.test(runId)) return runId
  return check.invalid('runId must be 1 to 40 letters, digits or "-"')
}

const playerFields = ['playerId', 'currency', 'balance', 'sessionId']

function playersOf(players: unknown): SimulatedPlayer[] {
  if (!Array.isArray(players) || players.length === 0) check.invalid('players must be a list of at least one')
  const ids = new Set<string>()
  return players.map((given: unknown, index) => {
    const player = playerOf(given, `players[${index}]`)
    if (ids.has(player.playerId))
      check.invalid(`players[${index}].playerId: ${player.playerId} is duplicated`)
    ids.add(player.playerId)
    return player
  })
}

function playerOf(player: unknown, name: string): SimulatedPlayer {
  if (typeof player === 'string') return { playerId: textOption(name, player, 'a playerId') }
  const fields = player as SimulatedPlayer
  check.names(fields, playerFields, `${name}.`)
  for (const field of ['playerId', 'currency', 'sessionId'] as const) {
    if (field === 'playerId' || fields[field] !== undefined)
      textOption(`${name}.${field}`, fields[field], 'non-empty text')
  }
  const { balance } = fields
  if (balance !== undefined && (typeof balance !== 'string' || parseDecimal(balance) === null))
    check.invalid(`${name}.balance must be decimal text, such as "100.00"`)
  return fields
}
