/** The findings of one server, in the order of the report. Those of `ready()` end at its first problem. */
import { fieldOf } from '../../foreign-values.js'
import type { Durability } from '../../stores/database/durability.js'
import type { StoreError } from '../../stores/database/errors.js'
import { unprovenCode } from '../../stores/database/players-columns.js'
import type { DatabaseStore } from '../../stores/database/store.js'
import type { Players } from '../../stores/database/tables.js'
import type { DatabaseSchema } from '../init/schema.js'
import { accountsFinding, type BetRows } from './accounts.js'
import { balancesFinding, type Rows, readBalances } from './balances.js'
import { columnFindings, notChecked } from './columns.js'
import { type CheckSettings, describe, type Finding, finding, type Subject } from './finding.js'
import type { BalanceColumn } from './statements.js'

/** What differs between the engines. */
export interface ServerChecks {
  /** With this option. */
  store(allowNotDurable: boolean): Pick<DatabaseStore, 'ready' | 'stats'>
  privileges(): Promise<Finding>
  /** A debit that is rolled back. The triggers of the operator run. */
  trial(): Promise<Finding>
  lookupIndexes(): Promise<Finding>
  /** Of the players' table, and below it. */
  checks(): Promise<Finding>
  statements(): Promise<Finding>
  rows: Rows
  bets: BetRows
  /** The players' table, and where that is a view, what is below it, with the column of the id. */
  behind(): Promise<readonly BalanceColumn[]>
  /** The catalog of the schemas of these tables. */
  schema(names: readonly string[]): Promise<DatabaseSchema>
}

export async function allFindings(
  settings: CheckSettings,
  players: Players,
  checks: ServerChecks,
): Promise<Finding[]> {
  const ready = await readyFindings(checks.store, settings.allowNotDurable)
  const ofReady = ready.filter(({ subject }) => subject === 'privileges')
  const privileges = await checked('privileges', checks.privileges)
  const first = [
    ...ready.filter(({ subject }) => subject !== 'privileges'),
    // `ready` may miss a right that is not among those of the store: a view needs more.
    ...(privileges.state === 'ok' && ofReady.length > 0 ? ofReady : [privileges]),
  ]
  // What is not durable can still be tried.
  const isUsable = first.every(
    ({ subject, state }) => ['ok', 'warning'].includes(state) || subject === 'durability',
  )
  return [
    ...first,
    isUsable
      ? await checked('trial debit', checks.trial)
      : finding('trial debit', 'skipped', 'not tried: see the problem above'),
    ...(settings.lookupIndexes ? [await checked('lookup indexes', checks.lookupIndexes)] : []),
    // Lists for people: what they lack is no problem either.
    await checked('accounts', () => accountsFinding(players, checks.rows, checks.bets), 'skipped'),
    await checked('balances', () => playersBalances(players, checks.rows), 'skipped'),
    ...(await otherColumns(players, checks).catch(notChecked)),
    await checked('CHECKs', checks.checks, 'skipped'),
    await checked('statements', checks.statements, 'skipped'),
  ]
}

/** @param who may create them */
export function indexesFinding(missing: readonly string[], who: string): Finding {
  if (missing.length === 0) return finding('lookup indexes', 'ok', 'of a bet, of a player, by time')
  const problem = `Lookups and the reconciliation would read the whole table. ${who} runs, while the wallet runs:`
  return finding('lookup indexes', 'problem', problem, runnable(missing))
}

/** @param who may grant them */
export function privilegesFinding(user: string, missing: readonly string[], who: string): Finding {
  if (missing.length === 0) return finding('privileges', 'ok', `${user} has the rights of the store`)
  return finding('privileges', 'problem', `${user} lacks rights. ${who} runs:`, runnable(missing))
}

const runnable = (statements: readonly string[]) => statements.map(statement => `${statement};`)

async function playersBalances(players: Players, rows: Rows): Promise<Finding> {
  const { currency, balance } = players.columns
  const from = `(SELECT ${currency} AS currency, ${balance} AS balance FROM ${players.table})`
  return balancesFinding(await readBalances(rows, from, players))
}

async function otherColumns({ columnNames }: Players, checks: ServerChecks): Promise<Finding[]> {
  const behind = await checks.behind()
  const schema = await checks.schema([...new Set(behind.map(each => each.schema))])
  return await columnFindings(schema, behind, columnNames.version, checks.rows)
}

/** In the order of the report: `ready()` checks rights last, and sequences after the players' table. */
const subjects: readonly Subject[] = ['server', 'durability', 'privileges', 'schema', 'players table']

