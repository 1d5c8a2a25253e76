/** The operator's options, read and checked once per options object. */
import { WalletError } from './errors.js'
import type { OutcomeEvent } from './outcomes.js'
import {
  createRequestReader,
  type PlaceBetRequest,
  type RequestOptions,
  type RequestReader,
} from './requests.js'
import type { Player } from './store.js'

/**
 * All optional. Make one object and keep it: it is checked and compiled on first use, and not looked at
 * again.
 */
export interface WalletOptions extends RequestOptions {
  /**
   * Sessions, limits, exclusions: refuse a bet that the rules allow by throwing {@link WalletRefusal}. The
   * refusal is recorded and sticks (D6); any other throw is a fault (500), not recorded. Called for placebets only, at
   * most once per request, after every other rule has passed. It must not reserve anything: the bet may still
   * fail.
   */
  authorizeBet?(request: PlaceBetRequest, player: Player): void | Promise<void>
  /** `false`: the PAM cannot deduct; every unsettlement above 0 is answered INSUFFICIENT_FUNDS (D20). Default `true`. */
  deductions?: boolean
  /** How often at most a snapshot is loaded and decided on, when others interfere. Default 12. */
  attemptsMax?: number
  /** Once so many milliseconds have passed since the call, no commit is begun: 503, certain. Default: none. */
  deadlineMs?: number
  /**
   * Waits before the next attempt, after `conflicts` (1, 2, …) conflicts of this call. Default: not at all after
   * the first, then a random time of up to 2, 4, 8 … 64 ms.
   */
  backOff?(conflicts: number): Promise<void>
  /** Told of every call's outcome, faults among them. What it throws is ignored, and reported once as a warning. */
  onOutcome?(event: OutcomeEvent): void
}

/** The options with nothing left open. */
export interface Settings {
  reader: RequestReader
  deductions: boolean
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

function compile(options: WalletOptions): Settings {
  if (typeof options !== 'object' || options === null) invalid('the options must be an object')
  for (const name of [
    'authorizeBet',
    'minorUnits',
    'parseTransactionDate',
    'backOff',
    'onOutcome',
  ] as const) {
    const hook: unknown = options[name]
    if (hook !== undefined && typeof hook !== 'function') invalid(`${name} must be a function`)
  }
  for (const name of ['betTypes', 'rollbackTypes'] as const) {
    const types: unknown = options[name]
    const fine =
      Array.isArray(types) && types.length > 0 && types.every(type => typeof type === 'string' && type)
    if (types !== undefined && !fine) invalid(`${name} must list at least one type, as text`)
  }
  const { deductions = true, attemptsMax = 12, deadlineMs = Number.POSITIVE_INFINITY } = options
  if (typeof deductions !== 'boolean') invalid('deductions must be true or false')
  if (!Number.isSafeInteger(attemptsMax) || attemptsMax < 1)
    invalid('attemptsMax must be a whole number of at least 1')
  if (typeof deadlineMs !== 'number' || !(deadlineMs >= 0))
    invalid('deadlineMs must be a number of at least 0')
  return {
    reader: createRequestReader(options),
    deductions,
    attemptsMax,
    deadlineMs,
    // async: what an operator's backOff throws at once, rejects like the rest.
    backOff: async conflicts => await (options.backOff ? options.backOff(conflicts) : jitter(conflicts)),
    authorizeBet: options.authorizeBet?.bind(options),
    onOutcome: options.onOutcome?.bind(options),
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
