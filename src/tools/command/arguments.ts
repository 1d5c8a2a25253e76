/** Reads the arguments that commands have in common. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { microsecondsOf } from '../../lookups/times.js'
import { signerOf } from '../wire/signer.js'

/** Wrong usage of the command. The message is for the user. */
export class UsageError extends Error {}

export const passwordVariable = 'BET_WALLET_PASSWORD'
export const secretVariable = 'BET_WALLET_SECRET'

/** How calls are authenticated. */
const authenticationOptions = {
  user: { type: 'string' },
  password: { type: 'string' },
  header: { type: 'string', multiple: true },
  'sign-header': { type: 'string' },
  'sign-algorithm': { type: 'string' },
  'sign-encoding': { type: 'string' },
  'sign-prefix': { type: 'string' },
  'sign-timestamp': { type: 'string' },
  'sign-text': { type: 'string' },
} as const satisfies ParseArgsConfig['options']

export const commonOptions = {
  ...authenticationOptions,
  'settle-url': { type: 'string' },
  'settle-command': { type: 'string' },
  concurrency: { type: 'string' },
  seed: { type: 'string' },
  timeout: { type: 'string' },
  json: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options']

/** @throws {UsageError} for unknown options and missing values */
export function parseWords<const T extends NonNullable<ParseArgsConfig['options']>>(
  words: string[],
  options: T,
) {
  try {
    return parseArgs({ args: words, options, allowPositionals: true, strict: true })
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new UsageError(message)
    // Node.js goes on about arguments that begin with a '-'.
    const [unknown = ''] = message.split('. ')
    throw new UsageError(unknown.endsWith("'--html'") ? `${unknown}: only ${withHtml} have it` : unknown)
  }
}

const withHtml = 'audit, bet, player, reconcile and simulate'

export function baseUrlOf(positionals: readonly string[]): string {
  const [baseUrl, ...more] = positionals
  if (baseUrl === undefined)
    throw new UsageError('The base URL is missing, for example http://127.0.0.1:3000/wallet')
  if (more.length > 0) throw new UsageError(`Only one base URL is allowed; unexpected: ${more.join(' ')}`)
  return baseUrl
}

export function noArguments(command: string, positionals: readonly string[]): void {
  if (positionals.length > 0) throw new UsageError(`${command} has no arguments: ${positionals.join(' ')}`)
}

/** The id after the name of the command. */
export function idOf(what: string, positionals: readonly string[]): string {
  const [id, ...more] = positionals
  if (id === undefined || id === '') throw new UsageError(`The id of the ${what} is missing`)
  if (more.length > 0)
    throw new UsageError(`Only one id is allowed; unexpected: ${more.join(' ')}. Quote an id with spaces.`)
  return id
}

export function required(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new UsageError(`${name} is missing; there is no default`)
  return value
}

/** `{}` without a value: an option that is `undefined` differs from a missing one. */
export function given<K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [name in K]: V })
}

export function wholeNumberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[0-9]{1,15}$/.test(text))
    throw new UsageError(`${name} must be a whole number, not ${JSON.stringify(text)}`)
  return Number(text)
}

/** A time of a lookup, in UTC: lookups of a config file may know no other. */
export function timeOf(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const time = microsecondsOf(text)
  if (time !== null) return `${time}Z`
  throw new UsageError(
    `${name} must be a time, as in 2026-11-22, 2026-11-22T10:00:00Z or 2026-11-22T10:00+01:00, not ${JSON.stringify(text)}`,
  )
}

export function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[0-9]+(\.[0-9]+)?$/.test(text))
    throw new UsageError(`${name} must be a number, not ${JSON.stringify(text)}`)
  return Number(text)
}

const msOfUnit: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

export function millisecondsOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const [, amount = '', unit = ''] = /^([0-9]{1,9}(?:\.[0-9]+)?)(ms|s|m|h)$/.exec(text) ?? []
  const ms = msOfUnit[unit]
  if (ms === undefined)
    throw new UsageError(
      `${name} must be a duration such as 500ms, 10s, 5m or 1h, not ${JSON.stringify(text)}`,
    )
  return Math.round(Number(amount) * ms)
}

/** The option `settle`: a URL or a command, not both. */
export function settleOf(values: { 'settle-url'?: string; 'settle-command'?: string }) {
  const { 'settle-url': url, 'settle-command': command } = values
  if (url !== undefined && command !== undefined)
    throw new UsageError('--settle-url and --settle-command exclude each other')
  if (url !== undefined) return { settle: { url } }
  return command === undefined ? {} : { settle: { command } }
}

type AuthenticationValues = {
  [name in Exclude<keyof typeof authenticationOptions, 'header'>]?: string
} & { header?: string[] }

export function authenticationOf(values: AuthenticationValues) {
  const { user, header = [] } = values
  const password = values.password ?? process.env[passwordVariable]
  if (user === undefined && values.password !== undefined) throw new UsageError('--password needs --user')
  if (user !== undefined && !password)
    throw new UsageError(`--user needs a password: in ${passwordVariable} (environment), or by --password`)
  const headers: Record<string, string> = {}
  for (const line of header) {
    const colon = line.indexOf(':')
    // The message does not show the argument, since its value is a secret.
    if (colon < 1) throw new UsageError('--header must have the form "X-Api-Key: …"')
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim()
  }
  return {
    ...(user === undefined || password === undefined ? {} : { credentials: { username: user, password } }),
    ...(header.length === 0 ? {} : { headers }),
    ...signOf(values),
  }
}

/** HMAC over the body; the secret is never an argument. */
function signOf(values: AuthenticationValues): { sign?: ReturnType<typeof signerOf> } {
  const { 'sign-header': header } = values
  const others = (
    ['sign-algorithm', 'sign-encoding', 'sign-prefix', 'sign-timestamp', 'sign-text'] as const
  ).filter(name => values[name] !== undefined)
  if (header === undefined) {
    if (others.length > 0) throw new UsageError(`--${others[0]} needs --sign-header`)
    return {}
  }
  const secret = process.env[secretVariable]
  if (!secret) throw new UsageError(`--sign-header needs the secret in ${secretVariable} (environment)`)
  return {
    sign: signerOf({
      header,
      secret,
      ...given('algorithm', values['sign-algorithm']),
      ...given('encoding', values['sign-encoding']),
      ...given('prefix', values['sign-prefix']),
      ...given('timestampHeader', values['sign-timestamp']),
      ...given('signed', values['sign-text']),
    }),
  }
}