const subjectOfCode: Readonly<Record<string, Subject>> = {
  NOT_DURABLE: 'durability',
  INSUFFICIENT_PRIVILEGE: 'privileges',
  SCHEMA_MISSING: 'schema',
  SCHEMA_VERSION: 'schema',
  SCHEMA_OPTIONS: 'schema',
  SEQUENCE_BEHIND: 'schema',
  ROW_SECURITY: 'schema',
  INVALID_PLAYERS_TABLE: 'players table',
}

const okTexts: Readonly<Record<string, string>> = {
  server: 'version, settings and client are supported',
  durability: 'commits that are answered survive a crash of the server',
  schema: 'tables and functions are those of this release, for these options',
  'players table': 'columns and types fit the options',
}

/** @returns a finding per subject; of privileges only a problem: `ready` names the first that is missing */
export async function readyFindings(storeWith: ServerChecks['store'], allowNotDurable: boolean) {
  let durability: Durability | null = null
  const unproven = new Set<string>()
  const note = (warning: Error) => {
    if (codeOf(warning) === unprovenCode) unproven.add(warning.message)
  }
  process.on('warning', note)
  const errorWith = async (isAllowed: boolean): Promise<unknown> => {
    try {
      const store = storeWith(isAllowed)
      await store.ready()
      durability = store.stats.durability
      return null
    } catch (error) {
      return error
    }
  }
  const first = await errorWith(false)
  // NOT_DURABLE hides the problems behind it. The option accepts settings, but no table without transactions.
  const stop = isNotDurable(first) ? await errorWith(true) : first
  // Warnings are emitted in a later turn.
  await new Promise(resolve => setImmediate(resolve))
  process.off('warning', note)
  const stoppedAt = stop === null ? subjects.length : subjects.indexOf(subjectOf(stop))
  return subjects.flatMap((subject, index) => {
    if (subject === 'durability' && isNotDurable(first))
      return durabilityFinding(first, stop, allowNotDurable)
    if (index === stoppedAt) {
      const { isSolvedByMigration } = stop as Partial<StoreError>
      const lines = isSolvedByMigration ? ['npx bet-wallet migrate'] : []
      return finding(subject, stateOf(stop), `${codeOf(stop)}: ${describe(stop)}`, lines)
    }
    if (subject === 'privileges') return []
    // NOT_DURABLE of the client comes before the version of the server.
    if (index > stoppedAt || isNotDurable(stop))
      return finding(subject, 'skipped', `not checked: ready() stopped at ${codeOf(stop)}`)
    if (subject === 'durability' && stop !== null)
      return finding(
        subject,
        'ok',
        'the settings are durable; the tables are checked once the other problems are fixed',
      )
    if (subject === 'players table' && unproven.size > 0)
      return finding(subject, 'warning', [...unproven].join('. '))
    const more = subject === 'durability' ? textOf(durability) : ''
    return finding(subject, 'ok', `${okTexts[subject] ?? ''}${more}`)
  })
}

/** @param stop the problem that is left with the option `allowNotDurable` */
function durabilityFinding(first: unknown, stop: unknown, allowNotDurable: boolean): Finding {
  if (!isNotDurable(stop) && allowNotDurable)
    return finding('durability', 'skipped', `accepted by --allow-not-durable: ${describe(first)}`)
  const problems = new Set([first, stop].filter(isNotDurable).map(describe))
  return finding('durability', 'problem', `NOT_DURABLE: ${[...problems].join('. ')}`)
}

const textOf = (durability: Durability | null): string =>
  durability === null ? '' : `; a failover: ${durability.level}: ${durability.reason}`

export const codeOf = (error: unknown): string => String(fieldOf(error, 'code') ?? 'error')
const isNotDurable = (error: unknown) => codeOf(error) === 'NOT_DURABLE'
/** `UNAVAILABLE`: the connection was lost, or there was no answer in time. */
const stateOf = (error: unknown) => (codeOf(error) === 'UNAVAILABLE' ? 'unknown' : 'problem')
const subjectOf = (error: unknown): Subject => subjectOfCode[codeOf(error)] ?? 'server'

/** A check that fails is a finding. */
async function checked(
  subject: Subject,
  check: () => Promise<Finding>,
  failed: 'unknown' | 'skipped' = 'unknown',
): Promise<Finding> {
  try {
    return await check()
  } catch (error) {
    return finding(subject, failed, `could not be checked: ${describe(error)}`)
  }
}
