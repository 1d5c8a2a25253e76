/** The default of `onAuthenticationFailed`. */
import { logged, pathOf } from '../visible-text.js'
import { createCountedLog, withoutValues } from './counted-log.js'
import type { HttpRequest } from './message.js'

/**
 * Logs the first 401 of a reason in one line, then every 10 seconds how many more there were. A log of its
 * own: an attacker who causes many reasons hides no fault.
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
