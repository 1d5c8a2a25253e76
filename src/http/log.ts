/** Logs of what may happen thousands of times per second: per kind one line, and a count of repetitions. */
import { causesOf, describeError, labelOf, locationOf } from '../describe-error.js'
import { WalletError } from '../errors.js'
import { fieldOf, isA } from '../foreign-values.js'
import { logged, pathOf } from '../visible-text.js'
import type { HttpRequest } from './message.js'

/** For how long a kind is counted after it was logged, in milliseconds. */
const countMs = 10_000
/** Kinds that are told apart at a time. All others count as one. */
const kindsMax = 20

/**
 * Logs the first event of a kind, then for ten seconds at a time how many more there were.
 *
 * @param write is called with one line
 */
function createCountedLog(
  write: (line: string) => void = line => console.error(line),
): (kind: string, lineOf: () => string) => void {
  const kinds = new Map<string, { more: number; lastLineOf: () => string }>()

  /** What writes may throw, on a broken pipe say: no call and no timer may end by it. */
  const tryWrite = (line: string) => {
    try {
      write(line)
    } catch {
      // The next line may get through.
    }
  }

  return (own, lineOf) => {
    const key = kinds.has(own) || kinds.size < kindsMax ? own : 'other'
    const known = kinds.get(key)
    if (known !== undefined) {
      known.more += 1
      known.lastLineOf = lineOf
      return
    }
    const kind = { more: 0, lastLineOf: lineOf }
    kinds.set(key, kind)
    const timer = setTimeout(() => {
      if (kind.more === 0) {
        kinds.delete(key)
        return
      }
      tryWrite(`bet-wallet: ${kind.more} more in ${countMs / 1_000} s, the last: ${kind.lastLineOf()}`)
      kind.more = 0
      timer.refresh()
    }, countMs)
    timer.unref() // a process that has nothing else to do may end
    tryWrite(`bet-wallet: ${lineOf()}`)
  }
}

/** A text without its values: repetitions are of one kind. */
function withoutValues(text: string): string {
  return text.replace(/"[^"]*"|[0-9]+/g, '')
}

/**
 * The default of `onAuthenticationFailed`. Logs the first 401 of a reason in one line, then every 10 seconds
 * how many more there were. A log of its own: an attacker who causes many reasons hides no fault.
 *
 * @param write is called with one line
 */
export function createAuthenticationLog(
  write?: (line: string) => void,
): (reason: string, request: HttpRequest) => void {
  const log = createCountedLog(write)
  return (reason, { method, path, address }) => {
    const from = address === undefined ? '' : ` from ${logged(address)}`
    log(
      withoutValues(logged(reason)),
      () => `${logged(method)} ${logged(pathOf(path))}${from}: 401: ${logged(reason)}`,
    )
  }
}

/**
 * The default of `onError`. Logs the first fault of a kind, then for ten seconds at a time how many more
 * there were: a database that is down makes thousands per second, and logging them all would cost more than
 * answering them.
 *
 * @param write is called with one line
 */
export function createFaultLog(
  write?: (line: string) => void,
): (error: unknown, request: HttpRequest) => void {
  const log = createCountedLog(write)
  return (error, request) => {
    const call = `${logged(request?.method)} ${logged(pathOf(request?.path ?? ''))}`
    log(kindOf(error), () => {
      const isOwn = isA(error, WalletError) && error.call !== null
      return isOwn ? describeError(error) : `${call}: ${describeError(error)}`
    })
  }
}

/** Repetitions have the same code, the same text apart from values, and the same last cause. */
function kindOf(error: unknown): string {
  const causes = causesOf(error)
  const [first, last] = [causes[0], causes.at(-1)]
  const message = withoutValues(logged(fieldOf(first, 'message')))
  return `${logged(fieldOf(first, 'code'))} ${message} ${labelOf(last)} ${locationOf(last)}`
}
