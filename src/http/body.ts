/** The body of a request: read within a limit, decoded strictly, parsed exactly. */
import { readJson } from './json.js'

/**
 * What an adapter hands over. A stream is not touched before the call is authenticated. `{ parsed }` is what a
 * parser of the application's made of the body: its numbers have been through JavaScript already, so amounts
 * are taken up to 15 digits only (D21); text or bytes in it are taken as the raw body.
 */
export type HttpBody = string | Uint8Array | AsyncIterable<Uint8Array> | { parsed: unknown }

export type BodyResult = { body: unknown } | { flaw: string } | 'too large'

/** Reads and parses. Whatever is wrong with the body is an answer, not a throw. */
export async function readBody(body: HttpBody, bytesMax: number): Promise<BodyResult> {
  let raw: string | Uint8Array | 'too large'
  if (body === undefined || body === null)
    raw = '' // as some platforms hand over an empty one
  else if (typeof body === 'string' || isBytes(body)) raw = body
  else if (Symbol.asyncIterator in body) {
    try {
      raw = await collect(body, bytesMax)
    } catch {
      // The caller hung up, or the line broke: what has come is not the request, and nobody hears the answer.
      return { flaw: 'the body ended before it was complete' }
    }
    if (raw === 'too large') return raw
  } else if (typeof body.parsed === 'string' || isBytes(body.parsed)) raw = body.parsed
  else return { body: body.parsed }

  // A text of n characters has at least n bytes, which spares counting those of a huge one.
  if (raw.length > bytesMax || Buffer.byteLength(raw) > bytesMax) return 'too large'
  try {
    return { body: readJson(typeof raw === 'string' ? raw : utf8.decode(raw)) }
  } catch {
    return { flaw: 'the body must be well-formed JSON in UTF-8, without a byte order mark' }
  }
}

/** Not by class: a test runner's realm has a Uint8Array of its own. */
function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value)
}

/** Strict: bytes that are no UTF-8 are no text, and a byte order mark stays, for JSON to stumble over (D26). */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What a stream of Node's has beside being iterable: read by its events, it costs a third of the time. */
interface NodeReadable {
  on(event: string, listener: (value: never) => void): unknown
  off(event: string, listener: (value: never) => void): unknown
  resume(): unknown
  destroyed: boolean
  readableEnded: boolean
}

function collect(stream: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array | 'too large'> {
  return 'readableEnded' in stream
    ? collectEvents(stream as unknown as NodeReadable, bytesMax)
    : collectIterable(stream, bytesMax)
}

function collectEvents(stream: NodeReadable, bytesMax: number): Promise<Uint8Array | 'too large'> {
  // Read by somebody else, or gone: no event would ever come.
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
      // The rest is taken off the line and dropped: a caller who writes all of it before it reads would else wait for
      // ever, and so would the next call on this connection. Not destroyed: the 413 goes out on the same socket.
      stream.off('data', onData)
      stream.resume()
      chunks.length = 0
      resolve('too large')
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

async function collectIterable(
  stream: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array | 'too large'> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    const piece = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    bytes += piece.byteLength
    if (bytes > bytesMax) return 'too large'
    chunks.push(piece)
  }
  return Buffer.concat(chunks)
}
