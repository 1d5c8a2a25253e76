/** A log of what may happen thousands of times per second: per kind one line, and a count of repetitions. */

/** For how long a kind is counted after it was logged, in milliseconds. */
const countMs = 10_000
/** Kinds that are told apart at a time. All others count as one. */
const kindsMax = 20

/**
 * Logs the first event of a kind, then for ten seconds at a time how many more there were.
 *
 * @param write is called with one line
 */
export function createCountedLog(
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

  function count(key: string): void {
    const timer = setTimeout(() => {
      const kind = kinds.get(key)
      if (kind === undefined) return
      if (kind.more === 0) {
        kinds.delete(key)
        return
      }
      tryWrite(`bet-wallet: ${kind.more} more in ${countMs / 1_000} s, the last: ${kind.lastLineOf()}`)
      kind.more = 0
      count(key)
    }, countMs)
    timer.unref() // a process that has nothing else to do may end
  }

  return (own, lineOf) => {
    const key = kinds.has(own) || kinds.size < kindsMax ? own : 'other'
    const kind = kinds.get(key)
    if (kind !== undefined) {
      kind.more += 1
      kind.lastLineOf = lineOf
      return
    }
    kinds.set(key, { more: 0, lastLineOf: lineOf })
    count(key)
    tryWrite(`bet-wallet: ${lineOf()}`)
  }
}

/** A text without its values: repetitions are of one kind. */
export function withoutValues(text: string): string {
  return text.replace(/"[^"]*"|[0-9]+/g, '')
}
