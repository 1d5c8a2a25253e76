/** The check of the server and the session: version, mode, durability, cluster. */

import { storeError } from './errors.js'
import { multiPrimary } from './group-replication.js'
import { checkWritable } from './server-state.js'
import { type Session, settingsOf } from './session.js'

const names = [
  'version',
  'sql_mode',
  'innodb_flush_log_at_trx_commit',
  'log_bin',
  'sync_binlog',
  'binlog_format',
  'wsrep_on',
  'wsrep_sync_wait',
  'max_allowed_packet',
  'group_replication_group_name',
  'group_replication_single_primary_mode',
]

type Variables = ReadonlyMap<string, string>

/**
 * @returns what a commit on this server reaches: its cluster, or itself
 * @throws {StoreError} `UNAVAILABLE`, `DATABASE_REJECTED`, `UNSUPPORTED_CLIENT`, `NOT_DURABLE`
 */
export async function checkServer(database: Session, allowNotDurable: boolean): Promise<string> {
  const variables: Variables = new Map([
    ...(await settingsOf(database, 'VARIABLES', names)),
    // The store's own sessions have it OFF; the sessions of other code begin with the global value.
    ...(await settingsOf(database, 'GLOBAL VARIABLES', ['wsrep_dirty_reads'])),
  ])
  checkVersion(variables)
  checkMode(variables)
  checkBinaryLog(variables)
  checkPackets(variables)
  checkPrimaries(variables)
  // A node of Galera that is cut off is unavailable, whatever its settings.
  if (variables.get('wsrep_on') === 'ON') await checkWritable(database)
  // Also of a read-only server, which may become the primary.
  if (!allowNotDurable) checkDurability(variables)
  return await checkWritable(database)
}

function checkVersion(variables: Variables): void {
  const version = variables.get('version') ?? ''
  const [major = 0, minor = 0, patch = 0] = (/^(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [])
    .slice(1)
    .map(Number)
  const isMaria = /mariadb/i.test(version)
  const isEnough = isMaria
    ? major > 10 || (major === 10 && minor >= 6)
    : major > 8 || (major === 8 && (minor > 0 || patch >= 29))
  if (!isEnough) {
    throw storeError(
      'DATABASE_REJECTED',
      `MariaDB 10.6 or MySQL 8.0.29 or newer is required; this is ${version}`,
    )
  }
}

/** The procedures have a mode of their own; what a hook of the operator writes has the session's. */
function checkMode(variables: Variables): void {
  const mode = variables.get('sql_mode') ?? ''
  if (/\bSTRICT_(TRANS|ALL)_TABLES\b/.test(mode)) return
  const statement = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')"
  throw storeError(
    'UNSUPPORTED_CLIENT',
    `sql_mode of the connection is '${mode}', without STRICT_TRANS_TABLES: rows of withinTransaction would be cut ` +
      'without an error. Add it to the sql_mode of the server, or of the pool: ' +
      `pool.on('connection', connection => connection.query("${statement}"))`,
  )
}

/** The server rejects every commit in READ COMMITTED with it. */
function checkBinaryLog(variables: Variables): void {
  if (variables.get('log_bin') === 'ON' && variables.get('binlog_format') === 'STATEMENT')
    throw storeError(
      'DATABASE_REJECTED',
      'binlog_format is STATEMENT: replicas would not get the same rows. Set binlog_format = ROW',
    )
}

/** One call: five ids of 255 characters with four bytes each, a type, a description, amounts. */
const packetMin = 16_384

/** A batch is divided, a single call cannot be. */
function checkPackets(variables: Variables): void {
  const bytes = variables.get('max_allowed_packet')
  if (Number(bytes) < packetMin)
    throw storeError(
      'DATABASE_REJECTED',
      `max_allowed_packet is ${bytes} bytes, and one call may have ${packetMin}. Raise it, also for the speed of batches`,
    )
}

function checkPrimaries(variables: Variables): void {
  if (!variables.get('group_replication_group_name')) return
  if (variables.get('group_replication_single_primary_mode') === 'OFF')
    throw storeError('DATABASE_REJECTED', `This server cannot be used: ${multiPrimary}`)
}

function checkDurability(variables: Variables): void {
  const isCluster = variables.get('wsrep_on') === 'ON'
  const flush = variables.get('innodb_flush_log_at_trx_commit')
  // On a cluster too: nodes that crash one soon after the other lose commits that only their memory has.
  if (flush !== '1')
    notDurable(
      `innodb_flush_log_at_trx_commit is ${flush}: a crash could lose commits that were answered. Set it to 1`,
    )
  const sync = variables.get('sync_binlog')
  if (variables.get('log_bin') === 'ON' && sync !== '1')
    notDurable(
      `sync_binlog is ${sync}: after a crash the replicas and the server could differ by commits that were answered. Set ` +
        'it to 1',
    )
  if (!isCluster) return
  if (variables.get('wsrep_dirty_reads') === 'ON')
    notDurable(
      'the global wsrep_dirty_reads is ON: your own code would read old records from a node without a majority. Set it ' +
        'to OFF',
    )
  if (!(Number(variables.get('wsrep_sync_wait')) & 1))
    notDurable('wsrep_sync_wait of the session does not contain 1: a load would return old records')
  if (variables.get('binlog_format') !== 'ROW')
    notDurable('binlog_format is not ROW: the nodes of a cluster would not get the same rows')
}

function notDurable(problem: string): never {
  throw storeError('NOT_DURABLE', problem)
}
