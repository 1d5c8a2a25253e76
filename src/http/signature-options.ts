/** The options of `signature`, read and checked once. */
import { optionChecks } from '../option-checks.js'
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

export interface SignatureSettings {
  /** In lower case. */
  header: string
  verifier: Verifier
  encoding: SignatureEncoding
  prefix: string
  timestamp: TimestampSettings | null
  signed: readonly SignedPart[]
}

export interface TimestampSettings {
  /** In lower case. */
  header: string
  /** Milliseconds per unit of its number. */
  unitMs: number
  toleranceMs: number
}

const check = optionChecks(message => {
  throw new TypeError(message)
}, 'signature')

const optionNames = ['header', 'algorithm', 'secrets', 'keys', 'encoding', 'prefix', 'timestamp', 'signed']

/** @throws {TypeError} naming the option */
export function signatureSettingsOf(options: SignatureOptions): SignatureSettings {
  check.names(options, optionNames)
  const { encoding = 'hex', prefix = '' } = options
  if (typeof prefix !== 'string' || !/^[\x20-\x7e]*$/.test(prefix)) {
    check.invalid('prefix must be printable ASCII')
  }
  const timestamp = timestampOf(options)
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
    timestamp,
    signed: readTemplate(signed, timestamp !== null, check.invalid),
  }
}

function timestampOf({ timestamp }: SignatureOptions): TimestampSettings | null {
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
