import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { type Answer, Book, type PlayerOptions, type RefusalCode, type Window } from './book.js'
import { type FaultName, faults as sentences } from './faults.js'
import { BadRequest, type Operation, type Request, readRequest } from './requests.js'

export type { PlayerOptions, Window } from './book.js'
export type { FaultName } from './faults.js'

/** The defects by name, each in one sentence. */
export const faults: Record<FaultName, string> = sentences

export type Credentials = { username: string; password: string }

export type PlainWalletOptions = {
  /** Default: `player-1` and `player-2` with 100.00 EUR each. Balances have at most 8 decimals. */
  players?: PlayerOptions[]
  /** The defect of the wallet. Default: none. */
  fault?: FaultName
  /** For a defect that is a race. Default: `long`. */
  window?: Window
  credentials?: Credentials
  /** Whether unsettlements can debit (D20). Default: true. */
  clawbacks?: boolean
  /** Is called with errors answered as 500. Default: standard error, or nothing for a wallet with a defect. */
  onUnexpected?: (error: unknown) => void
}

export type PlainWallet = { url: string; credentials: Credentials; close(): Promise<void> }

const bodyBytesMax = 64 * 1024

const operations = new Map<string, Operation>([
  ['/placebet', 'placebet'],
  ['/settlement', 'settlement'],
  ['/unsettlement', 'unsettlement'],
  ['/rollbackbet', 'rollbackbet'],
])

const statusOf: Record<RefusalCode, number> = {
  INVALID_PLAYER: 400,
  INVALID_BET: 400,
  INVALID_CURRENCY: 400,
  INSUFFICIENT_FUNDS: 402,
  TRANSACTION_CONFLICT: 409,
  SETTLEMENT_NOT_FOUND: 503,
}

type Reply = { status: number; body: string; headers: Record<string, string> }

/**
 * A wallet that shares no code with this library: written from the interface and its decisions alone, in memory,
 * over node:http. It proves that the audit and the simulator pass a correct wallet and, with a defect switched on,
 * fail an incorrect one.
 *
 * Beside the three operations of the interface it has `POST /settlement` for the operator's own settlements (D17):
 * transactionId, betId, playerId, type, amount, currency, transactionDate.
 */
export const startPlainWallet = async (options: PlainWalletOptions = {}): Promise<PlainWallet> => {
  const {
    players = [
      { playerId: 'player-1', currency: 'EUR', balance: '100.00' },
      { playerId: 'player-2', currency: 'EUR', balance: '100.00' },
    ],
    credentials = { username: 'platform', password: 'correct horse' },
    clawbacks = true,
    fault,
    window,
  } = options
  const { onUnexpected = fault === undefined ? console.error : () => {} } = options
  const book = new Book(players, clawbacks, fault, window)

  const server = createServer((request, response) => {
    answer(request, response).catch(error => {
      // The answer could not be sent: close the connection instead of letting the caller wait.
      onUnexpected(error)
      response.destroy()
    })
  })

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let reply: Reply | undefined
    try {
      reply = await handle(request)
    } catch (error) {
      onUnexpected(error)
      reply = failure(500, 'INTERNAL_ERROR', 'Unexpected error', fault, error)
    }
    if (reply === undefined) {
      request.socket.destroy()
      return
    }
    response.writeHead(reply.status, { ...reply.headers, 'content-length': Buffer.byteLength(reply.body) })
    response.end(reply.body)
  }

  const handle = async (request: IncomingMessage): Promise<Reply | undefined> => {
    const refuse = (
      status: number,
      code: string,
      description: string,
      headers?: Record<string, string>,
    ): Reply => failure(status, code, description, fault, undefined, headers)

    const operation = operations.get((request.url ?? '').replace(/\?.*$/s, ''))
    if (operation === undefined) return refuse(404, 'NOT_FOUND', 'There is no such operation')
    if (request.method !== 'POST' && !(request.method === 'PUT' && fault === 'put-accepted')) {
      return refuse(405, 'METHOD_NOT_ALLOWED', 'Operations are called with POST', { allow: 'POST' })
    }
    if (!isPlainJson(request) && fault !== 'any-content-type') {
      return refuse(415, 'UNSUPPORTED_MEDIA_TYPE', 'The body has to be application/json in UTF-8')
    }

    const isOpen =
      fault === 'no-authentication' ||
      (fault === 'unsettlement-unauthenticated' && operation === 'unsettlement')
    const admitted = isOpen || isAuthenticated(request, credentials, fault)
    const early = fault !== 'authentication-after-body' && fault !== 'authentication-after-effect'
    const challenge =
      fault === 'no-www-authenticate' ? {} : { 'www-authenticate': 'Basic realm="wallet", charset="UTF-8"' }
    const stranger = (): Reply =>
      refuse(401, 'AUTHENTICATION_FAILED', 'Credentials are missing or wrong', challenge)
    if (!admitted && early) return stranger()

    const body = await readBody(request, fault)
    if (body === 'broken off') return undefined
    if (body === 'too large') {
      if (fault === 'oversize-body-kills-connection') return undefined
      if (fault === 'oversize-body-500') throw new RangeError('request entity too large')
      return refuse(413, 'PAYLOAD_TOO_LARGE', `The body has more than ${bodyBytesMax} bytes`)
    }

    let call: Request
    try {
      call = readRequest(operation, body, fault)
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
      if (!admitted && fault === 'authentication-after-effect') return stranger()
      return refuse(400, 'INVALID_REQUEST', error.message)
    }
    if (!admitted && fault === 'authentication-after-body') return stranger()
    const outcome = await book.carryOut(call)
    if (!admitted) return stranger()
    if (fault === 'disconnect-forgets-record' || fault === 'disconnect-forgets-debit') {
      if (await hasHungUp(request)) book.afterHangUp(call)
    }
    return asReply(outcome, fault)
  }

  server.on('clientError', (_error, socket) => {
    // Bytes that are not HTTP never become a request: they are answered with the error record too.
    if (!socket.writable) {
      socket.destroy()
      return
    }
    const { body } = failure(400, 'INVALID_REQUEST', 'The request is not HTTP', fault)
    const lines = [
      'HTTP/1.1 400 Bad Request',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ]
    socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
  })

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const close = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server.close(error => (error === undefined ? resolve() : reject(error)))
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, credentials, close }
}

