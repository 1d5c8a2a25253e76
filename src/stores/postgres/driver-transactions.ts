/** Database transactions that a driver begins and ends, and their sessions that may be lost meanwhile. */
import { isA } from '../../foreign-values.js'
import { notify } from '../../hooks.js'
import { CallbackFailed, type Deadline } from '../database/deadline.js'
import { type Query, withSavepoint } from '../database/within-transaction.js'
import { serverErrorOf } from './driver-errors.js'
import { beforeCommit, blockBroken, isBlockBroken, type TransactionSettings } from './transactions.js'

/** What a driver passes to the callback of its `transaction`. */
export interface DriverConnection {
  query: Query
  /**
   * Sends several statements as one message of the simple protocol. Only of a driver that may send statements
   * of other code on this session: with it the store sends COMMIT itself, in a message that no other
   * statement can come between, and leaves an empty block to the driver's own COMMIT.
   */
  simpleQuery?: SimpleQuery
}

type SimpleQuery = (statements: string) => Promise<unknown>

/**
 * Runs `work` in a database transaction that a driver begins and ends. When its session ends, a driver may
 * report that at once and go on with the callback, on a connection that soon serves another database
 * transaction. So when the driver's promise is settled, nothing is sent any more, and the callback never
 * settles: the driver would send COMMIT or ROLLBACK. Before, it must settle, or the driver keeps the session.
 *
 * @param begin `transaction` of the client
 */
export function inDriverTransaction<T>(
  begin: (work: (connection: DriverConnection) => Promise<unknown>) => Promise<unknown>,
  deadline: Deadline,
  settings: TransactionSettings,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  return withSavepoint(async savepoint => {
    const block = new DriverBlock<T>(savepoint, deadline, settings)
    let result: T | undefined
    const done = begin(async connection => {
      try {
        result = await block.run(connection, work)
      } finally {
        if (block.hasEnded) await new Promise(() => {})
      }
    }).finally(() => {
      block.hasEnded = true
    })
    return await Promise.race([done.then(() => result as T), block.committed])
  })
}

/**
 * The driver has read what has arrived. Not by `setImmediate` alone: postgres.js 3.4.9 never sends again on a
 * connection that closes right after a statement was written in that phase.
 */
const nextTurn = () => new Promise<void>(resolve => setImmediate(() => setTimeout(resolve)))

class DriverBlock<T> {
  /** Whether the driver's transaction is over, or its session. */
  hasEnded = false
  /** Of a COMMIT of ours: the result. Rejects when the session has ended, unknown to the driver. */
  readonly committed: Promise<T>
  #commit: (result: T) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  readonly #expired: Promise<never>
  readonly #savepoint: string
  readonly #deadline: Deadline
  readonly #settings: TransactionSettings

  constructor(savepoint: string, deadline: Deadline, settings: TransactionSettings) {
    this.#savepoint = savepoint
    this.#deadline = deadline
    this.#settings = settings
    this.committed = new Promise((resolve, reject) => {
      this.#commit = resolve
      this.#reject = reject
    })
    this.#expired = new Promise((_, reject) => {
      deadline.onExpiry = () => reject(new CallbackFailed('Timed out; already answered'))
    })
    this.#expired.catch(() => {})
  }

  async run(connection: DriverConnection, work: (query: Query) => Promise<T>): Promise<T> {
    // A driver may call back without a session: its promise is rejected by then.
    await new Promise<void>(resolve => process.nextTick(resolve))
    this.#mustGoOn()
    const query: Query = (text, values) => connection.query(text, values)
    const { simpleQuery } = connection
    if (simpleQuery !== undefined) return await this.#runGuarded(query, simpleQuery, work)
    const { first, durable } = this.#settings
    const send = async (statements: readonly string[]) => {
      for (const statement of statements) await this.#ask(() => query(statement))
    }
    await send([...first, `SAVEPOINT ${this.#savepoint}`])
    const result = await this.#inTime(work((text, values) => this.#ask(() => query(text, values))))
    await unbroken(send([...beforeCommit(durable), `RELEASE SAVEPOINT ${this.#savepoint}`]))
    await this.#ask(async () => {
      this.#deadline.sent = true
    })
    return result
  }

  /**
   * On a session on which other code may send statements. Its COMMIT fails, and rolls back: there the server
   * reads what is left of a cursor. After it, or a ROLLBACK, a statement of ours would be committed alone, or
   * with other code's: the one sent right before it ends the session.
   */
  async #runGuarded(query: Query, simpleQuery: SimpleQuery, work: (query: Query) => Promise<T>): Promise<T> {
    const { first, durable } = this.#settings
    const name = this.#savepoint
    const send = (statements: readonly string[]) => this.#ask(() => simpleQuery(statements.join('; ')))
    // A role that SET ROLE has set may not end the session of another one.
    const check = (problem?: unknown) =>
      simpleQuery(`SELECT set_config('role', 'none', false), pg_terminate_backend(pg_backend_pid())
        WHERE current_setting('bet_wallet.block', true) IS DISTINCT FROM '${name}'`).catch(error => {
        if (serverErrorOf(error)?.severity !== 'ERROR') this.#lose(problem ?? error)
      })
    const mark = `DECLARE ${name} CURSOR WITH HOLD FOR
      SELECT ('bet-wallet: ended by other code, process ' || pg_backend_pid())::integer`
    try {
      // The driver's own block may be gone already. What follows need not wait for the answer.
      const begun = send(['ROLLBACK', 'BEGIN', ...first, `SET LOCAL bet_wallet.block = '${name}'`, mark])
      const worked = work((text, values) =>
        this.#ask(() => {
          notify('A check of the block', () => check())
          return query(text, values)
        }),
      )
      const [, result] = await this.#inTime(Promise.all([begun, worked]))
      if (durable) await unbroken(send(beforeCommit(durable)))
      const committing = this.#ask(() => {
        this.#deadline.sent = true
        return simpleQuery(`CLOSE ${name}; COMMIT; BEGIN`)
      })
      await unbroken(committing)
      this.#commit(result)
      return result
    } catch (error) {
      // The driver sends ROLLBACK next.
      if (!this.hasEnded) await check(isA(error, CallbackFailed) ? error : undefined)
      throw error
    }
  }

  /** The session has ended, and the driver may not know that it was ours. */
  #lose(error: unknown): void {
    this.hasEnded = true
    this.#reject(error)
  }

  #inTime<R>(promise: Promise<R>): Promise<R> {
    return Promise.race([promise, this.#expired])
  }

  #mustGoOn(): void {
    if (this.hasEnded || this.#deadline.expired)
      throw new CallbackFailed('The database transaction has ended')
  }

  async #ask<R>(send: () => Promise<R>): Promise<R> {
    this.#mustGoOn()
    try {
      return await send()
    } catch (error) {
      // The driver may be about to report the end of the session.
      await nextTurn()
      throw error
    }
  }
}

async function unbroken(sent: Promise<unknown>): Promise<void> {
  await sent.catch((error: unknown) => {
    throw isBlockBroken(error) ? blockBroken(error) : error
  })
}
