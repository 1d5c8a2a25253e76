/**
 * What hosts put before a correct wallet: limiters, gateways, wrappers, exception filters. They answer in its place, or
 * change its answers.
 */
import { type Fault, fieldsOf, type Memory, type Message, type Reply } from './fronts.js'

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

export const page = (status: number, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  body: `<html><body><h1>${status}</h1></body></html>`,
})

/** From this call on, another program answers. */
const from =
  (first: number, reply: () => Reply) =>
  (message: Message, memory: Memory): Message | Reply => {
    memory.count += 1
    return memory.count < first ? message : reply()
  }

const inside = (name: string) => (reply: Reply) => ({
  ...reply,
  body: `{"success":${reply.status < 400},"${name}":${reply.body}}`,
})

const tooMany = { status: 'error', message: 'Too many requests' }

/** Maps each refusal, as an exception filter does: one status, the same body. */
const refusedWith = (status: number) => (reply: Reply) => (reply.status >= 400 ? { ...reply, status } : reply)

/** Maps each refusal to the form of another program. */
const inForm = (form: (status: number, message: string) => Reply) => (reply: Reply) =>
  reply.status >= 400 ? form(reply.status, /"description":"([^"]*)"/.exec(reply.body)?.[1] ?? '') : reply

/** Reads the body and writes it again. */
const rewritten = (change: (fields: Record<string, unknown>) => unknown) => (message: Message) => {
  const fields = fieldsOf(message)
  return fields === null ? message : { ...message, body: Buffer.from(JSON.stringify(change(fields))) }
}

export interface Middleware extends Fault {
  /** What the report says of it, before all else. */
  named: RegExp
  /** `refused`: the audit cannot start. `stopped`: it ends there. `slowed`: it waits and goes on. */
  ends: 'refused' | 'stopped' | 'slowed' | 'never'
}

