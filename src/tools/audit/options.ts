/** The options of an audit, checked completely before the first request is sent. */
import { check, currenciesOf, isCurrency, isText, textOption } from '../wire/checks.js'
import { notAsync } from '../wire/operator-functions.js'
import { targetOptionNames, targetSettingsOf, type WalletTarget } from '../wire/target.js'
import type { AuditResult } from './report.js'

export interface AuditOptions extends WalletTarget {
  /**
   * A test player with funds. Nothing else may change the balance during the audit: balances are compared to
   * the last digit. No other player is touched, except `otherPlayerId`.
   */
  playerId: string
  /** The currency of the player: `"EUR"`. */
  currency: string
  /**
   * The currencies of all accounts of the player, `currency` among them, if a player has one account per
   * currency (D28): 2 to 4. Without them, the cases about accounts are not part of the audit.
   */
  accounts?: readonly string[]
  /** A second test player. Without one, the cases that mix up players are skipped. */
  otherPlayerId?: string
  /**
   * `false`: the PAM cannot debit, and every unsettlement above 0 is refused with INSUFFICIENT_FUNDS (D20).
   *
   * @default true
   */
  clawbacks?: boolean
  /**
   * The HTTP statuses agreed with the platform, by error code of this library, and `SUCCESS`. The key `*`
   * stands for every error code that is not named; the status `'*'` allows any. A different status fails a
   * SHOULD. Example: `{ '*': 400, INSUFFICIENT_FUNDS: [402, 403] }`.
   *
   * @default 200, and the statuses of docs/errors.md
   */
  statusCodes?: Record<string, number | '*' | readonly (number | '*')[]>
  /**
   * The error codes agreed with the platform, by error code of this library. The key `*` stands for every
   * error code that is not named; the code `*` allows any. `'any'` allows any code everywhere. A different
   * code fails a SHOULD. Example: `{ INVALID_BET: 'BET_REFUSED' }`.
   *
   * @default the error codes of docs/errors.md
   */
  errorCodes?: 'any' | Record<string, string | readonly string[]>
  /**
   * A long pause, in milliseconds, for the cases that find what a wallet forgets or closes after some time.
   * There is one pause for all of them. Without one, they are skipped.
   */
  pauseMs?: number
  /**
   * Restarts the wallet, for the cases about its memory: a shell command, or a function. It is done once, and
   * the audit waits until the wallet answers again. Without one, these cases are skipped.
   */
  restart?: { command: string } | (() => void | Promise<void>)
  /**
   * Writes a transactionDate.
   *
   * @default ISO 8601 in UTC
   */
  formatDate?(date: Date): string
  /**
   * Number of concurrent requests where a case sends many, 2 to 64.
   *
   * @default 16
   */
  concurrency?: number
  /**
   * How many times each race is run, 1 to 1,000. One run that passes proves little.
   *
   * @default 6
   */
  raceRounds?: number
  /**
   * How often a call is sent at most until its outcome is known, 1 to 100. The platform retries rollbacks and
   * unsettlements that are answered with 5xx, or not at all; so does the audit, with growing pauses.
   *
   * @default 25
   */
  attempts?: number
  /**
   * Cases that have not started after this time are skipped, in milliseconds.
   *
   * @default no limit
   */
  timeBudgetMs?: number
  /**
   * The cases to run: ids, or prefixes of ids with a star (`AU-5*`).
   *
   * @default all
   */
  only?: readonly string[]
  /**
   * Makes amounts and timing reproducible. Ids are new in each run, so the same player can be audited again.
   *
   * @default 1
   */
  seed?: number
  /**
   * Called once, before the first case, with the time of one answer, and the time that the audit will take.
   * The audit waits for it, and fails with its error.
   */
  onStart?(estimate: { latencyMs: number; durationMs: number }): unknown
  /** Called with each result. The audit waits for it, and fails with its error. */
  onResult?(result: AuditResult, progress: { done: number; total: number }): unknown
}

/** The options with all defaults. */
export type AuditSettings = ReturnType<typeof settingsOf>

/** The statuses of docs/errors.md. A separate copy, so that an error in the library's table is found. */
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

/** Stands for any status, or for any error code. */
export const anyAgreed = '*'

/** Whether a refusal with this error code may have this status. */
export function isAgreed(
  { statusCodes, errorCodes }: Pick<AuditSettings, 'statusCodes' | 'errorCodes'>,
  status: number,
  errorCode: string,
): boolean {
  return [...statusCodes].some(
    ([code, statuses]) =>
      (errorCodes.get(code) ?? [code]).some(agreed => agreed === errorCode || agreed === anyAgreed) &&
      statuses.some(agreed => agreed === status || agreed === anyAgreed),
  )
}

const optionNames: ReadonlySet<string> = new Set<keyof AuditOptions>([
  ...targetOptionNames,
  'playerId',
  'currency',
  'accounts',
  'otherPlayerId',
  'clawbacks',
  'statusCodes',
  'errorCodes',
  'formatDate',
  'concurrency',
  'raceRounds',
  'attempts',
  'timeBudgetMs',
  'only',
  'pauseMs',
  'restart',
  'seed',
  'onStart',
  'onResult',
])

/**
 * @param ids of all cases, for `only`
 * @throws {AuditError} `INVALID_OPTIONS`, naming the option
 */
