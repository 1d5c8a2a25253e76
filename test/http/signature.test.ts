import {
  constants,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  type SignKeyObjectInput,
  sign,
} from 'node:crypto'
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createNodeListener,
  type HttpRequest,
  type SignatureOptions,
  type SignatureTimestamp,
  signature,
} from '../../src/http/index.js'
import { anna, bet, errorOf, placeBetRequest, recordingStream, wallet } from './calls.js'
import { recordComparisons } from './comparisons.js'

const compared = recordComparisons()

const text = JSON.stringify(bet)
const secret = 'a secret of the platform'
const hmac = (signed: string | Uint8Array = text, key: string | Uint8Array = secret, hash = 'sha256') =>
  createHmac(hash, key).update(signed)
const hex = (signed?: string | Uint8Array, key?: string | Uint8Array) => hmac(signed, key).digest('hex')

const unkeyed = { header: 'X-Signature', algorithm: 'hmac-sha256' } as const
const basic: SignatureOptions = { ...unkeyed, secrets: [secret] }

/** Calls a wallet that accepts these signatures. */
async function call(options: Partial<SignatureOptions>, headers: object, request: Partial<HttpRequest> = {}) {
  const reasons: string[] = []
  const store = anna()
  const { handle, errors } = wallet(
    {
      authenticate: signature({ ...basic, ...options }),
      onAuthenticationFailed: reason => reasons.push(reason),
    },
    store,
  )
  const response = await handle(
    placeBetRequest({
      body: text,
      ...request,
      headers: { 'content-type': 'application/json', ...headers },
    }),
  )
  expect(errors).toEqual([])
  if (response.status !== 200) {
    expect(store.transactions()).toEqual([])
    // The caller is told nothing.
    for (const reason of reasons) expect(response.body).not.toContain(reason)
  }
  return { status: response.status, reason: reasons[0] ?? null, response }
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const rsa3072 = generateKeyPairSync('rsa', { modulusLength: 3072 })
const ed25519 = generateKeyPairSync('ed25519')
const pem = (key: KeyObject, type: 'spki' | 'pkcs8' = 'spki') =>
  key.export({ format: 'pem', type }).toString()
const signedBy = (
  key: KeyObject,
  hash: string | null,
  options: Partial<SignKeyObjectInput> = {},
  signed = text,
) => sign(hash, Buffer.from(signed), { key, ...options })
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING }

