/** What an audit is told: checked wholly before the first request is sent. */
import { isoMinorUnits } from '../currencies.js'
import {
  baseUrlOf,
  checkCredentials,
  checkFunctions,
  checkNames,
  headersOf,
  invalid,
  isText,
  targetOf,
  textOption,
  wholeOption,
} from './checks.js'
import type { AuditResult } from './report.js'

/** A settlement for the operator's own code to make: it credits `amount` to the player, for this bet. */
export interface AuditSettlement {
  /** The same for a repetition of the same settlement. */
  transactionId: string
  betId: string
  playerId: string
  type: 'BET_PAID' | 'VOIDED' | 'CASHOUT'
  /** Decimal text of at least 0: `"6.50"`. Over a URL or a command it is a JSON number. */
  amount: string
  currency: string
  /** ISO 8601 in UTC, or what `formatDate` makes. */
  transactionDate: string
}

/**
 * How a bet is settled, which the interface does not say (D17):
 * - `url`: below the base URL (`/settlement`) or a whole URL. The settlement is POSTed as JSON; 2xx says that it is
 *   done. The credentials go with it when the origin is that of the base URL; `headers` are sent in any case.
 * - `command`: run by the shell, with the settlement as one line of JSON on its standard input; exit code 0 says that
 *   it is done.
 * - a function: what it throws says that it is not done.
 * - `cannot`: the cases that need a settlement are not judged.
 */
export type SettleOption =
  | 'cannot'
  | { url: string; headers?: Record<string, string> }
  | { command: string }
  | ((settlement: AuditSettlement) => void | Promise<void>)

/** A request that is about to be signed. */
export interface SignedRequest {
  method: string
  /** The whole URL. */
  url: string
  /** As it will be sent, names in lower case. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
}

export interface AuditOptions {
  /** Where the wallet is: `/placebet` and its sisters are appended. No other address is ever called, but for `settle`. */
  baseUrl: string
  /**
   * A test player with funds, whom nobody else plays with during the audit: balances are compared to the cent. Required:
   * no other player is touched.
   */
  playerId: string
  /** The player's currency: `"EUR"`. */
  currency: string
  /** A second test player, for what one player's call must not do to another's bet. Default: those cases are not judged. */
  otherPlayerId?: string
  /** HTTP Basic. */
  credentials?: { username: string; password: string }
  /** Headers that let a call in: `{ 'x-api-key': '…' }`. Their values are shown nowhere. */
  headers?: Record<string, string>
  /** Gives further headers for each request, such as a signature of its body. Their values are shown nowhere. */
  sign?(request: SignedRequest): Record<string, string> | Promise<Record<string, string>>
  /** Default: `cannot`. */
  settle?: SettleOption
  /** `false`: the PAM cannot deduct, and every unsettlement above 0 is answered INSUFFICIENT_FUNDS (D20). Default `true`. */
  clawbacks?: boolean
  /**
   * The statuses that were agreed with the platform, by error code of this library's, and `SUCCESS`. Defaults: 200, and
   * those of the README. Failing one is a SHOULD.
   */
  statusCodes?: Record<string, number | readonly number[]>
  /** The error codes that were agreed, by error code of this library's: `{ INVALID_BET: 'BET_REFUSED' }`; `*` is any. */
  errorCodes?: Record<string, string | readonly string[]>
  /** How many decimals the currency has. Default: as ISO 4217 says; 8 for a code that is not in it. */
  minorUnits?: number
  /** Writes a transactionDate. Default: ISO 8601 in UTC. */
  formatDate?(date: Date): string
  /** How many calls are sent at a time where a case sends many. 2 to 64, default 16. */
  concurrency?: number
  /** How often each race is run: races are real, and one lap of luck proves nothing. 1 to 1,000, default 6. */
  raceRounds?: number
  /** What has not begun by then is not judged. Default: none. */
  timeBudgetMs?: number
  /** How long an answer is waited for. Default 10,000. */
  timeoutMs?: number
  /** Which cases: ids, or the beginnings of ids with a star (`AU-5*`). Default: all. */
  only?: readonly string[]
  /** Decides amounts and moments. Ids are fresh in each run, so that a player can be audited again. Default 1. */
  seed?: number
  /** An AbortSignal: ends the audit after the case that is under way, which gives back what it took. */
  signal?: { readonly aborted: boolean }
  /** Told of each result as it comes. */
  onResult?(result: AuditResult, progress: { done: number; total: number }): void
}

/** The options with nothing left open. */
export interface AuditSettings {
  base: URL
  /** The base URL without a slash at its end. */
  target: string
  playerId: string
  currency: string
  otherPlayerId: string | null
  credentials: { username: string; password: string } | null
  headers: Record<string, string>
  sign: AuditOptions['sign']
  settle: SettleOption
  clawbacks: boolean
  statusCodes: Map<string, readonly number[]>
  errorCodes: Map<string, readonly string[]>
  minorUnits: number
  formatDate(date: Date): string
  concurrency: number
  raceRounds: number
  timeBudgetMs: number
  timeoutMs: number
  only: readonly string[] | null
  seed: number
  signal: AuditOptions['signal']
  onResult: AuditOptions['onResult']
}

/** Of the README. Another wallet may have agreed on others: they are given as options, and judged as SHOULD. */
const defaultStatusCodes: Record<string, number> = {
  SUCCESS: 200,
  INVALID_REQUEST: 400,
  INVALID_PLAYER: 400,
  INVALID_CURRENCY: 400,
  INVALID_BET: 400,
  AUTHENTICATION_FAILED: 401,
  INSUFFICIENT_FUNDS: 402,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TRANSACTION_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  SETTLEMENT_NOT_FOUND: 503,
}

