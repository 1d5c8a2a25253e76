/**
 * The line to the wallet: HTTP/1.1 over connections that are kept open. Written on node:net and node:tls, because
 * the client of node:http needs as much time for a call as a wallet needs to answer it, and the sportsbook is to be
 * the faster one of the two.
 */
import { connect as connectTcp, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'

/** What came back: an answer, or the reason why there is none. */
export type LineAnswer = { status: number; body: string } | { broken: string }

/** `whole`: wait for the answer. Else the connection is cut: after all of the call was written, or in the middle of it. */
export type Sending = 'whole' | 'cut after' | 'cut within'

export interface Line {
  /**
   * Posts a JSON body. `answered` is called exactly once, and never before this returns; it is told of every failure,
   * and there is nothing to catch.
   *
   * @param headers further ones, such as a signature
   */
  post(
    url: URL,
    body: string,
    headers: Readonly<Record<string, string>> | null,
    sending: Sending,
    answered: (answer: LineAnswer) => void,
  ): void
  /** What is sent with every call there, names in lower case. Without the length of the body. */
  headersTo(url: URL): Readonly<Record<string, string>>
  close(): void
}

export interface LineOptions {
  /** With every call. */
  headers: Readonly<Record<string, string>>
  /** The header `authorization`, with every call to this origin and to no other. */
  authorization: { origin: string; value: string } | null
  timeoutMs: number
  tls: ConnectionOptions
}

const answerBytesMax = 1_048_576
/** A connection that has rested longer may be closed by the wallet in the moment in which it is used: 5 s in node:http. */
const restMsMax = 2_000
const sweepEveryMs = 100
const headEnd = Buffer.from('\r\n\r\n')

/** @throws {TypeError} for a header that would break the call */
export function createLine({ headers, authorization, timeoutMs, tls }: LineOptions): Line {
  const fixedHead = headText(headers)
  const heads = new Map<string, string>()
  /** By origin. The last one that came to rest is used first, so that the others may grow cold and be closed. */
  const resting = new Map<string, Connection[]>()
  const all = new Set<Connection>()

  function headOf(url: URL): string {
    let head = heads.get(url.href)
    if (head === undefined) {
      head =
        `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n` +
        `content-type: application/json\r\n${fixedHead}` +
        (authorization?.origin === url.origin ? headText({ authorization: authorization.value }) : '')
      heads.set(url.href, head)
    }
    return head
  }

  function connectionTo(url: URL): Connection {
    const atRest = resting.get(url.origin)
    for (let found = atRest?.pop(); found !== undefined; found = atRest?.pop()) {
      if (found.isUsable(performance.now())) return found
      found.drop()
    }
    const connection: Connection = openConnection(url, tls, {
      rests() {
        const others = resting.get(url.origin)
        if (others === undefined) resting.set(url.origin, [connection])
        else others.push(connection)
      },
      closed: () => all.delete(connection),
    })
    all.add(connection)
    return connection
  }

  const sweep = setInterval(() => {
    const now = performance.now()
    for (const connection of all) connection.giveUpAfter(now, timeoutMs)
  }, sweepEveryMs)
  sweep.unref()

  return {
    post(url, body, further, sending, answered) {
      let head = headOf(url)
      try {
        if (further !== null) head += headText(further)
      } catch (error) {
        queueMicrotask(() => answered({ broken: textOf(error) }))
        return
      }
      const text = `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
      connectionTo(url).send(text, sending, answered)
    },
    headersTo: url => ({
      host: url.host,
      'content-type': 'application/json',
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
      ...(authorization?.origin === url.origin ? { authorization: authorization.value } : {}),
    }),
    close() {
      clearInterval(sweep)
      for (const connection of [...all]) connection.drop()
    },
  }
}

function headText(headers: Readonly<Record<string, string>>): string {
  let text = ''
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      throw new TypeError(`headers: "${name}" is no name of a header`)
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new TypeError(`headers: the value of ${name} cannot be sent`)
    }
    text += `${name}: ${value}\r\n`
  }
  return text
}

interface Connection {
  send(text: string, sending: Sending, answered: (answer: LineAnswer) => void): void
  isUsable(now: number): boolean
  giveUpAfter(now: number, timeoutMs: number): void
  drop(): void
}

function openConnection(
  url: URL,
  tls: ConnectionOptions,
  owner: { rests(): void; closed(): void },
): Connection {
  const secure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || (secure ? 443 : 80))
  const socket: Socket = secure
    ? connectTls({
        host,
        port,
        servername: /^[\d.]+$|:/.test(host) ? '' : host,
        ALPNProtocols: ['http/1.1'],
        ...tls,
      })
    : connectTcp({ host, port })
  socket.setNoDelay(true)

  let waiting: ((answer: LineAnswer) => void) | null = null
  let sentAt = 0
  let restingSince = 0
  let gone = false
  let received: Buffer | null = null

  function answer(result: LineAnswer): void {
    const answered = waiting
    waiting = null
    received = null
    answered?.(result)
  }

  function end(reason: string): void {
    if (gone) return
    gone = true
    socket.destroy()
    owner.closed()
    if (waiting !== null) answer({ broken: reason })
  }

  socket.on('data', (chunk: Buffer) => {
    if (gone) return
    if (waiting === null) {
      end('the wallet sent what nobody had asked for')
      return
    }
    received = received === null ? chunk : Buffer.concat([received, chunk])
    const read = readAnswer(received, false)
    if (read === 'more') {
      if (received.length > answerBytesMax) end(`the answer is larger than ${answerBytesMax} bytes`)
    } else if ('broken' in read) {
      end(read.broken)
    } else {
      if (read.reusable) {
        restingSince = performance.now()
        owner.rests()
      } else {
        gone = true
        socket.destroy()
        owner.closed()
      }
      answer({ status: read.status, body: read.body })
    }
  })
  socket.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  socket.on('close', () => {
    // An answer without a length ends with its connection.
    const read = received === null || waiting === null ? 'more' : readAnswer(received, true)
    if (!gone && typeof read === 'object' && 'status' in read) {
      gone = true
      owner.closed()
      answer({ status: read.status, body: read.body })
    } else end('the connection was closed before the answer')
  })

  return {
    send(text, sending, answered) {
      sentAt = performance.now()
      waiting = answered
      if (sending === 'whole') {
        socket.write(text)
      } else if (sending === 'cut after') {
        socket.write(text, () => end('cut after the call'))
      } else {
        socket.write(text.slice(0, -Math.ceil(text.length / 8)), () => end('cut within the call'))
      }
    },
    isUsable: now => !gone && !socket.destroyed && now - restingSince < restMsMax,
    giveUpAfter(now, timeoutMs) {
      if (waiting !== null && now - sentAt > timeoutMs) end('timed out')
      else if (waiting === null && now - restingSince > restMsMax) end('rested')
    },
    drop: () => end('closed by the sportsbook'),
  }
}

type ReadAnswer = { status: number; body: string; reusable: boolean } | { broken: string } | 'more'

/**
 * Reads an answer from what has come of it so far.
 *
 * @param ended nothing more will come
 */
export function readAnswer(received: Buffer, ended: boolean): ReadAnswer {
  let headAt = 0
  for (;;) {
    const bodyAt = received.indexOf(headEnd, headAt)
    if (bodyAt === -1) return 'more'
    const head = received.toString('latin1', headAt, bodyAt)
    const first = /^HTTP\/1\.([01]) ([1-9][0-9][0-9])(?: |\r\n|$)/.exec(head)
    if (first === null) return { broken: 'the answer is not HTTP/1.1' }
    const status = Number(first[2])
    if (status < 200 && status !== 101) {
      headAt = bodyAt + 4 // 100 Continue and its like: the answer is still to come
      continue
    }
    return readBody(received, bodyAt + 4, head, { status, ended, minor: first[1] as string })
  }
}

function readBody(
  received: Buffer,
  bodyAt: number,
  head: string,
  { status, ended, minor }: { status: number; ended: boolean; minor: string },
): ReadAnswer {
  const connection = /\r\nconnection:[ \t]*([^\r]*)/i.exec(head)?.[1]?.toLowerCase() ?? ''
  const keptOpen = minor === '1' ? !connection.includes('close') : connection.includes('keep-alive')
  const encoding = /\r\ntransfer-encoding:[ \t]*([^\r]*)/i.exec(head)?.[1]
  if (encoding !== undefined) {
    if (encoding.trim().toLowerCase() !== 'chunked')
      return { broken: `transfer-encoding ${encoding} is not known` }
    const read = readChunks(received, bodyAt)
    if (read === 'more' || 'broken' in read) return read
    return { status, body: read.body, reusable: keptOpen && read.end === received.length }
  }
  if (status === 204 || status === 304) return { status, body: '', reusable: keptOpen }

  const length = /\r\ncontent-length:[ \t]*([0-9]+)[ \t]*(?:\r\n|$)/i.exec(head)?.[1]
  if (length === undefined) {
    return ended
      ? { status, body: received.toString('utf8', bodyAt, received.length), reusable: false }
      : 'more'
  }
  const end = bodyAt + Number(length)
  if (received.length < end) return 'more'
  return {
    status,
    body: received.toString('utf8', bodyAt, end),
    reusable: keptOpen && received.length === end,
  }
}

function readChunks(
  received: Buffer,
  from: number,
): { body: string; end: number } | { broken: string } | 'more' {
  const pieces: Buffer[] = []
  let at = from
  for (;;) {
    const lineEnd = received.indexOf('\r\n', at)
    if (lineEnd === -1) return 'more'
    const size = /^([0-9a-fA-F]{1,8})[ \t]*(?:;|$)/.exec(received.toString('latin1', at, lineEnd))?.[1]
    if (size === undefined) return { broken: 'a chunk of the answer has no size' }
    at = lineEnd + 2
    const bytes = Number.parseInt(size, 16)
    if (bytes === 0) break
    if (received.length < at + bytes + 2) return 'more'
    pieces.push(received.subarray(at, at + bytes))
    at += bytes + 2
  }
  // Trailers, if any, up to an empty line.
  for (;;) {
    const lineEnd = received.indexOf('\r\n', at)
    if (lineEnd === -1) return 'more'
    const empty = lineEnd === at
    at = lineEnd + 2
    if (empty) return { body: Buffer.concat(pieces).toString('utf8'), end: at }
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