describe('given a call that is signed as agreed', () => {
  test.each<[string, Partial<SignatureOptions>, string]>([
    ['HMAC-SHA256 in hex', {}, hex()],
    ['hex in upper case', {}, hex().toUpperCase()],
    ['HMAC-SHA512', { algorithm: 'hmac-sha512' }, hmac(text, secret, 'sha512').digest('hex')],
    ['base64', { encoding: 'base64' }, hmac().digest('base64')],
    ['base64 without padding', { encoding: 'base64' }, hmac().digest('base64').replace('=', '')],
    ['base64url', { encoding: 'base64url' }, hmac().digest('base64url')],
    ['a prefix', { prefix: 'sha256=' }, `sha256=${hex()}`],
    ['a secret of bytes', { secrets: [Buffer.from('00ff', 'hex')] }, hex(text, Buffer.from('00ff', 'hex'))],
    ['the second of two secrets', { secrets: ['new', secret] }, hex()],
    ['the first of two secrets', { secrets: [secret, 'old'] }, hex()],
    [
      'RSA by PKCS #1 v1.5',
      { algorithm: 'rsa-sha256', keys: [pem(rsa.publicKey)], encoding: 'base64' },
      signedBy(rsa.privateKey, 'sha256').toString('base64'),
    ],
    [
      'RSA with SHA-512',
      { algorithm: 'rsa-sha512', keys: [pem(rsa.publicKey)] },
      signedBy(rsa.privateKey, 'sha512').toString('hex'),
    ],
    [
      'the second of two RSA keys, which is longer',
      { algorithm: 'rsa-sha256', keys: [pem(rsa.publicKey), pem(rsa3072.publicKey)] },
      signedBy(rsa3072.privateKey, 'sha256').toString('hex'),
    ],
    [
      'Ed25519',
      { algorithm: 'ed25519', keys: [pem(ed25519.publicKey)], encoding: 'base64' },
      signedBy(ed25519.privateKey, null).toString('base64'),
    ],
  ])('when it has %s, then it is authenticated', async (_, options, sent) => {
    const all = options.keys === undefined ? { ...basic, ...options } : { ...unkeyed, ...options }
    const { handle } = wallet({ authenticate: signature(all) })
    const headers = { 'content-type': 'application/json', 'x-signature': sent }
    expect((await handle(placeBetRequest({ headers }))).status).toBe(200)
    // With one byte of the body changed, it is not.
    const changed = placeBetRequest({ headers, body: text.replace('30', '31') })
    expect(errorOf(await handle(changed))).toEqual([401, 'AUTHENTICATION_FAILED'])
  })

  test.each<[string, () => HttpRequest['body']]>([
    ['a stream', () => Readable.from([Buffer.from(text.slice(0, 7)), Buffer.from(text.slice(7))])],
    ['bytes', () => Buffer.from(text)],
    ['what a parser made of it, with its bytes', () => ({ parsed: bet, raw: Buffer.from(text) })],
    ['bytes from a parser', () => ({ parsed: Buffer.from(text) })],
    ['text from a parser', () => ({ parsed: text })],
  ])('when its body is %s, then it is authenticated', async (_, body) => {
    expect((await call({}, { 'x-signature': hex() }, { body: body() })).status).toBe(200)
    const changed = Buffer.from(text.replace('30', '31'))
    expect((await call({}, { 'x-signature': hex() }, { body: changed })).status).toBe(401)
  })

  test('when a parser passes another object than its bytes, then the signed bytes are what counts', async () => {
    const body = { parsed: { ...bet, amount: 1 }, raw: Buffer.from(text) }
    const { response } = await call({}, { 'x-signature': hex() }, { body })
    expect(response.body).toContain('"balance":70.00')
  })

  test('when the secrets are changed later, then the change has no effect', async () => {
    const bytes = Buffer.from(secret)
    const authenticate = signature({ ...basic, secrets: [bytes] })
    bytes.fill(0)
    const headers = { 'content-type': 'application/json', 'x-signature': hex() }
    expect((await wallet({ authenticate }).handle(placeBetRequest({ headers }))).status).toBe(200)
  })
})

