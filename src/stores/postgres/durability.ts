/** What PostgreSQL reports of its standbys, and whether a COMMIT waits for one. */
import type { Durability } from '../database/durability.js'

export interface DurabilityRow {
  fsync: string
  synchronous_commit: string
  standby_names: string
  standbys: 'synchronous' | 'consumer' | 'hidden' | 'asynchronous' | 'none'
  /** How many standbys for which COMMIT waits are streaming. */
  confirming: number
  role_name: string
}

/**
 * The end of the list of a SELECT, and its FROM. The functions are those below the views
 * `pg_stat_replication` and `pg_replication_slots`, whose SELECT may be revoked.
 *
 * A role without `pg_read_all_stats` sees that a standby is connected, and nothing of its state. A base
 * backup is no standby, nor is the consumer of a logical slot: where it may confirm commits, nothing is
 * proven.
 */
export const durabilityColumns = `
      current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS synchronous_commit,
      current_setting('synchronous_standby_names') AS standby_names,
      quote_ident(current_user) AS role_name,
      standbys, confirming
    FROM (
      SELECT
        CASE
          WHEN bool_or(confirms AND is_logical) THEN 'consumer'
          WHEN bool_or(confirms) THEN 'synchronous'
          WHEN bool_or(is_hidden AND NOT is_logical) THEN 'hidden'
          WHEN bool_or(NOT is_logical) THEN 'asynchronous'
          ELSE 'none'
        END AS standbys,
        (count(*) FILTER (WHERE confirms))::integer AS confirming
      FROM (
        SELECT
          sender.state IS NULL AS is_hidden,
          coalesce(sender.state = 'streaming' AND sender.sync_state IN ('sync', 'quorum'), false) AS confirms,
          EXISTS (
            SELECT FROM pg_catalog.pg_get_replication_slots() slot
            WHERE slot.active_pid = sender.pid AND slot.slot_type = 'logical'
          ) AS is_logical
        FROM pg_catalog.pg_stat_get_wal_senders() sender
        WHERE sender.state IS NULL OR sender.state IN ('catchup', 'streaming')
      ) sender
    ) standby`

/** How many standbys a COMMIT waits for: `FIRST 2 (a, b)`, `2 (a, b)`, `ANY 2 (a, b)`; `a, b`: for one. */
const numberIn = (names: string) => Number(/^\s*(?:(?:FIRST|ANY)\s+)?(\d+)\s*\(/i.exec(names)?.[1] ?? 1)

/**
 * It is `synchronous` only if as many standbys as COMMIT waits for are streaming now. `remote_write` counts:
 * a commit is lost only if both machines fail at once.
 */
export function durabilityOf(row: DurabilityRow): Durability {
  const names = `synchronous_standby_names is ${row.standby_names || 'empty'}`
  const problem = problemOf(row, names)
  if (problem !== null) return { level: row.standbys === 'none' ? 'alone' : 'asynchronous', reason: problem }
  return {
    level: 'synchronous',
    reason: `${names}, such a standby is streaming, and synchronous_commit is ${row.synchronous_commit}`,
  }
}

function problemOf(row: DurabilityRow, names: string): string | null {
  const { standbys, confirming, synchronous_commit: setting } = row
  if (row.standby_names === '') return standbys === 'none' ? `${names}, and no standby is connected` : names
  if (row.fsync === 'off') return 'fsync is off'
  if (setting === 'off' || setting === 'local') return `synchronous_commit is ${setting}`
  if (standbys === 'hidden')
    return `${names}, and this role cannot see whether such a standby is streaming: GRANT pg_read_all_stats TO ${row.role_name}`
  if (standbys === 'consumer') return `${names}, and the consumer of a logical slot can confirm commits`
  if (standbys !== 'synchronous') return `${names}, and no such standby is streaming: commits wait`
  const needed = numberIn(row.standby_names)
  return confirming < needed
    ? `${names}, and ${confirming} of ${needed} such standbys stream: commits wait`
    : null
}
