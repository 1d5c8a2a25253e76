/** Signatures over the bytes of the body, by HMAC, RSA or Ed25519. */
import type { AuthenticationCall } from './authentication.js'
import { type HttpRequest, headerOf, headerProblem } from './message.js'
import { check, type SignatureAlgorithm, verifierOf } from './signature-verifier.js'
import { readTemplate, signedBytes, signedHeaders } from './signed-text.js'

export interface SignatureOptions {
  /** The header that has the signature: `"X-Signature"`. */
  header: string
  /** `hmac-sha256`, `hmac-sha512`; `rsa-sha256`, `rsa-sha512` (PKCS #1 v1.5); `ed25519`. */
  algorithm: SignatureAlgorithm
  /** For HMAC: the secret, as text (UTF-8) or as bytes. Two while it is changed: both are accepted. */
  secrets?: readonly (string | Uint8Array)[]
  /**
   * For RSA and Ed25519: the platform's public key in PEM; RSA with at least 2,048 bits. Two while it is
   * changed: both are accepted.
   */
  keys?: readonly string[]
  /**
   * The encoding of the signature: `"hex"`, `"base64"` or `"base64url"`; padding may be missing.
   *
   * @default 'hex'
   */
  encoding?: SignatureEncoding
  /**
   * The text before the signature: `"sha256="`.
   *
   * @default none
   */
  prefix?: string
  /**
   * The time at which the platform signed. A call that was signed too long ago, or too far in the future, is
   * refused.
   */
  timestamp?: SignatureTimestamp
  /**
   * The signed text, with `{body}`, `{timestamp}` as it was sent, `{method}`, `{path}` as the caller sent it,
   * with the query, `{header:x-request-id}`.
   *
   * @default `{body}`, with a timestamp `{timestamp}.{body}`
   */
  signed?: string
}

export type SignatureEncoding = 'hex' | 'base64' | 'base64url'

export interface SignatureTimestamp {
  /** The header that has it. */
  header: string
  /**
   * `"seconds"` or `"milliseconds"` since 1970.
   *
   * @default 'seconds'
   */
  format?: 'seconds' | 'milliseconds'
  /**
   * How far it may differ from the time of this machine, in milliseconds.
   *
   * @default 300_000
   */
  toleranceMs?: number
}

/**
 * Authenticates calls that are signed with one of the keys. The headers and the timestamp are checked before
 * the body is read, up to `bodyBytesMax`. HMACs are compared in constant time.
 *
 * A repeated call within the tolerance is accepted. On the wallet's paths it is a retry, and changes nothing.
 * Where own `routes` are signed, sign `{method}{path}{body}`: a body signed for one route is accepted at
 * another otherwise.
 *
 * @returns a function for the option `authenticate`
 * @throws {TypeError} for an invalid option, naming it
 */
export function signature(
  options: SignatureOptions,
): (request: HttpRequest, call: AuthenticationCall) => Promise<boolean> {
  const settings = settingsOf(options)
  const { header, verifier, signed } = settings
  return async (request, call) => {
    const claim = claimOf(request, settings)
    if (typeof claim === 'string') return call.refuse(`signature: ${claim}`)
    const bytes = signedBytes(signed, request, claim.timestamp, await call.rawBody())
    if (bytes === null) return call.refuse('signature: a signed part has a character above U+00FF')
    return verifier.accepts(claim.sent, bytes) || call.refuse(`signature: ${header} matches none of the keys`)
  }
}

const optionNames = ['header', 'algorithm', 'secrets', 'keys', 'encoding', 'prefix', 'timestamp', 'signed']

type Settings = ReturnType<typeof settingsOf>

function settingsOf(options: SignatureOptions) {
  check.names(options, optionNames)
  const { algorithm, secrets, keys, encoding = 'hex', prefix = '' } = options
  if (typeof prefix !== 'string' || !/^[\x20-\x7e]*$/.test(prefix)) {
    check.invalid('prefix must be printable ASCII')
  }
  const timestamp = timestampOf(options)
  const { signed = timestamp === null ? '{body}' : '{timestamp}.{body}' } = options
  return {
    header: headerName('header', options.header),
    verifier: verifierOf(algorithm, secrets, keys),
    encoding: check.oneOf('encoding', encoding, ['hex', 'base64', 'base64url']),
    prefix,
    timestamp,
    signed: readTemplate(signed, timestamp !== null),
  }
}

function timestampOf({ timestamp }: SignatureOptions) {
  if (timestamp === undefined) return null
  check.names(timestamp, ['header', 'format', 'toleranceMs'], 'timestamp.')
  const { header, format = 'seconds', toleranceMs = 300_000 } = timestamp
  const unit = check.oneOf('timestamp.format', format, ['seconds', 'milliseconds'])
  return {
    header: headerName('timestamp.header', header),
    unitMs: unit === 'seconds' ? 1_000 : 1,
    toleranceMs: check.whole('timestamp.toleranceMs', toleranceMs, 1),
  }
}

function headerName(option: string, value: unknown): string {
  if (typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value)) return value.toLowerCase()
  return check.invalid(`${option} must be the name of a header`)
}

/**
 * What the headers claim: the signature, in bytes, and the timestamp as it was sent; or why they cannot be
 * right.
 */
function claimOf(request: HttpRequest, settings: Settings): { sent: Buffer; timestamp: string } | string {
  const { header, timestamp, signed } = settings
  for (const name of [header, timestamp?.header ?? header, ...signedHeaders(signed)]) {
    const problem = headerProblem(request, name)
    if (problem !== null) return problem
  }
  const sent = bytesOf(headerOf(request, header) ?? '', settings)
  if (typeof sent === 'string') return `${header} ${sent}`
  if (timestamp === null) return { sent, timestamp: '' }
  const time = headerOf(request, timestamp.header) ?? ''
  return timeProblem(time, timestamp) ?? { sent, timestamp: time }
}

const forms = {
  hex: /^(?:[0-9a-fA-F]{2})+$/,
  base64: /^[A-Za-z0-9+/]+={0,2}$/,
  base64url: /^[A-Za-z0-9_-]+={0,2}$/,
}

/** The signature in bytes, or what is wrong with its text. Buffer.from ignores what it cannot decode. */
function bytesOf(text: string, { encoding, prefix, verifier }: Settings): Buffer | string {
  if (!text.startsWith(prefix)) return `does not begin with "${prefix}"`
  const encoded = text.slice(prefix.length)
  const bytes = forms[encoding].test(encoded) ? Buffer.from(encoded, encoding) : null
  if (bytes !== null && verifier.lengths.has(bytes.length)) return bytes
  return `is not ${[...verifier.lengths].join(' or ')} bytes in ${encoding}`
}

function timeProblem(
  text: string,
  { header, unitMs, toleranceMs }: NonNullable<Settings['timestamp']>,
): string | null {
  // 15 digits of milliseconds are the year 33658; more would not be exact.
  if (!/^[0-9]{1,15}$/.test(text)) return `${header} has no valid time`
  const ageMs = Date.now() - Number(text) * unitMs
  if (Math.abs(ageMs) <= toleranceMs) return null
  const difference = `${Math.round(Math.abs(ageMs) / 1_000)} s ${ageMs > 0 ? 'ago' : 'in the future'}`
  return `${header} was signed ${difference}, and the tolerance is ${toleranceMs / 1_000} s`
}
