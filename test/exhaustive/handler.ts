/**
 * One real handler, led by the hand: what it does next when its store has answered so and so. A handler knows of the
 * world what its store answers and nothing else (no clock: there is no deadline; no chance: `backOff` does not wait),
 * so this is a function of its answers so far, and each of them needs to be tried only once.
 */
import {
  type CommitResult,
  type WalletChanges,
  WalletError,
  type WalletOptions,
  type WalletOutcome,
  type WalletSnapshot,
  type WalletStore,
} from 'bet-wallet'
import { toCents } from '../../src/testing/platform.js'
import { type Call, keysOf, send } from './alphabet.js'
import { euros } from './money.js'
import { referenceOf } from './world.js'

/** What a store answers, or that it throws; or what became of a move. */
export type Reply =
  | { value: WalletSnapshot | CommitResult }
  | { error: Error }
  | { moved: 'done' | 'not done' }

/** Where a handler is: it waits for its store, or it has ended. */
export type Waits =
  | { at: 'load' }
  | { at: 'commit'; changes: WalletChanges }
  | { at: 'the end'; ending: Ending }

/** How a request ended, as the platform sees it. */
export interface Ending {
  /** In the words of the oracle: `ok 70.00`, `ok replayed 70.00`, `no INVALID_BET`, `no replayed INVALID_BET`, `done`; or `fault …`. */
  text: string
  /** In cents, of a success. */
  balance: number | null
  errorCode: string | null
  /** `certain`: nothing was done; `unknown`: nobody knows. */
  fault: 'certain' | 'unknown' | null
}

export const optionsOf = (attemptsMax: number): WalletOptions => ({ attemptsMax, backOff: async () => {} })

/** Everything that can happen without another answer of the store has happened: promises, and no timers. */
export const settled = () => new Promise<void>(resolve => setImmediate(resolve))

/** Leads a new handler through these replies, and says where it is then. */
export async function lead(call: Call, replies: readonly Reply[], options: WalletOptions): Promise<Waits> {
  let given = 0
  let waits: Waits | null = null
  const state = () => waits
  const wait = (next: Waits) => {
    if (waits !== null) throw new Error(`${call.name}: it does two things at once`)
    waits = next
  }
  const answer = <T>(next: Waits): Promise<T> => {
    const reply = replies[given]
    given += 1
    if (reply === undefined) {
      wait(next)
      return new Promise(() => {})
    }
    if ('value' in reply) return Promise.resolve(reply.value as T)
    return Promise.reject('error' in reply ? reply.error : new Error(reply.moved))
  }
  const store: WalletStore = {
    contractVersion: 1,
    load(keys) {
      const asked = JSON.stringify(keys)
      if (asked !== JSON.stringify(keysOf(call))) throw new Error(`${call.name}: it looked for ${asked}`)
      return answer({ at: 'load' })
    },
    commit: changes => answer({ at: 'commit', changes }),
  }
  send(call, store, options).then(
    outcome => wait({ at: 'the end', ending: endingOf(call, outcome) }),
    error => wait({ at: 'the end', ending: endingOfError(error) }),
  )
  await settled()
  const reached = state()
  if (reached === null) throw new Error(`${call.name}: it waits for something that is not its store`)
  return reached
}

export function endingOf({ request }: Call, outcome: WalletOutcome): Ending {
  const replayed = outcome.replayed ? ' replayed' : ''
  if (!outcome.ok) {
    const { errorCode } = outcome
    return { text: `no${replayed} ${errorCode}`, balance: null, errorCode, fault: null }
  }
  const cents = toCents(outcome.balance)
  const flaws = [
    outcome.currency === 'EUR' ? '' : ` in ${outcome.currency}`,
    outcome.walletTransactionId === referenceOf(request) ? '' : `, reference ${outcome.walletTransactionId}`,
  ]
  return {
    text: `ok${replayed} ${euros(cents)}${flaws.join('')}`,
    balance: Number(cents),
    errorCode: null,
    fault: null,
  }
}

const whatFaultsSay = { certain: '(nothing was done)', unknown: '(nobody knows)' }

export function endingOfError(error: unknown): Ending {
  const code = error instanceof WalletError ? error.code : String(error)
  const fault =
    code === 'UNAVAILABLE' || code === 'LOAD_FAILED' || code === 'CONFLICT'
      ? 'certain'
      : code === 'COMMIT_UNKNOWN'
        ? 'unknown'
        : null
  return {
    // A fault that no store is to blame for is told as what it is, and no order explains it.
    text: `fault ${fault === null || code === 'CONFLICT' ? code : whatFaultsSay[fault]}`,
    balance: null,
    errorCode: null,
    fault,
  }
}

export const endingOfMove = (text: 'done' | 'not done'): Ending => ({
  text,
  balance: null,
  errorCode: null,
  fault: null,
})