export const middleware: Record<string, Middleware> = {
  'limiter-429': {
    says: 'From call 41 on, 429 for a quarter of an hour',
    call: from(41, () => json(429, tooMany, { 'retry-after': '900' })),
    named: /^Request 41 was answered by a rate limiter: 429 .*Too many requests.* \(retry-after: 900\)/,
    ends: 'stopped',
  },
  'limiter-429-short': {
    says: 'Every tenth call is answered with 429, and may be sent again at once',
    call: (message, memory) => {
      memory.count += 1
      return memory.count % 10 === 0 ? json(429, tooMany, { 'retry-after': '0' }) : message
    },
    named: /^Request 10 was answered by a rate limiter: 429 /,
    ends: 'slowed',
  },
  'limiter-200': {
    says: 'From call 41 on, 200 with a message',
    call: from(41, () => json(200, tooMany)),
    named: /^Request 41 was answered by a filter, which answers in a form of its own: 200 .*Too many/,
    ends: 'stopped',
  },
  'body-limit-413': {
    says: 'From call 41 on, 413',
    call: from(41, () => page(413)),
    named: /^Request 41 was answered by a limit of the size of a body: 413 /,
    ends: 'stopped',
  },
  'gateway-502': {
    says: 'From call 41 on, 502 with a page of HTML',
    call: from(41, () => page(502, { server: 'nginx' })),
    named: /^Request 41 was answered by a gateway that did not reach the wallet: 502 /,
    ends: 'stopped',
  },
  'gateway-504': {
    says: 'From call 41 on, 504 with a page of HTML',
    call: from(41, () => page(504)),
    named: /^Request 41 was answered by a gateway that did not wait for the wallet: 504 /,
    ends: 'stopped',
  },
  'gateway-502-of-50': {
    says: 'Every fiftieth call is answered with 502 and a page of HTML, and goes through when it is sent again',
    call: (message, memory) => {
      memory.count += 1
      return memory.count % 50 === 0 ? page(502) : message
    },
    named: /^Request 50 was answered by a gateway that did not reach the wallet: 502 /,
    ends: 'never',
  },
  'redirect-301': {
    says: 'From call 41 on, 301 to https',
    call: from(41, () => page(301, { location: 'https://wallet.example/' })),
    named: /^Request 41 was answered by a redirect: 301 /,
    ends: 'stopped',
  },
  'page-of-login': {
    says: 'From call 41 on, 200 with a page of HTML',
    call: from(41, () => page(200)),
    named: /^Request 41 was answered by a page of HTML: \d+ </,
    ends: 'stopped',
  },
  'timeout-503': {
    says: 'Every fortieth call is answered with 503 while the wallet goes on',
    pass: async (message, forward, memory) => {
      memory.count += 1
      const isLate = memory.count % 40 === 0
      const reply = await forward(message)
      return isLate ? json(503, { statusCode: 503, message: 'Request timeout' }) : reply
    },
    named:
      /^Request \d+ was answered by the wallet, or an error handler before it, which .*: 503 .*Request timeout/,
    ends: 'never',
  },
  'wrapper-of-all': {
    says: 'An interceptor puts each answer into { success, data }',
    answer: inside('data'),
    named: /^Request 1 was answered by a wrapper, which puts the answer inside "data": 200 /,
    ends: 'refused',
  },
  'wrapper-of-errors': {
    says: 'A filter puts each refusal into { success, error }',
    answer: reply => (reply.status >= 400 ? inside('error')(reply) : reply),
    named: /^Request \d+ was answered by a wrapper, which puts the answer inside "error": 4\d\d /,
    ends: 'never',
  },
  'filter-without-code': {
    says: 'An exception filter writes { statusCode, message }',
    answer: inForm((status, message) => json(status, { statusCode: status, message })),
    named: /^Request \d+ was answered by the wallet, or an error handler before it, which /,
    ends: 'never',
  },
  'filter-of-pages': {
    says: 'An error handler writes a page of HTML',
    answer: inForm(status => page(status)),
    named: /^Request \d+ was answered by a page of HTML: \d+ </,
    ends: 'never',
  },
  'filter-200': {
    says: 'An exception filter answers each refusal with 200',
    answer: refusedWith(200),
    named: /^Request \d+ was answered by a filter, which answers refusals with a status of success: 200 /,
    ends: 'never',
  },
  'snake-case': {
    says: 'An interceptor writes the names of fields in snake case',
    answer: reply => ({
      ...reply,
      body: reply.body
        .replace('errorCode', 'error_code')
        .replace('walletTransactionId', 'wallet_transaction_id'),
    }),
    named: /^Request \d+ was answered by the wallet, or an error handler before it, which .*error_code/,
    ends: 'never',
  },
  'filter-500': {
    says: 'An exception filter answers each refusal with 500',
    answer: refusedWith(500),
    named: /^Request \d+ was answered by a filter, which answers every refusal with the status 500: 500 /,
    ends: 'never',
  },
  'filter-400': {
    says: 'An exception filter answers each refusal with 400',
    answer: refusedWith(400),
    named: /^Request \d+ was answered by a filter, which answers every refusal with the status 400: 400 /,
    ends: 'never',
  },
  'filter-500-without-code': {
    says: 'An exception filter answers each refusal with 500, and writes { statusCode, message }',
    answer: inForm((_, message) => json(500, { statusCode: 500, message })),
    named: /^Request \d+ was answered by a filter, which answers every refusal with the status 500: 500 /,
    ends: 'never',
  },
  'filter-500-of-pages': {
    says: 'An error handler answers each refusal with 500 and a page of HTML',
    answer: inForm(() => page(500)),
    named: /^Request \d+ was answered by a filter, which answers every refusal with the status 500: 500 </,
    ends: 'never',
  },
}

/** The answers stay those of the interface: nothing is named, and single cases fail. */
export const unnamed: Record<string, Fault & { fails: readonly string[] }> = {
  'json-parser': {
    says: 'A JSON parser before the wallet reads numbers as doubles, and the body is written anew',
    call: rewritten(fields => fields),
    fails: ['AU-406', 'AU-811', 'AU-413', 'AU-411'],
  },
  'json-parser-and-escapes': {
    says: 'The same, and texts are escaped, as xss-clean does',
    call: rewritten(fields =>
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name,
          typeof value === 'string' ? value.replaceAll('<', '&lt;') : value,
        ]),
      ),
    ),
    fails: ['AU-406', 'AU-811', 'AU-413', 'AU-411'],
  },
  'created-201': {
    says: 'A controller answers each success with 201',
    answer: reply => (reply.status === 200 ? { ...reply, status: 201 } : reply),
    fails: ['AU-114'],
  },
  'balance-as-text': {
    says: 'An ORM returns the balance as text',
    answer: reply => ({ ...reply, body: reply.body.replace(/"balance":([0-9.]+)/, '"balance":"$1"') }),
    fails: [],
  },
  compression: {
    says: 'Compression: it only adds a header where the caller asks for none',
    answer: reply => ({ ...reply, headers: { ...reply.headers, vary: 'Accept-Encoding' } }),
    fails: [],
  },
}
