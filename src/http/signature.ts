/** Signatures over the bytes of the body, by HMAC, RSA or Ed25519. */
import type { AuthenticationCall } from './authentication.js'
import { type HttpRequest, headerOf, headerProblem } from './message.js'
import { type SignatureOptions, type SignatureSettings, signatureSettingsOf } from './signature-options.js'
import { signedBytes, signedHeaders } from './signed-text.js'

/** Parts of a header that are read. */
const partsMax = 20
/** Signatures of one call that are tried. */
const signaturesMax = 5

/** What a call claims: signatures, in bytes, and the timestamp as it was sent. */
interface Claim {
  signatures: readonly Buffer[]
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
    let accepted = false
    for (const sent of claim.signatures) {
      const valid = verifier.accepts(sent, bytes)
      accepted ||= valid
    }
    return accepted || call.refuse(`signature: ${header} matches none of the keys`)
  }
}

/** What the headers claim, or why they cannot be right. */
function claimOf(request: HttpRequest, settings: SignatureSettings): Claim | string {
  const { header, parts, timestamp, signed } = settings
  for (const name of [header, timestamp?.header ?? header, ...signedHeaders(signed)]) {
    const problem = headerProblem(request, name)
    if (problem !== null) return problem
  }
  const sent = headerOf(request, header) ?? ''
  const named = parts === null ? { signature: [sent], timestamp: [] } : partsOf(sent, parts)
  if (typeof named === 'string') return `${header} has ${named}`

  const signatures: Buffer[] = []
  for (const text of named.signature) {
    const bytes = bytesOf(text, settings)
    if (typeof bytes === 'string') return `${header} ${bytes}`
    signatures.push(bytes)
  }
  if (timestamp === null) return { signatures, timestamp: '' }

  const time =
    timestamp.header === null ? (named.timestamp[0] ?? '') : (headerOf(request, timestamp.header) ?? '')
  return timeProblem(time, settings) ?? { signatures, timestamp: time }
}

/** The values of `t=…,v1=…` by name. */
function partsOf(
  header: string,
  names: NonNullable<SignatureSettings['parts']>,
): { signature: string[]; timestamp: string[] } | string {
  const parts = header.split(',', partsMax + 1)
  if (parts.length > partsMax) return `more than ${partsMax} parts`
  const valuesOf = (name: string) =>
    parts
      .map(part => part.trim())
      .flatMap(part => (part.startsWith(`${name}=`) ? [part.slice(name.length + 1)] : []))
  const signature = valuesOf(names.signature)
  const timestamp = names.timestamp === null ? [] : valuesOf(names.timestamp)
  if (signature.length === 0) return `no part ${names.signature}`
  if (signature.length > signaturesMax) return `more than ${signaturesMax} parts ${names.signature}`
  if (names.timestamp !== null && timestamp.length !== 1) {
    return `${timestamp.length === 0 ? 'no part' : 'several parts'} ${names.timestamp}`
  }
  return { signature, timestamp }
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

function timeProblem(text: string, { header, timestamp, now }: SignatureSettings): string | null {
  if (timestamp === null) return null
  const name = timestamp.header ?? header
  const time = timestamp.read(text)
  if (time === null) return `${name} has no valid time`
  const ageMs = now() - time
  if (Math.abs(ageMs) <= timestamp.toleranceMs) return null
  const difference = `${Math.round(Math.abs(ageMs) / 1_000)} s ${ageMs > 0 ? 'ago' : 'in the future'}`
  return `${name} was signed ${difference}, and the tolerance is ${timestamp.toleranceMs / 1_000} s`
}
