/** How a problem of `ready()` becomes findings. */
import { describe, expect, test } from 'vitest'
import type { Durability } from '../../../src/stores/database/durability.js'
import { StoreError, type StoreErrorCode } from '../../../src/stores/database/errors.js'
import { warnUnproven } from '../../../src/stores/database/players-columns.js'
import type { DatabaseStore } from '../../../src/stores/database/store.js'
import { tablesOf } from '../../../src/stores/postgres/tables.js'
import { type Finding, finding, type Subject } from '../../../src/tools/check/finding.js'
import { allFindings, readyFindings } from '../../../src/tools/check/ready.js'

const failure = (code: StoreErrorCode, problem = 'the problem') => new StoreError('postgres', code, problem)

const storeOf = (ready: () => Promise<void>, durability: Durability | null = null) => ({
  ready,
  stats: { durability } as DatabaseStore['stats'],
})

/** @param withOption what is left with `allowNotDurable`; `null`: nothing */
const findingsOf = (error: Error, allowNotDurable = false, withOption: Error | null = error) =>
  readyFindings(
    isAllowed =>
      storeOf(async () => {
        const problem = isAllowed ? withOption : error
        if (problem !== null) throw problem
      }),
    allowNotDurable,
  )

const notDurableAfter = (ready: () => Promise<void>) => async () => {
  await ready()
  throw failure('NOT_DURABLE')
}

const statesOf = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ subject, state }) => [subject, state]))
const textOf = (findings: readonly Finding[], subject: Subject) =>
  findings.find(each => each.subject === subject)?.text

describe('each code is a problem of one subject', () => {
  test.each([
    ['INVALID_OPTIONS', 'server'],
    ['UNSUPPORTED_CLIENT', 'server'],
    ['SERVERS_APART', 'server'],
    ['DATABASE_REJECTED', 'server'],
    ['SEARCH_PATH', 'server'],
    ['NOT_DURABLE', 'durability'],
    ['INSUFFICIENT_PRIVILEGE', 'privileges'],
    ['SCHEMA_MISSING', 'schema'],
    ['SCHEMA_VERSION', 'schema'],
    ['SCHEMA_OPTIONS', 'schema'],
    ['SEQUENCE_BEHIND', 'schema'],
    ['ROW_SECURITY', 'schema'],
    ['INVALID_PLAYERS_TABLE', 'players table'],
  ] satisfies [StoreErrorCode, Subject][])('%s: %s', async (code, subject) => {
    const findings = await findingsOf(failure(code))
    const problems = findings.filter(({ state }) => state === 'problem')
    expect(problems).toEqual([{ subject, state: 'problem', text: `${code}: the problem`, lines: [] }])
    const others = findings.filter(({ state }) => state === 'skipped')
    expect(others.map(({ text }) => text)).toEqual(
      others.map(() => `not checked: ready() stopped at ${code}`),
    )
  })

  test('UNAVAILABLE: unknown, and nothing else was checked', async () => {
    expect(statesOf(await findingsOf(failure('UNAVAILABLE')))).toEqual({
      ...{ server: 'unknown', durability: 'skipped' },
      ...{ schema: 'skipped', 'players table': 'skipped' },
    })
  })
})

test('without a problem, the durability says what the server reports of its standbys', async () => {
  const found = { level: 'asynchronous', reason: 'synchronous_standby_names is empty' } as const
  const findings = await readyFindings(() => storeOf(async () => {}, found), false)
  expect(textOf(findings, 'durability')).toBe(
    'commits that are answered survive a crash of the server; a failover: asynchronous: synchronous_standby_names is empty',
  )
})

test('of the subjects before the problem, all is well; the tables may still not be durable', async () => {
  const findings = await findingsOf(failure('INVALID_PLAYERS_TABLE'))
  expect(statesOf(findings)).toEqual({
    ...{ server: 'ok', durability: 'ok' },
    ...{ schema: 'ok', 'players table': 'problem' },
  })
  expect(textOf(findings, 'durability')).toContain('the tables are checked once the other problems are fixed')
})

