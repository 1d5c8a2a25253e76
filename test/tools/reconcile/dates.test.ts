/** Reports whose dates are local times: their time zone and form are in the mapping, or they are an error. */
import { describe, expect, test } from 'vitest'
import { type Reconciliation, type ReportMapping, reconcile } from '../../../src/tools/reconcile/index.js'
import { codeBlocksOf, readPage, sectionOf } from '../../docs/pages.js'
import { lookupsOf, record } from './world.js'

/** The local time of an instant, as the platform's database writes it. */
function localOf(iso: string, timeZone: string): Record<string, string> {
  const parts = new Intl.DateTimeFormat('en', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
  }).formatToParts(new Date(iso))
  return Object.fromEntries(parts.map(({ type, value }) => [type, value]))
}

const isoLocal = ({ year, month, day, hour, minute, second, fractionalSecond }: Record<string, string>) =>
  `${year}-${month}-${day} ${hour}:${minute}:${second}.${fractionalSecond}`
const german = ({ year, month, day, hour, minute, second }: Record<string, string>) =>
  `${day}.${month}.${year} ${hour}:${minute}:${second}`

/** A placebet every ten minutes. */
function betsOf(from: string, to: string) {
  const records = []
  for (let time = Date.parse(from); time < Date.parse(to); time += 600_000) {
    const recordedAt = new Date(time + 100).toISOString()
    records.push(record('placebet', `t-${recordedAt}`, `b-${recordedAt}`, '1', { recordedAt }))
  }
  return records
}

async function* reportOf(rows: readonly (readonly [id: string, date: string])[]) {
  yield 'operation,transactionId,betId,playerId,amount,currency,transactionDate\n'
  for (const [id, date] of rows) yield `placebet,t-${id},b-${id},player-of-b-${id},1,EUR,${date}\n`
}

const berlin = { dates: { timeZone: 'Europe/Berlin' } }
const daysOf = ({ totals }: Reconciliation) =>
  totals.map(({ day, report, wallet }) => [day, report.count, wallet.count])

describe('a right report in local time is equal', () => {
  const days: [name: string, timeZone: string, from: string, to: string, counts: [string, number][]][] = [
    [
      ...(['over two usual days', 'Europe/Berlin', '2026-11-21', '2026-11-23'] as const),
      [
        ['2026-11-21', 144],
        ['2026-11-22', 144],
      ],
    ],
    ['in the night to summer', 'Europe/Berlin', '2026-03-29', '2026-03-30', [['2026-03-29', 138]]],
    ['in the night to winter', 'Europe/Berlin', '2026-10-25', '2026-10-26', [['2026-10-25', 150]]],
    // Clocks change at midnight: the day begins at 01:00, and one hour before midnight is there twice.
    ['where midnight does not exist', 'America/Santiago', '2026-09-06', '2026-09-07', [['2026-09-06', 138]]],
    ['where 23:00 exists twice', 'America/Santiago', '2026-04-04', '2026-04-05', [['2026-04-04', 150]]],
    ['where midnight exists twice', 'America/Havana', '2026-11-01', '2026-11-02', [['2026-11-01', 150]]],
    ['with a quarter of an hour', 'Asia/Kathmandu', '2026-11-21', '2026-11-22', [['2026-11-21', 144]]],
  ]
  const forms: [string, (parts: Record<string, string>) => string, string?][] = [
    ['ISO', isoLocal],
    ['a format', german, 'dd.MM.yyyy HH:mm:ss'],
  ]
  const cases = forms.flatMap(form => days.map(each => [form[0], each[0], form, each] as const))
  test.each(cases)('%s, %s', async (_, __, [, write, format], [, timeZone, from, to, counts]) => {
    const records = around(from, to)
    const local = records.map(({ recordedAt }) => [recordedAt, write(localOf(recordedAt, timeZone))] as const)
    const ofDays = local.filter(([recordedAt]) => {
      const day = isoLocal(localOf(recordedAt, timeZone)).slice(0, 10)
      return day >= from && day < to
    })
    const dates = { timeZone, ...(format !== undefined && { format }) }
    const result = await reconcile({
      ...{ report: reportOf(ofDays), lookups: lookupsOf(records), from, to, mapping: { dates } },
    })
    expect(result).toMatchObject({ verdict: 'equal', timeZone, rows: { outside: 0 } })
    expect(daysOf(result)).toEqual(counts.map(([day, count]) => [day, count, count]))
  })

  /** With a day before and after. */
  const around = (from: string, to: string) => {
    const moved = (day: string, days: number) => new Date(Date.parse(day) + days * 86_400_000).toISOString()
    return betsOf(moved(from, -1), moved(to, 1))
  }

  test('dates with an offset keep it, and their days are those of the time zone', async () => {
    const recordedAt = '2026-11-21T23:30:00.100Z'
    const records = [record('placebet', 't-1', 'b-1', '1', { recordedAt, playerId: 'player-of-b-1' })]
    const report = reportOf([['1', '2026-11-21T18:30:00.100-05:00']])
    const range = { from: '2026-11-22', to: '2026-11-23' }
    const result = await reconcile({ report, lookups: lookupsOf(records), ...range, mapping: berlin })
    expect(result).toMatchObject({ verdict: 'equal', from: '2026-11-21T23:00:00.000Z' })
    expect(daysOf(result)).toEqual([['2026-11-22', 1, 1]])
  })
})

