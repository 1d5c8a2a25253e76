/** What a simulation is told, and whether it can be done. */
import type { ConnectionOptions } from 'node:tls'
import { type Decimal, parseDecimal } from '../../money.js'
import type { SettlementType } from '../../store.js'
import {
  baseUrlOf,
  basicOf,
  checkCredentials,
  checkFunctions,
  checkNames,
  headersOf,
  invalid,
  targetOf,
  textOption,
  urlOf,
  wholeOption,
} from '../checks.js'
import type { SignedRequest } from '../target.js'
import { type Chaos, chaosOf } from './chaos.js'
import { type SimulatorClock, systemClock } from './network.js'
import type { ClosedBet, Difference, SimulationProgress } from './report.js'

export interface SimulationOptions {
  /** Where the wallet is: `"http://127.0.0.1:3000/wallet"`. Calls go to `/placebet`, … below it, and nowhere else. */
  baseUrl: string
  /**
   * Who bets: players that the wallet knows and that have funds. Use players of their own, whom nothing else moves:
   * their opening balances are read from the wallet, and from then on the books must be right to the cent.
   * Ids alone will do; {@link numberedPlayers} makes `sim-1` to `sim-20`.
   */
  players: readonly (string | SimulatedPlayer)[]
  /** HTTP Basic. Sent to the origin of the base URL only. */
  credentials?: { username: string; password: string }
  /** With every call, settlements to a URL elsewhere among them: `{ 'x-api-key': '…' }`. */
  headers?: Readonly<Record<string, string>>
  /** Gives further headers for each request, such as a signature of its body; as for the audit. What it throws ends the simulation. */
  sign?(request: SignedRequest): Record<string, string> | Promise<Record<string, string>>
  /** For https: certificates of the client's, an authority of one's own. As `tls.connect` takes them. */
  tls?: object
  /**
   * How bets are settled, as the interface has no call for it (D17): a path below the base URL or a whole URL that takes
   * transactionId, betId, playerId, type, amount, currency and transactionDate (retried until it answers), or a function.
   * Default: `/settlement`. `null`: they cannot be; then there are bets and rollbacks only.
   */
  settle?: string | SettleFunction | null
  /** How many bets are made. Default: no limit where there is a `durationMs`, else 1,000. */
  bets?: number
  /** For how long bets are made. What is open then is played to its end, which takes a little longer. */
  durationMs?: number
  /** Requests per second, at most. Default: as many as the wallet answers with this `concurrency`. */
  ratePerSecond?: number
  /** How many requests are on their way at once, at most. Default 16. */
  concurrency?: number
  /** How badly the network behaves: 0 (not at all) to 1 (at its worst), or probabilities by name. Default 0.2. */
  chaos?: number | Partial<Chaos>
  /** Repeats a run: with the same wallet, options and a concurrency of 1 exactly. Default: by chance. */
  seed?: number
  /** All ids of the run begin with it: 1 to 40 letters, digits or "-". Default: by time and chance, since a wallet forgets no id. */
  runId?: string
  /** A call without an answer for so long is given up. Default 10,000. */
  timeoutMs?: number
  /**
   * Without any answer for so long, the wallet is given up, and with it the simulation; a single transaction, where it
   * is answered 5xx for so long, at least 60 times. Default 60,000; a wallet that has never answered is
   * given up after no more than 5,000.
   */
  giveUpAfterMs?: number
  /** The longest pause between attempts when the wallet fails. Default 1,000. */
  backOffMsMax?: number
  /** How many closed bets are kept, to be sent again at the end: half of them the last, half of all times. Default 2,000. */
  rememberedBetsMax?: number
  /** How many differences are kept. All are counted. Default 100. */
  differencesMax?: number
  /** As the option of the wallet: minor units of a currency where they are not those of ISO 4217. */
  minorUnits?(currency: string): number | undefined
  /** An AbortSignal: stops making bets; everything is played to its end and reconciled. */
  signal?: StopSignal
  /** Told every `progressEveryMs` (default 500), and at the end of each phase. What hooks throw ends the simulation. */
  onProgress?(progress: SimulationProgress): void
  progressEveryMs?: number
  /** Told at once of every difference. */
  onDifference?(difference: Difference): void
  /** Told of every bet that is over: to be compared with a database. */
  onBetClosed?(bet: ClosedBet): void
  /** For tests. */
  clock?: SimulatorClock
}

/** What is asked of an AbortSignal. Named here, so that the types need none of Node's or a browser's. */
export interface StopSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export interface SimulatedPlayer {
  playerId: string
  /** If given: must be what the wallet answers. */
  currency?: string
  /** Likewise: the opening balance as decimal text. */
  balance?: Decimal
  /** Default: made up. */
  sessionId?: string
}

/** Settles a bet in code. A throw says that nothing is known: it is called again with the same settlement. */
export type SettleFunction = (settlement: SimulatedSettlement) => Promise<SettleAnswer>

export interface SimulatedSettlement {
  transactionId: string
  betId: string
  playerId: string
  type: SettlementType
  /** Decimal text, at least 0. */
  amount: Decimal
  currency: string
  transactionDate: string
}

/** What the handlers of bet-wallet answer, or the part of it that there is. */
export type SettleAnswer =
  | { ok: true; balance?: Decimal; currency?: string; walletTransactionId?: string | null }
  | { ok: false; errorCode: string }

/** `numberedPlayers(3, 'sim-')` are `sim-1`, `sim-2` and `sim-3`. The wallet has to know them. */
export function numberedPlayers(count: number, prefix: string): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)
}

