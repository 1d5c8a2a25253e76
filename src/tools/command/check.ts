/** `bet-wallet check`: what is wrong with a database of the wallet. It changes nothing. */
import { StoreError } from '../../stores/database/errors.js'
import { describe, type Finding, finding } from '../check/finding.js'
import { checkMysqlServers } from '../check/mysql.js'
import { countText } from '../report/figures.js'
import { type Report, type Section, section } from '../report/model.js'
import { type Database, RightMissing } from './database.js'
import {
  databaseUrlOf,
  databaseUrlsInEnvironment,
  openDatabase,
  parsed,
  urlsOption,
  withoutPassword,
} from './database-url.js'
import { off, on, outputs, type Values as ValuesOf } from './option.js'
import { deliver, wordsOf } from './output.js'
import { playersOptions, schemaIn, tablesGiven, tablesIn } from './players-options.js'
import { command } from './subcommand.js'
import { UsageError } from './usage-error.js'

const options = {
  databaseUrls: urlsOption,
  ...playersOptions,
  lookupIndexes: off('--no-lookup-indexes', 'the indexes of lookups may be missing'),
  allowNotDurable: on('--allow-not-durable', 'as the option of the store'),
  ...outputs,
}

type Values = ValuesOf<typeof options>

export const check = command({
  usage: 'check',
  summary: 'says what is wrong with the database, and lists the code that writes balances',
  about: `Checks server, schema, durability, rights, indexes and a trial debit, which is rolled back, and says
what is wrong, with SQL to paste. Run it as the wallet's own user. Your triggers run in the trial:
what they lack shows only so. Lists are to be read: the greatest balance of each currency as the wallet
reads it, the CHECKs of the players' table, and the statements that write balances (a user with pg_read_all_stats, or SELECT on performance_schema, sees
those of others; procedures and triggers are not seen).`,
  exitCodes: `The exit code is 0 if all is well, 1 for a problem, such as a right that the wallet lacks, and 2 if a
check was not possible. The lists and a warning (WARN) never change it.`,
  options,
  async work(values) {
    const urls = urlsOf(values.databaseUrls)
    const databases = urls.map(url => openDatabase(url))
    try {
      for (const database of databases) database.checkTables(tablesGiven(values) ?? schemaIn(values.schema))
      const servers: CheckedServer[] = []
      for (const database of databases)
        servers.push(await checkServer(database, values, databases.length === 1))
      const together = await togetherOf(databases, servers, values)
      const states = [...servers.flatMap(server => server.findings), ...together].map(({ state }) => state)
      const passed = !states.includes('problem') && !states.includes('unknown')
      deliver(reportOf(servers, together), { passed, servers, together }, values)
      if (states.includes('problem')) return 1
      return passed ? 0 : 2
    } finally {
      await Promise.all(databases.map(database => database.close()))
    }
  },
})

/** @throws {UsageError} without any. No URL has a space in it */
function urlsOf(options: readonly string[] = databaseUrlsInEnvironment().split(/\s+/)): string[] {
  const urls = options.filter(url => url !== '')
  return urls.length > 0 ? urls : [databaseUrlOf('')]
}

const standbyText = 'a standby or read-only: the wallet does not use it until it can be written to'

/** A server with all that was found. What it did not answer is `null`. */
type CheckedServer = Awaited<ReturnType<typeof checkServer>>

async function checkServer(database: Database, values: Values, isAlone: boolean) {
  const { host, pathname } = parsed(database.url)
  const server = `${host}${pathname}`
  const about = await database.about().catch((error: unknown) => {
    const text = withoutPassword(describe(error) || wordsOf(error), database.url)
    return finding('connection', 'unknown', `no answer: ${text}`)
  })
  if ('state' in about) return { server, version: null, user: null, isWritable: null, findings: [about] }
  const { version, user, isStandby } = about
  const findings = isStandby
    ? [finding('server', isAlone ? 'problem' : 'skipped', standbyText)]
    : (await findingsOf(database, values, user)).map(found => ({
        ...found,
        text: withoutPassword(found.text, database.url),
      }))
  return { server, version, user, isWritable: !isStandby, findings }
}

/** What is wrong with several servers, of which each alone may be as it should. */
async function togetherOf(
  databases: readonly Database[],
  servers: readonly CheckedServer[],
  values: Values,
): Promise<Finding[]> {
  if (databases.length < 2) return []
  if (servers.every(({ isWritable }) => isWritable === false))
    return [finding('server', 'problem', 'none of these servers can be written to: name the primary too')]
  const pools = databases.flatMap(({ mysqlPool }) => mysqlPool ?? [])
  if (pools.length < databases.length) return []
  // Why a server does not name them, `checkServer` has said.
  const named = await Promise.all(databases.map(each => tablesIn(each, values).catch(() => null)))
  const tables = named.find(each => each !== null)
  const problem = tables && (await checkMysqlServers(pools, tables))
  return problem ? [problem] : []
}

async function findingsOf(database: Database, values: Values, user: string): Promise<Finding[]> {
  let tables: Awaited<ReturnType<typeof tablesIn>>
  try {
    tables = await tablesIn(database, values)
  } catch (error) {
    if (error instanceof RightMissing)
      return [finding('privileges', 'problem', error.message, [error.statement(user)])]
    return error instanceof UsageError || error instanceof StoreError
      ? [finding('schema', 'problem', describe(error))]
      : [finding('schema', 'unknown', `could not be checked: ${describe(error)}`)]
  }
  const { lookupIndexes = true, allowNotDurable = false } = values
  return await database.check(tables, { user, settings: { lookupIndexes, allowNotDurable } })
}

const marks = {
  ok: { mark: 'ok', tone: 'pass' },
  problem: { mark: 'PROBLEM', tone: 'fail' },
  unknown: { mark: 'UNKNOWN', tone: 'warn' },
  skipped: { mark: '-', tone: 'none' },
  read: { mark: 'READ', tone: 'none' },
  warning: { mark: 'WARN', tone: 'warn' },
} as const

function sectionOf(heading: string, findings: readonly Finding[]): Section {
  const found = findings.map(({ subject, state, text, lines }) => ({
    ...{ ...marks[state], name: subject, title: text, code: lines },
  }))
  return section(heading, { kind: 'findings', findings: found })
}

function reportOf(servers: readonly CheckedServer[], together: readonly Finding[]): Report {
  const all = [...servers.flatMap(({ findings }) => findings), ...together]
  const countOf = (which: Finding['state']) => all.filter(({ state }) => state === which).length
  const [problems, unknown] = [countOf('problem'), countOf('unknown')]
  const others = (['unknown', 'warning', 'skipped'] as const).flatMap(state =>
    countOf(state) === 0
      ? []
      : [state === 'warning' ? countText(countOf(state), state) : `${countOf(state)} ${state}`],
  )
  return {
    title: 'Check of the database',
    verdict: {
      tone: problems > 0 ? 'fail' : unknown > 0 ? 'warn' : 'pass',
      word: problems > 0 ? 'problems' : unknown > 0 ? 'unknown' : 'ok',
      sentence: [countText(problems, 'problem'), ...others].join(', '),
    },
    sections: [
      ...servers.map(({ server, version, user, findings }) =>
        sectionOf(version === null ? server : `${server}: ${version}, as ${user}`, findings),
      ),
      sectionOf('All servers', together),
    ],
  }
}
