/**
 * Correct wallets that differ from this library's: a proxy in front of a correct wallet locks, gives up, fails or
 * names its refusals as other wallets do. No money is lost by any of it.
 */
import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Fault, fieldsOf, type Message, type Reply, refusal } from './fronts.js'

/** As nginx answers by default: without an error record. */
const gatewayPage = (status: number): Reply => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<html><head><title>${status}</title></head><body><center>nginx</center></body></html>`,
})

const unavailable = () => refusal(503, 'UNAVAILABLE')

const isOperation = ({ path }: Message) => /^\/(?:placebet|unsettlement|rollbackbet|settlement)$/.test(path)

/** About as long as a database takes. */
const workMs = 2

/** Every player has one lock, and a call that does not get it is answered at once. */
function lockedAtOnce(): Fault {
  const locked = new Set<unknown>()
  return {
    says: 'Rows are locked without waiting: a call that meets another one of the player is answered 503',
    async pass(message, forward) {
      const player = fieldsOf(message)?.playerId
      if (!isOperation(message) || typeof player !== 'string') return await forward(message)
      if (locked.has(player)) return unavailable()
      locked.add(player)
      try {
        await pause(workMs)
        return await forward(message)
      } finally {
        locked.delete(player)
      }
    },
  }
}

/** Optimistic: a transaction that another one of the player overtakes is begun again, three times in all. */
function serializable(): Fault {
  const versions = new Map<unknown, number>()
  return {
    says: 'Transactions are SERIALIZABLE: after three serialization failures the answer is 503',
    async pass(message, forward) {
      const player = fieldsOf(message)?.playerId
      if (!isOperation(message) || typeof player !== 'string') return await forward(message)
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const version = versions.get(player) ?? 0
        await pause(workMs)
        if ((versions.get(player) ?? 0) !== version) continue
        versions.set(player, version + 1)
        return await forward(message)
      }
      return unavailable()
    },
  }
}

/** Which calls fail, by their number, and how: before the wallet is called, or after it has answered. */
function failing(
  says: string,
  fails: (call: number) => boolean,
  how: 'before' | 'after' | 'no answer',
): Fault {
  let calls = 0
  return {
    says,
    async pass(message, forward) {
      calls += 1
      if (!fails(calls)) return await forward(message)
      if (how === 'before') return gatewayPage(503)
      await forward(message)
      if (how === 'after') return gatewayPage(502)
      throw new Error('the connection is closed without an answer')
    },
  }
}

/** Statuses and codes of another wallet, by the codes of this library. */
const otherRefusals: Record<string, [number, string]> = {
  INVALID_REQUEST: [422, 'E-10 malformed'],
  INVALID_PLAYER: [404, 'E-20 no such account'],
  INVALID_CURRENCY: [403, 'E-21 currency'],
  INVALID_BET: [409, 'E-30 state of the bet'],
  INSUFFICIENT_FUNDS: [403, 'E-40 balance'],
  TRANSACTION_CONFLICT: [422, 'E-50 id used'],
  SETTLEMENT_NOT_FOUND: [500, 'E-60 not yet'],
  AUTHENTICATION_FAILED: [403, 'E-70 who are you'],
  NOT_FOUND: [400, 'E-80 path'],
  METHOD_NOT_ALLOWED: [400, 'E-81 method'],
  PAYLOAD_TOO_LARGE: [400, 'E-82 size'],
  UNSUPPORTED_MEDIA_TYPE: [400, 'E-83 type'],
}

/** The codes by which a platform acts: an operator agrees on them with it (`--code`). */
export const codesAgreed = { INVALID_PLAYER: 'E-20 no such account', INSUFFICIENT_FUNDS: 'E-40 balance' }

const renamed = (reply: Reply): Reply => {
  const code = /"errorCode":"([A-Z_]+)"/.exec(reply.body)?.[1] ?? ''
  const [status, errorCode] = otherRefusals[code] ?? []
  if (status === undefined || errorCode === undefined) return reply
  return { ...reply, status, body: reply.body.replace(code, errorCode) }
}

type Fields = Record<string, unknown>

/** Replaces fields. A body that needs none replaced stays byte for byte: amounts keep their digits. */
const replacing = (replace: (fields: Fields, message: Message) => Fields) => (message: Message) => {
  const fields = fieldsOf(message)
  if (fields === null) return message
  const replaced = replace(fields, message)
  if (Object.entries(replaced).every(([name, value]) => fields[name] === value)) return message
  return { ...message, body: Buffer.from(JSON.stringify({ ...fields, ...replaced })) }
}

const hashOf = (id: string) => createHash('sha256').update(id, 'utf16le').digest('hex')

const isLong = (id: unknown) => typeof id === 'string' && [...id].length > 64

/** Unlike the wallet behind the proxy, a text column keeps an id of any length, and control characters too. */
const isBeyondOurs = (id: unknown): id is string =>
  typeof id === 'string' && ([...id].length > 255 || /^$|[\p{Cc}\p{Surrogate}]/u.test(id))

/** Each starts from nothing: a proxy counts its calls. */
export const correct = {
  'locks-without-waiting': lockedAtOnce,
  'serializable-gives-up': serializable,
  'proxy-503-of-300': () =>
    failing('A proxy answers every 300th call with 503', call => call % 300 === 0, 'before'),
  'proxy-503-of-20': () =>
    failing('A proxy answers every 20th call with 503', call => call % 20 === 0, 'before'),
  'proxy-503-first': () => failing('A proxy answers the first call with 503', call => call === 1, 'before'),
  'proxy-502-of-97': () =>
    failing('A proxy loses every 97th answer and answers 502', call => call % 97 === 0, 'after'),
  'connection-lost-of-101': () =>
    failing('Every 101st answer is lost with its connection', call => call % 101 === 0, 'no answer'),
  'other-statuses-and-codes': (): Fault => ({
    says: 'Every refusal has another status and another code',
    answer: renamed,
  }),
  'narrow-balance': (): Fault => ({
    says: 'The balance column has 12 digits: a settlement beyond it is answered 500',
    pass: (message, forward) =>
      message.path === '/settlement' && Number(fieldsOf(message)?.amount) > 1e10
        ? Promise.resolve(refusal(500, 'INTERNAL_ERROR'))
        : forward(message),
  }),
  'unknown-bets-404': (): Fault => ({
    says: 'A settlement or an unsettlement of an unknown bet is answered 404, with an error record',
    answer: (reply, { path }) =>
      /settlement$/.test(path) && reply.body.includes('There is no such bet')
        ? { ...reply, status: 404 }
        : reply,
  }),
  'rollback-type-ignored': (): Fault => ({
    says: 'The type of a rollback is not read: there is only one',
    call: replacing((_, { path }) => (path === '/rollbackbet' ? { type: 'TECHNICAL_ERROR' } : {})),
  }),
  'bet-ids-as-text': (): Fault => ({
    says: 'A betId that is a number, a list or an object is made text, as by str() in Python',
    call: replacing(({ betId }) =>
      typeof betId === 'string' || betId === null || betId === undefined
        ? {}
        : { betId: JSON.stringify(betId) },
    ),
  }),
  'bet-ids-of-any-length': (): Fault => ({
    says: 'The betId is any text, of any length',
    call: replacing(({ betId }) => (isBeyondOurs(betId) ? { betId: hashOf(betId) } : {})),
  }),
  'ids-of-64': (): Fault => ({
    says: 'The columns of transactionId and betId have 64 characters: a longer one is answered 500',
    call(message) {
      const { transactionId, betId } = fieldsOf(message) ?? {}
      return isLong(transactionId) || isLong(betId) ? refusal(500, 'INTERNAL_ERROR') : message
    },
  }),
} satisfies Record<string, () => Fault>

export type CorrectName = keyof typeof correct

/** Wallets that answer one kind of call with 503, always. */
export const unavailableFor = {
  'bets of a TEASER': message => fieldsOf(message)?.betType === 'TEASER',
  'rollbacks of unknown bets': (message, memory) =>
    message.path === '/rollbackbet' && !memory.betIds.includes(String(fieldsOf(message)?.betId)),
  'rollbacks of known bets': (message, memory) =>
    message.path === '/rollbackbet' && memory.betIds.includes(String(fieldsOf(message)?.betId)),
  'retries of a placebet': (message, memory) =>
    message.path === '/placebet' && memory.betIds.includes(String(fieldsOf(message)?.betId)),
  UNSCORED: message => fieldsOf(message)?.type === 'UNSCORED',
  UNVOIDED: message => fieldsOf(message)?.type === 'UNVOIDED',
  'stakes above ten': message => Number(fieldsOf(message)?.amount) > 10,
} satisfies Record<string, (message: Message, memory: { betIds: string[] }) => boolean>

export type UnavailableName = keyof typeof unavailableFor

export const unavailableWallet = (name: UnavailableName): Fault => ({
  says: `Every call of one kind is answered 503: ${name}`,
  call(message, memory) {
    const isFor: (message: Message, memory: { betIds: string[] }) => boolean = unavailableFor[name]
    if (isFor(message, memory)) return unavailable()
    if (message.path === '/placebet') memory.betIds.push(String(fieldsOf(message)?.betId))
    return message
  },
})
