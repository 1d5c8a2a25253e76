/** The algorithms of signatures, over `node:crypto`. */

import { createHmac, createPublicKey, createSecretKey, type KeyObject, verify } from 'node:crypto'
import { textOf } from '../foreign-values.js'
import { type OptionChecks, optionChecks } from '../option-checks.js'
import { isExpected } from './constant-time.js'

/** The checks of the options of `signature`. */
export const check: OptionChecks = optionChecks(message => {
  throw new TypeError(message)
}, 'signature')

const signatureAlgorithms = [
  'hmac-sha256',
  'hmac-sha512',
  /** PKCS #1 v1.5. */
  'rsa-sha256',
  'rsa-sha512',
  'ed25519',
] as const

export type SignatureAlgorithm = (typeof signatureAlgorithms)[number]

export interface Verifier {
  /** The lengths that a signature may have, in bytes: keys of RSA may differ. */
  lengths: ReadonlySet<number>
  /** Whether one of the keys made this signature over these bytes. */
  accepts(signature: Buffer, signed: Uint8Array): boolean
}

/** @throws {TypeError} naming the option */
export function verifierOf(algorithm: unknown, secrets: unknown, keys: unknown): Verifier {
  const [type, hash = ''] = check.oneOf('algorithm', algorithm, signatureAlgorithms).split('-')
  const [used, unused, given, other] =
    type === 'hmac' ? ['secrets', 'keys', secrets, keys] : ['keys', 'secrets', keys, secrets]
  if (other !== undefined) check.invalid(`${algorithm} has the option ${used}, not ${unused}`)
  if (!Array.isArray(given) || given.length === 0) check.invalid(`${used} must be a list of at least one`)
  if (type === 'hmac') return hmac(hash, given.map(secretOf))
  return asymmetric(
    hash || null,
    given.map((key, index) => publicKeyOf(key, index, type)),
  )
}

function hmac(hash: string, secrets: readonly KeyObject[]): Verifier {
  return {
    lengths: new Set([hash === 'sha256' ? 32 : 64]),
    accepts(signature, signed) {
      let accepted = false
      for (const secret of secrets) {
        const mac = createHmac(hash, secret).update(signed).digest()
        const same = isExpected(signature, mac) // of all of them: the duration does not tell which
        accepted ||= same
      }
      return accepted
    },
  }
}

/** Public keys verify: there is no secret that durations could reveal. */
function asymmetric(hash: string | null, keys: readonly KeyObject[]): Verifier {
  return {
    lengths: new Set(keys.map(signatureLengthOf)),
    accepts: (signature, signed) => keys.some(key => verify(hash, signed, key, signature)),
  }
}

/** A signature of RSA is as long as its modulus, one of Ed25519 has 64 bytes. */
function signatureLengthOf({ asymmetricKeyDetails: details }: KeyObject): number {
  return details?.modulusLength === undefined ? 64 : Math.ceil(details.modulusLength / 8)
}

function secretOf(secret: unknown, index: number): KeyObject {
  const bytes = typeof secret === 'string' ? Buffer.from(secret) : secret
  if (!ArrayBuffer.isView(bytes) || bytes.byteLength === 0) {
    check.invalid(`secrets[${index}] must be non-empty text or bytes`)
  }
  return createSecretKey(bytes as Uint8Array) // a copy: later changes have no effect
}

const modulusLengthMin = 2_048

function publicKeyOf(pem: unknown, index: number, type: string | undefined): KeyObject {
  const name = `keys[${index}]`
  if (typeof pem !== 'string' || !pem.includes('-----BEGIN '))
    check.invalid(`${name} must be a public key in PEM`)
  if (pem.includes('PRIVATE KEY-----'))
    check.invalid(`${name} is a private key: it must stay with the platform`)
  let key: KeyObject
  try {
    key = createPublicKey(pem)
  } catch (error) {
    return check.invalid(`${name} must be a public key in PEM: ${textOf(error)}`)
  }
  const { asymmetricKeyType: found, asymmetricKeyDetails } = key
  if (found !== type) check.invalid(`${name} must be of the type ${type}, but is of the type ${found}`)
  const bits = asymmetricKeyDetails?.modulusLength ?? modulusLengthMin
  if (bits < modulusLengthMin) {
    check.invalid(`${name} must have at least ${modulusLengthMin} bits, but has ${bits}`)
  }
  return key
}
