/**
 * A commit that waits for a synchronous standby must not be cancelled, and does not notice that its client
 * has gone: each keeps a session of the server. While one of them hangs, no further commit is sent.
 */

import { sharing } from '../../sharing.js'
import { QueryFailed } from '../database/deadline.js'
import type { Connections } from './client.js'
import { storeError } from './errors.js'

/** Connections for what commits. */
export interface CommitConnections extends Connections {
  /** @throws {QueryFailed} `UNAVAILABLE`: a commit hangs */
  mustNotHang(): Promise<void>
}

export function withoutHangingCommits(connections: Connections, timeoutMs: number): CommitConnections {
  /** How many commits had no answer in time, and how many of these are known not to hang any more. */
  let expired = 0
  let ended = 0

  /** Also sees the sessions of other processes with this role. */
  const ask = sharing(async () => {
    const before = expired
    // Half of the limit: a commit is sent some time after its limit has begun.
    const asked = connections.statement<{ hangs: boolean }>(
      `SELECT EXISTS (
        SELECT FROM pg_catalog.pg_stat_get_activity(NULL) session
        WHERE session.wait_event = 'SyncRep'
          AND session.query_start < clock_timestamp() - $1 * interval '1 millisecond'
      ) AS hangs`,
      [timeoutMs / 2],
    )
    const [row] = await asked.catch((error: unknown) => {
      // The question has failed, and no commit was sent: its outcome is not unknown.
      throw error instanceof QueryFailed ? new QueryFailed(error.cause, false, error.timedOut) : error
    })
    if (row?.hangs) {
      const problem = 'A commit hangs in SyncRep: no further one is sent until it has ended'
      throw new QueryFailed(storeError('UNAVAILABLE', problem), false)
    }
    ended = before
  })

  async function mustNotHang(): Promise<void> {
    if (expired !== ended) await ask()
  }

  const guarded =
    <Arguments extends unknown[], Result>(work: (...args: Arguments) => Promise<Result>) =>
    async (...args: Arguments): Promise<Result> => {
      await mustNotHang()
      try {
        return await work(...args)
      } catch (error) {
        if (error instanceof QueryFailed && error.timedOut && error.sent) expired += 1
        throw error
      }
    }

  return {
    ...connections,
    statement: (text, values) => guarded(() => connections.statement<never>(text, values))(),
    call: guarded(connections.call),
    commit: guarded(connections.commit),
    transaction: (work, first) => guarded(() => connections.transaction(work, first))(),
    mustNotHang,
  }
}
