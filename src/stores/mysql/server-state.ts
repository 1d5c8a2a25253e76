/** Whether a server can be written to now, and what a commit on it reaches. */
import { storeError } from './errors.js'
import { groupProblem } from './group-replication.js'
import { type Session, serverNames, settingsOf } from './session.js'

export interface ServerState {
  /** Why it cannot be written to now; `null`: it can. */
  problem: string | null
  /** What a commit on it reaches: its cluster, or itself. */
  cluster: string
}

const stateNames = [
  'read_only',
  'innodb_read_only',
  'wsrep_on',
  'group_replication_group_name',
  ...serverNames,
]

export async function serverState(database: Session): Promise<ServerState> {
  const {
    read_only: readOnly,
    innodb_read_only: engineReadOnly,
    wsrep_on: isGalera,
    group_replication_group_name: group,
    ...ids
  } = Object.fromEntries(await settingsOf(database, 'GLOBAL VARIABLES', stateNames))
  const problem = readOnly === 'OFF' && engineReadOnly === 'OFF' ? null : 'this server is read-only'
  if (isGalera !== 'ON') {
    // Not the name of the group: two nodes that are its primaries have divided it.
    const cluster = JSON.stringify(ids)
    return {
      problem: problem ?? (group || database.isOfGroup ? await groupProblem(database) : null),
      cluster,
    }
  }
  const status = await settingsOf(database, 'GLOBAL STATUS', [
    'wsrep_cluster_status',
    'wsrep_ready',
    'wsrep_cluster_state_uuid',
  ])
  const cluster = status.get('wsrep_cluster_state_uuid') ?? ''
  status.delete('wsrep_cluster_state_uuid')
  const wrong = [...status].find(([, value]) => value !== 'ON' && value !== 'Primary')
  return { problem: problem ?? (wrong ? `${wrong[0]} of this node is ${wrong[1]}` : null), cluster }
}

/** Before each call: a node may leave its group at any time. @throws {StoreError} `UNAVAILABLE` */
export async function checkMembership(database: Session): Promise<void> {
  if (!database.isOfGroup) return
  const problem = await groupProblem(database)
  if (problem !== null) throw storeError('UNAVAILABLE', `The database is unavailable: ${problem}`)
}

/**
 * @returns what a commit reaches: @see {@link ServerState}
 * @throws {StoreError} `UNAVAILABLE`: the server is read-only, or no member of its cluster's majority
 */
export async function checkWritable(database: Session): Promise<string> {
  const { problem, cluster } = await serverState(database)
  if (problem === null) return cluster
  throw storeError('UNAVAILABLE', `The database is unavailable: ${problem}`)
}
