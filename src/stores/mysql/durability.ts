/** What MySQL and MariaDB report of their replicas, and whether a COMMIT waits for one. */
import type { Durability } from '../database/durability.js'
import { hasNumber, privilegeNumbers } from './errors.js'
import { membersOf } from './group-replication.js'
import { type Session, settingsOf } from './session.js'

type Values = ReadonlyMap<string, string>

const variableNames = [
  ...['innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog'],
  ...['wsrep_on', 'group_replication_group_name'],
  // MariaDB and older plugins of MySQL, and the plugins of today.
  ...['rpl_semi_sync_master_enabled', 'rpl_semi_sync_master_wait_for_slave_count'],
  ...['rpl_semi_sync_source_enabled', 'rpl_semi_sync_source_wait_for_replica_count'],
]
const statusNames = [
  ...['wsrep_cluster_size', 'Slaves_connected'],
  ...['Rpl_semi_sync_master_status', 'Rpl_semi_sync_master_clients'],
  ...['Rpl_semi_sync_source_status', 'Rpl_semi_sync_source_clients'],
]

/**
 * @param database on a server that can be written to
 * @returns `synchronous` only if the server flushes each commit, and another one receives it before the
 *   answer: an acknowledging semi-synchronous replica, or another member of the cluster or group
 */
export async function readDurability(database: Session): Promise<Durability> {
  const variables = await settingsOf(database, 'GLOBAL VARIABLES', variableNames)
  const status = await settingsOf(database, 'GLOBAL STATUS', statusNames)
  const found = await replication(database, variables, status)
  const lazySetting = [
    'innodb_flush_log_at_trx_commit',
    ...(variables.get('log_bin') === 'ON' ? ['sync_binlog'] : []),
  ].find(name => variables.get(name) !== '1')
  if (found.level !== 'synchronous' || lazySetting === undefined) return found
  return { level: 'asynchronous', reason: `${lazySetting} is ${variables.get(lazySetting)}` }
}

async function replication(database: Session, variables: Values, status: Values): Promise<Durability> {
  if (variables.get('wsrep_on') === 'ON') {
    const size = Number(status.get('wsrep_cluster_size'))
    return { level: size > 1 ? 'synchronous' : 'alone', reason: `wsrep_cluster_size is ${size}` }
  }
  if (variables.get('group_replication_group_name')) {
    const members = await membersOf(database)
    const online = members.filter(({ state }) => state === 'ONLINE').length
    // One that is recovering may have received nothing yet.
    const others = members.length > 1 ? 'asynchronous' : 'alone'
    return {
      level: online > 1 ? 'synchronous' : others,
      reason: `${online} of ${members.length} members of the group are ONLINE`,
    }
  }
  return await semiSynchronous(database, variables, status)
}

/** A replica acknowledges what is in its relay log. The server falls back when it waits for too long. */
async function semiSynchronous(database: Session, variables: Values, status: Values): Promise<Durability> {
  const isOlder = variables.has('rpl_semi_sync_master_enabled')
  const [role, replica] = isOlder ? ['master', 'slave'] : ['source', 'replica']
  const enabled = variables.get(`rpl_semi_sync_${role}_enabled`)
  const clients = Number(status.get(`Rpl_semi_sync_${role}_clients`) ?? 0)
  const needed = Number(variables.get(`rpl_semi_sync_${role}_wait_for_${replica}_count`) ?? 1)
  const isOn = status.get(`Rpl_semi_sync_${role}_status`) === 'ON'
  const reasonOfClients = `Rpl_semi_sync_${role}_clients is ${clients}`
  if (enabled === 'ON' && isOn && clients >= needed)
    return { level: 'synchronous', reason: `Rpl_semi_sync_${role}_status is ON, ${reasonOfClients}` }
  const problem =
    enabled === undefined
      ? 'semi-synchronous replication is not installed'
      : enabled !== 'ON'
        ? `rpl_semi_sync_${role}_enabled is ${enabled}`
        : isOn
          ? reasonOfClients
          : `Rpl_semi_sync_${role}_status is OFF: the server has fallen back`
  const replicas = Math.max(clients, await replicasOf(database, status))
  return replicas === 0
    ? { level: 'alone', reason: `${problem}, and no replica is visible` }
    : { level: 'asynchronous', reason: problem }
}

/** Connected replicas. On MySQL a user without PROCESS sees none. */
async function replicasOf(database: Session, status: Values): Promise<number> {
  const connected = status.get('Slaves_connected')
  if (connected !== undefined) return Number(connected)
  const rows = await database
    .rows("SELECT count(*) FROM performance_schema.processlist WHERE command LIKE 'Binlog Dump%'")
    .catch((error: unknown) => {
      if (hasNumber(error, ...privilegeNumbers)) return [[0]]
      throw error
    })
  return Number(rows[0]?.[0])
}
