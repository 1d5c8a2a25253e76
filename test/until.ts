/** Waits for a condition: no guessed pause, and the time limit of the test ends it. */

/** Before a test replaces the clock. */
const later = globalThis.setTimeout
/** Without it, each waiting test would keep a processor and the server busy, and slow down the others. */
const pauseMs = 3

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(resolve => later(resolve, pauseMs))
}

/** For a store with a short time limit, which the test needs for a call: the checks at the start have it too. */
export const untilReady = (store: { ready(): Promise<unknown> }) =>
  until(() =>
    store.ready().then(
      () => true,
      () => false,
    ),
  )
