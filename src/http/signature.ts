/** Signatures over the bytes of the body, by HMAC, RSA or Ed25519. */
import type { AuthenticationCall } from './authentication.js'
import { type HttpRequest, headerOf, headerProblem } from './message.js'
import {
  type SignatureOptions,
  type SignatureSettings,
  signatureSettingsOf,
  type TimestampSettings,
} from './signature-options.js'
import { signedBytes, signedHeaders } from './signed-text.js'

/** What a call claims: the signature, in bytes, and the timestamp as it was sent. */
interface Claim {
  sent: Buffer
  timestamp: string
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
  const settings = signatureSettingsOf(options)
  const { header, verifier, signed } = settings
  return async (request, call) => {
    const claim = claimOf(request, settings)
    if (typeof claim === 'string') return call.refuse(`signature: ${claim}`)
    const bytes = signedBytes(signed, request, claim.timestamp, await call.rawBody())
    if (bytes === null) return call.refuse('signature: a signed part has a character above U+00FF')
    return verifier.accepts(claim.sent, bytes) || call.refuse(`signature: ${header} matches none of the keys`)
  }
}

/** What the headers claim, or why they cannot be right. */
function claimOf(request: HttpRequest, settings: SignatureSettings): Claim | string {
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
function bytesOf(text: string, { encoding, prefix, verifier }: SignatureSettings): Buffer | string {
  if (!text.startsWith(prefix)) return `does not begin with "${prefix}"`
  const encoded = text.slice(prefix.length)
  const bytes = forms[encoding].test(encoded) ? Buffer.from(encoded, encoding) : null
  if (bytes !== null && verifier.lengths.has(bytes.length)) return bytes
  return `is not ${[...verifier.lengths].join(' or ')} bytes in ${encoding}`
}

function timeProblem(text: string, { header, unitMs, toleranceMs }: TimestampSettings): string | null {
  // 15 digits of milliseconds are the year 33658; more would not be exact.
  if (!/^[0-9]{1,15}$/.test(text)) return `${header} has no valid time`
  const ageMs = Date.now() - Number(text) * unitMs
  if (Math.abs(ageMs) <= toleranceMs) return null
  const difference = `${Math.round(Math.abs(ageMs) / 1_000)} s ${ageMs > 0 ? 'ago' : 'in the future'}`
  return `${header} was signed ${difference}, and the tolerance is ${toleranceMs / 1_000} s`
}
