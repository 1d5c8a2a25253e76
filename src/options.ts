/** The options of the handlers, read and checked once per options object. */
import { isoMinorUnits } from './currencies.js'
import type { OutcomeEvent } from './diagnostics.js'
import { check } from './errors.js'
import { notify } from './hooks.js'
import { type Decimal, format } from './money.js'
import {
  createRequestParser,
  isCurrency,
  minorUnitsOf,
  type PlaceBetRequest,
  type RequestOptions,
} from './requests.js'
import type { Account } from './store.js'

/** How a call of the platform arrived, over HTTP. */
export interface CallMessage {
  /** `"POST"` */
  method: string
  /** Path of the URL, with or without a query: `"/wallet/placebet"`. */
  path: string
  /**
   * The path as the caller sent it, with the query, where a router has removed its beginning from `path`. A
   * signature covers it. Missing: `path`.
   */
  originalPath?: string | undefined
  /** As in Node.js: names in lower case. */
  headers: Record<string, string | string[] | undefined>
  /** The caller's IP address, where the adapter knows it. Behind a proxy it is the proxy's. */
  address?: string | undefined
}

/** What `authorizeRequest` and `authorizeBet` may know of the call beside its body. */
export interface PlaceBetCall {
  /** `null`, as `path` and `address`: `handlePlaceBet` was called without a message. */
  method: string | null
  /** As the caller sent it, with the query. */
  path: string | null
  /** Names in lower case; empty without a message. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** Behind a proxy it is the proxy's; `null` also if the adapter does not know it. */
  address: string | null
  /**
   * Whole milliseconds until `deadlineMs`, at least 0; `Infinity` without `deadlineMs`. The hook is not
   * stopped then, but its bet is no longer committed: `AbortSignal.timeout(Math.min(300, remainingMs))`.
   */
  remainingMs: number
}

/**
 * All optional. Create one object and reuse it: it is checked and compiled on first use, which is costly, and
 * not read again.
 */
export interface WalletOptions extends RequestOptions {
  /**
   * Refuses a bet that the rules allow by throwing {@link WalletRefusal}: checks the session. The refusal is
   * final: recorded and replayed (D6). Any other error, and any returned value, is a fault (500), not
   * recorded.
   *
   * Called for placebets only, at most once per call, before anything is read: also for retries, and for bets
   * that the rules refuse; their answers stay the same. It must not reserve anything: the bet may still fail.
   */
  authorizeRequest?(request: PlaceBetRequest, call: PlaceBetCall): void | Promise<void>
  /**
   * The same, with the player's account in the currency of the bet, at the cost of a read before each commit.
   *
   * Called for placebets only, at most once per call, after every other rule has passed, `authorizeRequest`
   * included.
   */
  authorizeBet?(request: PlaceBetRequest, account: Account, call: PlaceBetCall): void | Promise<void>
  /**
   * `false`: the PAM cannot debit for an unsettlement, and each one above 0 is answered INSUFFICIENT_FUNDS
   * (D20).
   *
   * @default true
   */
  clawbacks?: boolean
  /**
   * The currency of the home account: of a player with several accounts, the one that answers where no
   * currency is known (D28).
   *
   * @default the first of the player's accounts by currency code
   */
  defaultCurrency?: string
  /**
   * The maximum number of attempts to load, decide and commit; a conflict leads to the next. The commit of a
   * placebet without a load, before the first attempt, does not count.
   *
   * @default 20
   */
  attemptsMax?: number
  /**
   * After so many milliseconds a handler starts no commit: 503, no changes were made. A commit that was
   * started before is awaited, so the answer may come later.
   *
   * @default none
   */
  deadlineMs?: number
  /**
   * Waits before the next attempt.
   *
   * @param conflicts of this call so far: 1, 2, …
   * @default no wait after the first conflict, then a random time of up to 2, 4, 8 … 64 ms
   */
  backOff?(conflicts: number): Promise<void>
  /**
   * Called with one event per call of a handler, faults included. HTTP rejections (401, 413, malformed JSON)
   * do not reach a handler: subscribe to the channel `bet-wallet:http` (see {@link WalletChannels}). Errors
   * of the hook are ignored, and reported once as a warning.
   */
  onOutcome?(event: OutcomeEvent): void
}

