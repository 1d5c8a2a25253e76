/** Waiting with a limit. */

/**
 * Waits for a promise, at most `timeoutMs` milliseconds.
 *
 * @param onTimeout what it returns or throws then takes the place of the promise's result, which is ignored
 */
export async function withTimeout<T>(promise: Promise<T>, timeoutMs: number, onTimeout: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<T>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(onTimeout())
      } catch (error) {
        reject(error)
      }
    }, timeoutMs)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer) // it would keep the process alive
  }
}
