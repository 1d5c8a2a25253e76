/** Reads an HTTP/1.1 response out of the bytes that have arrived so far. */

/** `'incomplete'`: more bytes are needed. `reusable`: the connection can carry a further request. */
type ParsedAnswer = { status: number; body: string; reusable: boolean } | { error: string } | 'incomplete'

const headEnd = Buffer.from('\r\n\r\n')

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
    return parseBody(received, bodyAt + 4, head, { status, ended, minor: first[1] as string })
  }
}

function parseBody(
  received: Buffer,
  bodyAt: number,
  head: string,
  { status, ended, minor }: { status: number; ended: boolean; minor: string },
): ParsedAnswer {
  const connection = /\r\nconnection:[ \t]*([^\r]*)/i.exec(head)?.[1]?.toLowerCase() ?? ''
  const keptOpen = minor === '1' ? !connection.includes('close') : connection.includes('keep-alive')
  const encoding = /\r\ntransfer-encoding:[ \t]*([^\r]*)/i.exec(head)?.[1]
  if (encoding !== undefined) {
    if (encoding.trim().toLowerCase() !== 'chunked')
      return { error: `transfer-encoding ${encoding} is not supported` }
    const chunks = parseChunks(received, bodyAt)
    if (chunks === 'incomplete' || 'error' in chunks) return chunks
    return { status, body: chunks.body, reusable: keptOpen && chunks.end === received.length }
  }
  if (status === 204 || status === 304) return { status, body: '', reusable: keptOpen }

  const length = /\r\ncontent-length:[ \t]*([0-9]+)[ \t]*(?:\r\n|$)/i.exec(head)?.[1]
  if (length === undefined) {
    return ended
      ? { status, body: received.toString('utf8', bodyAt, received.length), reusable: false }
      : 'incomplete'
  }
  const end = bodyAt + Number(length)
  if (received.length < end) return 'incomplete'
  return {
    status,
    body: received.toString('utf8', bodyAt, end),
    reusable: keptOpen && received.length === end,
  }
}

function parseChunks(
  received: Buffer,
  from: number,
): { body: string; end: number } | { error: string } | 'incomplete' {
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
    const empty = lineEnd === at
    at = lineEnd + 2
    if (empty) return { body: Buffer.concat(pieces).toString('utf8'), end: at }
  }
}
