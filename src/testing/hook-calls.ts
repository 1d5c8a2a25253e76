/** Calls the hooks of a harness. An error of a hook is reported as such: the store is not to blame. */
import type { StoreHarness } from './harness.js'
import { CaseFailed, shown, type Trace } from './trace.js'

/** The harness failed, and not a check of the case. */
export class HookFailed extends CaseFailed {
  override readonly name = 'HookFailed'
}

/**
 * @param call calls the hook
 * @throws {HookFailed} if the hook throws, with its error as `cause`
 */
export async function callHook<T>(
  trace: Trace,
  hook: keyof StoreHarness,
  call: () => T | Promise<T>,
): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    const failed = new HookFailed(
      `the hook ${hook} of the harness to succeed`,
      `it failed: ${shown(cause)}`,
      [...trace.steps],
    )
    failed.cause = cause
    throw failed
  }
}
