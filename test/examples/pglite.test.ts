/** What takes PGlite half a minute each: a start that was killed, a PAM on a folder, the demo. Before a release. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { until as holds } from '../until.js'
import {
  emptyFolder,
  expectAnnounced,
  fresh,
  freshFolder,
  prepareExamples,
  run,
  runAll,
  until,
} from './processes.js'

prepareExamples()

test('given npm start that was killed while it created the database, then the next start creates it again', async () => {
  const DATA_FOLDER = emptyFolder()
  const killed = run('express/server.ts', { PORT: '0', DATA_FOLDER })
  await until(killed, /Creating a database/)
  const data = join(DATA_FOLDER, 'bet_wallet_express', 'pglite')
  await holds(() => existsSync(join(data, 'PG_VERSION')))
  killed.child.kill('SIGKILL')
  await killed.closed
  expect((await runAll(run('express/server.ts', { PORT: '0', DATA_FOLDER }))).answers).toEqual(fresh)
})

describe('given examples/existing-pam', () => {
  test('when it runs on a folder, then the calls are answered as announced, and no data is lost by kill -9', async () => {
    const DATA_FOLDER = freshFolder('existing_pam')
    const server = run('existing-pam/server.ts', { PORT: '0', DATA_FOLDER })
    const first = await runAll(server)
    expect(first.printed).toContain('  A-1001 has 100.00 EUR by 1 bookings')
    expectAnnounced(first)
    server.child.kill('SIGKILL')
    await server.closed
    const second = await runAll(run('existing-pam/server.ts', { PORT: '0', DATA_FOLDER }))
    expect(second.printed).toContain('  A-1001 has 70.00 EUR by 4 bookings')
    expect(second.answers.map(({ status }) => status)).toEqual(first.answers.map(({ status }) => status))
    for (const { status, body } of second.answers)
      if (status === 200) expect(body).toContain('"balance":70.00,')
  })
})

describe('given the demo', () => {
  test('when it runs twice, then both runs print the same, and the books balance', async () => {
    const DATA_FOLDER = freshFolder('bet_wallet_match_day')
    const first = run('match-day/demo.ts', { DATA_FOLDER })
    expect(await first.closed).toEqual({ code: 0, signal: null })
    const demo = run('match-day/demo.ts', { DATA_FOLDER })
    expect(await demo.closed).toEqual({ code: 0, signal: null })
    expect(demo.printed.error).toBe('')
    expect(demo.printed.out).toBe(first.printed.out)
    const lines = demo.printed.out.split('\n')
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(110)

    // Call, answer and balance of every row, without the event.
    const rows = lines
      .filter(line => /^ ?\d+ {2}/.test(line))
      .map(line =>
        line
          .slice(55)
          .split(/\s{2,}/)
          .join(' | '),
      )
    expect(rows).toEqual([
      'placebet t-1 | 200 | 70.00 EUR',
      'placebet t-1 | 200 | 70.00 EUR',
      'placebet t-2 | 200 | 3000 JPY',
      'placebet t-3 | 402 INSUFFICIENT_FUNDS | 3000 JPY',
      'placebet t-4 | timeout | 70.00 EUR',
      'rollbackbet r-4 | 200 | 70.00 EUR',
      'placebet t-4 | 400 INVALID_BET | 70.00 EUR',
      ' | 70.00 EUR', // restarted
      'placebet t-4 | 400 INVALID_BET | 70.00 EUR',
      'placebet t-5 | 401 AUTHENTICATION_FAILED | 70.00 EUR',
      'settlement s-1 | 200 | 125.50 EUR',
      'unsettlement u-1 | 200 | 70.00 EUR',
      'settlement s-2 | 200 | 70.00 EUR',
      'settlement s-3 | 200 | 12000 JPY',
      'by the PAM | 500 JPY',
      'unsettlement u-2 | 402 INSUFFICIENT_FUNDS | 500 JPY',
      'by the PAM | 20500 JPY',
      'unsettlement u-2 | 402 INSUFFICIENT_FUNDS | 20500 JPY',
      'placebet t-6 | 200 | 45.00 EUR',
      'settlement s-6 | 200 | 70.00 EUR',
      'unsettlement u-6 | 200 | 45.00 EUR',
      'settlement s-7 | 200 | 92.25 EUR',
    ])

    // The printed balance sheets, recalculated in hundredths.
    const [matchDay = '', season = ''] = demo.printed.out.split('\nThe season: ')
    const books = matchDay.slice(matchDay.indexOf('The books')).split('\n\n')
    expect(books).toHaveLength(4) // the heading, two players, the verdict
    for (const [book, closing] of [
      [books[1], 9225],
      [books[2], 20500],
    ] as const) {
      const amounts = (book ?? '').split('\n').flatMap(line => {
        const [, label = '', amount = ''] = /^ {2}(\S.*?) {2,}(-?[\d.]+)(?: |$)/.exec(line) ?? []
        return label === '' ? [] : [[label, Number(amount.replace('.', ''))] as const]
      })
      const summed = amounts.findIndex(([label]) => label === 'sum')
      expect(amounts.slice(0, summed).reduce((total, [, amount]) => total + amount, 0)).toBe(closing)
      expect(amounts[summed + 1]).toEqual(['closing balance', closing])
      expect(book).toMatch(/closing balance .* equal$/m)
    }
    expect(books[2]).toMatch(/owed to the platform +9000/)
    expect(matchDay.trimEnd().split('\n').at(-1)).toBe('The books balance.')
    expect(season).toMatch(/ [1-9]\d* bets arrived after their rollback and debited nothing\n/)
    expect(season).toMatch(/\n {2}0 differences .*\n\nThe season is reconciled to the cent\.\n$/)
  })
})
