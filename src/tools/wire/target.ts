/** The options of the wallet that the audit and the simulator call, and how its bets are settled. */
import { fieldOf } from '../../foreign-values.js'
import type { SettlementRequest } from '../../requests.js'
import { isoMinorUnits } from '../numbers/minor-units.js'
import { baseUrlOf, check, checkCredentials, headersOf, isText, urlOf } from './checks.js'
import { notAsync } from './operator-functions.js'

/** The wallet under test. */
export interface WalletTarget {
  /**
   * The address of the wallet: `"http://127.0.0.1:3000/wallet"`. `/placebet`, `/unsettlement` and
   * `/rollbackbet` are appended. No other address is called, except that of `settle`.
   */
  baseUrl: string
  /** HTTP Basic. Sent to the origin of `baseUrl` only. Never shown. */
  credentials?: { username: string; password: string }
  /**
   * Headers of every request, for example `{ 'x-api-key': '…' }`. Sent to the origin of `baseUrl` only. Their
   * values are never shown.
   */
  headers?: Readonly<Record<string, string>>
  /**
   * Returns additional headers for a request to the origin of `baseUrl`, for example a signature of its body.
   * Their values are never shown.
   */
  sign?(request: SignedRequest): Record<string, string> | Promise<Record<string, string>>
  /** For https: a client certificate, your own certificate authority. The options of `tls.connect`. */
  tls?: object
  /** How bets are settled (D17). */
  settle?: SettleOption
  /**
   * How long to wait for an answer, in milliseconds.
   *
   * @default 10_000
   */
  timeoutMs?: number
  /**
   * Returns how many decimals a currency has, 0 to 18; `undefined` for the default.
   *
   * @default by ISO 4217, and 8 for a code that is not in it
   */
  minorUnits?(currency: string): number | undefined
  /** An AbortSignal that stops the run early and gracefully. */
  signal?: StopSignal
}

/** A request that is about to be signed. */
export interface SignedRequest {
  method: string
  url: string
  /** The headers so far, names in lower case. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
}

/**
 * How a bet is settled. The interface has no call for it (D17), so the operator chooses:
 *
 * - `'unsupported'`: bets cannot be settled.
 * - `url`: a path below the base URL (`/settlement`) or a complete URL. The settlement is POSTed as JSON, its
 *   amount as a JSON number; 2xx means done, 4xx a refusal. `credentials`, `headers` and `sign` of the target
 *   apply if the origin is that of the base URL; the headers given here are sent in any case.
 * - `command`: run by the shell, with the settlement as one line of JSON on standard input; exit code 0 means
 *   done.
 * - a function in this process.
 */
export type SettleOption =
  | 'unsupported'
  | { url: string; headers?: Readonly<Record<string, string>> }
  | { command: string }
  | SettleFunction

/**
 * Settles one bet: credits `amount` (decimal text, at least 0) to the player. Returning nothing or
 * `{ ok: true, … }` means done, `{ ok: false, errorCode }` is a refusal, and a throw is an unknown outcome. A
 * retry has the same `transactionId`.
 */
export type SettleFunction = (settlement: SettlementRequest) => SettleResult | Promise<SettleResult>

// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return value settles the bet.
export type SettleResult = void | SettleAnswer

/** The answer to a settlement. A `WalletOutcome` of bet-wallet has this shape. */
export type SettleAnswer =
  | { ok: true; balance?: string; currency?: string; walletTransactionId?: string | null }
  | { ok: false; errorCode: string }

/**
 * The part of an AbortSignal that is used. Declared here, so that the types need neither Node's nor a
 * browser's.
 */
export interface StopSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

type Settle =
  | 'unsupported'
  | { url: URL; headers: Readonly<Record<string, string>> }
  | { command: string }
  | SettleFunction

export const targetOptionNames = [
  'baseUrl',
  'credentials',
  'headers',
  'sign',
  'tls',
  'settle',
  'timeoutMs',
  'minorUnits',
  'signal',
] as const satisfies readonly (keyof WalletTarget)[]

export type TargetSettings = ReturnType<typeof targetSettingsOf>

/**
 * Checks the options of the target and completes them.
 *
 * @param settleDefault how bets are settled where `settle` is not given
 * @throws {AuditError} `INVALID_OPTIONS`, naming the option
 */
export function targetSettingsOf(options: WalletTarget, settleDefault: SettleOption) {
  const base = baseUrlOf(options.baseUrl)
  const target = `${base.origin}${base.pathname.replace(/\/+$/, '')}`
  const { credentials, tls = {}, signal, settle = settleDefault, timeoutMs = 10_000 } = options
  if (credentials !== undefined) checkCredentials(credentials)
  for (const name of ['sign', 'minorUnits'] as const) check.func(name, options[name])
  if (typeof tls !== 'object' || tls === null)
    check.invalid('tls must be an object of options of tls.connect')
  if (signal !== undefined && typeof signal?.aborted !== 'boolean')
    check.invalid('signal must be an AbortSignal')
  const minorUnits = options.minorUnits?.bind(options)
  const signSecret = fieldOf(options.sign, 'secret')
  return {
    base,
    /** The base URL without a slash at its end: paths are appended to it. */
    target,
    credentials: credentials ?? null,
    /** Names in lower case. */
    headers: headersOf('headers', options.headers),
    sign: options.sign?.bind(options) ?? null,
    /** That `sign` has as its property `secret`: no output shows it. */
    signSecret: isText(signSecret) ? signSecret : null,
    tls,
    settle: settleOf(settle, target),
    timeoutMs: check.whole('timeoutMs', timeoutMs, 1, 600_000),
    minorUnitsOf: (currency: string) =>
      check.whole(
        `minorUnits(${JSON.stringify(currency)})`,
        notAsync(check, 'minorUnits', minorUnits?.(currency)) ?? isoMinorUnits(currency),
        0,
        18,
      ),
    signal: signal ?? null,
  }
}

function settleOf(settle: unknown, target: string): Settle {
  if (settle === 'unsupported') return settle
  if (typeof settle === 'function') return settle as SettleFunction
  const { url, command, headers } = (settle ?? {}) as Record<string, unknown>
  if (isText(command) && url === undefined && headers === undefined) return { command }
  if (isText(url) && command === undefined && /^(?:\/(?!\/)|https?:)/.test(url)) {
    return {
      url: urlOf('settle.url', url.startsWith('/') ? `${target}${url}` : url),
      headers: headersOf('settle.headers', headers),
    }
  }
  return check.invalid(
    'settle must be "unsupported", a function, { command }, or { url } with a path such as "/settlement" or a complete URL',
  )
}
