/** Calls to the operator's listeners (`onOutcome`, `onError`), whose errors must not change an answer. */

const reported = new Set<string>()

/**
 * Calls a hook that only listens. The answer may already have changed a balance, so an error of the hook is
 * ignored; the first one per hook and process is reported as a warning.
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
  process.emitWarning(
    `${hook} threw; its errors are ignored (reported once): ${textOf(error)}`,
    'BetWalletWarning',
  )
}

/** Any thrown value as text: `Object.create(null)` has none, and a getter may throw in turn. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  } catch {
    return '[unprintable value]'
  }
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return '[unprintable value]'
  }
}