test('what ready() cannot prove of the players table is a warning, once, and no other warning of it is', async () => {
  const problem = 'below the view no unique index on exactly (id, currency) is visible'
  const ready = async () => {
    warnUnproven({ tableName: ['pam', 'accounts'] }, problem)
    process.emitWarning('Durability is asynchronous', 'BetWalletWarning')
  }
  const findings = await readyFindings(isAllowed => storeOf(isAllowed ? ready : notDurableAfter(ready)), true)
  expect(findings.filter(({ state }) => state === 'warning')).toEqual([
    { ...{ subject: 'players table', state: 'warning', lines: [] }, text: expect.stringContaining(problem) },
  ])
  expect(findings.find(({ state }) => state === 'warning')?.text.match(/nothing proves/g)).toHaveLength(1)
})

describe('not durable', () => {
  const setting = failure('NOT_DURABLE', 'fsync is off')
  const table = failure('NOT_DURABLE', 'pam.accounts must be InnoDB')

  test('a setting: a problem, and what is wrong behind it is found too', async () => {
    const findings = await findingsOf(setting, false, failure('SCHEMA_OPTIONS'))
    expect(statesOf(findings)).toMatchObject({ server: 'ok', durability: 'problem', schema: 'problem' })
  })

  test('a setting that is accepted: skipped', async () => {
    const findings = await findingsOf(setting, true, null)
    expect(statesOf(findings)).toEqual({
      ...{ server: 'ok', durability: 'skipped' },
      ...{ schema: 'ok', 'players table': 'ok' },
    })
    expect(textOf(findings, 'durability')).toBe('accepted by --allow-not-durable: fsync is off')
  })

  test.each([true, false])(
    'the store refuses to start with the option too: a problem, accepted %s',
    async allow => {
      const findings = await findingsOf(setting, allow, table)
      expect(statesOf(findings)).toEqual({
        ...{ server: 'skipped', durability: 'problem' },
        ...{ schema: 'skipped', 'players table': 'skipped' },
      })
      expect(textOf(findings, 'durability')).toBe('NOT_DURABLE: fsync is off. pam.accounts must be InnoDB')
    },
  )
})

describe('the command that migrates, where the error says that it solves the problem', () => {
  test.each<[StoreErrorCode, boolean]>([
    ['SCHEMA_MISSING', true],
    ['SCHEMA_VERSION', true],
    ['SCHEMA_VERSION', false],
    ['SCHEMA_OPTIONS', false],
  ])('%s: %s', async (code, isSolvedByMigration) => {
    // Its words do not decide.
    const error = new StoreError('mysql', code, 'run migrateMysql(client, options)', { isSolvedByMigration })
    const found = (await findingsOf(error)).find(({ state }) => state === 'problem')
    expect(found?.lines).toEqual(isSolvedByMigration ? ['npx bet-wallet migrate'] : [])
  })
})

test('a list that fails is skipped: it never changes the exit code', async () => {
  const passes = async () => finding('privileges', 'ok', '')
  const fails = async () => {
    throw new Error('no answer')
  }
  const found = await allFindings(
    { lookupIndexes: true, allowNotDurable: false },
    tablesOf({ players: { table: 'pam.a', id: 'id', currency: 'c', balance: 'b' } }).players,
    {
      ...{ store: () => storeOf(async () => {}), privileges: passes, trial: passes },
      ...{ lookupIndexes: fails, checks: fails, statements: fails, behind: fails, schema: fails },
      rows: { ask: fails, text: expression => expression, exact: expression => expression },
      bets: { bets: 'bets', isAccountOfBet: 'true' },
    },
  )
  expect(statesOf(found.filter(({ text }) => text === 'could not be checked: no answer'))).toEqual({
    ...{ 'lookup indexes': 'unknown', balances: 'skipped', accounts: 'skipped' },
    ...{ 'player ids': 'skipped', CHECKs: 'skipped', statements: 'skipped' },
  })
})
