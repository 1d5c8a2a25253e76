/**
 * Answers that are not the interface's: of a limiter, a proxy or a wrapper before the wallet, or of a wallet
 * that writes errors in a form of its own. `findings.ts` names them first, since no rule of the wallet
 * explains them.
 */
import { headerOf } from '../wire/http-answer.js'
import type { ReadJson } from '../wire/json.js'
import { type Answer, quoteOf } from './answer.js'
import { isAgreed } from './options.js'
import type { ForeignAnswers } from './report.js'

/** By status, what answers like this. */
const senders: Readonly<Record<number, string>> = {
  408: 'a timeout',
  413: 'a limit of the size of a body',
  429: 'a rate limiter',
  502: 'a gateway that did not reach the wallet',
  504: 'a gateway that did not wait for the wallet',
}

/** What a proxy or a limiter writes of itself. */
const headersShown = [
  'location',
  'retry-after',
  'ratelimit',
  'ratelimit-limit',
  'x-ratelimit-limit',
  'via',
  'server',
]

/**
 * What has sent an answer that is neither a success nor an error of the interface; `null`: it is one of them,
 * or there is none. A 500 without an error record may be a fault of the wallet, of one case or another.
 */
export function senderOf({ status, balance, errorCode, fields, text }: Answer): string | null {
  if (status === null || balance !== null || errorCode !== null || status === 500) return null
  if (status >= 300 && status <= 399) return 'a redirect'
  const wrapper = fields === null ? null : wrapperOf(fields)
  if (wrapper !== null) return `a wrapper, which puts the answer inside "${wrapper}"`
  if (senders[status] !== undefined) return senders[status]
  if (/^\s*</.test(text)) return 'a page of HTML'
  if (status >= 400)
    return 'the wallet, or an error handler before it, which writes errors in a form of its own'
  if (fields?.has('errorCode')) return 'a filter, which answers refusals with a status of success'
  return 'a filter, which answers in a form of its own'
}

/** The field that holds the fields of the interface. */
function wrapperOf(fields: ReadonlyMap<string, ReadJson>): string | null {
  for (const [name, value] of fields)
    if (value instanceof Map && (value.has('balance') || value.has('errorCode'))) return name
  return null
}

/** Reasons for refusals that must be seen before their status says something of a filter. */
const reasonsLeast = 3

/** Of one audit, by sender. */
export class ForeignAnswerLog {
  readonly #bySender = new Map<string, ForeignAnswers>()
  /** By status: refusals with a code, and each 500. `reasons`: the codes; without one, the case. */
  readonly #refusals = new Map<number, { seen: ForeignAnswers; reasons: Set<string> }>()

  constructor(readonly settings: Parameters<typeof isAgreed>[0]) {}

  /** Remembers the answer to a call that the platform sends. */
  add(answer: Answer, request: number, caseId: string): void {
    const { status, errorCode } = answer
    const sender = senderOf(answer)
    if (sender !== null) {
      const known = this.#bySender.get(sender)
      if (known !== undefined) known.requests += 1
      else this.#bySender.set(sender, { sender, firstRequest: request, requests: 1, answer: shown(answer) })
    } else if (status !== null && (errorCode !== null || status === 500)) {
      const of = `a filter, which answers every refusal with the status ${status}`
      const seen = { sender: of, firstRequest: request, requests: 0, answer: shown(answer) }
      const known = this.#refusals.get(status) ?? { seen, reasons: new Set() }
      known.seen.requests += 1
      known.reasons.add(errorCode ?? caseId)
      this.#refusals.set(status, known)
    }
  }

  /** The first one first. */
  get all(): ForeignAnswers[] {
    const alike = [...this.#refusals].filter(
      ([status, { reasons }]) =>
        this.#refusals.size === 1 &&
        reasons.size >= reasonsLeast &&
        ![...reasons].every(code => isAgreed(this.settings, status, code)),
    )
    return [...this.#bySender.values(), ...alike.map(([, { seen }]) => seen)].sort(
      (one, other) => one.firstRequest - other.firstRequest,
    )
  }
}

function shown(answer: Answer): string {
  const headers = headersShown.flatMap(name => {
    const value = headerOf(answer.head, name)
    return value === undefined ? [] : [`${name}: ${answer.mask(value)}`]
  })
  return [String(answer.status), quoteOf(answer), ...headers.map(header => `(${header})`)].join(' ')
}

/** `Request 101 was answered by a rate limiter: 429 … So were 165 others.` */
export function describeForeign({ sender, firstRequest, requests, answer }: ForeignAnswers): string {
  const others =
    requests === 1 ? '' : ` So ${requests === 2 ? 'was 1 other' : `were ${requests - 1} others`}.`
  return `Request ${firstRequest} was answered by ${sender}: ${answer}.${others}`
}

const waitMsMax = 60_000
const pauseMsLeast = 50
const pauseMsMost = 5_000

/** Slows the audit down for a rate limiter: a call that it refuses has not reached the wallet. */
export class RateLimit {
  /** Since when there is no other answer; `null`: there is one. */
  #since: number | null = null

  constructor(readonly signal: { readonly aborted: boolean } | null) {}

  /**
   * Waits as long as the limiter asks for, at most a minute without another answer.
   *
   * @returns whether to send the call again
   */
  async waitAfter({ status, errorCode, head }: Answer): Promise<boolean> {
    if (status !== 429 || errorCode !== null) {
      this.#since = null
      return false
    }
    const now = performance.now()
    this.#since ??= now
    const seconds = Number(headerOf(head, 'retry-after') ?? Number.NaN)
    const asked = Number.isNaN(seconds) ? Math.min(pauseMsMost, now - this.#since) : seconds * 1_000
    const pauseMs = Math.max(pauseMsLeast, asked)
    if (now - this.#since + pauseMs > waitMsMax || this.signal?.aborted) return false
    await new Promise(resolve => setTimeout(resolve, pauseMs))
    return true
  }
}
