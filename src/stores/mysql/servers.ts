/** The servers of the store: which one is asked first, whether one is back, and which must not be asked. */
import { notify } from '../../hooks.js'
import { type Deadline, QueryFailed } from '../database/deadline.js'
import type { Failure } from '../database/errors.js'
import { type ConfirmedRecords, NotAsked, warn } from './confirmed-records.js'
import { type CallbackPool, callbackPoolOf, type MysqlPool } from './driver.js'
import { classify, storeError } from './errors.js'
import { checkWritable, serverState } from './server-state.js'
import type { Session } from './session.js'

/** A server, by its pool. */
interface Server {
  readonly pool: CallbackPool
  /** A failed server is asked last, until a probe has found that it is back. */
  failed: boolean
  /** How often it has failed: a probe does not clear a failure that came while it ran. */
  failures: number
  /** When it may be probed again: a time of `performance.now()`. */
  probeAt: number
}

type Work<T> = (session: Session, deadline: Deadline) => Promise<T>

/** Runs `work` on a connection of the pool. @param share of the time that a server has */
type Borrow = <T>(pool: CallbackPool, work: Work<T>, share?: number) => Promise<T>

/** How long a server is not probed again, in milliseconds. */
const restMs = 1_000
/** How long the servers that are not asked are not looked at again, in milliseconds. */
const lookMs = 5_000

export class Servers {
  readonly hasSeveral: boolean
  readonly #servers: readonly Server[]
  readonly #borrow: Borrow
  readonly #records: ConfirmedRecords | null
  /** The one that is asked until now. Of two that can be written to and are no cluster, it stays. */
  #current: Server | null = null
  /** The group or cluster of the servers, as the check at start has found it; `null`: they are in none. */
  #cluster: string | null = null
  #lookAt = 0
  /** What {@link look} has warned of. */
  #warned: string | null = null