const optionNames: ReadonlySet<string> = new Set<keyof AuditOptions>([
  ...(['baseUrl', 'playerId', 'currency', 'otherPlayerId', 'credentials', 'headers', 'sign'] as const),
  ...([
    'settle',
    'clawbacks',
    'statusCodes',
    'errorCodes',
    'minorUnits',
    'formatDate',
    'concurrency',
  ] as const),
  ...(['raceRounds', 'timeBudgetMs', 'timeoutMs', 'only', 'seed', 'signal', 'onResult'] as const),
])

/**
 * @param ids of all cases, which `only` must name
 * @throws {AuditError} `INVALID_OPTIONS`, naming the option
 */
export function settingsOf(options: AuditOptions, ids: readonly string[]): AuditSettings {
  checkNames(options, optionNames)

  const base = baseUrlOf(options.baseUrl)
  const playerId = textOption(
    'playerId',
    options.playerId,
    'a test player that you name: there is no default',
  )
  const currency = textOption('currency', options.currency, 'the currency of the player, such as "EUR"')
  if (!/^[A-Za-z0-9._-]{1,16}$/.test(currency)) invalid('currency must be a currency code, such as "EUR"')
  const { otherPlayerId, credentials, sign, settle = 'cannot', clawbacks = true } = options
  if (otherPlayerId !== undefined) textOption('otherPlayerId', otherPlayerId, 'another test player')
  if (otherPlayerId === playerId) invalid('otherPlayerId must be another player than playerId')
  if (credentials !== undefined) checkCredentials(credentials)
  checkFunctions(options, ['sign', 'formatDate', 'onResult'])
  if (typeof clawbacks !== 'boolean') invalid('clawbacks must be true or false')
  const { signal, only, formatDate } = options
  if (signal !== undefined && typeof signal?.aborted !== 'boolean') invalid('signal must be an AbortSignal')

  return {
    base,
    target: targetOf(base),
    playerId,
    currency,
    otherPlayerId: otherPlayerId ?? null,
    credentials: credentials ?? null,
    headers: headersOf('headers', options.headers),
    sign: sign?.bind(options),
    settle: settleOf(settle),
    clawbacks: clawbacks,
    statusCodes: profileOf(
      'statusCodes',
      options.statusCodes,
      defaultStatusCodes,
      isStatus,
      'a status from 200 to 599',
    ),
    errorCodes: profileOf('errorCodes', options.errorCodes, {}, isText, 'a code'),
    minorUnits: wholeOption('minorUnits', options.minorUnits ?? isoMinorUnits(currency), 0, 18),
    formatDate: formatDate?.bind(options) ?? (date => date.toISOString()),
    concurrency: wholeOption('concurrency', options.concurrency ?? 16, 2, 64),
    raceRounds: wholeOption('raceRounds', options.raceRounds ?? 6, 1, 1_000),
    timeBudgetMs:
      options.timeBudgetMs === undefined
        ? Number.POSITIVE_INFINITY
        : wholeOption('timeBudgetMs', options.timeBudgetMs, 1, 86_400_000),
    timeoutMs: wholeOption('timeoutMs', options.timeoutMs ?? 10_000, 10, 600_000),
    only: only === undefined ? null : onlyOf(only, ids),
    seed: wholeOption('seed', options.seed ?? 1, 0, 0xffff_ffff),
    signal,
    onResult: options.onResult?.bind(options),
  }
}

function settleOf(settle: unknown): SettleOption {
  if (settle === 'cannot') return 'cannot'
  if (typeof settle === 'function') return settle as (settlement: AuditSettlement) => void
  if (typeof settle === 'object' && settle !== null) {
    const { url, command, headers } = settle as Record<string, unknown>
    if (
      typeof url === 'string' &&
      (/^\/(?!\/)/.test(url) || /^https?:\/\//.test(url)) &&
      command === undefined
    )
      return { url, headers: headersOf('settle.headers', headers) }
    if (isText(command) && url === undefined) return { command }
  }
  return invalid(
    'settle must be "cannot", a function, { command }, or { url } with a path like "/settlement" or a whole URL',
  )
}

function profileOf<T extends string | number>(
  name: string,
  given: unknown,
  usual: Record<string, T>,
  fine: (value: unknown) => value is T,
  what: string,
): Map<string, readonly T[]> {
  if (given !== undefined && (typeof given !== 'object' || given === null))
    invalid(`${name} must be an object`)
  const profile = new Map<string, readonly T[]>(Object.entries(usual).map(([code, value]) => [code, [value]]))
  for (const [code, value] of Object.entries(given ?? {})) {
    if (!(code in defaultStatusCodes) || (name === 'errorCodes' && code === 'SUCCESS')) {
      const known = Object.keys(defaultStatusCodes).join(', ')
      invalid(`${name}: ${JSON.stringify(code)} is none of ${known}`)
    }
    const values: unknown[] = Array.isArray(value) ? value : [value]
    if (values.length === 0 || !values.every(fine))
      invalid(`${name}.${code} must be ${what}, or a list of them`)
    profile.set(code, values as T[])
  }
  return profile
}

function onlyOf(only: unknown, ids: readonly string[]): readonly string[] {
  if (!Array.isArray(only) || only.length === 0) invalid('only must list at least one case, such as "AU-101"')
  return [
    ...new Set(
      only.flatMap((entry: unknown) => {
        const text = isText(entry) ? entry.trim().toUpperCase() : ''
        const found = text.endsWith('*')
          ? ids.filter(id => id.startsWith(text.slice(0, -1)))
          : ids.filter(id => id === text)
        return found.length > 0 ? found : invalid(`only: there is no case ${JSON.stringify(entry)}`)
      }),
    ),
  ]
}

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 200 && (value as number) <= 599
}
