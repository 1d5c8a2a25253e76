/** Database transactions that a driver begins and ends, and their sessions that may be lost meanwhile. */
import { notify } from '../../hooks.js'
import { CallbackFailed, type Deadline } from '../database/deadline.js'
import { type Query, withSavepoint } from '../database/within-transaction.js'
import { serverErrorOf } from './driver-errors.js'
import { beforeCommit, blockBroken, isBlockBroken } from './transactions.js'

/** What a driver passes to the callback of its `transaction`. */
export interface DriverConnection {
  query: Query
  /**
   * Sends several statements as one message of the simple protocol. Only of a driver that may send statements
   * of other code on this session: with it the store sends COMMIT itself, in a message that no other
   * statement can come between, and leaves an empty block to the driver's own COMMIT.
   */
  simpleQuery?(statements: string): Promise<unknown>
}

/**
 * Runs `work` in a database transaction that a driver begins and ends. When its session ends, a driver may
 * report that at once and go on with the callback, on a connection that soon serves another database
 * transaction. So when the driver's promise is settled, nothing is sent any more, and the callback never
 * settles: the driver would send COMMIT or ROLLBACK. Before, it must settle, or the driver keeps the session.
 *
 * @param begin `transaction` of the client
 * @param settings `first`: statements right after BEGIN
 */
export function inDriverTransaction<T>(
  begin: (work: (connection: DriverConnection) => Promise<unknown>) => Promise<unknown>,
  deadline: Deadline,
  settings: { first: readonly string[]; durable: boolean },
  work: (query: Query) => Promise<T>,
): Promise<T> {
  return withSavepoint(async savepoint => {
    const block = new DriverBlock(savepoint, deadline)
    let result: T | undefined
    const done = begin(async connection => {
      try {
        result = await block.run(connection, settings, work)
      } finally {
        if (block.hasEnded) await new Promise(() => {})
      }
    })
    try {
      await Promise.race([done, block.lost])
    } catch (error) {
      // Our own COMMIT was answered before.
      if (!block.isCommitted) throw error
    } finally {
      block.hasEnded = true
    }
    return result as T
  })
}

const nextTurn = () => new Promise(setImmediate)

class DriverBlock {
  /** Whether the driver's transaction is over, or its session. */
  hasEnded = false
  isCommitted = false
  /** Rejects when the session has ended and the driver does not report it to us. */
  readonly lost: Promise<never>
  #lose: (error: unknown) => void = () => {}
  readonly #expired: Promise<never>
  readonly #savepoint: string
  readonly #deadline: Deadline

  constructor(savepoint: string, deadline: Deadline) {
    this.#savepoint = savepoint
    this.#deadline = deadline
    this.lost = new Promise((_, reject) => {
      this.#lose = error => {
        this.hasEnded = true
        reject(error)
      }
    })
    this.#expired = new Promise((_, reject) => {
      deadline.onExpiry = () => reject(new CallbackFailed('Timed out; already answered'))
    })
    for (const promise of [this.lost, this.#expired]) promise.catch(() => {})
  }

  async run<T>(
    connection: DriverConnection,
    { first, durable }: { first: readonly string[]; durable: boolean },
    work: (query: Query) => Promise<T>,
  ): Promise<T> {
    // A driver may call back without a session: then its promise is rejected by now.
    await nextTurn()
    const { simpleQuery } = connection
    try {
      await (simpleQuery === undefined
        ? this.#each(connection, [...first, `SAVEPOINT ${this.#savepoint}`])
        : this.#ask(() => simpleQuery([...first, this.#mark].join('; '))))
      const query: Query = (text, values) =>
        this.#ask(() => {
          if (simpleQuery !== undefined) notify('A check of the block', () => this.#check(simpleQuery))
          return connection.query(text, values)
        })
      const result = await Promise.race([work(query), this.#expired])
      await this.#close(connection, durable)
      return result
    } catch (error) {
      // The driver sends ROLLBACK next.
      if (simpleQuery !== undefined && !this.hasEnded) await this.#check(simpleQuery, error)
      throw error
    }
  }

  async #each({ query }: DriverConnection, statements: readonly string[]): Promise<void> {
    for (const statement of statements) await this.#ask(() => query(statement))
  }

  async #ask<R>(send: () => Promise<R>): Promise<R> {
    if (this.hasEnded || this.#deadline.expired)
      throw new CallbackFailed('The database transaction has ended')
    try {
      return await send()
    } catch (error) {
      // The driver may be about to report the end of the session.
      await nextTurn()
      throw error
    }
  }

  /**
   * Of a session on which other code may send statements. Its COMMIT fails, and rolls back: there the server
   * reads what is left of a cursor.
   */
  get #mark(): string {
    return `SAVEPOINT ${this.#savepoint}; DECLARE ${this.#savepoint} CURSOR WITH HOLD FOR
      SELECT ('bet-wallet: a COMMIT of other code, process ' || pg_backend_pid())::integer`
  }

  /**
   * Ends the session if its database transaction is not ours: the next statement would be committed alone, or
   * in the database transaction of other code.
   */
  #check(simpleQuery: NonNullable<DriverConnection['simpleQuery']>, problem?: unknown): Promise<void> {
    return simpleQuery(`SELECT pg_terminate_backend(pg_backend_pid())
      WHERE NOT EXISTS (SELECT FROM pg_cursors WHERE name = '${this.#savepoint}')`).then(
      () => {},
      (error: unknown) => {
        if (serverErrorOf(error)?.severity !== 'ERROR') this.#lose(problem ?? error)
      },
    )
  }

  async #close(connection: DriverConnection, durable: boolean): Promise<void> {
    const { simpleQuery } = connection
    const release = `RELEASE SAVEPOINT ${this.#savepoint}`
    try {
      await this.#each(connection, [...beforeCommit(durable), ...(simpleQuery ? [] : [release])])
      await this.#ask(async () => {
        this.#deadline.sent = true
        await simpleQuery?.(`CLOSE ${this.#savepoint}; ${release}; COMMIT; BEGIN`)
      })
      this.isCommitted = simpleQuery !== undefined
    } catch (error) {
      throw isBlockBroken(error) ? blockBroken(error) : error
    }
  }
}