describe('given a call that is not signed as agreed', () => {
  const none = 'signature: x-signature matches none of the keys'
  const form = 'signature: x-signature is not 32 bytes in hex'
  test.each<[string, Record<string, string | string[] | undefined>, string]>([
    ['no header', {}, 'signature: there is no header x-signature'],
    [
      'the header twice',
      { 'x-signature': [hex(), hex()] },
      'signature: there are several headers x-signature',
    ],
    ['two signatures in the header', { 'x-signature': `${hex()}, ${hex()}` }, form],
    ['an empty signature', { 'x-signature': '' }, form],
    ['a signature by another key', { 'x-signature': hex(text, 'another') }, none],
    ['a signature by a part of the key', { 'x-signature': hex(text, secret.slice(0, -1)) }, none],
    ['a signature by a longer key', { 'x-signature': hex(text, `${secret}!`) }, none],
    ['a signature by no key', { 'x-signature': hex(text, '') }, none],
    ['a signature over another body', { 'x-signature': hex(`${text} `) }, none],
    ['a signature over no body', { 'x-signature': hex('') }, none],
    ['the first half of the signature', { 'x-signature': hex().slice(0, 32) }, form],
    ['a longer signature', { 'x-signature': `${hex()}00` }, form],
    ['a signature with spaces', { 'x-signature': ` ${hex()}` }, form],
    ['half a byte more', { 'x-signature': `${hex()}0` }, form],
    ['characters that are not hex', { 'x-signature': hex().replace(/.$/, 'g') }, form],
    ['characters after it that are not hex', { 'x-signature': `${hex()}zz` }, form],
    ['base64 instead of hex', { 'x-signature': hmac().digest('base64') }, form],
    ['a prefix that was not agreed', { 'x-signature': `sha256=${hex()}` }, form],
    ['16 KB', { 'x-signature': 'a'.repeat(16_384) }, form],
    ['16 KB of commas', { 'x-signature': ','.repeat(16_384) }, form],
    ['zeros', { 'x-signature': '0'.repeat(64) }, none],
  ])('when it has %s, then 401, and the operator is told why', async (_, headers, reason) => {
    expect(await call({}, headers)).toMatchObject({ status: 401, reason })
  })

  test('when its prefix is missing, then 401', async () => {
    for (const sent of [hex(), `SHA256=${hex()}`, `sha256=`, `sha512=${hex()}`]) {
      expect((await call({ prefix: 'sha256=' }, { 'x-signature': sent })).status).toBe(401)
    }
    const { reason } = await call({ prefix: 'sha256=' }, { 'x-signature': hex() })
    expect(reason).toBe('signature: x-signature does not begin with "sha256="')
  })

  test.each<[string, Partial<SignatureOptions>, Buffer]>([
    [
      'of another RSA key',
      { algorithm: 'rsa-sha256' },
      signedBy(rsa3072.privateKey, 'sha256').subarray(0, 256),
    ],
    ['of another scheme', { algorithm: 'rsa-sha256' }, signedBy(rsa.privateKey, 'sha256', pss)],
    ['of another hash', { algorithm: 'rsa-sha256' }, signedBy(rsa.privateKey, 'sha512')],
    ['of zeros', { algorithm: 'rsa-sha256' }, Buffer.alloc(256)],
  ])('when its RSA signature is %s, then 401', async (_, options, sent) => {
    const authenticate = signature({ ...unkeyed, ...options, keys: [pem(rsa.publicKey)] })
    const headers = { 'content-type': 'application/json', 'x-signature': sent.toString('hex') }
    expect((await wallet({ authenticate }).handle(placeBetRequest({ headers }))).status).toBe(401)
  })

  test('when the public key is used as the secret of an HMAC, then 401', async () => {
    const key = pem(ed25519.publicKey)
    const authenticate = signature({ ...unkeyed, algorithm: 'ed25519', keys: [key] })
    const sent = hmac(text, key, 'sha512').digest('hex') // of the right length
    const headers = { 'content-type': 'application/json', 'x-signature': sent }
    expect((await wallet({ authenticate }).handle(placeBetRequest({ headers }))).status).toBe(401)
  })

  test('when its body has no valid JSON, then the signature is still checked first', async () => {
    expect((await call({}, { 'x-signature': hex('{') }, { body: '{' })).status).toBe(400)
    expect((await call({}, { 'x-signature': hex(text) }, { body: '{' })).status).toBe(401)
  })

  test('when a parser kept no bytes, then 401, and the reason says what to do', async () => {
    const { status, reason } = await call({}, { 'x-signature': hex() }, { body: { parsed: bet } })
    expect(status).toBe(401)
    expect(reason).toMatch(
      /kept no raw bytes: mount the wallet before it, or keep them in request\.rawBody \(express\.json has the option verify\)/,
    )
  })
})

describe('given the body of a signed call', () => {
  const headers = { 'content-type': 'application/json', 'x-signature': hex() }

  test.each<[string, Record<string, string>]>([
    ['without a signature', { 'x-signature': '' }],
    ['with a signature of another form', { 'x-signature': 'abc' }],
    ['that is too large by its Content-Length', { 'content-length': '65537' }],
  ])('when it is one %s, then it is not read', async (_, changed) => {
    const { body, seen } = recordingStream(Buffer.from(text))
    const { handle } = wallet({ authenticate: signature(basic) })
    const { status } = await handle(placeBetRequest({ headers: { ...headers, ...changed }, body }))
    expect(status).toBe('content-length' in changed ? 413 : 401)
    expect(seen.started).toBe(false)
  })

  test('when it is too large, then 413, and it is read up to the limit', async () => {
    const { body, seen } = recordingStream(...Array.from({ length: 100 }, () => Buffer.alloc(100)))
    const { handle, errors } = wallet({ authenticate: signature(basic), bodyBytesMax: 400 })
    expect(errorOf(await handle(placeBetRequest({ headers, body })))).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    expect(seen).toEqual({ started: true, pulled: 5, closed: true })
    const parsed = { parsed: {}, raw: Buffer.alloc(401) }
    expect((await handle(placeBetRequest({ headers, body: parsed }))).status).toBe(413)
    expect(errors).toEqual([])
  })

  test('when it ends before it is complete, then 400', async () => {
    const body = new Readable({ read() {} })
    body.push(text.slice(0, 9))
    const { handle, errors } = wallet({ authenticate: signature(basic) })
    const answer = handle(placeBetRequest({ headers, body }))
    setImmediate(() => body.destroy())
    expect(errorOf(await answer)).toEqual([400, 'INVALID_REQUEST'])
    expect(errors).toEqual([])
  })

  test('when it has every byte value, then it is signed as it is', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    expect((await call({}, { 'x-signature': hex(bytes) }, { body: bytes })).status).toBe(400)
    expect((await call({}, { 'x-signature': hex(bytes.toString()) }, { body: bytes })).status).toBe(401)
  })
})