  /** @throws {StoreError} `UNSUPPORTED_CLIENT` */
  constructor(pools: readonly MysqlPool[], borrow: Borrow, records: ConfirmedRecords | null) {
    if (pools.length === 0) throw storeError('UNSUPPORTED_CLIENT', 'The list of pools is empty')
    this.#servers = pools.map(pool => ({
      pool: callbackPoolOf(pool),
      failed: false,
      failures: 0,
      probeAt: 0,
    }))
    this.hasSeveral = pools.length > 1
    this.#records = records
    this.#borrow = (pool, work, share) =>
      borrow(
        pool,
        async (session, deadline) => {
          await this.#admit(session)
          return await work(session, deadline)
        },
        share,
      )
  }

  /** The check at start has found this server, by its index in the list. */
  begin(index: number, cluster: string | null): void {
    this.#current ??= this.#servers[index] ?? null
    this.#cluster ??= cluster
  }

  /**
   * Asks one server after the other, until one answers or rejects the statement.
   *
   * @param commits whether the server that answers was written to
   * @throws {QueryFailed}
   */
  async onFirstAvailable<T>(
    canFailOver: (failure: Failure) => boolean,
    work: Work<T>,
    commits = false,
  ): Promise<T> {
    this.#lookSometimes()
    const errors: unknown[] = []
    for (const server of this.#inOrder()) {
      try {
        const result = await this.#borrow(server.pool, async (session, deadline) => {
          if (this.hasSeveral && (server.failed || server !== (this.#current ?? server)))
            await this.#takeOver(server, session)
          return await work(session, deadline)
        })
        this.#records?.report(null)
        if (commits) this.#current ??= server
        return result
      } catch (error) {
        const failure = classify(error)
        const goOn = canFailOver(failure)
        if (failure.lost || failure.timedOut || goOn) markFailed(server)
        if (!goOn) {
          // A wait for a lock may also be how a node without a majority answers.
          if (failure.kind === 'unavailable' && this.hasSeveral) notify('A probe', () => this.#probe(server))
          throw error
        }
        errors.push(error)
      }
    }
    throw this.#noneOf(errors)
  }

  /** @returns the error of a call that no server has answered */
  #noneOf(errors: readonly unknown[]): unknown {
    const behind = errors.find(error => notAskedOf(error)?.record != null)
    const { record = null, problem } = notAskedOf(behind) ?? {}
    if (record !== null) this.#records?.report(record, problem)
    return behind ?? errors.at(-1)
  }

  /** Runs `work` on every server: a promise for each, in the order of the list. @throws {QueryFailed} */
  onEach<T>(work: Work<T>): readonly Promise<T>[] {
    return this.#servers.map(({ pool }) => this.#borrow(pool, work))
  }

  /** Before all else that a session is used for. @throws {NotAsked} */
  async #admit(session: Session): Promise<void> {
    if (this.#cluster !== null && session.cluster !== this.#cluster)
      throw new NotAsked('this server is not in the group or cluster of the others, as it was found at start')
    await this.#records?.admit(session)
  }

  /** The servers in the order of the list. Failed ones come last, and are probed beside the request. */
  #inOrder(): readonly Server[] {
    const failed = this.#servers.filter(each => each.failed)
    if (this.hasSeveral) for (const server of failed) notify('A probe', () => this.#probe(server))
    return [...this.#servers.filter(each => !each.failed), ...failed]
  }

  /** Finds out whether a server can commit, unless that was found out just now. */
  async #probe(server: Server): Promise<void> {
    if (server.probeAt > performance.now()) return
    // Until this probe has ended, there is no other.
    server.probeAt = Number.POSITIVE_INFINITY
    const { failures } = server
    try {
      await this.#borrow(server.pool, session => this.#check(server, session))
      if (server.failures === failures) server.failed = false
    } catch {
      // It stays last, and the next probe is later.
      server.failed = true
    }
    server.probeAt = performance.now() + restMs
  }

  async #takeOver(server: Server, session: Session): Promise<void> {
    await this.#check(server, session)
    this.#current = server
  }

  /**
   * A former primary may come back writable, and a replica may be so by mistake. Where it and the server that
   * is asked until now are no cluster, both would record the same call: then that one stays.
   *
   * @throws {StoreError} `UNAVAILABLE`
   */
  async #check(server: Server, session: Session): Promise<void> {
    const cluster = await checkWritable(session)
    const current = this.#current
    if (current === null || current === server) return
    // It must leave time for the answer of this one.
    const state = await this.#borrow(current.pool, serverState, 0.5).catch(() => null)
    if (state?.problem === null && state.cluster !== cluster)
      throw new NotAsked(`${twoWritable}. Set read_only on one of them`)
  }

  #lookSometimes(): void {
    if (!this.hasSeveral || this.#lookAt > performance.now()) return
    notify('A look at idle servers', () => this.look())
  }

  /** Warns of a server that can be written to and must not be asked, beside the one that is asked. */
  async look(): Promise<void> {
    if (!this.hasSeveral || this.#lookAt === Number.POSITIVE_INFINITY) return
    this.#lookAt = Number.POSITIVE_INFINITY
    const states = await Promise.allSettled(this.#servers.map(({ pool }) => this.#borrow(pool, serverState)))
    const problems = states.flatMap((state, index) => {
      const problem = state.status === 'rejected' && notAskedOf(state.reason)?.problem
      return problem ? [`Server ${index + 1} of the list: ${problem}`] : []
    })
    const writable = new Set(
      states.flatMap(state =>
        state.status === 'fulfilled' && state.value.problem === null ? [state.value.cluster] : [],
      ),
    )
    const problem = problems[0] ?? (writable.size > 1 ? twoWritable : null)
    if (problem !== null && problem !== this.#warned) warn(problem)
    this.#warned = problem
    this.#lookAt = performance.now() + lookMs
  }
}

const twoWritable = 'two servers of the list are writable, and are not members of one cluster'

function notAskedOf(error: unknown): NotAsked | null {
  const cause = error instanceof QueryFailed ? error.cause : error
  return cause instanceof NotAsked ? cause : null
}

function markFailed(server: Server): void {
  server.failed = true
  server.failures += 1
  server.probeAt = Math.max(server.probeAt, performance.now() + restMs)
}
