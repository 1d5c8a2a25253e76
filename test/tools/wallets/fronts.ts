/**
 * Wallets with one defect of their HTTP layer: a proxy in front of a correct wallet changes calls or answers, as a gateway
 * or the parser of a framework might.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { AuditOptions } from '../../../src/tools/audit/index.js'
import { type PlainWalletOptions, startPlainWallet } from './independent/plain.js'

export interface Message {
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer
}

export interface Reply {
  status: number
  headers: Record<string, string>
  body: string
}

export interface Fault {
  /** The defect in one sentence. */
  says: string
  /** Reads the body differently. */
  read?(req: IncomingMessage): Promise<Buffer>
  /** Answers itself, changes the call, or crashes (`null`: closes this connection and answers no more). */
  call?(message: Message, memory: Memory): Message | Reply | null
  /** Forwards the call any number of times. */
  pass?(message: Message, forward: (message: Message) => Promise<Reply>, memory: Memory): Promise<Reply>
  answer?(reply: Reply, message: Message): Reply
  /** Handles one call after the other, including its body. */
  oneAtATime?: boolean
  /** What an audit of this wallet is given beside the usual options. */
  audit?: Pick<AuditOptions, 'headers' | 'sign'>
}

/** State of the proxy between calls. */
export interface Memory {
  lastBetId: unknown
  betIds: string[]
  inherited: Record<string, unknown>
  count: number
}

type Fields = Record<string, unknown>

export function fieldsOf(message: Message): Fields | null {
  try {
    const value: unknown = JSON.parse(message.body.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
  } catch {
    return null
  }
}

function withFields(message: Message, fields: Fields): Message {
  return { ...message, body: Buffer.from(JSON.stringify(fields)) }
}

/** Changes the fields of a body that is an object. If none changes, the amounts keep their digits. */
function changing(change: (fields: Fields, message: Message, memory: Memory) => Fields) {
  return (message: Message, memory: Memory): Message => {
    const fields = fieldsOf(message)
    if (fields === null) return message
    const changed = change(fields, message, memory)
    return isDeepStrictEqual(changed, fields) ? message : withFields(message, changed)
  }
}

export const refusal = (status: number, errorCode: string): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ errorCode, description: 'as it is' }),
})

/** That of the wallet behind the proxy. */
const rightAuthorization = `Basic ${Buffer.from('platform:correct horse').toString('base64')}`