describe('the mappings of the page', () => {
  const page = readPage('docs/records.md')
  const mappings = ['The report', 'Mapping']
    .flatMap(heading => codeBlocksOf(sectionOf(page, heading)))
    .filter(({ language }) => language === 'json')
    .map(({ code }): ReportMapping => JSON.parse(code))
  const summer = { recordedAt: '2026-07-04T08:15:00.100Z', transactionDate: '2026-07-04T08:15:00.000Z' }
  const [first, second] = [
    record('placebet', 't-1', 'b-1', '1.5', summer),
    record('settlement', 't-2', 'b-1', '2', summer),
  ]
  const compare = async (rows: readonly string[], mapping: ReportMapping | undefined) => {
    async function* report() {
      yield rows.join('\n')
    }
    const range = { from: '2026-07-04', to: '2026-07-05', lookups: lookupsOf([first, second]) }
    return await reconcile({ report: report(), ...range, ...(mapping && { mapping }) })
  }

  test('for words and signs are right', async () => {
    const rows = [
      'Kind;Ref;betId;Stake;status',
      'BET;t-1;b-1;-1,5;OK',
      'WIN;t-2;b-1;2;OK',
      'BET;x;x;-9;PENDING',
      'BONUS;y;y;9;OK',
    ]
    expect(await compare(rows, mappings[0])).toMatchObject({
      verdict: 'equal',
      rows: { equal: 2, ignored: 2 },
    })
    expect((await compare([...rows, 'BET;t-3;b-3;-1;REJECTED'], mappings[0])).rows.refusedAlone).toBe(1)
  })

  test('for dates are right', async () => {
    const rows = [
      'operation,transactionId,betId,amount,currency,transactionDate',
      'placebet,t-1,b-1,1.5,EUR,04.07.2026 10:15:00',
      'settlement,t-2,b-1,2,EUR,04.07.2026 10:15:00',
    ]
    const result = await compare(rows, mappings[1])
    expect(result).toMatchObject({ verdict: 'equal', rows: { equal: 2 }, timeZone: 'Europe/Berlin' })
    expect(daysOf(result)).toEqual([
      ['2026-07-04', 1, 1],
      ['2026-07-04', 1, 1],
    ])
  })
})

