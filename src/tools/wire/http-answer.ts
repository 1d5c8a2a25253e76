/** Reads an HTTP/1.1 response out of the bytes that have arrived so far. */

export interface HttpAnswer {
  status: number
  /** The status line and the headers, as they came: read them by {@link headerOf}. */
  head: string
  body: string
}

/** `'incomplete'`: more bytes are needed. `reusable`: the connection can carry a further request. */
type ParsedAnswer = (HttpAnswer & { reusable: boolean }) | { error: string } | 'incomplete'

const headEnd = Buffer.from('\r\n\r\n')

/** The first header of this name, as it was sent; `undefined`: there is none. */
export function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`\\r\\n${name}:[ \\t]*([^\\r]*)`, 'i').exec(head)?.[1]?.trimEnd()
}

/** @param ended no more bytes will arrive */
export function parseAnswer(received: Buffer, ended: boolean): ParsedAnswer {
  let headAt = 0
  for (;;) {
    const bodyAt = received.indexOf(headEnd, headAt)
    if (bodyAt === -1) return 'incomplete'
    const head = received.toString('latin1', headAt, bodyAt)
    const first = /^HTTP\/1\.([01]) ([1-9][0-9][0-9])(?: |\r\n|$)/.exec(head)
    if (first === null) return { error: 'the answer is not HTTP/1.1' }
    const status = Number(first[2])
    if (status < 200 && status !== 101) {
      headAt = bodyAt + 4 // an interim response such as 100 Continue: the final one follows
      continue
    }
    const connection = headerOf(head, 'connection')?.toLowerCase() ?? ''
    const isKept = first[1] === '1' ? !connection.includes('close') : connection.includes('keep-alive')
    const body = parseBody(received, bodyAt + 4, head, status, ended)
    if (body === 'incomplete' || 'error' in body) return body
    return { status, head, body: body.text, reusable: isKept && body.end === received.length }
  }
}

/** `end`: behind its last byte; `null`: it ends with the connection. */
type ParsedBody = { text: string; end: number | null } | { error: string } | 'incomplete'

function parseBody(received: Buffer, at: number, head: string, status: number, ended: boolean): ParsedBody {
  const encoding = headerOf(head, 'transfer-encoding')
  if (encoding !== undefined) {
    return encoding.toLowerCase() === 'chunked'
      ? parseChunks(received, at)
      : { error: `transfer-encoding ${encoding} is not supported` }
  }
  if (status === 204 || status === 304) return { text: '', end: at }
  const length = /^[0-9]+$/.exec(headerOf(head, 'content-length') ?? '')?.[0]
  if (length === undefined) return ended ? { text: received.toString('utf8', at), end: null } : 'incomplete'
  const end = at + Number(length)
  return received.length < end ? 'incomplete' : { text: received.toString('utf8', at, end), end }
}

function parseChunks(received: Buffer, from: number): ParsedBody {
  const pieces: Buffer[] = []
  let at = from
  for (;;) {
    const lineEnd = received.indexOf('\r\n', at)
    if (lineEnd === -1) return 'incomplete'
    const size = /^([0-9a-fA-F]{1,8})[ \t]*(?:;|$)/.exec(received.toString('latin1', at, lineEnd))?.[1]
    if (size === undefined) return { error: 'a chunk of the answer has no size' }
    at = lineEnd + 2
    const bytes = Number.parseInt(size, 16)
    if (bytes === 0) break
    if (received.length < at + bytes + 2) return 'incomplete'
    pieces.push(received.subarray(at, at + bytes))
    at += bytes + 2
  }
  // Trailers, if there are any, end with an empty line.
  for (;;) {
    const lineEnd = received.indexOf('\r\n', at)
    if (lineEnd === -1) return 'incomplete'
    const isEmpty = lineEnd === at
    at = lineEnd + 2
    if (isEmpty) return { text: Buffer.concat(pieces).toString('utf8'), end: at }
  }
}
