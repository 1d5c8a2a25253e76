/** Checks of options, for the audit and the simulator. Nothing is sent before all options are checked. */
import { AuditError } from './errors.js'

/** @throws {AuditError} `INVALID_OPTIONS` */
export function invalid(problem: string): never {
  throw new AuditError('INVALID_OPTIONS', `Invalid options: ${problem}`)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Rejects unknown names: a misspelt option would be ignored silently. */
export function checkNames(options: object, names: ReadonlySet<string>, of = 'the options'): void {
  if (typeof options !== 'object' || options === null) invalid(`${of} must be an object`)
  for (const name in options) {
    if (!names.has(name))
      invalid(of === 'the options' ? `unknown option "${name}"` : `${of}: unknown field "${name}"`)
  }
}

export function checkFunctions<T extends object>(options: T, names: readonly (keyof T & string)[]): void {
  for (const name of names) {
    if (options[name] !== undefined && typeof options[name] !== 'function')
      invalid(`${name} must be a function`)
  }
}

/** A URL of http or https, without credentials. */
export function urlOf(name: string, value: unknown): URL {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    invalid(`${name} must be a URL of http or https, such as "http://127.0.0.1:3000/wallet"`)
  if (url.username !== '' || url.password !== '')
    invalid(`${name} must not contain a user or password: use credentials, which are never shown`)
  return url
}

export function baseUrlOf(value: unknown): URL {
  const url = urlOf('baseUrl', value)
  if (url.search !== '' || url.hash !== '')
    invalid('baseUrl must not contain "?" or "#": paths are appended to it')
  return url
}

/** The base URL without a slash at its end: paths are appended to it. */
export function targetOf(base: URL): string {
  return `${base.origin}${base.pathname.replace(/\/+$/, '')}`
}

export function checkCredentials(credentials: unknown): void {
  const { username, password } = (credentials ?? {}) as Record<string, unknown>
  if (!isText(username) || username.includes(':'))
    invalid('credentials.username must be non-empty text without a colon')
  if (!isText(password)) invalid('credentials.password must be non-empty text')
}

/** HTTP Basic, as the value of the header. */
export function basicOf({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`
}

/** The headers with their names in lower case. */
export function headersOf(name: string, headers: unknown): Record<string, string> {
  if (headers === undefined) return {}
  if (typeof headers !== 'object' || headers === null)
    invalid(`${name} must be an object of header names and values`)
  const checked: Record<string, string> = {}
  for (const [header, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header))
      invalid(`${name}: ${JSON.stringify(header)} is not a valid header name`)
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      invalid(`${name}: the value of ${header} must be text on one line`)
    checked[header.toLowerCase()] = value
  }
  return checked
}

export function textOption(name: string, value: unknown, description: string): string {
  return isText(value) ? value : invalid(`${name} must be ${description}`)
}

/** @param most `null`: no limit other than that of safe integers */
export function wholeOption(name: string, value: unknown, least: number, most: number | null = null): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= (most ?? Infinity))
    return value as number
  return invalid(
    `${name} must be a whole number ${most === null ? `of at least ${least}` : `from ${least} to ${most}`}`,
  )
}