/** The options with every default filled in. */
export type Settings = ReturnType<typeof compile>

const compiled = new WeakMap<WalletOptions, Settings>()
const noOptions: WalletOptions = {}

/** @throws {WalletError} `INVALID_OPTIONS`, naming the option */
export function settingsOf(options: WalletOptions = noOptions): Settings {
  const known = compiled.get(options)
  if (known !== undefined) return known
  const settings = compile(options)
  compiled.set(options, settings)
  return settings
}

const hookNames = [
  'authorizeRequest',
  'authorizeBet',
  'minorUnits',
  'parseTransactionDate',
  'backOff',
  'onOutcome',
] as const
const typeNames = ['betTypes', 'rollbackTypes'] as const
export const walletOptionNames = [
  ...hookNames,
  ...typeNames,
  'clawbacks',
  'defaultCurrency',
  'attemptsMax',
  'deadlineMs',
] as const satisfies readonly (keyof WalletOptions)[]

/** The handlers' part of the options of another layer, with the hooks bound to the whole object. */
export function walletPartOf(options: WalletOptions): WalletOptions {
  const part: WalletOptions = {}
  for (const name of walletOptionNames) {
    const value: unknown = options[name]
    if (value === undefined) continue
    Object.assign(part, { [name]: typeof value === 'function' ? value.bind(options) : value })
  }
  return part
}

function compile(options: WalletOptions) {
  check.names(options, walletOptionNames)
  const own = walletPartOf(options)
  for (const name of hookNames) check.func(name, own[name])
  for (const name of typeNames) {
    const types: unknown = own[name]
    if (types === undefined) continue
    const valid =
      Array.isArray(types) && types.length > 0 && types.every(type => typeof type === 'string' && type)
    if (!valid) check.invalid(`${name} must list at least one type, as text`)
    own[name] = [...(types as string[])]
  }
  const {
    clawbacks = true,
    defaultCurrency = null,
    attemptsMax = 20,
    deadlineMs = Number.POSITIVE_INFINITY,
  } = own
  if (typeof deadlineMs !== 'number' || !(deadlineMs >= 0)) {
    check.invalid('deadlineMs must be a number of at least 0')
  }
  if (
    own.defaultCurrency !== undefined &&
    !(typeof defaultCurrency === 'string' && isCurrency(defaultCurrency))
  ) {
    check.invalid('defaultCurrency must be a currency code, such as "EUR"')
  }
  const { authorizeRequest, authorizeBet, backOff, onOutcome } = own
  return {
    parser: createRequestParser(own),
    writtenBalance: (balance: Decimal, currency: string) => writtenBalance(balance, currency, own),
    clawbacks: check.boolean('clawbacks', clawbacks),
    defaultCurrency,
    attemptsMax: check.whole('attemptsMax', attemptsMax, 1),
    deadlineMs,
    // async: a synchronous throw of the operator's backOff becomes a rejection like any other.
    backOff: async (conflicts: number): Promise<void> =>
      await (backOff ? backOff(conflicts) : jitter(conflicts)),
    authorizeRequest,
    authorizeBet,
    onOutcome,
  }
}

/**
 * With at least the decimals of the currency (D21). The balance may have changed already: an error of
 * `minorUnits` is no fault, and the decimals are those of ISO 4217.
 */
function writtenBalance(balance: Decimal, currency: string, options: RequestOptions): Decimal {
  let decimals = isoMinorUnits(currency)
  notify('minorUnits', () => {
    decimals = minorUnitsOf(currency, options)
  })
  return format(balance, decimals)
}

const jitterMsMax = 64

/** The first conflict is usually a duplicate, which an immediate reload answers; later ones need jitter. */
function jitter(conflicts: number): Promise<void> {
  if (conflicts < 2) return Promise.resolve()
  const ms = Math.random() * Math.min(2 ** (conflicts - 1), jitterMsMax)
  return new Promise(resolve => setTimeout(resolve, ms))
}