const asReply = (outcome: Answer, fault: FaultName | undefined): Reply => {
  if ('code' in outcome) {
    const status =
      fault === 'unknown-player-404' && outcome.code === 'INVALID_PLAYER'
        ? 404
        : fault === 'funds-refusal-as-500' && outcome.code === 'INSUFFICIENT_FUNDS'
          ? 500
          : statusOf[outcome.code]
    return failure(status, outcome.code, outcome.description, fault)
  }
  // Not by JSON.stringify, which would need the balance as a float.
  const members = [
    `"balance":${fault === 'balance-as-text' ? JSON.stringify(outcome.balance) : outcome.balance}`,
    ...(fault === 'success-without-currency' ? [] : [`"currency":${JSON.stringify(outcome.currency)}`]),
    `"walletTransactionId":${JSON.stringify(outcome.reference)}`,
  ]
  return json(200, `{${members.join(',')}}`)
}

const failure = (
  status: number,
  errorCode: string,
  description: string,
  fault: FaultName | undefined,
  cause?: unknown,
  headers: Record<string, string> = {},
): Reply => {
  switch (fault) {
    case 'error-has-extra-fields': {
      const stack = cause instanceof Error ? cause.stack : new Error(description).stack
      return json(
        status,
        JSON.stringify({ errorCode, description, stack, sql: 'SELECT * FROM bets' }),
        headers,
      )
    }
    case 'error-as-200':
      return json(200, JSON.stringify({ errorCode, description }), headers)
    case 'error-without-code':
      return json(status, JSON.stringify({ description }), headers)
    case 'error-as-html': {
      const body = `<!doctype html><title>Error</title><h1>${errorCode}</h1><p>${description}</p>`
      return { status, body, headers: { 'content-type': 'text/html; charset=utf-8', ...headers } }
    }
    default:
      return json(status, JSON.stringify({ errorCode, description }), headers)
  }
}

const json = (status: number, body: string, headers: Record<string, string> = {}): Reply => ({
  status,
  body,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
})

const isPlainJson = ({ headers }: IncomingMessage): boolean => {
  const [type, ...parameters] = (headers['content-type'] ?? '')
    .split(';')
    .map(part => part.trim().toLowerCase())
  const charsets = parameters.filter(parameter => parameter.startsWith('charset'))
  const encoding = headers['content-encoding'] ?? 'identity'
  return (
    type === 'application/json' &&
    charsets.every(charset => /^charset="?utf-8"?$/.test(charset)) &&
    encoding.toLowerCase() === 'identity'
  )
}

const isAuthenticated = (
  { headers }: IncomingMessage,
  { username, password: secret }: Credentials,
  fault: FaultName | undefined,
): boolean => {
  const [, token] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(headers.authorization ?? '') ?? []
  if (fault === 'any-bearer-accepted' && /^bearer +\S/i.test(headers.authorization ?? '')) return true
  if (token === undefined) return false
  const given = Buffer.from(token, 'base64').toString('utf8')
  const password = given.slice(given.indexOf(':') + 1)
  const isUser = given.startsWith(`${username}:`)
  if (fault === 'authentication-by-name') return isUser
  if (fault === 'authentication-by-password') return password === secret
  if (fault === 'password-empty-accepted' && password === '') return isUser
  if (fault === 'password-prefix-accepted' && password !== '') return isUser && secret.startsWith(password)
  if (fault === 'password-case-folded') return isUser && password.toLowerCase() === secret.toLowerCase()
  // Digests have equal lengths, so that their comparison does not reveal the length of the password.
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(`${username}:${secret}`))
}

/** Keeps at most the limit in memory. The rest of a larger body is read and discarded. */
const readBody = (
  request: IncomingMessage,
  fault: FaultName | undefined,
): Promise<Buffer | 'too large' | 'broken off'> =>
  new Promise(resolve => {
    const chunks: Buffer[] = []
    let bytes = 0
    const complete = (): void => resolve(Buffer.concat(chunks))
    const breakOff = (): void => (fault === 'half-body-accepted' ? complete() : resolve('broken off'))
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= bodyBytesMax) chunks.push(chunk)
      else resolve('too large')
    })
    request.once('end', complete)
    request.once('error', breakOff)
    request.once('close', breakOff)
  })

/** Whether the client disconnects within the time that a wallet takes for its answer. */
const hasHungUp = async ({ socket }: IncomingMessage): Promise<boolean> => {
  const gone = (): boolean => socket.destroyed || socket.readableEnded
  // readableEnded: the client has closed its side, which most servers treat as disconnected.
  const deadline = Date.now() + 30
  for (let turns = 0; !gone() && (turns < 50 || Date.now() < deadline); turns += 1) await turnOfTheLoop()
  return gone()
}
