/** The options of `signature`, read and checked once. */
import { optionChecks } from '../option-checks.js'
import { readTime, type TimeFormat, timeFormats } from './signature-time.js'
import {
  type SignatureAlgorithm,
  signatureAlgorithms,
  type Verifier,
  verifierOf,
} from './signature-verifier.js'
import { readTemplate, type SignedPart } from './signed-text.js'

export interface SignatureOptions {
  /** The header that has the signature: `"X-Signature"`. */
  header: string
  /**
   * `hmac-sha256`, `hmac-sha512`; `rsa-sha256`, `rsa-sha512` (PKCS #1 v1.5); `rsa-pss-sha256`,
   * `rsa-pss-sha512`; `ed25519`.
   */
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
   * The names of the parts of a header such as `"t=1795284000,v1=5257a8…"`. Up to five signatures are tried;
   * parts with other names are ignored.
   */
  parts?: { signature: string; timestamp?: string }
  /**
   * The time at which the platform signed. A call that was signed too long ago, or too far in the future, is
   * refused. `header` is omitted with `parts.timestamp`.
   */
  timestamp?: SignatureTimestamp
  /**
   * The signed text, with `{body}`, `{timestamp}` as it was sent, `{method}`, `{path}` as the caller sent it,
   * with the query, `{header:x-request-id}`.
   *
   * @default `{body}`, with a timestamp `{timestamp}.{body}`
   */
  signed?: string
  /**
   * The time in milliseconds since 1970, for tests.
   *
   * @default Date.now
   */
  now?(): number
}

export type SignatureEncoding = 'hex' | 'base64' | 'base64url'

export interface SignatureTimestamp {
  /** The header that has it; not with `parts.timestamp`. */
  header?: string
  /**
   * `"seconds"` or `"milliseconds"` since 1970, or `"iso"`: `"2026-11-21T18:00:00Z"`.
   *
   * @default 'seconds'
   */
  format?: TimeFormat
  /**
   * How far it may differ from the time of this machine, in milliseconds.
   *
   * @default 300_000
   */
  toleranceMs?: number
}

export interface SignatureSettings {
  /** In lower case. */
  header: string
  verifier: Verifier
  encoding: SignatureEncoding
  prefix: string
  parts: { signature: string; timestamp: string | null } | null
  timestamp: TimestampSettings | null
  signed: readonly SignedPart[]
  now: () => number
}

export interface TimestampSettings {
  /** In lower case; `null`: it is a part of the signature's header. */
  header: string | null
  /** Milliseconds since 1970; `null` for a text of another form. */
  read(text: string): number | null
  toleranceMs: number
}

const check = optionChecks(message => {
  throw new TypeError(message)
}, 'signature')

const optionNames = [
  'header',
  'algorithm',
  'secrets',
  'keys',
  'encoding',
  'prefix',
  'parts',
  'timestamp',
  'signed',
  'now',
]

/** @throws {TypeError} naming the option */
export function signatureSettingsOf(options: SignatureOptions): SignatureSettings {
  check.names(options, optionNames)
  const { encoding = 'hex', prefix = '', now = Date.now } = options
  if (typeof prefix !== 'string' || !/^[\x20-\x7e]*$/.test(prefix)) {
    check.invalid('prefix must be printable ASCII')
  }
  check.func('now', now)
  const parts = partsOf(options)
  const timestamp = timestampOf(options, parts?.timestamp ?? null)
  const { signed = timestamp === null ? '{body}' : '{timestamp}.{body}' } = options
  return {
    header: headerName('header', options.header),
    verifier: verifierOf(
      {
        algorithm: check.oneOf('algorithm', options.algorithm, signatureAlgorithms),
        secrets: options.secrets,
        keys: options.keys,
      },
      check.invalid,
    ),
    encoding: check.oneOf('encoding', encoding, ['hex', 'base64', 'base64url']),
    prefix,
    parts,
    timestamp,
    signed: readTemplate(signed, timestamp !== null, check.invalid),
    now: now.bind(options),
  }
}

function partsOf({ parts }: SignatureOptions): SignatureSettings['parts'] {
  if (parts === undefined) return null
  check.names(parts, ['signature', 'timestamp'], 'parts.')
  const { signature, timestamp = null } = parts
  for (const [name, value] of Object.entries(parts)) {
    if (typeof value !== 'string' || !/^[\w.-]+$/.test(value)) {
      check.invalid(`parts.${name} must be the name of a part: letters, digits, "_", "-" or "."`)
    }
  }
  if (signature === undefined) check.invalid('parts.signature is required')
  if (signature === timestamp) check.invalid('parts.timestamp must be another name than parts.signature')
  return { signature, timestamp }
}

function timestampOf({ timestamp }: SignatureOptions, part: string | null): TimestampSettings | null {
  if (timestamp === undefined && part === null) return null
  if (timestamp !== undefined) check.names(timestamp, ['header', 'format', 'toleranceMs'], 'timestamp.')
  const { header, format = 'seconds', toleranceMs = 300_000 } = timestamp ?? {}
  if ((header === undefined) === (part === null)) {
    check.invalid('timestamp.header is required without parts.timestamp, and not supported with it')
  }
  const form = check.oneOf('timestamp.format', format, timeFormats)
  return {
    header: header === undefined ? null : headerName('timestamp.header', header),
    read: text => readTime(text, form),
    toleranceMs: check.whole('timestamp.toleranceMs', toleranceMs, 1),
  }
}

function headerName(option: string, value: unknown): string {
  if (typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value)) return value.toLowerCase()
  return check.invalid(`${option} must be the name of a header`)
}
