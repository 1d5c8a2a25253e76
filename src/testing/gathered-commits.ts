/** Calls that race at the worst moment: each has made its checks, and none is committed. */
import type { WalletStore } from '../store.js'
import { withCommit } from './stores-around.js'

/** A call, and the store that it goes to. */
export interface GatheredCall<T> {
  store: WalletStore
  /** Must not reject. */
  run(store: WalletStore): Promise<T>
}

/**
 * Starts all calls. Each stops before its first commit. When all have stopped or ended, `meanwhile` runs.
 * Then all commits go on in one turn of the event loop, so that a store with batches has them in one list.
 */
export async function commitTogether<T>(
  calls: readonly GatheredCall<T>[],
  meanwhile: () => Promise<void> = async () => {},
): Promise<T[]> {
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  let allStopped = () => {}
  const stopped = new Promise<void>(resolve => {
    allStopped = resolve
  })
  let underWay = calls.length
  const results = calls.map(({ store, run }) => {
    let isUnderWay = true
    const stop = () => {
      if (isUnderWay) underWay -= 1
      isUnderWay = false
      if (underWay === 0) allStopped()
    }
    const stopping = withCommit(store, async changes => {
      stop()
      await opened
      return store.commit(changes)
    })
    return run(stopping).finally(stop)
  })
  await stopped
  try {
    await meanwhile()
  } finally {
    open()
  }
  return Promise.all(results)
}