describe('a local time', () => {
  const instantOf = async (
    date: string,
    mapping?: ReportMapping,
    range = { from: '2026-01-01', to: '2027-01-01' },
  ) => {
    const report = reportOf([['1', date]])
    const options = { report, lookups: lookupsOf([]), ...range, ...(mapping && { mapping }) }
    return (await reconcile(options)).differences[0]?.report?.transactionDate
  }

  test('that exists twice is the earlier one', async () => {
    expect(await instantOf('2026-10-25 02:30:00', berlin)).toBe('2026-10-25T00:30:00.000Z')
    expect(await instantOf('2026-10-25 03:00:00', berlin)).toBe('2026-10-25T02:00:00.000Z')
  })

  test('is read by a format of any order, without seconds or with milliseconds', async () => {
    const read = (format: string, date: string) =>
      instantOf(date, { dates: { timeZone: 'Europe/Berlin', format } })
    expect(await read('MM/dd/yyyy HH:mm', '07/04/2026 10:15')).toBe('2026-07-04T08:15:00.000Z')
    expect(await read('yyyyMMddHHmmssSSS', '20260704101530123')).toBe('2026-07-04T08:15:30.123Z')
    expect(await read('[dd.MM.yyyy] HH.mm', '[04.07.2026] 10.15')).toBe('2026-07-04T08:15:00.000Z')
  })

  const format = { dates: { timeZone: 'Europe/Berlin', format: 'dd.MM.yyyy HH:mm:ss' } }
  const column = 'line 2, column "transactionDate": '
  test.each<[string, string, ReportMapping | undefined, string]>([
    ...['2026-11-22 00:00:04', '2026-11-22T00:00:04.800', '2026-11-22T00:00'].map(
      (date): [string, string, undefined, string] => [
        `without a time zone: ${date}`,
        date,
        undefined,
        `"${date}" has no offset from UTC. Say in the mapping in which time zone it is: { "dates": { "timeZone": "Europe/Berlin" } }`,
      ],
    ),
    [
      ...(['that is not ISO, without a mapping', '22.11.2026 00:00:04', undefined] as const),
      '"22.11.2026 00:00:04" is no ISO 8601 date and time. Say in the mapping how it is written: { "dates": { "timeZone": "Europe/Berlin", "format": "dd.MM.yyyy HH:mm:ss" } }',
    ],
    [
      ...(['that is not ISO, with a time zone', '22.11.2026 00:00:04', berlin] as const),
      '"22.11.2026 00:00:04" is no ISO 8601 date and time. Say in the mapping how it is written: ',
    ],
    [
      ...(['that is not in the format', '2026-11-22 00:00:04', format] as const),
      '"2026-11-22 00:00:04" is not written like "dd.MM.yyyy HH:mm:ss", as the mapping says',
    ],
    ...['31.02.2026 00:00:00', '01.13.2026 00:00:00', '01.01.2026 24:00:00', '1.1.2026 00:00:00'].map(
      (date): [string, string, ReportMapping, string] => [
        `that no calendar has: ${date}`,
        date,
        format,
        `"${date}" is not written like`,
      ],
    ),
    ...['2026-03-29 02:00:00', '2026-03-29 02:59:59.999'].map(
      (date): [string, string, ReportMapping, string] => [
        `that the clock change leaves out: ${date}`,
        date,
        berlin,
        `"${date}" does not exist in Europe/Berlin: the clock is put forward over it`,
      ],
    ),
  ])('%s: is an error that says what to do', async (_, date, mapping, problem) => {
    await expect(instantOf(date, mapping)).rejects.toMatchObject({
      code: 'INVALID_REPORT',
      message: expect.stringContaining(column + problem),
    })
  })

  test.each<[string, object, RegExp]>([
    ['an unknown time zone', { timeZone: 'Europe/Atlantis' }, /dates\.timeZone must be an IANA time zone/],
    ['an offset', { timeZone: '+01:00' }, /dates\.timeZone must be an IANA time zone/],
    ['no time zone', { format: 'dd.MM.yyyy HH:mm' }, /dates\.timeZone must be an IANA time zone/],
    ['another name', { timezone: 'UTC' }, /unknown option "dates.timezone"/],
    ['a format without a part', { timeZone: 'UTC', format: 'dd.MM HH:mm' }, /dates\.format.*each of yyyy/],
    ['a part twice', { timeZone: 'UTC', format: 'dd.MM.yyyy HH:mm dd' }, /dates\.format/],
    ['names of months', { timeZone: 'UTC', format: 'dd MMM yyyy HH:mm' }, /dates\.format/],
    ['hours up to 12', { timeZone: 'UTC', format: 'dd.MM.yyyy hh:mm a' }, /dates\.format/],
  ])('needs a mapping without %s', async (_, dates, problem) => {
    await expect(instantOf('2026-11-22T00:00:00Z', { dates } as never)).rejects.toMatchObject({
      code: 'INVALID_MAPPING',
      message: expect.stringMatching(problem),
    })
  })
})
