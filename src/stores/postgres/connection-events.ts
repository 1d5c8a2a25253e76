/** What a connection reports beside its answers: that it is lost, and notices of the server. */

/** Of pg: a connection emits events. Of a wrapper: `onNotice`. */
export interface EventSource {
  /** Of a connection of pg. Without a listener for 'error' the process ends. */
  on?(event: string, listener: (about: never) => void): unknown
  onNotice?(listener: (notice: Notice) => void): unknown
}

/** A NOTICE or WARNING of the server. */
export interface Notice {
  /** The function in the source of PostgreSQL that reports it. Unlike the message it is never translated. */
  routine?: string | undefined
}

/** What was reported since the connection was first seen. */
export interface Reports {
  lost: boolean
  /** How many waits for a synchronous standby were cancelled. */
  cancelledWaits: number
}

/** One entry, and one listener per event, for each connection: however often it is borrowed. */
const known = new WeakMap<object, Reports>()

/** @param connection of a pool: its errors are also listened to */
export const reportsOfConnection = (connection: EventSource) =>
  known.get(connection) ?? listen(connection, true)

/** @param client made by the operator, who listens to its errors */
export const reportsOfClient = (client: EventSource) => known.get(client) ?? listen(client, false)

function listen(source: EventSource, isPooled: boolean): Reports {
  const reports: Reports = { lost: false, cancelledWaits: 0 }
  known.set(source, reports)
  const onNotice = ({ routine }: Notice) => {
    if (routine === waitForStandby) reports.cancelledWaits += 1
  }
  if (isPooled)
    source.on?.('error', () => {
      reports.lost = true
    })
  if (typeof source.onNotice === 'function') source.onNotice(onNotice)
  else if (typeof source.on === 'function') source.on('notice', onNotice)
  return reports
}

/**
 * COMMIT waits here for the synchronous standbys. When the wait is cancelled, or the backend is terminated in
 * it, the server only warns: the commit is done on the primary, and may be lost in a failover.
 */
const waitForStandby = 'SyncRepWaitForLSN'
