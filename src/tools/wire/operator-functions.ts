/** The operator's functions: what one throws or rejects with fails the run, and ends no process. */
import { fieldOf } from '../../foreign-values.js'
import type { OptionChecks } from '../../option-checks.js'

/**
 * The result of a function whose result is needed at once.
 *
 * @throws `INVALID_OPTIONS`: it is a promise
 */
export function notAsync<T>(check: OptionChecks, name: string, result: T): T {
  if (typeof fieldOf(result, 'then') !== 'function') return result
  Promise.resolve(result).catch(() => {}) // an unhandled rejection would end the process
  return check.invalid(`${name} must not be async: it returned a promise`)
}

/** Functions that only listen, of a run that cannot wait for them at each call. */
export class Listeners {
  /** Those that have not ended, and those that have rejected. */
  readonly #open = new Set<Promise<unknown>>()
  /** Called with the errors that they reject with. */
  onRejected = (_error: unknown): void => {}

  /** The listener, called through this: what it throws is thrown. `null` if there is none. */
  of<V>(listener: ((value: V) => unknown) | undefined): ((value: V) => void) | null {
    if (listener === undefined) return null
    return value => {
      const result = listener(value)
      if (result === undefined) return
      const open = Promise.resolve(result)
      this.#open.add(open)
      open.then(() => this.#open.delete(open), this.onRejected)
    }
  }

  /** Waits for those that have not ended. Throws the error of one that has rejected. */
  async end(): Promise<void> {
    await Promise.all(this.#open)
  }
}