const betsByDefault = 1_000
/** A seed that people can copy. */
const seedMax = 2 ** 32

const optionNames: ReadonlySet<string> = new Set<keyof SimulationOptions>([
  ...([
    'baseUrl',
    'players',
    'credentials',
    'headers',
    'sign',
    'tls',
    'settle',
    'bets',
    'durationMs',
  ] as const),
  ...(['ratePerSecond', 'concurrency', 'chaos', 'seed', 'runId', 'timeoutMs', 'giveUpAfterMs'] as const),
  ...(['backOffMsMax', 'rememberedBetsMax', 'differencesMax', 'minorUnits', 'signal', 'onProgress'] as const),
  ...(['progressEveryMs', 'onDifference', 'onBetClosed', 'clock'] as const),
])

/** All of them checked, with their defaults. @throws {AuditError} `INVALID_OPTIONS`, naming the option */
export function settingsOf(options: SimulationOptions) {
  checkNames(options, optionNames)
  checkFunctions(options, ['sign', 'minorUnits', 'onProgress', 'onDifference', 'onBetClosed'])
  const clock = options.clock ?? systemClock
  const { bets, durationMs, credentials, ratePerSecond } = options
  const runId =
    options.runId ?? `${clock.date().toString(36)}${Math.floor(Math.random() * 36 ** 4).toString(36)}`
  if (typeof runId !== 'string' || !/^[A-Za-z0-9-]{1,40}$/.test(runId))
    invalid('runId must be 1 to 40 letters, digits or "-"')
  if (ratePerSecond !== undefined && !(ratePerSecond > 0)) invalid('ratePerSecond must be a number above 0')
  if (credentials !== undefined) checkCredentials(credentials)

  const base = baseUrlOf(options.baseUrl)
  const target = targetOf(base)
  return {
    clock,
    seed: wholeOption('seed', options.seed ?? Math.floor(Math.random() * seedMax), 0),
    runId,
    headers: headersOf('headers', options.headers),
    players: playersOf(options.players),
    chaos: chaosOf(options.chaos ?? 0.2),
    target,
    authorization: credentials === undefined ? null : { origin: base.origin, value: basicOf(credentials) },
    urls: {
      placebet: new URL(`${target}/placebet`),
      unsettlement: new URL(`${target}/unsettlement`),
      rollbackbet: new URL(`${target}/rollbackbet`),
    },
    settle: settleOf(options.settle === undefined ? '/settlement' : options.settle, target),
    sign: options.sign?.bind(options) ?? null,
    tls: (options.tls ?? {}) as ConnectionOptions,
    betsMax:
      bets === undefined ? (durationMs === undefined ? betsByDefault : null) : wholeOption('bets', bets, 0),
    durationMs: durationMs === undefined ? null : wholeOption('durationMs', durationMs, 0),
    ratePerSecond: ratePerSecond ?? null,
    concurrency: wholeOption('concurrency', options.concurrency ?? 16, 1, 10_000),
    timeoutMs: wholeOption('timeoutMs', options.timeoutMs ?? 10_000, 1),
    giveUpAfterMs: wholeOption('giveUpAfterMs', options.giveUpAfterMs ?? 60_000, 0),
    backOffMsMax: wholeOption('backOffMsMax', options.backOffMsMax ?? 1_000, 0),
    rememberedBetsMax: wholeOption('rememberedBetsMax', options.rememberedBetsMax ?? 2_000, 0),
    differencesMax: wholeOption('differencesMax', options.differencesMax ?? 100, 1),
    progressEveryMs: wholeOption('progressEveryMs', options.progressEveryMs ?? 500, 1),
    minorUnits: options.minorUnits?.bind(options) ?? (() => undefined),
    signal: options.signal ?? null,
    onProgress: options.onProgress?.bind(options) ?? null,
    onDifference: options.onDifference?.bind(options) ?? (() => {}),
    onBetClosed: options.onBetClosed?.bind(options) ?? null,
  }
}

export type Settings = ReturnType<typeof settingsOf>

function settleOf(settle: unknown, target: string): URL | SettleFunction | null {
  const isPath = typeof settle === 'string' && /^\/(?!\/)/.test(settle)
  return settle === null || typeof settle === 'function'
    ? (settle as SettleFunction | null)
    : urlOf('settle', isPath ? `${target}${settle}` : settle)
}

const playerFields: ReadonlySet<string> = new Set<keyof SimulatedPlayer>([
  ...(['playerId', 'currency', 'balance', 'sessionId'] as const),
])

function playersOf(players: unknown): SimulatedPlayer[] {
  if (!Array.isArray(players) || players.length === 0) invalid('players must be a list of at least one')
  const all = players.map((player: unknown, index): SimulatedPlayer => {
    const name = `players[${index}]`
    if (typeof player === 'string') return { playerId: textOption(name, player, 'a playerId') }
    const fields = player as SimulatedPlayer
    checkNames(fields, playerFields, name)
    textOption(`${name}.playerId`, fields.playerId, 'text that is not empty')
    for (const field of ['currency', 'sessionId'] as const)
      if (fields[field] !== undefined) textOption(`${name}.${field}`, fields[field], 'text that is not empty')
    if (
      fields.balance !== undefined &&
      (typeof fields.balance !== 'string' || parseDecimal(fields.balance) === null)
    )
      invalid(`${name}.balance must be decimal text, such as "100.00"`)
    return fields
  })
  const ids = new Set<string>()
  for (const [index, { playerId }] of all.entries()) {
    if (ids.has(playerId)) invalid(`players[${index}].playerId: ${playerId} is there twice`)
    ids.add(playerId)
  }
  return all
}
