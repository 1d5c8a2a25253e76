/** Times of lookups: UTC, as text that sorts by time. */

const iso = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?(Z|[+-]\d{2}:\d{2})?)?$/

/**
 * A time in UTC with microseconds, as databases keep it: `"2026-11-22T10:00:00.123456"`.
 *
 * @param value ISO 8601: a date, which stands for its beginning, or date and time, with or without seconds
 *   and their fraction. Without an offset, as in `+01:00`, it is in UTC
 * @returns `null` for any other value
 */
export function microsecondsOf(value: unknown): string | null {
  const parts = typeof value === 'string' ? iso.exec(value) : null
  if (parts === null) return null
  const [, date = '', minutes = '00:00', seconds = '00', fraction = '', offset = 'Z'] = parts
  const text = `${date}T${minutes}:${seconds}`
  const time = Date.parse(`${text}Z`)
  // JavaScript reads 31 February as 3 March.
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 19) !== text) return null
  const instant = Date.parse(`${text}${offset}`)
  const utc = Number.isNaN(instant) ? '' : new Date(instant).toISOString().slice(0, 19)
  // Not with a year of more digits, which does not sort as text.
  return /^\d{4}-/.test(utc) ? `${utc}.${fraction.padEnd(6, '0')}` : null
}

/** With milliseconds, cut: `"2026-11-22T10:00:00.123Z"`. */
export const millisecondsOf = (microseconds: string): string => `${microseconds.slice(0, 23)}Z`
