/** Calls of the operator's hooks: what they throw or return ends no process. */
import { WalletError } from './errors.js'
import { fieldOf, textOf } from './foreign-values.js'
import { escapeInvisible } from './visible-text.js'

const reported = new Set<string>()

/**
 * Calls a hook that only listens (`onOutcome`, `onError`, `log`, …). The answer may already have changed a
 * balance, so an error of the hook is ignored; the first one per hook and process is reported as a warning.
 */
export function notify(hook: string, call: () => unknown): void {
  try {
    const result = call()
    if (result !== undefined) Promise.resolve(result).catch((error: unknown) => report(hook, error))
  } catch (error) {
    report(hook, error)
  }
}

function report(hook: string, error: unknown): void {
  if (reported.has(hook)) return
  reported.add(hook)
  const stack = fieldOf(error, 'stack')
  const text = escapeInvisible(typeof stack === 'string' ? stack : textOf(error))
  process.emitWarning(`${hook} threw; its errors are ignored (reported once): ${text}`, 'BetWalletWarning')
}

/**
 * Calls a hook whose result is needed at once.
 *
 * @throws {WalletError} `HOOK_FAILED`: it threw, or returned a promise
 */
export function callHook<T>(name: string, call: () => T): T {
  let result: T
  try {
    result = call()
  } catch (cause) {
    throw new WalletError('HOOK_FAILED', `${name} threw`, { cause })
  }
  if (typeof fieldOf(result, 'then') !== 'function') return result
  Promise.resolve(result).catch(() => {}) // an unhandled rejection would end the process
  throw new WalletError('HOOK_FAILED', `${name} must not be async: it returned a promise`)
}
