/** The calls of the store: traced if a channel has a subscriber, and checked. */
import { type CommitMessage, channels, isTraced, type LoadMessage, trace } from './diagnostics.js'
import { WalletError } from './errors.js'
import { fieldOf } from './foreign-values.js'
import type { CommitResult, WalletChanges, WalletKeys, WalletSnapshot, WalletStore } from './store.js'
import { checkResult, checkSnapshot } from './store-checks.js'

/**
 * @param confirmed by `loadConfirmed`, if the store has it
 *
 * @throws {WalletError} `UNAVAILABLE`, `LOAD_FAILED`, `STORE_CONTRACT`
 */
export async function load(
  store: WalletStore,
  keys: WalletKeys,
  confirmed: boolean,
): Promise<WalletSnapshot> {
  let snapshot: WalletSnapshot
  try {
    snapshot = await (isTraced(channels.load)
      ? tracedLoad(store, keys, confirmed)
      : callLoad(store, keys, confirmed))
  } catch (cause) {
    const unavailable = fieldOf(cause, 'code') === 'UNAVAILABLE'
    throw new WalletError(unavailable ? 'UNAVAILABLE' : 'LOAD_FAILED', 'load threw; no changes were made', {
      cause,
    })
  }
  return checkSnapshot(snapshot, keys)
}

/** Not async: saves a promise per call. */
function callLoad(store: WalletStore, keys: WalletKeys, confirmed: boolean): Promise<WalletSnapshot> {
  const copy = { ...keys } // the result is checked against the original
  return confirmed && store.loadConfirmed !== undefined ? store.loadConfirmed(copy) : store.load(copy)
}

function tracedLoad(store: WalletStore, keys: WalletKeys, wanted: boolean): Promise<WalletSnapshot> {
  const confirmed = wanted && store.loadConfirmed !== undefined
  const message: LoadMessage = { ...keys, confirmed, error: null, durationMs: 0 }
  return trace(channels.load, message, async () => await callLoad(store, keys, wanted))
}

/**
 * @param deadline a time of `performance.now()`: no commit is started after it
 *
 * @returns what the store says; `unknown`: it threw, and the changes may be written
 * @throws {WalletError} `DEADLINE_PASSED`, `STORE_CONTRACT`
 */
export async function commit(
  store: WalletStore,
  keys: WalletKeys,
  changes: WalletChanges,
  deadline: number,
): Promise<CommitResult | { status: 'unknown'; cause: unknown }> {
  if (performance.now() >= deadline) {
    throw new WalletError('DEADLINE_PASSED', 'The deadline passed before the commit; no changes were made')
  }
  let result: CommitResult
  try {
    result = await (isTraced(channels.commit) ? tracedCommit(store, keys, changes) : store.commit(changes))
  } catch (cause) {
    return { status: 'unknown', cause }
  }
  return checkResult(result, changes)
}

function tracedCommit(store: WalletStore, keys: WalletKeys, changes: WalletChanges): Promise<CommitResult> {
  const message: CommitMessage = { ...keys, status: null, error: null, durationMs: 0 }
  return trace(channels.commit, message, async () => {
    try {
      const result = await store.commit(changes)
      message.status = result?.status ?? null
      return result
    } catch (error) {
      message.status = 'unknown'
      throw error
    }
  })
}