describe('given a timestamp', () => {
  const nowMs = Date.parse('2026-11-21T18:00:00Z')
  beforeEach(() => {
    vi.spyOn(Date, 'now').mockReturnValue(nowMs)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })
  const seconds = (offset: number) => String(nowMs / 1_000 + offset)
  const timed: Partial<SignatureOptions> = { timestamp: { header: 'X-Timestamp' } }
  const at = (time: string) => ({ 'x-timestamp': time, 'x-signature': hex(`${time}.${text}`) })

  test.each([0, -300, 300])('when it is %i s from now, then the call is authenticated', async offset => {
    expect((await call(timed, at(seconds(offset)))).status).toBe(200)
  })

  test.each<[string, Record<string, string | string[]>, string]>([
    [
      'too old: a replay',
      at(seconds(-301)),
      'signature: x-timestamp was signed 301 s ago, and the tolerance is 300 s',
    ],
    [
      'in the future',
      at(seconds(301)),
      'signature: x-timestamp was signed 301 s in the future, and the tolerance is 300 s',
    ],
    [
      'changed',
      { ...at(seconds(-10)), 'x-timestamp': seconds(-9) },
      'signature: x-signature matches none of the keys',
    ],
    [
      'another text for the same time',
      { ...at(seconds(0)), 'x-timestamp': `0${seconds(0)}` },
      'signature: x-signature matches none of the keys',
    ],
    [
      'not signed',
      { ...at(seconds(0)), 'x-signature': hex() },
      'signature: x-signature matches none of the keys',
    ],
    ['missing', { 'x-signature': hex(`.${text}`) }, 'signature: there is no header x-timestamp'],
    ['empty', at(''), 'signature: x-timestamp has no valid time'],
    ['milliseconds', at(String(nowMs)), expect.stringMatching(/in the future/)],
    ['a negative number', at(`-${seconds(0)}`), 'signature: x-timestamp has no valid time'],
    ['a decimal', at(`${seconds(0)}.0`), 'signature: x-timestamp has no valid time'],
    ['text', at('now'), 'signature: x-timestamp has no valid time'],
    ['very long', at('1'.repeat(8_000)), 'signature: x-timestamp has no valid time'],
    [
      'sent twice',
      { ...at(seconds(0)), 'x-timestamp': [seconds(0), seconds(0)] },
      'signature: there are several headers x-timestamp',
    ],
  ])('when it is %s, then 401', async (_, headers, reason) => {
    expect(await call(timed, headers)).toMatchObject({ status: 401, reason })
  })

  test('when it is outside of the tolerance, then the body is not read', async () => {
    const { body, seen } = recordingStream(Buffer.from(text))
    await call(timed, at(seconds(-301)), { body })
    expect(seen.started).toBe(false)
  })

  test.each<[SignatureTimestamp, string, string]>([
    [{ header: 'x-timestamp', format: 'milliseconds' }, String(nowMs), String(nowMs - 300_001)],
    [{ header: 'x-timestamp', toleranceMs: 1_000 }, seconds(1), seconds(2)],
  ])('when its options are %j, then %s is accepted and %s is not', async (timestamp, accepted, refused) => {
    expect((await call({ ...timed, timestamp }, at(accepted))).status).toBe(200)
    expect((await call({ ...timed, timestamp }, at(refused))).status).toBe(401)
  })

  test('when the clock fails, then 401', async () => {
    vi.spyOn(Date, 'now').mockReturnValue(Number.NaN)
    expect((await call(timed, at(seconds(0)))).status).toBe(401)
  })

  test('when it is the time of this machine, then the call is authenticated', async () => {
    vi.restoreAllMocks()
    const authenticate = signature({ ...basic, timestamp: { header: 'x-timestamp' } })
    const time = String(Math.floor(Date.now() / 1_000))
    const headers = { 'content-type': 'application/json', ...at(time) }
    expect((await wallet({ authenticate }).handle(placeBetRequest({ headers }))).status).toBe(200)
  })
})

