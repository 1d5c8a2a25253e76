/** The check that a commit that was answered survives a crash of the server. */
import type { Ask } from './client.js'
import { storeError } from './errors.js'
import { ownRelations, relationsBelow } from './sql/relations-below.js'
import type { Tables } from './tables.js'

function notDurable(problem: string): never {
  throw storeError('NOT_DURABLE', problem)
}

/**
 * `remote_write` is accepted: the commit is on the disk of the primary and in the memory of the standby's
 * machine. It is lost only if both machines fail at once.
 *
 * @throws {StoreError} `NOT_DURABLE`
 */
export async function checkSettings(ask: Ask): Promise<void> {
  const [settings] = await ask<
    Record<'fsync' | 'synchronous_commit', string> & Record<'has_standbys' | 'is_pglite', boolean>
  >(
    `SELECT
      current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS synchronous_commit,
      current_setting('synchronous_standby_names') <> '' AS has_standbys,
      version() LIKE '%PGlite%' AS is_pglite`,
  )
  if (settings === undefined) return
  const advice = 'Set it to on for this role: ALTER ROLE … SET synchronous_commit = on'
  if (settings.synchronous_commit === 'off')
    notDurable(`synchronous_commit is off: commits that were answered could be lost. ${advice}`)
  if (settings.synchronous_commit === 'local' && settings.has_standbys) {
    notDurable(
      'synchronous_commit is local, and synchronous_standby_names is set: commits that were answered could be ' +
        `lost in a failover. ${advice}`,
    )
  }
  // PGlite is PostgreSQL inside this process, for development and tests: its build never waits for the disk.
  if (settings.fsync === 'off' && !settings.is_pglite) {
    notDurable(
      'fsync is off: a crash of the machine could lose commits that were answered, or the whole database. Set ' +
        'fsync = on in postgresql.conf',
    )
  }
}

/**
 * @param playersTarget schema and name of the table that an update of a player writes to
 * @throws {StoreError} `NOT_DURABLE`
 */
export async function checkTables(
  ask: Ask,
  { schemaName }: Tables,
  playersTarget: readonly [string, string],
): Promise<void> {
  const rows = await ask<{ schema: string; name: string }>(
    `WITH RECURSIVE
    ${relationsBelow(
      `${ownRelations('bets', 'transactions', 'outbox', 'wallet_transaction_ids')} OR n.nspname = $2 AND c.relname = $3`,
    )}
    SELECT n.nspname::text AS schema, c.relname::text AS name
    FROM relation
    JOIN pg_catalog.pg_class c ON c.oid = relation.oid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relpersistence <> 'p'
    ORDER BY 1, 2`,
    [schemaName, ...playersTarget],
  )
  const [first] = rows
  if (first === undefined) return
  const table = `${first.schema}.${first.name}`
  notDurable(`${table} is UNLOGGED or temporary: a crash of the server would empty it. Use SET LOGGED`)
}
