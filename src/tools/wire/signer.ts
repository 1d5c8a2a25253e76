/** Signs requests with a shared secret, as `signature` of bet-wallet/http reads them. */
import { createHmac } from 'node:crypto'
import { check, textOption } from './checks.js'
import type { SignedRequest } from './target.js'

/** Where a signature is, and over what. The defaults are those of `signature`. */
interface SignerOptions {
  /** The header that has it. */
  header: string
  /** `hmac-sha256` or `hmac-sha512`. */
  algorithm?: string
  /** `hex`, `base64` or `base64url`. */
  encoding?: string
  /** Before the signature: `sha256=`. */
  prefix?: string
  /** The header that has the time, in seconds since 1970. */
  timestampHeader?: string
  /** With `{body}`, `{timestamp}`, `{method}` and `{path}`. */
  signed?: string
}

const optionNames = ['header', 'algorithm', 'encoding', 'prefix', 'timestampHeader', 'signed']
const digests: Readonly<Record<string, string>> = { 'hmac-sha256': 'sha256', 'hmac-sha512': 'sha512' }

/**
 * @returns the option `sign` of audit and simulator, with its secret, so that reports can mask it
 * @throws {AuditError} `INVALID_OPTIONS`, naming the option
 */
export function signerOf(
  options: SignerOptions,
  secret: string,
): ((request: SignedRequest) => Record<string, string>) & { secret: string } {
  check.names(options, optionNames)
  const { algorithm = 'hmac-sha256', encoding = 'hex', prefix = '', timestampHeader } = options
  const header = textOption('header', options.header, 'the name of the header that has the signature')
  const digest = digests[check.oneOf('algorithm', algorithm, Object.keys(digests))] ?? ''
  const form = check.oneOf('encoding', encoding, ['hex', 'base64', 'base64url'] as const)
  const template = options.signed ?? (timestampHeader === undefined ? '{body}' : '{timestamp}.{body}')
  const sign = ({ method, url, body }: SignedRequest) => {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const { pathname, search } = new URL(url)
    const parts = new Map<string, string | Uint8Array>([
      ['{body}', body],
      ['{timestamp}', timestamp],
      ['{method}', method],
      ['{path}', `${pathname}${search}`],
    ])
    const hmac = createHmac(digest, secret)
    for (const part of template.split(/(\{(?:body|timestamp|method|path)\})/))
      hmac.update(parts.get(part) ?? part)
    return {
      [header]: prefix + hmac.digest(form),
      ...(timestampHeader === undefined ? {} : { [timestampHeader]: timestamp }),
    }
  }
  return Object.assign(sign, { secret })
}