describe('given what is signed', () => {
  test.each<[string, string, Record<string, string>]>([
    ['{method}{path}{body}', `POST/placebet?a=1${text}`, {}],
    ['v0:{header:X-Request-Id}:{body}', `v0:r-1:${text}`, { 'x-request-id': 'r-1' }],
    ['{header:x-name}{body}', `\xe9${text}`, { 'x-name': '\xe9' }],
    ['ключ{body}', `ключ${text}`, {}],
  ])('when it is %s, then these bytes are signed', async (signed, bytes, headers) => {
    const sent = signed.includes('x-name') ? Buffer.from(bytes, 'latin1') : bytes
    const request = { path: '/placebet?a=1' }
    expect((await call({ signed }, { ...headers, 'x-signature': hex(sent) }, request)).status).toBe(200)
    expect((await call({ signed }, { ...headers, 'x-signature': hex() }, request)).status).toBe(401)
  })

  test('when a router has removed the beginning of the path, then the path that was sent is signed', async () => {
    const request = { path: '/placebet', originalPath: '/wallet/placebet?a=1' }
    const header = { 'x-signature': hex(`/wallet/placebet?a=1${text}`) }
    expect((await call({ signed: '{path}{body}' }, header, request)).status).toBe(200)
  })

  test.each([
    ['{header:x-tenant}{body}', { 'x-tenant': 'acm\u0165' }, {}],
    ['{path}{body}', {}, { path: '/placebet?a=acm\u0165' }],
  ])(
    'when %s has a character that is no byte, then 401: cut to one, it is another text',
    async (signed, headers, request) => {
      const bytes = Buffer.from(
        `${Object.values(headers)}${Object.values(request)}${text}`.replace(/\u0165/g, character =>
          String.fromCharCode(character.charCodeAt(0) & 0xff),
        ),
        'latin1',
      )
      const answer = await call({ signed }, { ...headers, 'x-signature': hex(bytes) }, request)
      expect([answer.status, answer.reason]).toEqual([
        401,
        'signature: a signed part has a character above U+00FF',
      ])
    },
  )

  test('when a signed header is missing, then 401', async () => {
    const options = { signed: '{header:x-id}{body}' }
    expect((await call(options, { 'x-signature': hex() })).reason).toBe('signature: there is no header x-id')
  })
})

test('when signatures of any kind are sent, then every secret is compared, in full and at once', async () => {
  const options = { secrets: [secret, 'another', 'a third'] }
  for (const sent of [hex(), hex(text, 'another'), hex(text, 'wrong'), '0'.repeat(64)]) {
    compared.length = 0
    await call(options, { 'x-signature': sent })
    expect(compared.map(pair => pair.map(bytes => bytes.byteLength))).toEqual(Array(3).fill([32, 32]))
  }
})

