/** Checks of options, for the audit and the simulator. Nothing is sent before all options are checked. */
import { type OptionChecks, optionChecks } from '../../option-checks.js'
import { AuditError } from './errors.js'

export const check: OptionChecks = optionChecks(message => {
  throw new AuditError('INVALID_OPTIONS', message)
})

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export const isCurrency = (value: unknown) => isText(value) && /^[A-Za-z0-9._-]{1,16}$/.test(value)

/** The currencies of the accounts of a player; `null`: there is no such option. */
export function currenciesOf(name: string, value: unknown): readonly string[] | null {
  if (value === undefined) return null
  const isList = Array.isArray(value) && value.every(isCurrency) && new Set(value).size === value.length
  return isList && value.length >= 2 && value.length <= 4
    ? value
    : check.invalid(`${name} must be a list of 2 to 4 different currency codes, such as ["EUR", "JPY"]`)
}

/** A URL of http or https, without credentials. */
export function urlOf(name: string, value: unknown): URL {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    check.invalid(`${name} must be a URL of http or https, such as "http://127.0.0.1:3000/wallet"`)
  if (url.username !== '' || url.password !== '')
    check.invalid(`${name} must not contain a user or password: they would be shown`)
  return url
}

export function baseUrlOf(value: unknown): URL {
  const url = urlOf('baseUrl', value)
  if (url.search !== '' || url.hash !== '')
    check.invalid('baseUrl must not contain "?" or "#": paths are appended to it')
  return url
}

export function checkCredentials(credentials: unknown): void {
  const { username, password } = (credentials ?? {}) as Record<string, unknown>
  if (!isText(username) || username.includes(':'))
    check.invalid('credentials.username must be non-empty text without a colon')
  if (!isText(password)) check.invalid('credentials.password must be non-empty text')
}

/** HTTP Basic, as the value of the header. */
export function basicOf({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`
}

/** The headers with their names in lower case. */
export function headersOf(name: string, headers: unknown): Record<string, string> {
  if (headers === undefined) return {}
  if (typeof headers !== 'object' || headers === null)
    check.invalid(`${name} must be an object of header names and values`)
  const checked: Record<string, string> = {}
  for (const [header, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header))
      check.invalid(`${name}: ${JSON.stringify(header)} is not a valid header name`)
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      check.invalid(`${name}: the value of ${header} must be text on one line`)
    checked[header.toLowerCase()] = value
  }
  return checked
}

export function textOption(name: string, value: unknown, description: string): string {
  return isText(value) ? value : check.invalid(`${name} must be ${description}`)
}
