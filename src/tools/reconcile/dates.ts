/** Reads the dates of the platform's report as UTC, and finds their days in the report's time zone. */
import { shown } from './errors.js'

/** How dates are written, as a mapping says it. */
export interface DateMapping {
  /** An IANA name: `Europe/Berlin`, `UTC`. Dates without an offset are its local times, and days its days. */
  timeZone: string
  /**
   * Of `yyyy`, `MM`, `dd`, `HH`, `mm`, and maybe `ss` and `SSS`, once each, as digits: `dd.MM.yyyy HH:mm:ss`.
   *
   * @default ISO 8601
   */
  format?: string
}

/**
 * @param invalid throws an error about the mapping
 */
export function datesOf(given: DateMapping | undefined, invalid: (problem: string) => never) {
  const { timeZone, format } = given ?? { timeZone: 'UTC' }
  const zone = zoneOf(timeZone, invalid)
  const parse = format === undefined ? parseIso : formatParser(format, invalid)
  return {
    timeZone,
    /** @returns UTC with milliseconds, ISO 8601; or why it cannot be read */
    read(text: string): { date: string } | { problem: string } {
      const parsed = parse(text)
      if ('problem' in parsed || !parsed.isLocal) return parsed
      if (given === undefined) {
        const example = '{ "dates": { "timeZone": "Europe/Berlin" } }'
        return {
          problem: `${shown(text)} has no offset from UTC. Say in the mapping in which time zone it is: ${example}`,
        }
      }
      const instant = zone.instantOf(Date.parse(parsed.date))
      return instant === null
        ? { problem: `${shown(text)} does not exist in ${timeZone}: the clock is put forward over it` }
        : { date: isoOf(instant) }
    },
    /** @param date as `read` returns it */
    dayOf: (date: string) =>
      (given === undefined ? date : isoOf(zone.localOf(Date.parse(date)))).slice(0, 10),
    /**
     * A boundary of the range, in UTC or as a local time; a date stands for its beginning. Where clocks are
     * put forward over it, it is the first instant after that. `null`: it is none.
     */
    boundary: (text: unknown) => boundaryOf(text, local => isoOf(zone.firstAt(Date.parse(local)))),
  }
}

const isoOf = (ms: number) => new Date(ms).toISOString()

type Parsed = { date: string; isLocal: boolean } | { problem: string }

/** With a day that every month has: nearly all dates are written like this, and need no calendar. */
const utcDate =
  /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$/
const isoDate =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(?:([Zz])|([+-])([0-9]{2})(?::?([0-9]{2}))?)?$/

