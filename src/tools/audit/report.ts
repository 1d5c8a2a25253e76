/** The report of an audit, as data. The terminal, JSON, JUnit XML and HTML show nothing else. */

/** A failed MUST loses or creates money or violates the interface; a SHOULD causes disputes or work. */
export type Level = 'MUST' | 'SHOULD'

/** `skipped`: the case could not be judged, for example because no way to settle was given. */
export type Verdict = 'passed' | 'failed' | 'skipped'

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
   * The player's balance before and after, as decimal text; `after` is `null` if the wallet stopped
   * answering. Credits that settlements left are staked at the end, on a bet that stays open.
   */
  funds?: { before: string; after: string | null }
  /** Number of requests sent. */
  requests: number
  /**
   * How balances were read: by the rollback of an unknown bet (spec 4.3), or by the smallest bet and its
   * rollback. Decided before the first case, and not changed afterwards. `reason`: why it is not the former,
   * otherwise `null`.
   */
  balancesReadBy: { by: 'rollback' | 'bet-and-rollback'; reason: string | null }
  /** Answers that are not the interface's, or were changed. The first one first; usually empty. */
  foreignAnswers: ForeignAnswers[]
  /** The failed cases by their likely cause, the gravest first. Every failed case is in one of them. */
  findings: AuditFinding[]
  /** What this audit cannot see, one sentence each. */
  limitations: string[]
  results: AuditResult[]
  /** No MUST failed, the wallet answered until the end, and a restart that was asked for was done. */
  passed: boolean
  /** No case of this audit was skipped. */
  complete: boolean
}

/** Answers that are not in the form of the interface, of one sender: no rule of the wallet explains them. */
export interface ForeignAnswers {
  /** In words: `a rate limiter`. */
  sender: string
  /** The number of the first request that was answered like this. */
  firstRequest: number
  /** The number of requests that were answered like this. */
  requests: number
  /** Status, body and headers of the first answer. */
  answer: string
}

/** One likely cause, and the failed cases that it explains. */
export interface AuditFinding {
  /** The failed case that shows it best. */
  id: string
  /** The gravest level of its cases. */
  level: Level
  /** A likely cause, in one sentence, where the calls of the case show it; otherwise `null`. */
  cause: string | null
  /** The other failed cases, each with the reason why it is probably no fault of its own. */
  followers: { id: string; reason: string }[]
}

export interface AuditResult {
  /** `AU-101`. Its meaning never changes. */
  id: string
  level: Level
  /** The requirement, in one sentence. */
  name: string
  /** Its origin: `spec 4.1, D6`. */
  source: string
  verdict: Verdict
  /** Why the case was skipped; otherwise `null`. */
  reason: string | null
  /** `null` unless the case failed. */
  failure: AuditFailure | null
  /**
   * The calls of the case in the order in which they were sent. Of many similar calls, only the first and the
   * last ones: `omitted` counts the others.
   */
  exchanges: AuditExchange[]
  /**
   * The player's balance before the case and after its bets were rolled back, as decimal text; `after` is
   * `null` if the wallet answered without one. `explained`: both are equal, or a settlement explains the
   * difference. `null` if the case did not run.
   */
  balance: { before: string; after: string | null; explained: boolean } | null
  durationMs: number
}

/**
 * What went wrong:
 *
 * - `balance`: the balance is wrong, by `difference`.
 * - `stale-balance`: the balance is right, but an answer shows another one.
 * - `accepted`: a success where a refusal was expected.
 * - `refused`: a refusal (4xx) where a success was expected.
 * - `other-refusal`: a refusal was expected and received, with another code or status.
 * - `fault`: a 5xx where a definite answer was expected.
 * - `no-answer`: the connection failed, or the time was up.
 * - `form`: an answer that is not in the form of the interface.
 * - `other`: an expectation of the case, as `expected` and `actual` say.
 */
export type FailureKind =
  | 'balance'
  | 'stale-balance'
  | 'accepted'
  | 'refused'
  | 'other-refusal'
  | 'fault'
  | 'no-answer'
  | 'form'
  | 'other'

export interface AuditFailure {
  kind: FailureKind
  /**
   * The balance minus the balance that was expected, as decimal text: `"-1.71"` is too little. `null` if no
   * balance is known to be wrong.
   */
  difference: string | null
  /** A step that only prepares the case has failed: its name and its impact do not apply. */
  isPreparation?: true
  /** In words: `a refusal INSUFFICIENT_FUNDS`. */
  expected: string
  /** In words: `200 with balance 70 EUR`. */
  actual: string
  /** The damage in production, from what was found. */
  impact: string
  /** The sentence of docs/interface.md that the wallet breaks; `null`: the case quotes none. */
  quote: string | null
  /**
   * Index into `exchanges` of the call to look at: of a wrong balance, the call that changed it, otherwise
   * the call with the wrong answer. `null` if it is no single call.
   */
  exchangeIndex: number | null
}

/** One call and its answer. Secrets are replaced by environment variables, such as `$WALLET_PASSWORD`. */
export interface AuditExchange {
  /** A description: `placebet b-3 of 30`. */
  label: string
  /** The call only reads the balance, for the audit. */
  isReading?: true
  /** Milliseconds since the audit began. */
  sentAtMs: number
  /** Milliseconds since the audit began; `null` without an answer. */
  answeredAtMs: number | null
  method: string
  /** Below the base URL: `/placebet`. */
  path: string
  /** As sent, cut after 2,000 characters. */
  body: string
  /** The same call for a shell. */
  curl: string
  /** `null` without an answer. */
  status: number | null
  /** The body, cut after 2,000 characters; `null` without an answer. */
  answer: string | null
  /** The balance in the answer, as spelled; `null` if it has none. */
  balance: string | null
  /** What sent the answer, if it is not in the form of the interface: `a rate limiter`. */
  sender?: string
  /** Why there is no answer, for example `the connection was refused (ECONNREFUSED)`; otherwise `null`. */
  error: string | null
  /** Number of calls removed after this one, which differ in ids and numbers only and had the same answer. */
  omitted: number
}
