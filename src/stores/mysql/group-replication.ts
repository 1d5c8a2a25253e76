/** MySQL's Group Replication: whether a node may be asked. */
import { hasNumber, privilegeNumbers, storeError } from './errors.js'
import type { Session } from './session.js'

const membersQuery = `SELECT MEMBER_ID = @@server_uuid, MEMBER_STATE, MEMBER_ROLE,
  @@GLOBAL.group_replication_single_primary_mode, @@GLOBAL.read_only
  FROM performance_schema.replication_group_members`

/**
 * `read_only` is not enough. Also writable are: a primary that the others have expelled and that does not
 * know it yet, a node that was started and has not joined, and one that an administrator has made writable.
 *
 * @param database on a node with a group's name
 * @returns why this node must not be asked; `null`: it is the primary, and reaches a majority
 * @throws {StoreError} `INSUFFICIENT_PRIVILEGE`
 */
export async function groupProblem(database: Session): Promise<string | null> {
  const members = await membersOf(database)
  const { state = 'OFFLINE', role, isSinglePrimary, isReadOnly } = members.find(({ isOwn }) => isOwn) ?? {}
  if (state !== 'ONLINE') return `this node is not a member of its group: ${state}`
  const unreachable = members.filter(other => other.state === 'UNREACHABLE').length
  if (unreachable * 2 >= members.length) return 'this node does not reach a majority of its group'
  if (!isSinglePrimary) return multiPrimary
  if (role !== 'PRIMARY') return 'this node is not the primary of its group'
  // While a new primary applies what the old one had, a call would wait there, also when its client has gone.
  return isReadOnly ? 'this server is read-only' : null
}

interface Member {
  isOwn: boolean
  state: string
  role: string
  isSinglePrimary: boolean
  /** Of the asked node. */
  isReadOnly: boolean
}

/** As this node sees them. @throws {StoreError} `INSUFFICIENT_PRIVILEGE` */
export async function membersOf(database: Session): Promise<Member[]> {
  const rows = await database.rows(membersQuery).catch((error: unknown) => {
    throw hasNumber(error, ...privilegeNumbers) ? missingPrivilege(error) : error
  })
  return rows.map(([isOwn, state, role, isSinglePrimary, isReadOnly]) => ({
    isOwn: Number(isOwn) === 1,
    state: String(state),
    role: String(role),
    isSinglePrimary: Number(isSinglePrimary) === 1,
    isReadOnly: Number(isReadOnly) === 1,
  }))
}

/** A refusal or a replay could be answered from what a node has not applied yet. */
export const multiPrimary =
  'the group is in multi-primary mode, which is not supported: SELECT group_replication_switch_to_single_primary_mode()'

const missingPrivilege = (cause: unknown) =>
  storeError(
    'INSUFFICIENT_PRIVILEGE',
    'This user must see whether a node is the primary of its group: GRANT SELECT ON ' +
      'performance_schema.replication_group_members',
    { cause },
  )
