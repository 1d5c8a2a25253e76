/**
 * The highest timeline that has answered the store. PostgreSQL raises it with every promotion, so that a
 * former primary has a lower one: it must not answer any more. It is all that is kept between requests.
 */
import { QueryFailed } from '../database/deadline.js'
import { describeError } from './driver-errors.js'
import { classifyError, storeError } from './errors.js'
import { timelineExpression } from './sql/timeline.js'

/** Compared within one database cluster: a restored or upgraded one counts anew. */
interface Timeline {
  number: number
  /** The `system_identifier` of the cluster. */
  system: string
}

/** The values of `highest_timeline` and `of_system`; `null`: the server does not report its timeline. */
export type TimelineValues = [number, string] | [null, null]

/** @throws {StoreError} the answer is of a former primary */
type Accept = (rows: readonly unknown[]) => void

export class Timelines {
  #highest: Timeline | null = null
  /** Whether a warning says that nothing is compared. */
  #isOff = false

  /** What a statement takes, and what its rows must pass when they have arrived. */
  next(): { values: TimelineValues; accept: Accept } {
    const sent = this.#highest
    if (sent === null) return { values: [null, null], accept() {} }
    return {
      values: [sent.number, sent.system],
      accept: ([row]) => this.#compare(sent, (row as { timeline?: string | null } | undefined)?.timeline),
    }
  }

  /**
   * Asks the server. Where it does not report its timeline, nothing is compared, with a warning.
   *
   * @param ask is called with the expression of the timeline, or with NULL
   * @throws {StoreError} `UNAVAILABLE`: it is a former primary
   * @throws what `ask` throws
   */
  async learn<Row extends { timeline: string | null }>(
    ask: (expression: string) => Promise<Row>,
  ): Promise<Row> {
    const sent = this.#highest
    const refusals: unknown[] = []
    const row = await ask(timelineExpression).catch((error: unknown) => {
      if (!(error instanceof QueryFailed) || classifyError(error.cause, true) !== 'rejected') throw error
      refusals.push(error.cause)
      return ask('NULL::text')
    })
    const [refusal] = refusals
    if (refusal === undefined) this.#compare(sent, row.timeline)
    else this.#switchOff(describeError(refusal))
    return row
  }

  #switchOff(why: string): void {
    this.#highest = null
    if (this.#isOff) return
    this.#isOff = true
    warn(
      `This server does not report its timeline (${why}): nothing protects from a former primary behind the same address`,
    )
  }

  /**
   * @param sent the highest timeline when the statement was sent
   * @param text of another one, as the server has answered it
   */
  #compare(sent: Timeline | null, text: string | null | undefined): void {
    const [number, system] = text?.split('/') ?? []
    const answered = system === undefined ? sent : { number: Number(number), system }
    const highest = this.#highest
    if (answered === null || answered === highest) return
    if (highest !== null) {
      const isComparable = answered.system === highest.system
      if (isComparable ? answered.number < highest.number : answered === sent)
        throw storeError(
          'UNAVAILABLE',
          `The database is unavailable: this server is a former primary: its timeline is ${answered.number}, and ` +
            `${highest.number} has answered`,
        )
      if (!isComparable)
        warn(
          `Another database cluster answers: its system_identifier is ${answered.system}, and was ${highest.system}. ` +
            'Its timeline is compared from now on',
        )
    }
    if (answered === sent) return
    this.#highest = answered
    this.#isOff = false
  }
}

const warn = (problem: string) =>
  process.emitWarning(`${problem}. See bet-wallet/docs/postgres.md#former-primaries`, 'BetWalletWarning')
