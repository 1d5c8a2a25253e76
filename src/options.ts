/** The operator's options, read and checked once per options object. */
import { WalletError } from './errors.js'
import type { OutcomeEvent } from './outcomes.js'
import {
  createRequestParser,
  minorUnitsOf,
  type PlaceBetRequest,
  type RequestOptions,
  type RequestParser,
} from './requests.js'
import type { Player } from './store.js'

/**
 * All optional. Make one object and keep it: it is checked and compiled on first use (which takes a while), and not
 * looked at again.
 */
export interface WalletOptions extends RequestOptions {
  /**
   * Sessions, limits, exclusions: refuse a bet that the rules allow by throwing {@link WalletRefusal}. The
   * refusal is recorded and sticks (D6); any other throw, and any answer at all, is a fault (500), not recorded. Called for placebets only, at
   * most once per request, after every other rule has passed. It must not reserve anything: the bet may still
   * fail.
   */
  authorizeBet?(request: PlaceBetRequest, player: Player): void | Promise<void>
  /** `false`: the PAM cannot deduct; every unsettlement above 0 is answered INSUFFICIENT_FUNDS (D20). Default `true`. */
  clawbacks?: boolean
  /** How often at most a snapshot is loaded and decided on, when others interfere. Default 12. */
  attemptsMax?: number
  /**
   * Once so many milliseconds have passed since the handler was called, no commit is begun: 503, certain. The answer may
   * come later than that. Default: none.
   */
  deadlineMs?: number
  /**
   * Waits before the next attempt, after `conflicts` (1, 2, …) conflicts of this call. Default: not at all after
   * the first, then a random time of up to 2, 4, 8 … 64 ms.
   */
  backOff?(conflicts: number): Promise<void>
  /**
   * Told of the outcome of every call of a handler, faults among them; not of what HTTP turns away before (401, 413,
   * malformed JSON). What it throws is ignored, and reported once as a warning.
   */
  onOutcome?(event: OutcomeEvent): void
}

/** The options with nothing left open. */
export interface Settings {
  parser: RequestParser
  /** How many decimals an amount in this currency may have. @throws {WalletError} `HOOK_FAILED` */
  minorUnitsOf(currency: string): number
  clawbacks: boolean
  attemptsMax: number
  deadlineMs: number
  backOff(conflicts: number): Promise<void>
  authorizeBet: WalletOptions['authorizeBet']
  onOutcome: WalletOptions['onOutcome']
}

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

const hookNames = ['authorizeBet', 'minorUnits', 'parseTransactionDate', 'backOff', 'onOutcome'] as const
const typeNames = ['betTypes', 'rollbackTypes'] as const

/** What an options object may hold: those of HTTP too, so that one object can serve the whole of an application. */
const optionNames: ReadonlySet<string> = new Set([
  ...[...hookNames, ...typeNames, 'clawbacks', 'attemptsMax', 'deadlineMs'],
  ...['authenticate', 'challenge', 'basePath', 'bodyBytesMax', 'statusCodes', 'routes', 'onError'],
])

function compile(options: WalletOptions): Settings {
  if (typeof options !== 'object' || options === null) invalid('the options must be an object')
  for (const name in options) if (!optionNames.has(name)) invalid(`there is no option ${name}`)
  const own: WalletOptions = {}
  for (const name of hookNames) {
    const hook: unknown = options[name]
    if (hook === undefined) continue
    if (typeof hook !== 'function') invalid(`${name} must be a function`)
    Object.assign(own, { [name]: hook.bind(options) })
  }
  for (const name of typeNames) {
    const types: unknown = options[name]
    if (types === undefined) continue
    const fine =
      Array.isArray(types) && types.length > 0 && types.every(type => typeof type === 'string' && type)
    if (!fine) invalid(`${name} must list at least one type, as text`)
    own[name] = [...types]
  }
  const { clawbacks = true, attemptsMax = 12, deadlineMs = Number.POSITIVE_INFINITY } = options
  if (typeof clawbacks !== 'boolean') invalid('clawbacks must be true or false')
  if (!Number.isSafeInteger(attemptsMax) || attemptsMax < 1)
    invalid('attemptsMax must be a whole number of at least 1')
  if (typeof deadlineMs !== 'number' || !(deadlineMs >= 0))
    invalid('deadlineMs must be a number of at least 0')
  const { authorizeBet, backOff, onOutcome } = own
  return {
    parser: createRequestParser(own),
    minorUnitsOf: currency => minorUnitsOf(currency, own),
    clawbacks: clawbacks,
    attemptsMax,
    deadlineMs,
    // async: what an operator's backOff throws at once, rejects like the rest.
    backOff: async conflicts => await (backOff ? backOff(conflicts) : jitter(conflicts)),
    authorizeBet,
    onOutcome,
  }
}

function invalid(flaw: string): never {
  throw new WalletError('INVALID_OPTIONS', `Invalid options: ${flaw}`)
}

const jitterMsMax = 64

/** Once is mostly a racing duplicate, and looking again at once answers it; from then on spread the crowd. */
function jitter(conflicts: number): Promise<void> {
  if (conflicts < 2) return Promise.resolve()
  const ms = Math.random() * Math.min(2 ** (conflicts - 1), jitterMsMax)
  return new Promise(resolve => setTimeout(resolve, ms))
}
