/** Sends a call again until its outcome is known, as the platform does (spec 4.2, 4.3). */
import type { Answer } from './answer.js'
import type { AuditSettings } from './options.js'

/** A call that was answered with 5xx, or not at all. */
interface Outage {
  caseId: string
  /** `503`, or `no answer`. */
  what: string
}

/** Attempts for a call that the wallet may answer with a fault of its own: it is invalid, or comes early. */
const attemptsOfUnusual = 3

/** Attempts without any answer before a wallet is taken to be gone. */
const attemptsOfGone = 6

const firstPauseMs = 10
const pauseMsMax = 250
const leastTimeMs = 5_000

/** After so much time on usual calls that failed in all their attempts, further calls have few attempts. */
const wastedMsMax = 15_000

/** Of the whole audit. */
export interface OutageLog {
  all: Outage[]
  /** The cases whose calls do not count any more: they may be lost in the restart that the audit ordered. */
  readonly excused: Set<string>
  /** Time spent on usual calls that failed in all their attempts. */
  wastedMs: number
}

interface Retried<T> {
  /** Sends the call for this time: 1, 2, 3 and so on. */
  send(attempt: number): Promise<T>
  /** `503`, or `no answer`; `null` if the outcome is known. */
  outageOf(result: T): string | null
  /** The platform sends such calls, and a wallet must answer them. */
  isUsual: boolean
  /** Instead of the attempts of the options. */
  attempts?: number
}

export class Retries {
  readonly #settings: Pick<AuditSettings, 'attempts' | 'timeoutMs'>
  readonly #caseId: string
  readonly #log: OutageLog
  /** No attempt of the last call was answered: the wallet may be gone, so further calls have one attempt. */
  isGone = false
  #calls = 0

  constructor(settings: Pick<AuditSettings, 'attempts' | 'timeoutMs'>, caseId: string, log: OutageLog) {
    this.#settings = settings
    this.#caseId = caseId
    this.#log = log
  }

  /**
   * Sends until the outcome is known, at most as often as allowed, with growing pauses.
   *
   * @returns the last result
   */
  async untilKnown<T>({ send, outageOf, isUsual, attempts }: Retried<T>): Promise<T> {
    const isShort = !isUsual || this.#log.wastedMs > wastedMsMax
    const most = attempts ?? Math.min(this.#settings.attempts, isShort ? attemptsOfUnusual : Infinity)
    const beganAt = performance.now()
    const until = beganAt + Math.max(leastTimeMs, 2 * this.#settings.timeoutMs)
    const outages: string[] = []
    this.#calls += 1
    const spread = 1 + ((this.#calls * 7) % 16) / 16
    for (let attempt = 1; ; attempt += 1) {
      const result = await send(attempt)
      const outage = outageOf(result)
      if (outage === null) this.isGone = false
      else outages.push(outage)
      const isUnanswered = outages.filter(what => what === noAnswer).length >= attemptsOfGone
      if (outage === null || attempt >= most || this.isGone || isUnanswered || performance.now() >= until) {
        if (outage !== null && isUsual && attempts === undefined)
          this.#log.wastedMs += performance.now() - beganAt
        if (outage === noAnswer && most > 1) this.isGone = true
        // A fault that stays is the answer of the wallet to an unusual call: that is for the cases.
        if ((outage === null || isUsual) && !this.#log.excused.has(this.#caseId))
          this.#log.all.push(...outages.map(what => ({ caseId: this.#caseId, what })))
        return result
      }
      await new Promise(resolve =>
        setTimeout(resolve, Math.min(pauseMsMax, firstPauseMs * 2 ** (attempt - 1)) * spread),
      )
    }
  }
}

const noAnswer = 'no answer'

/**
 * `null` if the outcome of the call is known: by a status below 500, or by an error code that stands for a
 * refusal (spec 7 leaves the status of a refusal open).
 */
export function outageOf({ status, errorCode }: Answer, refusalCodes: ReadonlySet<string>): string | null {
  if (status === null) return noAnswer
  if (status < 500 || (errorCode !== null && refusalCodes.has(errorCode))) return null
  return String(status)
}

/** `3 of 4,012 calls: 503 (2), no answer (1)`, and the first cases. */
export function describeOutages(outages: readonly Outage[], calls: number): string {
  const counts = new Map<string, number>()
  for (const { what } of outages) counts.set(what, (counts.get(what) ?? 0) + 1)
  const kinds = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([what, count]) => `${what} (${count})`)
  const ids = [...new Set(outages.map(({ caseId }) => caseId))]
  const shown = ids.slice(0, 5).join(', ')
  const more = ids.length > 5 ? ` and ${ids.length - 5} more` : ''
  return `${outages.length} of ${calls.toLocaleString('en')} calls: ${kinds.join(', ')}; in ${shown}${more}`
}
