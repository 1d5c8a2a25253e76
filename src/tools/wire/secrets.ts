/**
 * Credentials in texts of the wallet: the debug pages of frameworks and gateways show the headers of the
 * request. What is recorded for reports has `***` in their place; answers are judged as they are.
 */
import type { TargetSettings } from './target.js'

/** Returns the text without the secrets. */
export type Mask = (text: string) => string

/** Shorter ones are in any text. */
const charactersMin = 4

/** As they are, in base64, and as URLs, JSON, HTML or a mixture of them escape their characters. */
export function maskOf(secrets: readonly string[]): Mask {
  const all = new Set(secrets.flatMap(secret => [secret, ...base64Of(secret)]))
  const found = [...all]
    .filter(secret => secret.length >= charactersMin)
    // The longest first: one may begin with another.
    .sort((one, other) => other.length - one.length)
    .map(secret => ({ secret, plain: longest(secret.split(/[^A-Za-z0-9]+/)) }))
  return text =>
    found.reduce(
      // Letters and digits are never escaped. Signatures are new in each request: few answers need an
      // expression.
      (rest, { secret, plain }) => (rest.includes(plain) ? rest.replace(patternOf(secret), '***') : rest),
      text,
    )
}

const longest = (texts: readonly string[]) =>
  texts.reduce((one, other) => (other.length > one.length ? other : one), '')

const patternsMax = 100
const patterns = new Map<string, RegExp>()

function patternOf(secret: string): RegExp {
  const known = patterns.get(secret)
  if (known !== undefined) return known
  if (patterns.size >= patternsMax) patterns.clear()
  const pattern = new RegExp(`(?:${Array.from(secret, escapesOf).join('')})`, 'g')
  patterns.set(secret, pattern)
  return pattern
}

/** The secrets of the options. */
export function secretsOf({
  credentials,
  headers,
  settle,
  signSecret,
}: Pick<TargetSettings, 'credentials' | 'headers' | 'settle' | 'signSecret'>): string[] {
  return [
    ...(credentials === null ? [] : [credentials.password]),
    ...(signSecret === null ? [] : [signSecret]),
    ...secretsIn(headers),
    ...(typeof settle === 'object' && 'url' in settle ? secretsIn(settle.headers) : []),
  ]
}

/** The secrets in the headers of a request: complete values, and the parts in which a wallet reads them. */
export function secretsIn(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.toLowerCase() === 'content-type' ? [] : [value, ...partsOf(value)],
  )
}

/** Without the scheme (`Bearer …`), the password of HTTP Basic, and the values of lists such as cookies. */
function partsOf(value: string): string[] {
  const [, scheme = '', rest = ''] = /^(\S+) +(.+)$/.exec(value) ?? []
  const listed = value.split(/[;,] */).map(part => part.slice(part.indexOf('=') + 1).replaceAll('"', ''))
  if (scheme.toLowerCase() !== 'basic') return [rest, ...listed]
  const decoded = Buffer.from(rest, 'base64').toString('utf8')
  return [rest, decoded.slice(decoded.indexOf(':') + 1)]
}

/** Without padding. */
function base64Of(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8')
  return [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')]
}

const entities: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

/** An expression for a character as it is, and as URLs, JSON and HTML escape it. */
function escapesOf(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character
  const hex = (value: number, digits: number) =>
    value
      .toString(16)
      .padStart(digits, '0')
      .replace(/[a-f]/g, digit => `[${digit}${digit.toUpperCase()}]`)
  const percent = (encoding: 'utf8' | 'latin1') =>
    Array.from(Buffer.from(character, encoding), byte => `%${hex(byte, 2)}`).join('')
  const code = character.codePointAt(0) ?? 0
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  const forms = [
    percent('utf8'),
    percent('latin1'),
    units.map(unit => `\\\\u${hex(unit, 4)}`).join(''),
    `&#(?:${code}|[xX]${hex(code, 1)});`,
    ...(character === ' ' ? ['\\+'] : []),
    ...(entities[character] === undefined ? [] : [`&${entities[character]};`]),
    // The last: % begins other forms.
    units.map(unit => `\\u${unit.toString(16).padStart(4, '0')}`).join(''),
  ]
  // JSON within JSON has several backslashes.
  return `\\\\{0,8}(?:${forms.join('|')})`
}
