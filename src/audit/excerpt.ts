/** What the report keeps of a case's calls: of many alike the first and the last. A race has hundreds. */
import type { AuditExchange } from './report.js'

/** So many alike are kept at the beginning, and as many at the end: more where a case failed and has to be understood. */
const endsOfFailed = 20
const endsOfOthers = 1

/**
 * Leaves out the middle of calls that differ in ids and numbers only, and were answered alike; the first of each such
 * gap says by `omitted` how many.
 *
 * @param telling index of the call that gave a failure away, which is kept; `null` where there is none
 * @returns the calls that are kept, and where the telling one is now
 */
export function excerptOf(
  exchanges: readonly AuditExchange[],
  failed: boolean,
  telling: number | null,
): { exchanges: AuditExchange[]; telling: number | null } {
  const ends = failed ? endsOfFailed : endsOfOthers
  const alike = new Map<string, number[]>()
  for (const [index, exchange] of exchanges.entries()) {
    const kind = kindOf(exchange)
    alike.set(kind, [...(alike.get(kind) ?? []), index])
  }

  /** By the index of each call that is kept: how many like it are left out after it. */
  const omitted = new Map<number, number>()
  for (const indexes of alike.values()) {
    let last = 0
    for (const [place, index] of indexes.entries()) {
      if (place < ends || place >= indexes.length - ends || index === telling) {
        last = index
        omitted.set(index, 0)
      } else omitted.set(last, (omitted.get(last) ?? 0) + 1)
    }
  }
  const kept = [...omitted.keys()].sort((one, other) => one - other)
  return {
    exchanges: kept.flatMap(index => {
      const exchange = exchanges[index]
      return exchange === undefined ? [] : [{ ...exchange, omitted: omitted.get(index) ?? 0 }]
    }),
    telling: telling === null ? null : kept.indexOf(telling),
  }
}

/** How many calls there were, those that are left out among them. */
export function callsOf(exchanges: readonly AuditExchange[]): number {
  return exchanges.reduce((calls, { omitted }) => calls + 1 + omitted, 0)
}

/** The same for calls that differ in nothing worth reading. */
function kindOf({ method, path, label, status, answer, error }: AuditExchange): string {
  const code = /"errorCode":\s*"[^"]*"/.exec(answer ?? '')?.[0]
  return JSON.stringify([method, path, label.replace(/[\d.]+/g, '#'), status, code, error])
}
