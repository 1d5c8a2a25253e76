/**
 * Runs one real handler step by step: given the replies of the store so far, what does it do next? A handler
 * depends on nothing but these replies (there is no deadline, and `backOff` does not wait), so each sequence
 * of replies needs to run only once.
 */
import {
  type CommitResult,
  type WalletChanges,
  WalletError,
  type WalletKeys,
  type WalletOptions,
  type WalletOutcome,
  type WalletSnapshot,
  type WalletStore,
} from 'bet-wallet'
import { toCents } from '../../../src/testing/platform.js'
import { type Call, keysOf, send } from './alphabet.js'
import { euros } from './money.js'
import { idOf } from './observed-store.js'

/** The answer or the error of a store, or the result of an external movement. */
export type Reply =
  | { value: WalletSnapshot | CommitResult }
  | { error: Error }
  | { moved: 'done' | 'not-done' }

/**
 * How a store reads.
 * - `single`: from the one database there is.
 * - `replicated`: `load` may be answered by a stale replica, and `loadConfirmed` may not.
 * - `unconfirmed`: the same without `loadConfirmed`. It must be detected.
 */
export type Reads = 'single' | 'replicated' | 'unconfirmed'

/** A handler waits for its store, or has ended. */
export type Position =
  | { at: 'load'; confirmed: boolean }
  | { at: 'commit'; changes: WalletChanges }
  | { at: 'end'; ending: Ending }

/** The result of a request, as the platform sees it. */
export interface Ending {
  /**
   * As the oracle formats it: `ok 70.00`, `ok replayed 70.00`, `no INVALID_BET`, `no replayed INVALID_BET`,
   * `done` or `fault …`.
   */
  text: string
  /** The answered balance of the account in EUR, in cents; `null` without one. */
  balance: number | null
  errorCode: string | null
  /** `no-changes`: the fault guarantees it; `unknown`: the outcome of the commit is unknown. */
  fault: 'no-changes' | 'unknown' | null
}

/**
 * How placebets begin.
 * - `commit-first`: without a hook, they are committed without a load; so are settlements.
 * - `load-first`: `authorizeBet` needs the player, and grants every bet; the store adds no credits.
 */
export type Placebets = 'commit-first' | 'load-first'

export const optionsOf = (attemptsMax: number, placebets: Placebets): WalletOptions => ({
  attemptsMax,
  backOff: async () => {},
  defaultCurrency: 'JPY',
  ...(placebets === 'load-first' ? { authorizeBet() {} } : {}),
})

/** Settlements begin as placebets do. */
export const addingOf = ({ authorizeBet }: WalletOptions) => ({ addsCredits: authorizeBet === undefined })

/** Waits until the handlers can do no more without another reply. They use promises, and no timers. */
export const settled = () => new Promise<void>(resolve => setImmediate(resolve))

/** Runs a new handler with these replies, and returns where it stops. */
export async function runHandler(
  call: Call,
  replies: readonly Reply[],
  options: WalletOptions,
  reads: Reads,
): Promise<Position> {
  let replied = 0
  let position: Position | null = null
  const current = () => position
  const stopAt = (next: Position) => {
    if (position !== null) throw new Error(`${call.name}: the handler does two things at once`)
    position = next
  }
  const reply = <T>(next: Position): Promise<T> => {
    const known = replies[replied]
    replied += 1
    if (known === undefined) {
      stopAt(next)
      return new Promise(() => {})
    }
    if ('value' in known) return Promise.resolve(known.value as T)
    return Promise.reject('error' in known ? known.error : new Error(known.moved))
  }
  const load = (keys: WalletKeys, confirmed: boolean) => {
    const loaded = JSON.stringify(keys)
    if (loaded !== JSON.stringify(keysOf(call))) throw new Error(`${call.name}: the handler loads ${loaded}`)
    return reply<WalletSnapshot>({ at: 'load', confirmed })
  }
  const store: WalletStore = {
    contractVersion: 2,
    ...addingOf(options),
    load: keys => load(keys, false),
    ...(reads === 'replicated' ? { loadConfirmed: (keys: WalletKeys) => load(keys, true) } : {}),
    commit: changes => reply({ at: 'commit', changes }),
  }
  send(call, store, options).then(
    outcome => stopAt({ at: 'end', ending: endingOf(call, outcome) }),
    error => stopAt({ at: 'end', ending: endingOfError(error) }),
  )
  await settled()
  const reached = current()
  if (reached === null) throw new Error(`${call.name}: the handler waits for something other than its store`)
  return reached
}

export function endingOf({ request }: Call, outcome: WalletOutcome): Ending {
  const replayed = outcome.replayed ? ' replayed' : ''
  if (!outcome.ok) {
    const { errorCode } = outcome
    return { text: `no${replayed} ${errorCode}`, balance: null, errorCode, fault: null }
  }
  const cents = toCents(outcome.balance)
  const deviations = [
    outcome.currency === 'EUR' ? '' : ` in ${outcome.currency}`,
    outcome.walletTransactionId === idOf(request)
      ? ''
      : `, walletTransactionId ${outcome.walletTransactionId}`,
  ]
  return {
    text: `ok${replayed} ${euros(cents)}${deviations.join('')}`,
    balance: outcome.currency === 'EUR' ? Number(cents) : null,
    errorCode: null,
    fault: null,
  }
}

const faultTexts = { 'no-changes': '(no changes were made)', unknown: '(unknown outcome)' }

export function endingOfError(error: unknown): Ending {
  const code = error instanceof WalletError ? error.code : String(error)
  const fault =
    code === 'UNAVAILABLE' || code === 'LOAD_FAILED' || code === 'CONFLICT'
      ? 'no-changes'
      : code === 'COMMIT_UNKNOWN'
        ? 'unknown'
        : null
  return {
    // Any other fault keeps its own text, and no order explains it.
    text: `fault ${fault === null || code === 'CONFLICT' ? code : faultTexts[fault]}`,
    balance: null,
    errorCode: null,
    fault,
  }
}

export const endingOfMove = (text: 'done' | 'not-done'): Ending => ({
  text,
  balance: null,
  errorCode: null,
  fault: null,
})
