/** The algorithms of signatures, over `node:crypto`. */

import { createHmac, createPublicKey, createSecretKey, type KeyObject, verify } from 'node:crypto'
import { textOf } from '../foreign-values.js'
import { isExpected } from './constant-time.js'

export const signatureAlgorithms = [
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
  /** Whether one of the keys made this signature over these bytes, one piece after the other. */
  accepts(signature: Buffer, signed: readonly Uint8Array[]): boolean
}

interface KeyOptions {
  algorithm: SignatureAlgorithm
  secrets: unknown
  keys: unknown
}

/** @param invalid throws */
export function verifierOf(options: KeyOptions, invalid: (problem: string) => never): Verifier {
  const { algorithm, secrets, keys } = options
  const isHmac = algorithm.startsWith('hmac-')
  const [used, unused, given, other] = isHmac
    ? ['secrets', 'keys', secrets, keys]
    : ['keys', 'secrets', keys, secrets]
  if (other !== undefined) invalid(`${algorithm} has the option ${used}, not ${unused}`)
  if (!Array.isArray(given) || given.length === 0) invalid(`${used} must be a list of at least one`)
  const list: readonly unknown[] = given
  const hash = algorithm === 'ed25519' ? null : algorithm.slice(-'sha256'.length)
  if (isHmac)
    return hmac(
      hash as string,
      list.map((secret, index) => secretOf(secret, index, invalid)),
    )
  const type = algorithm === 'ed25519' ? 'ed25519' : 'rsa'
  const publicKeys = list.map((key, index) => publicKeyOf(key, type, index, invalid))
  return asymmetric(hash, publicKeys)
}

function hmac(hash: string, secrets: readonly KeyObject[]): Verifier {
  return {
    lengths: new Set([hash === 'sha256' ? 32 : 64]),
    accepts(signature, signed) {
      let accepted = false
      for (const secret of secrets) {
        const mac = createHmac(hash, secret)
        for (const piece of signed) mac.update(piece)
        const same = isExpected(signature, mac.digest()) // of all of them: the duration does not tell which
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
    accepts(signature, signed) {
      const bytes = Buffer.concat(signed)
      return keys.some(key => verify(hash, bytes, key, signature))
    },
  }
}

/** A signature of RSA is as long as its modulus, one of Ed25519 has 64 bytes. */
function signatureLengthOf({ asymmetricKeyDetails: details }: KeyObject): number {
  return details?.modulusLength === undefined ? 64 : Math.ceil(details.modulusLength / 8)
}

function secretOf(secret: unknown, index: number, invalid: (problem: string) => never): KeyObject {
  const bytes = typeof secret === 'string' ? Buffer.from(secret) : secret
  if (!ArrayBuffer.isView(bytes) || bytes.byteLength === 0) {
    invalid(`secrets[${index}] must be non-empty text or bytes`)
  }
  return createSecretKey(bytes as Uint8Array) // a copy: later changes have no effect
}

const modulusLengthMin = 2_048

function publicKeyOf(
  pem: unknown,
  type: 'rsa' | 'ed25519',
  index: number,
  invalid: (problem: string) => never,
): KeyObject {
  const name = `keys[${index}]`
  if (typeof pem !== 'string' || !pem.includes('-----BEGIN ')) invalid(`${name} must be a public key in PEM`)
  if (pem.includes('PRIVATE KEY-----')) invalid(`${name} is a private key: it must stay with the platform`)
  let key: KeyObject
  try {
    key = createPublicKey(pem)
  } catch (error) {
    return invalid(`${name} must be a public key in PEM: ${textOf(error)}`)
  }
  const { asymmetricKeyType: found, asymmetricKeyDetails } = key
  if (found !== type) invalid(`${name} must be of the type ${type}, but is of the type ${found}`)
  const bits = asymmetricKeyDetails?.modulusLength ?? modulusLengthMin
  if (bits < modulusLengthMin) {
    invalid(`${name} must have at least ${modulusLengthMin} bits, but has ${bits}`)
  }
  return key
}
