/** Checks of options, alike for the audit and the simulation: what is wrong is named before anything is sent. */
import { AuditError } from './errors.js'

/** @throws {AuditError} `INVALID_OPTIONS` */
export function invalid(flaw: string): never {
  throw new AuditError('INVALID_OPTIONS', `Invalid options: ${flaw}`)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** A misspelt option would else be silently none. */
export function checkNames(options: object, names: ReadonlySet<string>, of = 'the options'): void {
  if (typeof options !== 'object' || options === null) invalid(`${of} must be an object`)
  for (const name in options)
    if (!names.has(name))
      invalid(of === 'the options' ? `there is no option ${name}` : `${of} has no field ${name}`)
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
  if (url.username !== '' || url.password !== '') {
    invalid(
      `${name} must be without user and password: give them as credentials, so that they are shown nowhere`,
    )
  }
  return url
}

export function baseUrlOf(value: unknown): URL {
  const url = urlOf('baseUrl', value)
  if (url.search !== '' || url.hash !== '')
    invalid('baseUrl must be without ? and #: paths are appended to it')
  return url
}

/** What paths are appended to. */
export function targetOf(base: URL): string {
  return `${base.origin}${base.pathname.replace(/\/+$/, '')}`
}

export function checkCredentials(credentials: unknown): void {
  const { username, password } = (credentials ?? {}) as Record<string, unknown>
  if (!isText(username) || username.includes(':'))
    invalid('credentials.username must be text that is not empty and has no colon')
  if (!isText(password)) invalid('credentials.password must be text that is not empty')
}

/** HTTP Basic, as the header's value. */
export function basicOf({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`
}

/** With their names in lower case. */
export function headersOf(name: string, headers: unknown): Record<string, string> {
  if (headers === undefined) return {}
  if (typeof headers !== 'object' || headers === null) invalid(`${name} must be an object of header names`)
  const found: Record<string, string> = {}
  for (const [header, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header))
      invalid(`${name}: ${JSON.stringify(header)} is no name of a header`)
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      invalid(`${name}: the value of ${header} must be text of one line`)
    found[header.toLowerCase()] = value
  }
  return found
}

export function textOption(name: string, value: unknown, what: string): string {
  return isText(value) ? value : invalid(`${name} must be ${what}`)
}

/** @param most `null`: no limit but that of numbers themselves */
export function wholeOption(name: string, value: unknown, least: number, most: number | null = null): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= (most ?? Infinity))
    return value as number
  return invalid(
    `${name} must be a whole number ${most === null ? `of at least ${least}` : `from ${least} to ${most}`}`,
  )
}
