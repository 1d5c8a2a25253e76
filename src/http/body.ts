/** The request body: read up to a limit, decoded strictly, parsed exactly. */
import { isA } from '../foreign-values.js'
import { readJson } from './json.js'
import { chunksOf, type WebStream } from './web-stream.js'

/**
 * The body that an adapter provides. A stream is not read before the call is authenticated. `{ parsed }` is
 * the result of the application's own body parser: its numbers are JavaScript numbers already, so amounts are
 * accepted up to 15 digits only (D21). Text or bytes in it are the raw body. With `raw`, the bytes that the
 * parser has kept, these are parsed instead, exactly. `null` and `undefined` are the empty body of some
 * frameworks.
 */
export type HttpBody =
  | string
  | Uint8Array
  | AsyncIterable<Uint8Array>
  | WebStream
  | { parsed: unknown; raw?: Uint8Array }
  | null
  | undefined

/** The body was read before the wallet could, and was not kept: a fault of the server, not of the caller. */
export class LostBodyError extends Error {
  /** @param where it is looked for */
  constructor(where: string) {
    super(`The body was read before the wallet, and is not in ${where}: let the wallet read it first`)
  }
}

/** The body as it was sent; or what a body parser made of it, if the parser kept no bytes. */
export type ReceivedBody = { raw: string | Uint8Array } | { parsed: unknown }

/** The body cannot be used. The message is the description of the answer. */
export class BodyError extends Error {
  override readonly name = 'BodyError'
  readonly rejection: 'PAYLOAD_TOO_LARGE' | 'INVALID_BODY'
  constructor(rejection: BodyError['rejection'], message: string) {
    super(message)
    this.rejection = rejection
  }
}

/**
 * @throws {BodyError} if it has more bytes, or ends before it is complete
 * @throws {LostBodyError}
 */
export async function receiveBody(body: HttpBody, bytesMax: number): Promise<ReceivedBody> {
  if (body === undefined || body === null) return { raw: '' }
  if (typeof body === 'string' || isBytes(body)) return limited(body, bytesMax)
  if (!(Symbol.asyncIterator in body) && !('getReader' in body)) {
    const { parsed } = body
    const raw = body.raw ?? parsed
    return typeof raw === 'string' || isBytes(raw) ? limited(raw, bytesMax) : { parsed }
  }
  try {
    return { raw: await collect(Symbol.asyncIterator in body ? body : chunksOf(body), bytesMax) }
  } catch (error) {
    if (isA(error, LostBodyError) || isA(error, BodyError)) throw error
    // The caller closed the connection, or it broke: the request is incomplete, and no answer will be
    // received.
    throw new BodyError('INVALID_BODY', 'the body ended before it was complete')
  }
}

/** @throws {BodyError} if it is not JSON in UTF-8 */
export function parseBody(received: ReceivedBody): unknown {
  if ('parsed' in received) return received.parsed
  const { raw } = received
  try {
    return readJson(typeof raw === 'string' ? raw : utf8.decode(raw))
  } catch {
    throw new BodyError(
      'INVALID_BODY',
      'the body must be well-formed JSON in UTF-8, without a byte order mark',
    )
  }
}

export function tooLarge(bytesMax: number): BodyError {
  return new BodyError('PAYLOAD_TOO_LARGE', `The body must have at most ${bytesMax} bytes`)
}

function limited(raw: string | Uint8Array, bytesMax: number): ReceivedBody {
  // A text of n characters has at least n bytes: the bytes of a huge text are not counted.
  if (raw.length > bytesMax || Buffer.byteLength(raw) > bytesMax) throw tooLarge(bytesMax)
  return { raw }
}

/** Not by class: a test runner's realm has its own Uint8Array. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value)
}

/**
 * Strict: bytes that are not UTF-8 are an error, and a byte order mark stays, so that JSON.parse rejects it
 * (D26).
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A Node.js stream. Reading it by events takes a third of the time that iterating takes. */
interface NodeReadable {
  on(event: string, listener: (value: never) => void): unknown
  off(event: string, listener: (value: never) => void): unknown
  resume(): unknown
  destroyed: boolean
  readableEnded: boolean
}

/** @throws {BodyError} if it has more bytes */
function collect(stream: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  return 'readableEnded' in stream
    ? collectEvents(stream as unknown as NodeReadable, bytesMax)
    : collectIterable(stream, bytesMax)
}

function collectEvents(stream: NodeReadable, bytesMax: number): Promise<Uint8Array> {
  // Read by other code, or destroyed: no event would ever be emitted.
  if (stream.readableEnded) return Promise.resolve(new Uint8Array())
  if (stream.destroyed) return Promise.reject(new Error('the stream is destroyed'))

  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let bytes = 0
    const onData = (chunk: Uint8Array | string) => {
      const piece = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      bytes += piece.byteLength
      if (bytes <= bytesMax) {
        chunks.push(piece)
        return
      }
      // The rest is read and dropped: a caller that writes all of it before it reads would otherwise wait
      // indefinitely, and so would the next call on this connection. Not destroyed: the 413 is sent on the
      // same socket.
      stream.off('data', onData)
      stream.resume()
      chunks.length = 0
      reject(tooLarge(bytesMax))
    }
    let ended = false
    stream.on('data', onData)
    stream.on('end', () => {
      ended = true
      resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks))
    })
    stream.on('error', reject)
    stream.on('close', () => {
      if (!ended) reject(new Error('the stream was closed before its end'))
    })
  })
}

async function collectIterable(stream: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    const piece = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    bytes += piece.byteLength
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    chunks.push(piece)
  }
  return Buffer.concat(chunks)
}
