/** The tables of the pages list what the code has: cases, codes, reasons, options with their defaults. */
import { describe, expect, test } from 'vitest'
import { httpRejections } from '../../src/diagnostics.js'
import { walletErrorCodes } from '../../src/errors.js'
import { defaultStatusCodes } from '../../src/http/index.js'
import { errorCodes } from '../../src/index.js'
import { walletStoreCases } from '../../src/testing/index.js'
import { auditCases } from '../../src/tools/audit/index.js'
import { kindTitles } from '../../src/tools/reconcile/index.js'
import { mutants } from '../testing/mutants.js'
import { partitionMutants } from '../testing/partition-mutants.js'
import { literalsOf, type Member, membersOf } from './declarations.js'
import { generatedPages } from './generated-tables.js'
import { itemsOf, namesIn, readPage, rowsOf, sectionOf } from './pages.js'

test.each(generatedPages())('$path is what test/docs/write-tables.ts writes', ({ path, text }) => {
  expect(readPage(path).text).toBe(text)
})

/** The names in a column of a section's table. */
function listed(path: string, heading: string, column = 0): string[] {
  return rowsOf(sectionOf(readPage(path), heading)).flatMap(cells => namesIn(cells[column]))
}

describe('docs/errors.md', () => {
  test('lists every error code with its default status', () => {
    const rows = rowsOf(sectionOf(readPage('docs/errors.md'), 'Error codes'))
    const statuses = rows.flatMap(([codes, status = '']) =>
      namesIn(codes).map((code, index) => [code, Number(status.split(', ')[index])]),
    )
    expect(Object.fromEntries(statuses)).toEqual(defaultStatusCodes)
    expect(statuses).toHaveLength(errorCodes.length)
  })

  test('lists every reason of an outcome beside its error code', () => {
    // The first row is the header.
    const [, ...reasons] = listed('docs/errors.md', 'Error codes', 2)
    expect(reasons.sort()).toEqual(literalsOf('OutcomeReason').sort())
  })

  test.each([
    ['WalletError codes', [...walletErrorCodes]],
    ['Store error codes', literalsOf('StoreErrorCode')],
  ])('%s: lists all of them, and no other', (heading, codes) => {
    expect(
      itemsOf(sectionOf(readPage('docs/errors.md'), heading))
        .map(({ name }) => name)
        .sort(),
    ).toEqual(codes.sort())
  })
})

test('docs/records.md lists every kind of difference under its printed title', () => {
  const [, ...rows] = rowsOf(sectionOf(readPage('docs/records.md'), 'The differences'))
  const listed = rows.map(([title, kind]) => [namesIn(kind)[0], title])
  expect(listed).toEqual(Object.entries(kindTitles))
})

describe('options', () => {
  /** The interfaces whose members a table lists. */
  const optionTables: [path: string, heading: string, interfaces: string[]][] = [
    ['docs/configuration.md', 'Wallet options', ['WalletOptions', 'RequestOptions']],
    ['docs/configuration.md', 'HTTP options', ['HttpOptions']],
    ['docs/http.md', 'Options of signatures', ['SignatureOptions']],
    ['docs/configuration.md', 'PostgreSQL options', ['DatabaseStoreOptions', 'PostgresTables']],
    ['docs/configuration.md', 'MySQL options', ['MysqlPlayersTable']],
    ['docs/configuration.md', 'Players table', ['PlayersTable']],
    ['docs/own-store.md', 'Hooks', ['StoreHarness']],
    ['docs/own-store.md', 'Options of the kit', ['CaseOptions']],
    ['docs/records.md', 'Mapping', ['ReportMapping']],
  ]
  /** An interface that extends another may declare a member again. */
  const membersOfAll = (interfaces: string[]): Member[] => [
    ...new Map(interfaces.flatMap(membersOf).map(member => [member.name, member])).values(),
  ]

  test.each(optionTables)('%s, %s: lists all of them, and no other', (path, heading, interfaces) => {
    const names = membersOfAll(interfaces).map(({ name }) => name)
    const items = itemsOf(sectionOf(readPage(path), heading))
    expect(items.map(({ name }) => name).sort()).toEqual(names.sort())
  })

  const plain = (number = '') => number.replace(/[,_]/g, '')

  test.each(optionTables)('%s, %s: shows the defaults of the docstrings', (path, heading, interfaces) => {
    const items = itemsOf(sectionOf(readPage(path), heading))
    for (const { name, required, doc } of membersOfAll(interfaces)) {
      const given = items.find(item => item.name === name)?.given ?? ''
      expect(given === 'required', name).toBe(required)
      const documented = /[Dd]efault:? +`?(\d+(?:[,_]\d{3})*(?:\.\d+)?)(?=[.;`]?(?:\s|$))/.exec(doc)?.[1]
      expect(plain(/^\d[\d,.]*$/.exec(given)?.[0]), name).toBe(plain(documented))
    }
  })
})

describe('docs/observability.md', () => {
  const keys = ['DiagnosticMessage', 'WalletKeys']
  const interfacesOf: Record<string, string[]> = {
    'bet-wallet:request': ['OutcomeEvent', 'FaultyCall'],
    'bet-wallet:load': ['LoadMessage', ...keys],
    'bet-wallet:decide': ['DecideMessage', ...keys],
    'bet-wallet:commit': ['CommitMessage', ...keys],
    'bet-wallet:batch': ['BatchMessage', 'DiagnosticMessage'],
    'bet-wallet:lock-wait': ['LockWaitMessage', 'DiagnosticMessage'],
    'bet-wallet:http': ['HttpMessage', 'DiagnosticMessage'],
  }

  test('lists every channel, and the fields of its messages', () => {
    const channels = membersOf('WalletChannels').map(({ name }) => name.replaceAll("'", ''))
    expect(listed('docs/observability.md', 'Channels')).toEqual(channels)
    const rows = rowsOf(sectionOf(readPage('docs/observability.md'), 'Channels')).slice(1)
    for (const [channel = '', fields] of rows) {
      const members = (interfacesOf[namesIn(channel)[0] ?? ''] ?? [])
        .flatMap(membersOf)
        .map(({ name }) => name)
      expect(namesIn(fields).sort(), channel).toEqual(members.filter(name => !shared.includes(name)).sort())
    }
  })
  const shared = ['durationMs', 'error']

  test('lists every reason of an HTTP rejection', () => {
    expect(listed('docs/observability.md', 'HTTP rejections').sort()).toEqual([...httpRejections].sort())
  })
})

test('the pages name the numbers of cases that there are', () => {
  const kit = walletStoreCases({ open: () => ({ store: {} as never }) }).length
  for (const path of ['README.md', 'docs/audit.md', 'docs/benchmarks.md', 'docs/own-store.md']) {
    const numbers = [...readPage(path).text.matchAll(/(\d+) cases/g)].map(([, number]) => Number(number))
    expect(numbers.length, path).toBeGreaterThan(0)
    for (const number of numbers) expect([kit, auditCases.length], path).toContain(number)
  }
})

test('the pages name the number of broken stores that there are', () => {
  for (const path of ['README.md', 'docs/benchmarks.md'])
    expect(readPage(path).text, path).toMatch(
      new RegExp(`\\b${mutants.length + partitionMutants.length} (?:broken )?stores\\b`),
    )
})
