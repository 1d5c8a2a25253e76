/** The dates of the platform's report: read as UTC, and the days of the report's time zone. */
import { parseDate } from '../../requests.js'
import { shown } from './errors.js'

/** How dates are written, as a mapping says it. */
export interface DateMapping {
  /** An IANA name: `Europe/Berlin`, `UTC`. Dates without an offset are local times of it, and days are its days. */
  timeZone: string
  /**
   * Of `yyyy`, `MM`, `dd`, `HH`, `mm`, and maybe `ss` and `SSS`, once each, as digits: `dd.MM.yyyy HH:mm:ss`.
   *
   * @default ISO 8601
   */
  format?: string
}

export interface Dates {
  timeZone: string
  /** @returns UTC with milliseconds, ISO 8601; or why it cannot be read */
  read(text: string): { date: string } | { problem: string }
  /** @param date as `read` returns it */
  dayOf(date: string): string
  /** The first instant at or after a local time, which is written as if it were UTC. */
  firstAt(local: string): string
}

/**
 * @param invalid throws an error about the mapping
 */
export function datesOf(given: DateMapping | undefined, invalid: (problem: string) => never): Dates {
  if (given === undefined) return inUtc
  const { timeZone, format } = given
  const zone = zoneOf(timeZone, invalid)
  const parse = format === undefined ? parseIso : formatParser(format, invalid)
  return {
    timeZone,
    read(text) {
      const parsed = parse(text)
      if ('problem' in parsed || !parsed.isLocal) return parsed
      const instant = zone.instantOf(Date.parse(parsed.date))
      return instant === null
        ? { problem: `${shown(text)} does not exist in ${timeZone}: the clock is put forward over it` }
        : { date: isoOf(instant) }
    },
    dayOf: date => isoOf(zone.localOf(Date.parse(date))).slice(0, 10),
    firstAt: local => isoOf(zone.firstAt(Date.parse(local))),
  }
}

const isoOf = (ms: number) => new Date(ms).toISOString()

type Parsed = { date: string; isLocal: boolean } | { problem: string }

const offset = /(?:[Zz]|[+-]\d\d(?::?\d\d)?)$/

function parseIso(text: string): Parsed {
  const date = parseDate(text)
  if (date !== null) return { date, isLocal: !offset.test(text) }
  const example = '{ "dates": { "timeZone": "Europe/Berlin", "format": "dd.MM.yyyy HH:mm:ss" } }'
  return {
    problem: `${shown(text)} is no ISO 8601 date and time. Say in the mapping how it is written: ${example}`,
  }
}

const inUtc: Dates = {
  timeZone: 'UTC',
  read(text) {
    const parsed = parseIso(text)
    if ('problem' in parsed || !parsed.isLocal) return parsed
    const example = '{ "dates": { "timeZone": "Europe/Berlin" } }'
    return {
      problem: `${shown(text)} has no offset from UTC. Say in the mapping in which time zone it is: ${example}`,
    }
  },
  dayOf: date => date.slice(0, 10),
  firstAt: local => local,
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
    // The calendar is that of all dates: a day must exist.
    const date = yyyy === undefined ? null : parseDate(`${yyyy}-${MM}-${dd}T${HH}:${mm}:${ss}.${SSS}Z`)
    if (date !== null) return { date, isLocal: true }
    return { problem: `${shown(text)} is not written like ${shown(format)}, as the mapping says` }
  }
}

interface Zone {
  localOf(instant: number): number
  /** Of two instants with the same local time, the earlier one; `null`: the local time does not exist. */
  instantOf(local: number): number | null
  firstAt(local: number): number
}

const quarterMs = 900_000
const dayMs = 86_400_000
/** Of a year and more. */
const knownMax = 50_000

/** All times are milliseconds since 1970; a local time is written as if it were UTC. */
function zoneOf(timeZone: string, invalid: (problem: string) => never): Zone {
  const clock = clockOf(timeZone, invalid)
  // Offsets change at quarters of an hour only. The calendar is too slow for millions of rows.
  const known = new Map<number, number>()
  const offsetAt = (instant: number): number => {
    const quarter = Math.floor(instant / quarterMs)
    let offset = known.get(quarter)
    if (offset === undefined) {
      offset = localTime(clock, quarter * quarterMs) - quarter * quarterMs
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
    localOf: instant => instant + offsetAt(instant),
    instantOf,
    // In a gap, the offset before it leads to the same distance after the clock change.
    firstAt: local => instantOf(local) ?? local - offsetAt(local - dayMs),
  }
}

function clockOf(timeZone: unknown, invalid: (problem: string) => never): Intl.DateTimeFormat {
  const problem = `dates.timeZone must be an IANA time zone such as Europe/Berlin or UTC, not ${shown(timeZone)}`
  if (typeof timeZone !== 'string' || !/^[A-Za-z]/.test(timeZone)) return invalid(problem)
  try {
    return new Intl.DateTimeFormat('en', {
      ...{ timeZone, hourCycle: 'h23', calendar: 'gregory', numberingSystem: 'latn' },
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    })
  } catch {
    return invalid(problem)
  }
}

function localTime(clock: Intl.DateTimeFormat, instant: number): number {
  const values = Object.fromEntries(
    clock.formatToParts(instant).map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = values
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