describe('given the options', () => {
  const ed = { ...unkeyed, algorithm: 'ed25519' }
  test.each<[string, unknown, RegExp]>([
    ['no options', undefined, /^signature: the options must be an object$/],
    ['a misspelt option', { ...basic, secret: 'x' }, /^signature: unknown option "secret"$/],
    ['no header', { ...basic, header: undefined }, /^signature: header must be the name of a header$/],
    ['an invalid header', { ...basic, header: 'x signature' }, /header must be the name/],
    ['another algorithm', { ...basic, algorithm: 'sha1' }, /algorithm must be one of hmac-sha256, /],
    ['no secrets', unkeyed, /secrets must be a list of at least one/],
    ['an empty list of secrets', { ...unkeyed, secrets: [] }, /secrets must be a list of at least one/],
    ['one secret as text', { ...unkeyed, secrets: 'x' }, /secrets must be a list of at least one/],
    ['an empty secret', { ...unkeyed, secrets: ['x', ''] }, /secrets\[1\] must be non-empty text or bytes/],
    ['an undefined secret', { ...unkeyed, secrets: [undefined] }, /secrets\[0\] must be non-empty/],
    ['a secret of no bytes', { ...unkeyed, secrets: [new Uint8Array()] }, /secrets\[0\] must be non-empty/],
    ['keys for HMAC', { ...unkeyed, keys: ['x'] }, /hmac-sha256 has the option secrets, not keys/],
    ['secrets for Ed25519', { ...ed, secrets: ['x'] }, /ed25519 has the option keys, not secrets/],
    ['a key that is not PEM', { ...ed, keys: ['abc'] }, /keys\[0\] must be a public key in PEM/],
    [
      'a damaged key',
      { ...ed, keys: [pem(ed25519.publicKey).replace(/M/g, '!')] },
      /keys\[0\] must be a public key/,
    ],
    ['a private key', { ...ed, keys: [pem(ed25519.privateKey, 'pkcs8')] }, /keys\[0\] is a private key/],
    [
      'a key of another type',
      { ...ed, keys: [pem(rsa.publicKey)] },
      /must be of the type ed25519, but is .* rsa$/,
    ],
    [
      'a short RSA key',
      {
        ...{ ...unkeyed, algorithm: 'rsa-sha256' },
        keys: [pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey)],
      },
      /keys\[0\] must have at least 2048 bits, but has 1024/,
    ],
    ['another encoding', { ...basic, encoding: 'utf8' }, /encoding must be one of hex, base64, base64url/],
    ['a prefix of two lines', { ...basic, prefix: 'a\n' }, /prefix must be printable ASCII/],
    ['a prefix of null', { ...basic, prefix: null }, /prefix must be printable ASCII/],
    ['a timestamp without a header', { ...basic, timestamp: {} }, /timestamp\.header must be the name of/],
    ['RSA-PSS', { ...basic, algorithm: 'rsa-pss-sha256' }, /algorithm must be one of/],
    ['parts', { ...basic, parts: { signature: 'v1' } }, /unknown option "parts"/],
    ['another format', { ...basic, timestamp: { header: 'x', format: 'rfc' } }, /timestamp\.format must be/],
    [
      'no tolerance',
      { ...basic, timestamp: { header: 'x', toleranceMs: 0 } },
      /timestamp\.toleranceMs must be/,
    ],
    [
      'a misspelt tolerance',
      { ...basic, timestamp: { header: 'x', tolerance: 1 } },
      /"timestamp\.tolerance"/,
    ],
    ['nothing signed', { ...basic, signed: '' }, /signed must have \{body\} in it, once/],
    ['the body twice', { ...basic, signed: '{body}{body}' }, /signed must have \{body\} in it, once/],
    ['no text', { ...basic, signed: () => '' }, /signed must be text with \{body\}/],
    ['an unknown name', { ...basic, signed: '{body}{url}' }, /signed has "\{url\}": supported are/],
    ['a brace', { ...basic, signed: '{{body}' }, /signed has "\{"/],
    [
      'a timestamp that is not signed',
      { ...basic, timestamp: { header: 'x' }, signed: '{body}' },
      /must have \{timestamp\}/,
    ],
    ['a timestamp that is not sent', { ...basic, signed: '{timestamp}{body}' }, /no option timestamp/],
    ['a clock', { ...basic, now: Date.now }, /unknown option "now"/],
  ])('when there is %s, then a TypeError names it', (_, options, message) => {
    expect(() => signature(options as SignatureOptions)).toThrow(TypeError)
    expect(() => signature(options as SignatureOptions)).toThrow(message)
  })
})

describe('given one connection', () => {
  test('when signed calls are sent in chunks, one of them too large, then each has its answer', async () => {
    const authenticate = signature(basic)
    const options = { authenticate, bodyBytesMax: 1_000, onAuthenticationFailed() {} }
    const server = createServer(createNodeListener(anna(), options))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = (body: string, signed = body) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'x-signature': hex(signed) }
        const { port } = server.address() as AddressInfo
        const outgoing = httpRequest({
          port,
          host: '127.0.0.1',
          path: '/placebet',
          method: 'POST',
          agent,
          headers,
        })
        outgoing.on('error', reject)
        outgoing.on('response', response => response.resume().on('end', () => resolve(response.statusCode)))
        // Without a Content-Length: in chunks.
        outgoing.write(body.slice(0, 50))
        outgoing.end(body.slice(50))
      })
    const statuses: unknown[] = []
    statuses.push(await send(text), await send(text.replace('30', '31'), text))
    statuses.push(await send(text + ' '.repeat(100_000)), await send(text))
    expect(statuses).toEqual([200, 401, 413, 200])
    agent.destroy()
    await new Promise(resolve => server.close(resolve))
  })
})
