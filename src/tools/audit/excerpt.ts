/** Shortens the calls of a case for the report: a race has hundreds of similar ones. */
import type { AuditExchange } from './report.js'

/** The number of similar calls kept at the beginning and at the end: one more of a failed case. */
const endsOfFailed = 2
const endsOfOthers = 1

/**
 * Removes the middle of calls that differ in ids and numbers only and had the same answer. The call before
 * each gap has the number of removed calls in `omitted`.
 *
 * @param keep index of the call that shows the failure, which is always kept; `null` if there is none
 * @returns the remaining calls, and the new index of `keep`
 */
export function excerptOf(
  exchanges: readonly AuditExchange[],
  hasFailed: boolean,
  keep: number | null,
): { exchanges: AuditExchange[]; keptIndex: number | null } {
  const ends = hasFailed ? endsOfFailed : endsOfOthers
  const similar = new Map<string, number[]>()
  for (const [index, exchange] of exchanges.entries()) {
    const kind = kindOf(exchange)
    const indexes = similar.get(kind)
    if (indexes === undefined) similar.set(kind, [index])
    else indexes.push(index)
  }

  /** By index of each kept call: the number of similar calls removed after it. */
  const omitted = new Map<number, number>()
  for (const indexes of similar.values()) {
    let last = 0
    for (const [place, index] of indexes.entries()) {
      if (place < ends || place >= indexes.length - ends || index === keep) {
        last = index
        omitted.set(index, 0)
      } else omitted.set(last, (omitted.get(last) ?? 0) + 1)
    }
  }
  const kept = [...exchanges.entries()].filter(([index]) => omitted.has(index))
  return {
    exchanges: kept.map(([index, exchange]) => ({ ...exchange, omitted: omitted.get(index) ?? 0 })),
    keptIndex: keep === null ? null : kept.findIndex(([index]) => index === keep),
  }
}

/** The number of calls, including the omitted ones. */
export function callsOf(exchanges: readonly AuditExchange[]): number {
  return exchanges.reduce((calls, { omitted }) => calls + 1 + omitted, 0)
}

/** Equal for calls that do not differ in anything worth reading. */
function kindOf({ method, path, label, status, answer, error }: AuditExchange): string {
  const code = /"errorCode":\s*"[^"]*"/.exec(answer ?? '')?.[0]
  return JSON.stringify([method, path, label.replace(/[\d.]+/g, '#'), status, code, error])
}
