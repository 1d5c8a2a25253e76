/** What an audit found, as data: everything that the terminal, JSON, JUnit XML and HTML show is made from it. */

/** MUST: failing it loses or makes money, or breaks the interface. SHOULD: costs disputes or time. MAY: good to know. */
export type Level = 'MUST' | 'SHOULD' | 'MAY'

/**
 * `passed`; `failed`; `not judged`: this wallet could not be asked (no way to settle, time was over), `reason` says
 * why. A failure of MUST fails the audit.
 */
export type Verdict = 'passed' | 'failed' | 'not judged'

export interface AuditReport {
  /** The version of this format. */
  readonly formatVersion: 1
  /** The base URL that was audited, without credentials. */
  target: string
  /** ISO 8601 in UTC. */
  startedAt: string
  durationMs: number
  seed: number
  player: { playerId: string; currency: string }
  /**
   * The player's balance before and after, decimal text; `after` is `null` where nobody answered any more. A surplus that
   * settlements left is staked in the end, on a bet that stays open.
   */
  funds?: { before: string; after: string | null }
  /** How many requests were sent. */
  requests: number
  results: AuditResult[]
  /** No MUST failed. */
  passed: boolean
  /** Everything was judged. */
  complete: boolean
}

export interface AuditResult {
  /** Never changes its meaning: `AU-101`. */
  id: string
  level: Level
  /** What is promised, in one sentence. */
  title: string
  /** Where it comes from: `spec 4.1, D6`. */
  source: string
  verdict: Verdict
  /** Of `not judged`: why. Else `null`. */
  reason: string | null
  /** Of a failure. Else `null`. */
  failure: AuditFailure | null
  /**
   * The calls of the case, in the order in which they were sent. Of many alike only the first and the last: `leftOut` says
   * how many are missing.
   */
  exchanges: AuditExchange[]
  durationMs: number
}

export interface AuditFailure {
  /** What was expected, in words: `402 INSUFFICIENT_FUNDS again`. */
  expected: string
  /** What was found, in words. */
  actual: string
  /** What it would cost in production, in one or two sentences. */
  impact: string
  /** Index into `exchanges` of the call that gave it away; `null` where it is none of them alone. */
  exchangeIndex: number | null
}

/** One call, and what came back. Secrets are left out of headers and curl line: `-u "$WALLET_USER:$WALLET_PASSWORD"`. */
export interface AuditExchange {
  /** What it is, for people: `placebet b-3 of 30`. */
  label: string
  /** Milliseconds since the audit began. */
  sentAtMs: number
  /** Milliseconds since the audit began; `null` where no answer came. */
  answeredAtMs: number | null
  method: string
  /** Below the base URL: `/placebet`. */
  path: string
  /** As it was sent. Cut after 2,000 characters. */
  body: string
  /** To be pasted into a shell. */
  curl: string
  /** `null` where no answer came. */
  status: number | null
  /** Cut after 2,000 characters. */
  answer: string | null
  /** The balance that the answer names, as it was written; `null` where it names none. */
  balance: string | null
  /** Why there is no answer: the connection was closed by us, timed out, was refused. Else `null`. */
  error: string | null
  /** How many calls followed that differ from this one in ids and numbers only, were answered alike, and are left out. */
  omitted: number
}