export const fronts = {
  'balance-before-the-bet': {
    says: 'A placebet is answered with the balance before it',
    answer(reply, message) {
      const amount = fieldsOf(message)?.amount
      if (message.path !== '/placebet' || reply.status !== 200 || typeof amount !== 'number') return reply
      return {
        ...reply,
        body: reply.body.replace(/"balance":([0-9.]+)/, (_, balance) => {
          return `"balance":${(Number(balance) + amount).toFixed(2)}`
        }),
      }
    },
  },
  'bet-types-forgotten': {
    says: 'Only single bets are known',
    call: message => (fieldsOf(message)?.betType === 'TEASER' ? refusal(400, 'INVALID_REQUEST') : message),
  },
  'rollback-undoes-the-last-bet': {
    says: 'A rollback undoes the last bet of the player, whichever it names',
    call: changing((fields, { path }, memory) => {
      if (path === '/placebet') memory.lastBetId = fields.betId
      const known = memory.betIds.includes(String(fields.betId))
      if (path === '/placebet') memory.betIds.push(String(fields.betId))
      return path === '/rollbackbet' && known ? { ...fields, betId: memory.lastBetId } : fields
    }),
  },
  'unsettlement-of-the-last-bet': {
    says: 'An unsettlement takes back the last settlement of the player, whichever bet it names',
    call: changing((fields, { path }, memory) => {
      if (path === '/settlement') memory.lastBetId = String(fields.betId)
      return path === '/unsettlement' && memory.lastBetId !== ''
        ? { ...fields, betId: memory.lastBetId }
        : fields
    }),
  },
  'unsettlement-of-rolled-back-succeeds': {
    says: 'An unsettlement of a bet that was rolled back is answered with success',
    pass: async (message, forward, memory) => {
      const reply = await forward(message)
      const betId = String(fieldsOf(message)?.betId)
      if (message.path === '/rollbackbet' && reply.status === 200) memory.betIds.push(betId)
      if (message.path !== '/unsettlement' || !memory.betIds.includes(betId)) return reply
      if (!reply.body.includes('INVALID_BET')) return reply
      const transactionId = `${fieldsOf(message)?.transactionId}-again`
      return await forward(
        withFields(
          { ...message, path: '/rollbackbet' },
          {
            ...fieldsOf(message),
            transactionId,
            type: 'TECHNICAL_ERROR',
          },
        ),
      )
    },
  },
  'amounts-by-number': {
    says: 'Amounts go through Number(): null is 0, true is 1',
    call: changing((fields, { path }) =>
      path === '/placebet' && 'amount' in fields && !(Number(fields.amount) < 0)
        ? { ...fields, amount: Number(fields.amount) || 0 }
        : fields,
    ),
  },
  'amounts-by-parse-int': {
    says: 'Amounts with an exponent are read up to the letter: 150e-2 is 150',
    call: message => ({
      ...message,
      body: Buffer.from(message.body.toString('utf8').replace(/("amount":-?[0-9.]+)e-?[0-9]+/, '$1')),
    }),
  },
  'stake-of-a-cent-free': {
    says: 'Amounts below five cents are rounded to nothing',
    call: changing((fields, { path }) =>
      path === '/placebet' && typeof fields.amount === 'number' && fields.amount > 0 && fields.amount < 0.05
        ? { ...fields, amount: 0 }
        : fields,
    ),
  },
  'ids-made-up': {
    says: 'A call without transactionId gets one',
    call: changing((fields, _, memory) => {
      memory.count += 1
      return 'transactionId' in fields ? fields : { ...fields, transactionId: `made-up-${memory.count}` }
    }),
  },
  'prototype-merged': {
    says: 'Fields of __proto__ are fields of the body, and of the next one',
    call: changing((fields, { path }, memory) => {
      if (path !== '/placebet') return fields
      const put = Object.getOwnPropertyDescriptor(fields, '__proto__')?.value as Fields | undefined
      Object.assign(memory.inherited, put)
      return { ...memory.inherited, ...fields }
    }),
  },
  'keys-folded': {
    says: 'Keys are read in any case and with spaces around them',
    call: changing(fields =>
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name.trim() === name ? lowerFirst(name) : name.trim(),
          value,
        ]),
      ),
    ),
  },
  'like-in-sql': {
    says: 'Bets are looked up with LIKE: % is any of them',
    call: changing((fields, { path }, memory) => {
      if (path === '/placebet') memory.lastBetId = fields.betId
      return path === '/rollbackbet' && fields.betId === '%' ? { ...fields, betId: memory.lastBetId } : fields
    }),
  },
  'query-objects': {
    says: 'A betId that is an object is a query: {"$ne": ""} finds every bet',
    call: changing((fields, { path }, memory) => {
      if (path === '/placebet') memory.lastBetId = fields.betId
      const query = typeof fields.betId === 'object' && fields.betId !== null
      return path === '/rollbackbet' && query ? { ...fields, betId: memory.lastBetId } : fields
    }),
  },
  'both-amounts': {
    says: 'Of two amounts in one body the first is taken, and at a repetition the last',
    pass: async (message, forward) => {
      const text = message.body.toString('utf8')
      const [, first] = [...text.matchAll(/"amount":([0-9.]+)/g)]
      if (first === undefined) return await forward(message)
      const reply = await forward(message)
      const fields = { ...fieldsOf(message), transactionId: `${fieldsOf(message)?.transactionId}-2` }
      await forward(withFields(message, { ...fields, betId: `${fieldsOf(message)?.betId}-2` }))
      return reply
    },
  },
  'charset-refused': {
    says: 'The Content-Type must be application/json to the letter',
    call: message =>
      message.headers['content-type'] === 'application/json'
        ? message
        : refusal(415, 'UNSUPPORTED_MEDIA_TYPE'),
  },
  'length-required': {
    says: 'A body without a Content-Length is refused',
    call: message =>
      message.headers['transfer-encoding'] === undefined ? message : refusal(411, 'INVALID_REQUEST'),
  },
  'first-piece-read': {
    says: 'The first piece of a body that arrives is taken for the whole body',
    read: async req => {
      for await (const chunk of req as AsyncIterable<Buffer>) return chunk
      return Buffer.alloc(0)
    },
  },
  'cut-body-repaired': {
    says: 'The JSON of a body that was cut off is completed from what arrived',
    read: async req => {
      const chunks: Buffer[] = []
      try {
        for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
        return Buffer.concat(chunks)
      } catch {
        const whole = Buffer.concat(chunks)
          .toString('utf8')
          .replace(/,[^,]*$/, '')
        return Buffer.from(`${whole},"transactionDate":"2026-11-21T18:00:00Z"}`)
      }
    },
  },
  'chunks-decoded-apart': {
    says: 'The body is put together from text, chunk by chunk',
    read: async req => {
      let text = ''
      for await (const chunk of req as AsyncIterable<Buffer>) text += chunk.toString('utf8')
      return Buffer.from(text)
    },
  },
  'one-call-at-a-time': {
    says: 'Calls are taken one after the other, and a slow body holds up all of them',
    oneAtATime: true,
  },
  'dies-of-depth': {
    says: 'A body that is nested deeply ends the process',
    call: message =>
      /(?:\[|\{"a":){1000}/.test(message.body.toString('latin1', 0, 20_000)) ? null : message,
  },
  'dies-of-size': {
    says: 'A body of some megabytes ends the process',
    call: message => (message.body.length > 1_000_000 ? null : message),
  },
  'get-places-bets': {
    says: 'The query of a GET is taken for a body',
    call: message => {
      const [path = '', query] = message.path.split('?')
      if (message.method !== 'GET' || query === undefined) return message
      const { amount, odds, ...fields } = Object.fromEntries(new URLSearchParams(query))
      const headers = { ...message.headers, 'content-type': 'application/json' }
      return withFields({ method: 'POST', path, headers, body: message.body }, { ...fields, amount, odds })
    },
  },
  'cent-kept': {
    says: 'Every fourth rollback is followed by a fee of a cent',
    pass: async (message, forward, memory) => {
      const reply = await forward(message)
      const { transactionId, betId, ...fields } = fieldsOf(message) ?? {}
      memory.count += message.path === '/rollbackbet' ? 1 : 0
      if (message.path !== '/rollbackbet' || memory.count % 4 !== 0) return reply
      await forward(
        withFields(
          { ...message, path: '/placebet' },
          {
            ...fields,
            ...{ transactionId: `${transactionId}-fee`, betId: `${betId}-fee`, sessionId: 's', amount: 0.01 },
            ...{ currency: 'EUR', betType: 'SINGLE' },
          },
        ),
      )
      return reply
    },
  },
  'refusals-as-500': {
    says: 'An exception handler answers every refusal with 500',
    answer: reply => (reply.status >= 400 ? { ...reply, status: 500 } : reply),
  },
  'success-with-more': {
    says: 'A success has a fourth field',
    answer: reply =>
      reply.status === 200 ? { ...reply, body: reply.body.replace(/\}$/, ',"bonusBalance":0}') } : reply,
  },
  'duplicate-refused-otherwise': {
    says: 'A refusal that comes again is another one',
    pass: async (message, forward, memory) => {
      const reply = await forward(message)
      const { betId } = fieldsOf(message) ?? {}
      if (reply.status !== 402 || typeof betId !== 'string') return reply
      if (memory.betIds.includes(betId)) return refusal(409, 'DUPLICATE')
      memory.betIds.push(betId)
      return reply
    },
  },
  'every-seventh-call-fails': {
    says: 'Every seventh call is answered with 503 by the proxy',
    call: (message, memory) => {
      memory.count += 1
      return memory.count % 7 === 0 ? refusal(503, 'UNAVAILABLE') : message
    },
  },
  'cash-out-is-a-payout': {
    says: 'A cash-out is booked as a payout, and taken back like one',
    call: changing((fields, { path }) =>
      path === '/settlement' && fields.type === 'CASHOUT' ? { ...fields, type: 'BET_PAID' } : fields,
    ),
  },
  'ids-coerced': {
    says: 'An id that is a number, a list or an object is made text',
    call: changing(fields =>
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name,
          name.endsWith('Id') && value !== null ? String(value) : value,
        ]),
      ),
    ),
  },
  'ascii-only': {
    says: 'Ids with other letters than those of ASCII are refused',
    call: message => (message.body.some(byte => byte >= 0x80) ? refusal(400, 'INVALID_REQUEST') : message),
  },
  'unsettlement-debits-nothing': {
    says: 'An unsettlement is answered with success, and nothing is taken',
    call: changing((fields, message) => {
      if (message.path !== '/unsettlement') return fields
      message.path = '/rollbackbet'
      const unknown = { transactionId: `${fields.transactionId}-none`, betId: `${fields.transactionId}-none` }
      return { ...fields, ...unknown, type: 'TECHNICAL_ERROR' }
    }),
  },
  'rollback-misses-a-bet-in-flight': {
    says: 'A rollback does not see a bet that is being placed, and leaves nothing behind for it',
    pass: async (message, forward, memory) => {
      const fields = fieldsOf(message) ?? {}
      if (message.path === '/placebet') {
        memory.betIds.push(String(fields.betId))
        // As long as a slow database takes; a rollback that arrives meanwhile cancels the wait.
        for (let turn = 1; turn <= 10 && memory.lastBetId !== fields.betId; turn += 1)
          await new Promise(resolve => setTimeout(resolve, 2))
        memory.betIds = memory.betIds.filter(betId => betId !== fields.betId)
      }
      if (message.path !== '/rollbackbet' || !memory.betIds.includes(String(fields.betId)))
        return await forward(message)
      memory.lastBetId = String(fields.betId)
      return await forward(withFields(message, { ...fields, betId: `${fields.betId}-unseen` }))
    },
  },
  'rollback-refused-when-old': {
    says: 'A rollback whose transactionDate is more than 12 hours ago is refused',
    call: message => {
      const { transactionDate } = fieldsOf(message) ?? {}
      const isOld = Date.now() - Date.parse(String(transactionDate)) > 12 * 3_600_000
      return message.path === '/rollbackbet' && isOld ? refusal(400, 'TOO_LATE') : message
    },
  },
  'rollback-refused-a-day-later': {
    says: 'A rollback that is dated more than a day after its placebet is refused',
    call: (message, { inherited }) => {
      const { transactionDate, betId } = fieldsOf(message) ?? {}
      const date = Date.parse(String(transactionDate))
      if (message.path === '/placebet') inherited[String(betId)] = date
      const isLate = date - Number(inherited[String(betId)] ?? date) > 24 * 3_600_000
      return message.path === '/rollbackbet' && isLate ? refusal(400, 'TOO_LATE') : message
    },
  },
  'stakes-of-14-digits': {
    says: 'A stake is read with 14 digits, as by PHP',
    call: message => ({
      ...message,
      body: Buffer.from(
        message.body.toString('utf8').replace(/("amount":)([0-9]{10,}(?:\.[0-9]+)?)/, (_, name, amount) => {
          return message.path === '/placebet' ? `${name}${Number(Number(amount).toPrecision(14))}` : _
        }),
      ),
    }),
  },
  'tombstones-for-singles': {
    says: 'The tombstone of a bet refuses a late single bet only',
    call: (message, memory) => {
      const fields = fieldsOf(message) ?? {}
      const known = memory.betIds.includes(String(fields.betId))
      if (message.path === '/rollbackbet') memory.betIds.push(String(fields.betId))
      if (message.path !== '/placebet' || !known || fields.betType === 'SINGLE') return message
      return withFields(message, { ...fields, betId: `${fields.betId}-late` })
    },
  },
  'clawback-refused-under-another-code': {
    says: 'A clawback that exceeds the funds is refused with LIMIT_REACHED',
    answer: (reply, { path }) =>
      path === '/unsettlement'
        ? { ...reply, body: reply.body.replace('INSUFFICIENT_FUNDS', 'LIMIT_REACHED') }
        : reply,
  },
  'unknown-player-under-another-code': {
    says: 'An unknown player is refused with ACCOUNT_MISSING',
    answer: reply => ({ ...reply, body: reply.body.replace('INVALID_PLAYER', 'ACCOUNT_MISSING') }),
  },
  'unsettled-bet-503': {
    says: 'A second unsettlement of a bet is answered 503, always',
    answer: reply => (reply.body.includes('was reversed before') ? refusal(503, 'UNAVAILABLE') : reply),
  },
  'replay-under-another-status': {
    says: 'A success that is repeated has the status 208',
    pass: async (message, forward, memory) => {
      const reply = await forward(message)
      const key = `${message.path} ${fieldsOf(message)?.transactionId}`
      const isReplay = memory.betIds.includes(key)
      memory.betIds.push(key)
      return isReplay && reply.status === 200 ? { ...reply, status: 208 } : reply
    },
  },
  'lost-answer-work-done-twice': {
    says: 'When the caller has gone, the call is queued again under another id',
    pass: async (message, forward) => {
      const reply = await forward(message)
      if (!message.headers.connection?.includes('close') || message.path !== '/placebet') return reply
      const fields = fieldsOf(message) ?? {}
      await forward(
        withFields(message, {
          ...fields,
          transactionId: `${fields.transactionId}-q`,
          betId: `${fields.betId}-q`,
        }),
      )
      return reply
    },
  },
  'authorization-unchecked-beside-a-key': {
    says: 'With the right API key, any Authorization is accepted',
    audit: { headers: { 'x-api-key': 'the-key' } },
    call: ({ headers, ...message }) =>
      headers['x-api-key'] === 'the-key' && headers.authorization !== undefined
        ? { ...message, headers: { ...headers, authorization: rightAuthorization } }
        : refusal(401, 'AUTHENTICATION_FAILED'),
  },
  'signature-unchecked-beside-a-password': {
    says: 'Beside the right password, any signature is accepted',
    audit: { sign: ({ body }) => ({ 'x-signature': createHash('sha256').update(body).digest('hex') }) },
    call: message =>
      message.headers['x-signature'] === undefined ? refusal(401, 'AUTHENTICATION_FAILED') : message,
  },
} as const satisfies Record<string, Fault>