/** @returns `null`: no calendar has it */
function calendarDate(day: string, minute: string, second: string, fraction: string): string | null {
  const text = `${day}T${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
  const time = Date.parse(text)
  // JavaScript reads 31 February as 3 March.
  return Number.isNaN(time) || isoOf(time) !== text ? null : text
}

function parseIso(text: string): Parsed {
  if (utcDate.test(text)) return { date: text, isLocal: false }
  const [, day = '', minute = '', second = '00', fraction = '', utc, sign, hours, minutes = '0'] =
    isoDate.exec(text) ?? []
  // A leap second becomes the second after it.
  const isLeap = second === '60'
  const date = calendarDate(day, minute, isLeap ? '59' : second, fraction)
  const aheadMinutes = Number(hours ?? 0) * 60 + Number(minutes)
  if (date === null || Number(hours ?? 0) > 23 || Number(minutes) > 59) {
    const example = '{ "dates": { "timeZone": "Europe/Berlin", "format": "dd.MM.yyyy HH:mm:ss" } }'
    return {
      problem: `${shown(text)} is no ISO 8601 date and time. Say in the mapping how it is written: ${example}`,
    }
  }
  const movedMs = (sign === '-' ? aheadMinutes : -aheadMinutes) * 60_000 + (isLeap ? 1000 : 0)
  return { date: isoOf(Date.parse(date) + movedMs), isLocal: utc === undefined && sign === undefined }
}

function boundaryOf(value: unknown, firstAt: (local: string) => string): string | null {
  if (typeof value !== 'string') return null
  const text = /^[0-9-]{10}$/.test(value) ? `${value}T00:00` : value
  const parsed = parseIso(text)
  if ('problem' in parsed) return null
  if (parsed.isLocal) return firstAt(parsed.date)
  return /(?:Z|\+00:00)$/.test(text) ? parsed.date : null
}

const parts = ['yyyy', 'MM', 'dd', 'HH', 'mm', 'ss', 'SSS'] as const
const optionalParts: readonly string[] = ['ss', 'SSS']

/** A parser of a fixed pattern of digits. */
function formatParser(format: string, invalid: (problem: string) => never): (text: string) => Parsed {
  const pieces = typeof format === 'string' ? format.split(/(yyyy|MM|dd|HH|mm|ss|SSS)/) : []
  const found = pieces.filter((_, index) => index % 2 === 1)
  const isComplete = parts.every(part => optionalParts.includes(part) || found.includes(part))
  const others = pieces.filter((_, index) => index % 2 === 0).join('')
  if (!isComplete || new Set(found).size < found.length || /[A-Za-z]/.test(others.replace('T', ''))) {
    invalid(
      `dates.format must have each of yyyy, MM, dd, HH, mm once, maybe ss and SSS, and no other letters: ${shown(format)}`,
    )
  }
  const pattern = pieces.map((piece, index) =>
    index % 2 === 1 ? `(?<${piece}>[0-9]{${piece.length}})` : piece.replace(/[^A-Za-z0-9]/g, '\\$&'),
  )
  const expression = new RegExp(`^${pattern.join('')}$`)
  return text => {
    const { yyyy, MM, dd, HH, mm, ss = '00', SSS = '000' } = expression.exec(text)?.groups ?? {}
    const date = calendarDate(`${yyyy}-${MM}-${dd}`, `${HH}:${mm}`, ss, SSS)
    if (date !== null) return { date, isLocal: true }
    return { problem: `${shown(text)} is not written like ${shown(format)}, as the mapping says` }
  }
}

const quarterMs = 900_000
const dayMs = 86_400_000
/** Of a year and more. */
const knownMax = 50_000

/** All times are milliseconds since 1970; a local time is written as if it were UTC. */
function zoneOf(timeZone: string, invalid: (problem: string) => never) {
  const clock = clockOf(timeZone, invalid)
  // Offsets change at quarters of an hour only. The calendar is too slow for millions of rows.
  const known = new Map<number, number>()
  const offsetAt = (instant: number): number => {
    const quarter = Math.floor(instant / quarterMs)
    let offset = known.get(quarter)
    if (offset === undefined) {
      offset = offsetOf(clock, quarter * quarterMs)
      if (known.size >= knownMax) known.clear()
      known.set(quarter, offset)
    }
    return offset
  }
  const instantOf = (local: number): number | null => {
    // No zone is a day away from UTC, and none changes its clock twice in two days.
    const instants = [-dayMs, dayMs]
      .map(distance => local - offsetAt(local + distance))
      .filter(instant => instant + offsetAt(instant) === local)
    return instants.length === 0 ? null : Math.min(...instants)
  }
  return {
    localOf: (instant: number) => instant + offsetAt(instant),
    /** Of two instants with the same local time, the earlier one; `null`: the local time does not exist. */
    instantOf,
    // In a gap, the offset before it leads to the same distance after the clock change.
    firstAt: (local: number) => instantOf(local) ?? local - offsetAt(local - dayMs),
  }
}

function clockOf(timeZone: unknown, invalid: (problem: string) => never): Intl.DateTimeFormat {
  const problem = `dates.timeZone must be an IANA time zone such as Europe/Berlin or UTC, not ${shown(timeZone)}`
  if (typeof timeZone !== 'string' || !/^[A-Za-z]/.test(timeZone)) return invalid(problem)
  try {
    return new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset', numberingSystem: 'latn' })
  } catch {
    return invalid(problem)
  }
}

/** `GMT`, `GMT+01:00`, `GMT-03:30:52`, in milliseconds. */
function offsetOf(clock: Intl.DateTimeFormat, instant: number): number {
  const text = clock.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = 0, minutes = 0, seconds = 0] =
    /([+-])([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?$/.exec(text) ?? []
  const ms = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -ms : ms
}