export function settingsOf(options: AuditOptions, ids: readonly string[]) {
  check.names(options, optionNames)
  for (const name of ['formatDate', 'onStart', 'onResult'] as const) check.func(name, options[name])
  const target = targetSettingsOf(options, 'unsupported')
  const { otherPlayerId, pauseMs, timeBudgetMs, only } = options
  const playerId = textOption('playerId', options.playerId, 'the id of a test player; there is no default')
  const currency = textOption('currency', options.currency, 'the currency of the player, such as "EUR"')
  if (!isCurrency(currency)) check.invalid('currency must be a currency code, such as "EUR"')
  if (options.accounts?.includes(currency) === false)
    check.invalid(`accounts must contain currency, ${currency}`)
  if (otherPlayerId !== undefined)
    textOption('otherPlayerId', otherPlayerId, 'the id of a second test player')
  if (otherPlayerId === playerId) check.invalid('otherPlayerId must differ from playerId')
  const errorCodes = errorCodesOf(options.errorCodes)
  return {
    ...target,
    playerId,
    currency,
    /** Without the option, `currency` alone. */
    accounts: currenciesOf('accounts', options.accounts) ?? [currency],
    otherPlayerId: otherPlayerId ?? null,
    clawbacks: check.boolean('clawbacks', options.clawbacks ?? true),
    /** By error code, and `SUCCESS`. */
    statusCodes: statusCodesOf(options.statusCodes),
    /** By error code. */
    errorCodes,
    /** All codes of refusals, agreed or by default: a 5xx with one of them is a refusal too. */
    refusalCodes: new Set([...errorCodesKnown, ...[...errorCodes.values()].flat()]),
    /** Of the player's currency. */
    minorUnits: target.minorUnitsOf(currency),
    pauseMs: pauseMs === undefined ? null : check.whole('pauseMs', pauseMs, 1, 86_400_000),
    restart: restartOf(options.restart),
    formatDate(date: Date): string {
      const text = options.formatDate?.(date)
      return text === undefined ? date.toISOString() : notAsync(check, 'formatDate', text)
    },
    concurrency: check.whole('concurrency', options.concurrency ?? 16, 2, 64),
    raceRounds: check.whole('raceRounds', options.raceRounds ?? 6, 1, 1_000),
    attempts: check.whole('attempts', options.attempts ?? 25, 1, 100),
    /** `Infinity`: no limit. */
    timeBudgetMs:
      timeBudgetMs === undefined
        ? Number.POSITIVE_INFINITY
        : check.whole('timeBudgetMs', timeBudgetMs, 1, 86_400_000),
    only: only === undefined ? null : onlyOf(only, ids),
    seed: check.whole('seed', options.seed ?? 1, 0, 0xffff_ffff),
    onStart: options.onStart?.bind(options),
    onResult: options.onResult?.bind(options),
  }
}

const statusCodesOf = (given: unknown) =>
  agreedOf<number | '*'>('statusCodes', given, defaultStatusCodes, isStatus, 'a status from 200 to 599')

const errorCodesKnown = Object.keys(defaultStatusCodes).filter(code => code !== 'SUCCESS')

function errorCodesOf(given: unknown): Map<string, readonly string[]> {
  const defaults = Object.fromEntries(errorCodesKnown.map(code => [code, code]))
  const codes = given === 'any' ? { [anyAgreed]: anyAgreed } : given
  return agreedOf('errorCodes', codes, defaults, isText, 'an error code')
}

/** By error code, the values agreed with the platform: those of the options, otherwise the defaults. */
function agreedOf<T extends string | number>(
  name: string,
  given: unknown,
  defaults: Record<string, T>,
  isValid: (value: unknown) => value is T,
  description: string,
): Map<string, readonly T[]> {
  if (given !== undefined && (typeof given !== 'object' || given === null))
    check.invalid(`${name} must be an object`)
  const values = (code: string, value: unknown): T[] => {
    const list: unknown[] = Array.isArray(value) ? value : [value]
    if (list.length === 0 || !list.every(isValid))
      check.invalid(`${name}.${code} must be ${description}, or a list of them`)
    return list as T[]
  }
  const { [anyAgreed]: forOthers, ...named } = (given ?? {}) as Record<string, unknown>
  const agreed = new Map<string, readonly T[]>()
  for (const [code, value] of Object.entries(defaults)) {
    const isRefusal = code !== 'SUCCESS' && forOthers !== undefined
    agreed.set(code, isRefusal ? values(anyAgreed, forOthers) : [value])
  }
  for (const [code, value] of Object.entries(named)) {
    if (!(code in defaults)) {
      const known = Object.keys(defaults).join(', ')
      check.invalid(`${name}: unknown code ${JSON.stringify(code)}; the codes are ${known}`)
    }
    agreed.set(code, values(code, value))
  }
  return agreed
}

function restartOf(restart: unknown): Exclude<AuditOptions['restart'], undefined> | null {
  if (restart === undefined) return null
  if (typeof restart === 'function') return restart as () => Promise<void>
  const { command } = (restart ?? {}) as Record<string, unknown>
  return isText(command) ? { command } : check.invalid('restart must be a function or { command }')
}

function onlyOf(only: unknown, ids: readonly string[]): readonly string[] {
  if (!Array.isArray(only) || only.length === 0)
    check.invalid('only must list at least one case, such as "AU-101"')
  const chosen = only.flatMap((entry: unknown) => {
    const text = isText(entry) ? entry.trim().toUpperCase() : ''
    const matching = text.endsWith('*')
      ? ids.filter(id => id.startsWith(text.slice(0, -1)))
      : ids.filter(id => id === text)
    return matching.length > 0 ? matching : check.invalid(`only: there is no case ${JSON.stringify(entry)}`)
  })
  return [...new Set(chosen)]
}

function isStatus(value: unknown): value is number | '*' {
  return (
    value === anyAgreed || (Number.isInteger(value) && (value as number) >= 200 && (value as number) <= 599)
  )
}