function lowerFirst(name: string): string {
  const folded = name.toLowerCase()
  return folded === 'amount' ? folded : name
}

export type FrontName = keyof typeof fronts

/** A correct wallet behind a defective proxy. */
export const startBrokenFront = (name: FrontName) => startFront(fronts[name])

/** A correct wallet behind a proxy that changes its calls or answers. */
export async function startFront(fault: Fault, options: PlainWalletOptions = {}) {
  const wallet = await startPlainWallet(options)
  const { origin, pathname } = new URL(wallet.url)
  const memory: Memory = { lastBetId: '', betIds: [], inherited: {}, count: 0 }

  const forward = (message: Message) =>
    new Promise<Reply>((resolve, reject) => {
      const { 'transfer-encoding': _, host: __, connection: ___, ...headers } = message.headers
      const call = send(`${origin}${pathname.replace(/\/$/, '')}${message.path}`, {
        method: message.method,
        agent: false,
        headers: { ...headers, 'content-length': String(message.body.length) },
      })
      call.on('error', reject)
      call.on('response', response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const { 'content-type': type, 'www-authenticate': challenge } = response.headers
          const kept = { 'content-type': type, 'www-authenticate': challenge }
          resolve({
            status: response.statusCode ?? 500,
            headers: Object.fromEntries(
              Object.entries(kept).filter(([, value]) => value !== undefined),
            ) as Record<string, string>,
            body: Buffer.concat(chunks).toString('utf8'),
          })
        })
      })
      call.end(message.body)
    })

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await (fault.read ?? readAll)(req)
    const headers = Object.fromEntries(
      Object.entries(req.headers).map(([header, value]) => [header, String(value)]),
    )
    const message: Message = { method: req.method ?? '', path: req.url ?? '', headers, body }
    const called = fault.call === undefined ? message : fault.call(message, memory)
    if (called === null) {
      server.close()
      server.closeAllConnections()
      return
    }
    const passed =
      'status' in called
        ? called
        : await (fault.pass === undefined ? forward(called) : fault.pass(called, forward, memory))
    const reply = fault.answer?.(passed, message) ?? passed
    res.writeHead(reply.status, reply.headers).end(reply.body)
  }

  let queue: Promise<unknown> = Promise.resolve()
  const server = createServer((req, res) => {
    // The caller has disconnected.
    const gone = () => res.destroy()
    if (fault.oneAtATime) queue = queue.then(() => answer(req, res)).catch(gone)
    else answer(req, res).catch(gone)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: wallet.credentials,
    async close(): Promise<void> {
      server.closeAllConnections()
      if (server.listening) await new Promise(resolve => server.close(resolve))
      await wallet.close()
    },
  }
}

async function readAll(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}
