/** How a call is retried whose session was lost before it could commit, and any read. */

export interface Retries {
  readonly left: number
  /** No retry begins later. A time of `performance.now()`. */
  readonly until: number
}

/**
 * When a server closes all sessions, several of a pool are dead, and postgres.js also fails the first
 * statement of a new one. A statement that ends every session must end too.
 */
const retriesMax = 5

export const retriesWithin = (timeoutMs: number): Retries => ({
  left: retriesMax,
  until: performance.now() + timeoutMs,
})

/** What is left after one retry; `null`: no retry. */
export function nextOf({ left, until }: Retries): Retries | null {
  return left > 0 && performance.now() < until ? { left: left - 1, until } : null
}

export const noRetries: Retries = { left: 0, until: 0 }
