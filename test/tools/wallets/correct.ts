/** Wallets that move money correctly, and answer differently from this library's: none may be failed. */

import type { HttpResponse } from '../../../src/http/index.js'
import type { AuditOptions } from '../../../src/tools/audit/index.js'
import { answer, roundTrip, storeWith } from './broken-wallet.js'
import type { Breakage } from './library.js'

export interface CorrectWallet {
  name: string
  breakage(): Breakage
  /** What its operator tells the audit. */
  audit?: Partial<AuditOptions>
}

/** Other statuses and codes than those of this library, in the same form. */
function inOtherWords(codes: Readonly<Record<string, readonly [number, string]>>): () => Breakage {
  return () => ({
    async call({ next }) {
      const response = await next()
      const [, code = ''] = /"errorCode":"([A-Z_]+)"/.exec(response.body) ?? []
      const other = codes[code]
      return other === undefined ? response : answer(other[0], { errorCode: other[1], description: 'no' })
    },
  })
}

const busy = () => answer(503, { errorCode: 'UNAVAILABLE', description: 'try again' })
/** As a proxy answers: without an error record. */
const badGateway = (status: number): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html><body>Service Unavailable</body></html>',
})

export const correctWallets: CorrectWallet[] = [
  { name: 'this library’s', breakage: () => ({}) },
  {
    name: 'does not wait for the player’s lock, and answers 503 if it is held',
    breakage: () => {
      const held = new Set<string>()
      return {
        async call({ body: { playerId = '' }, next }) {
          if (held.has(playerId)) return busy()
          held.add(playerId)
          await roundTrip(10)
          const response = await next()
          held.delete(playerId)
          return response
        },
      }
    },
  },
  {
    name: 'gives up after three serialization failures, and answers 503',
    breakage: () => {
      const versions = new Map<string, number>()
      return {
        async call({ body: { playerId = '' }, next }) {
          for (let attempt = 1; attempt <= 3; attempt += 1) {
            const before = versions.get(playerId) ?? 0
            await roundTrip(10)
            if ((versions.get(playerId) ?? 0) !== before) continue
            versions.set(playerId, before + 1)
            return next()
          }
          return busy()
        },
      }
    },
  },
  ...[502, 503, 504].map(status => ({
    name: `stands behind a proxy that answers ${status} to 0.3 % of the calls, half of them after the wallet`,
    breakage: (): Breakage => {
      let calls = 0
      return {
        async call({ next }) {
          calls += 1
          if (calls % 333 !== 0) return next()
          if (calls % 666 === 0) await next()
          return badGateway(status)
        },
      }
    },
  })),
  {
    name: 'answers 500 to one call in fifty, whether it was executed or not',
    breakage: () => {
      let calls = 0
      return {
        async call({ next }) {
          calls += 1
          if (calls % 50 !== 0) return next()
          if (calls % 100 === 0) await next()
          return answer(500, { errorCode: 'INTERNAL_ERROR', description: 'oops' })
        },
      }
    },
  },
  {
    name: 'answers 503 to the very first call',
    breakage: () => {
      let calls = 0
      return {
        async call({ next }) {
          calls += 1
          return calls === 1 ? busy() : next()
        },
      }
    },
  },
  {
    name: 'refuses with 422 and codes of its own',
    breakage: inOtherWords({
      INSUFFICIENT_FUNDS: [422, 'NOT_ENOUGH_MONEY'],
      INVALID_BET: [422, 'BET_REFUSED'],
      INVALID_CURRENCY: [422, 'WRONG_CURRENCY'],
      INVALID_PLAYER: [422, 'PLAYER_NOT_FOUND'],
    }),
  },
  {
    name: 'refuses with 403, 404 and 409',
    breakage: inOtherWords({
      INSUFFICIENT_FUNDS: [403, 'INSUFFICIENT_FUNDS'],
      INVALID_BET: [409, 'BET_CLOSED'],
      INVALID_CURRENCY: [404, 'INVALID_CURRENCY'],
    }),
  },
  {
    name: 'refuses everything with 400 REFUSED',
    breakage: inOtherWords({
      INSUFFICIENT_FUNDS: [400, 'REFUSED'],
      INVALID_BET: [400, 'REFUSED'],
      INVALID_CURRENCY: [400, 'REFUSED'],
    }),
  },
  {
    name: 'refuses a retry of a refused bet by the state of the bet',
    breakage: () => {
      const refused = new Set<string>()
      return {
        async call({ operation, body: { transactionId = '' }, next }) {
          const again = refused.has(transactionId)
          const response = await next()
          if (operation !== 'placebet' || response.status < 400 || response.status > 499) return response
          refused.add(transactionId)
          return again ? answer(409, { errorCode: 'BET_KNOWN', description: 'known' }) : response
        },
      }
    },
  },
  {
    name: 'cannot debit: all unsettlements are refused',
    audit: { clawbacks: false },
    breakage: () => ({
      store: memory =>
        storeWith(memory, async changes =>
          changes.transaction.operation === 'unsettlement' && changes.account.delta !== '0'
            ? { status: 'refused', errorCode: 'NO_DEDUCTIONS', description: 'cannot' }
            : memory.commit(changes),
        ),
    }),
  },
]
