/** The times of signed calls. */
import { parseDate } from '../requests.js'

export const timeFormats = ['seconds', 'milliseconds', 'iso'] as const

export type TimeFormat = (typeof timeFormats)[number]

/** @returns milliseconds since 1970; `null` for a text of another form */
export function readTime(text: string, format: TimeFormat): number | null {
  if (format === 'iso') {
    const date = parseDate(text)
    return date === null ? null : Date.parse(date)
  }
  // 15 digits of milliseconds are the year 33658; more would not be exact.
  if (!/^[0-9]{1,15}$/.test(text)) return null
  return format === 'seconds' ? Number(text) * 1_000 : Number(text)
}
