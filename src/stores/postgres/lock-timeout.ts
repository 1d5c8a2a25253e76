/** Statements beside the functions of the store, which set their own limit. */
import { type Ask, type Connections, rowsOf } from './client.js'

/**
 * A statement that waits for no lock longer than its client waits: a session that waits for a lock does not
 * notice that its client has gone. A client without database transactions cannot set that.
 */
export function withLockTimeout(connections: Connections, lockTimeoutMs: number): Ask {
  if (!connections.transacts) return connections.statement
  return <Row>(text: string, values?: unknown[]) =>
    connections.transaction(
      async query => rowsOf<Row>(await query(text, values)),
      [`SET LOCAL lock_timeout = ${lockTimeoutMs}`],
    )
}
