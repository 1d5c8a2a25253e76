/** The calls of `withinTransaction`, and what is known of one that failed. */
import { isZero } from '../../money.js'
import { QueryFailed } from './deadline.js'
import type { MakeError, StoreError } from './errors.js'
import {
  HookFailed,
  isErrorOfHook,
  noteErrorOfHook,
  type PendingBatch,
  type PendingCommit,
  pendingCommits,
  type Query,
  type Refusals,
  RefusedByHook,
  type WithinTransaction,
} from './within-transaction.js'

/** The failures of hooks after which nothing is committed, in words. */
const problems = new WeakMap<object, string>()

/** @returns the failure of the hook in words, if it is certain that no changes were made; otherwise `null` */
export const problemOfHook = (error: unknown): string | null =>
  (typeof error === 'object' && error !== null && problems.get(error)) || null

/** Statements of rows or savepoints, which end no database transaction. A CALL may: procedures can COMMIT. */
const ofRows =
  /^\s*(?:insert|update|delete|replace|select|with|values|do|savepoint|release\s+savepoint|rollback\s+to)\b[^;]*;?\s*$/i

/** A statement of the hook that has not ended. */
interface Running {
  text: string
  result: Promise<unknown>
}

/** One call of the hook. */
class HookCall {
  ended = false
  hasQueried = false
  readonly running = new Set<Running>()
  /** The text of the statement of each error. */
  readonly #failed = new Map<unknown, string>()
  /**
   * Whether a statement may have ended the database transaction: one that is not of rows or savepoints, or a
   * deadlock that the hook swallowed. After that, MySQL commits every further statement.
   */
  #mayHaveEnded = false
  readonly #shown: Shown

  constructor(shown: Shown) {
    this.#shown = shown
  }

  /** Not async: the hook must have the very promise that `mustHaveWaited` handles. */
  query(run: Query, text: string, values: unknown[] | undefined): ReturnType<Query> {
    // By then the connection may serve another request.
    if (this.ended) return Promise.reject(new TypeError('query: withinTransaction has ended'))
    this.hasQueried = true
    if (!ofRows.test(text)) this.#mayHaveEnded = true
    const running: Running = { text: String(text), result: Promise.resolve() }
    this.running.add(running)
    const result = this.#run(running, () => run(text, values))
    running.result = result
    return result
  }

  async #run(running: Running, run: () => ReturnType<Query>): ReturnType<Query> {
    try {
      const result = await run()
      if (this.#failed.size > 0) this.#mayHaveEnded = true
      return result
    } catch (error) {
      noteErrorOfHook(error)
      this.#failed.set(error, running.text)
      throw error
    } finally {
      this.running.delete(running)
    }
  }

  /** @throws {HookFailed} if the hook has returned before a statement had ended */
  async mustHaveWaited(): Promise<void> {
    const [first] = this.running
    if (first === undefined) return
    await Promise.allSettled([...this.running].map(({ result }) => result))
    throw this.#failure(`withinTransaction did not await its query: ${this.#shown(first.text)}`)
  }

  /** @returns the error of a call that threw. One of the database is retried as one of our own statements */
  failureOf(error: unknown): unknown {
    if (!isErrorOfHook(error)) return this.#failure('withinTransaction threw', error)
    const text = this.#shown(this.#failed.get(error) ?? '')
    this.#note(error as object, `A statement of withinTransaction failed: ${text}${this.#certainty()}`)
    return error
  }

  #failure(words: string, cause?: unknown): HookFailed {
    const problem = words + this.#certainty()
    const failure = new HookFailed(problem, { cause })
    this.#note(failure, problem)
    return failure
  }

  #certainty(): string {
    return this.#mayHaveEnded ? '' : '; no changes were made'
  }

  #note(error: object, problem: string): void {
    if (!this.#mayHaveEnded) problems.set(error, problem)
  }
}

/** A statement as messages show it. */
type Shown = (text: string) => string

const shownMax = 100

/** @param valueStart where a value begins that the hook has written into the text instead of a parameter */
const shownUpTo =
  (valueStart: RegExp): Shown =>
  text => {
    const line = text.replace(/\s+/g, ' ').trim()
    const [before = ''] = line.split(valueStart, 1)
    const cut = [...before].slice(0, shownMax).join('')
    return cut === line ? cut : `${cut}…`
  }

/** A hook that does not query may have nothing to write for one call, or two. */
const silentCallsMax = 5

/** The hook of one store. */
export class OperatorHook {
  readonly #hook: WithinTransaction
  readonly #makeError: MakeError
  readonly #shown: Shown
  /** How often it has returned without a query for requests that move money; `null`: no longer counted. */
  #silentCalls: number | null = 0

  constructor(hook: WithinTransaction, makeError: MakeError, valueStart: RegExp) {
    this.#hook = hook
    this.#makeError = makeError
    this.#shown = shownUpTo(valueStart)
  }

  /**
   * Runs a database transaction that calls the hook, by the function that it is called with.
   *
   * @throws {QueryFailed}
   */
  async during<T>(
    transact: (callHook: (query: Query, batch: PendingBatch) => Promise<void>) => Promise<T>,
  ): Promise<T> {
    const calls: HookCall[] = []
    try {
      return await transact((query, batch) => {
        const call = new HookCall(this.#shown)
        calls.push(call)
        return this.#call(call, query, batch)
      })
    } catch (error) {
      const late = calls.find(({ ended, running }) => !ended || running.size > 0)
      if (late !== undefined && error instanceof QueryFailed && error.timedOut) this.#noteLate(late, error)
      throw error
    }
  }

  /**
   * Calls the hook with the requests of a batch that are about to be committed, unless there are none.
   *
   * @throws {RefusedByHook} when the hook refused any of them
   */
  async #call(call: HookCall, query: Query, batch: PendingBatch): Promise<void> {
    const refusals: Refusals = new Map()
    const commits = pendingCommits(batch, call, refusals)
    try {
      if (commits.length === 0) return
      await this.#hook((text, values) => call.query(query, text, values), commits)
    } catch (error) {
      throw call.failureOf(error)
    } finally {
      call.ended = true
    }
    await call.mustHaveWaited()
    if (refusals.size > 0) throw new RefusedByHook(refusals)
    this.#noteSilence(call, commits)
  }

  #noteLate({ running }: HookCall, { cause }: QueryFailed): void {
    const [statement] = running
    const waits =
      statement === undefined ? '' : `, and its statement had not ended: ${this.#shown(statement.text)}`
    problems.set(
      cause as StoreError,
      `withinTransaction had not returned in time${waits}; no changes were made. Does it write over another ` +
        'connection than query? That one waits for rows that the wallet has locked, and what it writes stays',
    )
  }

  /** Such rows stay when the batch is rolled back, which tests without refusals do not show. */
  #noteSilence({ hasQueried }: HookCall, commits: readonly PendingCommit[]): void {
    if (hasQueried) this.#silentCalls = null
    if (this.#silentCalls === null || !commits.some(({ changes }) => !isZero(changes.account.delta))) return
    this.#silentCalls += 1
    if (this.#silentCalls < silentCallsMax) return
    this.#silentCalls = null
    const { message } = this.#makeError(
      'HOOK_FAILED',
      `withinTransaction has returned ${silentCallsMax} times for requests that move money, and never called ` +
        'query. Rows that it writes over another connection stay when the wallet rolls back',
    )
    process.emitWarning(message, 'BetWalletWarning')
  }
}
