/** The servers of the store: which one is asked first, and whether one that failed is back. */
import type { Deadline } from '../database/deadline.js'
import type { Failure } from '../database/errors.js'
import { type CallbackPool, type Connection, callbackPoolOf, type MysqlPool } from './driver.js'
import { classify, storeError } from './errors.js'
import { groupProblem } from './group-replication.js'
import { isOfGroup, type Session, sessionOf } from './session.js'
import { literal } from './sql/quoting.js'

/** A server, by its pool. */
interface Server {
  readonly pool: CallbackPool
  /** A failed server is asked last, until a probe has found that it is back. */
  failed: boolean
  /** How often it has failed: a probe does not clear a failure that came while it ran. */
  failures: number
  /**
   * It came back writable, and is no member of one cluster with the server that took over: a former primary.
   * Each of the two would record the same call. It is not asked until one of them is read-only.
   */
  apart: boolean
  /** When it may be probed again: a time of `performance.now()`. */
  probeAt: number
}

type Work<T> = (connection: Connection, deadline: Deadline) => Promise<T>

/** Runs `work` on a connection of the pool. @param share of the time that a server has */
type Borrow = <T>(pool: CallbackPool, work: Work<T>, share?: number) => Promise<T>

/** How long a server is not probed again, in milliseconds. */
const restMs = 1_000

export class Servers {
  readonly #servers: readonly Server[]
  readonly #borrow: Borrow

  /** @throws {StoreError} `UNSUPPORTED_CLIENT` */
  constructor(pools: readonly MysqlPool[], borrow: Borrow) {
    if (pools.length === 0) throw storeError('UNSUPPORTED_CLIENT', 'The list of pools is empty')
    this.#servers = pools.map(pool => ({
      pool: callbackPoolOf(pool),
      failed: false,
      failures: 0,
      apart: false,
      probeAt: 0,
    }))
    this.#borrow = borrow
  }

  get isCluster(): boolean {
    return this.#servers.length > 1
  }

  /** Asks one server after the other, until one answers or rejects the statement. @throws {QueryFailed} */
  async onFirstAvailable<T>(canFailOver: (failure: Failure) => boolean, work: Work<T>): Promise<T> {
    let last: unknown
    for (const server of this.#inOrder()) {
      try {
        return await this.#borrow(server.pool, async (connection, deadline) => {
          if (server.failed && this.isCluster) await this.#check(server, connection)
          return await work(connection, deadline)
        })
      } catch (error) {
        const failure = classify(error)
        const goOn = canFailOver(failure)
        if (failure.lost || failure.timedOut || goOn) markFailed(server)
        if (!goOn) {
          // A wait for a lock may also be how a node without a majority answers.
          if (failure.kind === 'unavailable' && this.isCluster) void this.#probe(server)
          throw error
        }
        last = error
      }
    }
    throw last
  }

  /** Runs `work` on every server: a promise for each, in the order of the list. @throws {QueryFailed} */
  onEach<T>(work: Work<T>): readonly Promise<T>[] {
    return this.#servers.map(({ pool }) => this.#borrow(pool, work))
  }

  /** The servers in the order of the list. Failed ones come last, and are probed beside the request. */
  #inOrder(): readonly Server[] {
    const failed = this.#servers.filter(each => each.failed)
    if (this.isCluster) for (const server of failed) void this.#probe(server)
    return [...this.#servers.filter(each => !each.failed), ...failed]
  }

  /** Finds out whether a server can commit, unless that was found out just now. */
  async #probe(server: Server): Promise<void> {
    if (server.probeAt > performance.now()) return
    // Until this probe has ended, there is no other.
    server.probeAt = Number.POSITIVE_INFINITY
    const { failures } = server
    try {
      await this.#borrow(server.pool, connection => this.#check(server, connection))
      if (server.failures === failures) server.failed = false
    } catch {
      // It stays last, and the next probe is later.
      server.failed = true
    }
    server.probeAt = performance.now() + restMs
  }

  /**
   * A server that has failed may come back writable beside the one that took over. Where the two are no
   * cluster, both would record the same call: it is not used until one of them is read-only.
   *
   * @throws {StoreError} `UNAVAILABLE`
   */
  async #check(server: Server, connection: Connection): Promise<void> {
    const cluster = await checkWritable(sessionOf(connection))
    if (!server.failed) return
    // One that has failed just now may be the one that took over. One that is apart is not, unless both are.
    const others = this.#servers.filter(each => each !== server && (server.apart || !each.apart))
    const states = await Promise.allSettled(
      // It must leave time for the answer of this one.
      others.map(each => this.#borrow(each.pool, other => serverState(sessionOf(other)), 0.5)),
    )
    const answers = states.flatMap(state => (state.status === 'fulfilled' ? [state.value] : []))
    const isApart = answers.some(other => other.problem === null && other.cluster !== cluster)
    // What the other one has recorded is not known yet: it waits for an answer of any of them.
    server.apart = isApart || (server.apart && answers.length === 0)
    if (server.apart)
      throw storeError(
        'UNAVAILABLE',
        'The database is unavailable: two servers of the list are writable, and are no cluster. Set read_only on one of them',
      )
  }
}

function markFailed(server: Server): void {
  server.failed = true
  server.failures += 1
  server.probeAt = Math.max(server.probeAt, performance.now() + restMs)
}

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
  // MySQL, MariaDB since 10.10, and what older ones have instead.
  'server_uuid',
  'server_uid',
  'hostname',
  'port',
  'datadir',
  'server_id',
]

export async function serverState(database: Session): Promise<ServerState> {
  const valuesOf = async (kind: 'VARIABLES' | 'STATUS', names: readonly string[]) =>
    new Map(
      (await database.rows(
        `SHOW GLOBAL ${kind} WHERE Variable_name IN (${names.map(literal).join(', ')})`,
      )) as [string, string][],
    )
  const {
    read_only: readOnly,
    innodb_read_only: engineReadOnly,
    wsrep_on: isGalera,
    group_replication_group_name: group,
    ...ids
  } = Object.fromEntries(await valuesOf('VARIABLES', stateNames))
  const problem = readOnly === 'OFF' && engineReadOnly === 'OFF' ? null : 'this server is read-only'
  if (isGalera !== 'ON') {
    // Not the name of the group: two nodes that are its primaries have divided it.
    const cluster = JSON.stringify(ids)
    return { problem: problem ?? (group ? await groupProblem(database) : null), cluster }
  }
  const status = await valuesOf('STATUS', ['wsrep_cluster_status', 'wsrep_ready', 'wsrep_cluster_state_uuid'])
  const cluster = status.get('wsrep_cluster_state_uuid') ?? ''
  status.delete('wsrep_cluster_state_uuid')
  const wrong = [...status].find(([, value]) => value !== 'ON' && value !== 'Primary')
  return { problem: problem ?? (wrong ? `${wrong[0]} of this node is ${wrong[1]}` : null), cluster }
}

/** Before each call: a node may leave its group at any time. @throws {StoreError} `UNAVAILABLE` */
export async function checkMembership(connection: Connection): Promise<void> {
  if (!isOfGroup(connection)) return
  const problem = await groupProblem(sessionOf(connection))
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
