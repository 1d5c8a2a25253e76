/** The findings of one server, in the order of the report. Those of `ready()` end at its first problem. */
import { type CheckSettings, describe, type Finding, finding, type Subject } from './finding.js'

/** What differs between the engines. */
export interface ServerChecks {
  /** `ready()` of a store with this option. */
  ready(allowNotDurable: boolean): Promise<void>
  privileges(): Promise<Finding>
  lookupIndexes(): Promise<Finding>
  statements(): Promise<Finding>
}

export async function allFindings(settings: CheckSettings, checks: ServerChecks): Promise<Finding[]> {
  const ready = await readyFindings(checks.ready, settings.allowNotDurable)
  const ofReady = ready.filter(({ subject }) => subject === 'privileges')
  const privileges = await lookedAt('privileges', checks.privileges)
  return [
    ...ready.filter(({ subject }) => subject !== 'privileges'),
    // `ready` may miss a right that is not among those of the store: a view needs more.
    ...(privileges.state === 'ok' && ofReady.length > 0 ? ofReady : [privileges]),
    ...(settings.lookupIndexes ? [await lookedAt('lookup indexes', checks.lookupIndexes)] : []),
    await lookedAt('statements', checks.statements),
  ]
}

/** In the order in which `ready()` looks at them. */
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

/** Of these, `bet-wallet migrate` is the answer. */
const migrated = ['SCHEMA_MISSING', 'SCHEMA_VERSION']

/**
 * @param ready of a store with this option
 * @returns a finding per subject; of privileges only a problem: `ready` names the first that is missing
 */
export async function readyFindings(
  ready: (allowNotDurable: boolean) => Promise<void>,
  allowNotDurable: boolean,
): Promise<Finding[]> {
  const first = await errorOf(ready(false))
  const isNotDurable = codeOf(first) === 'NOT_DURABLE'
  // NOT_DURABLE hides what is wrong behind it.
  const stop = isNotDurable ? await errorOf(ready(true)) : first
  const stoppedAt = stop === null ? subjects.length : subjects.indexOf(subjectOf(stop))
  return subjects.flatMap((subject, index): Finding[] => {
    if (subject === 'durability' && isNotDurable)
      return [
        allowNotDurable
          ? finding(subject, 'skipped', `accepted by --allow-not-durable: ${describe(first)}`)
          : finding(subject, 'problem', `NOT_DURABLE: ${describe(first)}`),
      ]
    if (index === stoppedAt) {
      const lines = migrated.includes(codeOf(stop)) ? ['npx bet-wallet migrate'] : []
      return [finding(subject, stateOf(stop), `${codeOf(stop)}: ${describe(stop)}`, lines)]
    }
    if (subject === 'privileges') return []
    if (index > stoppedAt)
      return [finding(subject, 'skipped', `not looked at, because ready() stopped at ${codeOf(stop)}`)]
    if (subject === 'durability' && stop !== null)
      return [
        finding(subject, 'ok', 'the settings are durable; the tables are looked at when the rest is right'),
      ]
    return [finding(subject, 'ok', okTexts[subject] ?? '')]
  })
}

const errorOf = (ready: Promise<void>): Promise<unknown> =>
  ready.then(
    () => null,
    (error: unknown) => error,
  )

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? 'error')
/** `UNAVAILABLE`: the connection was lost, or there was no answer in time. */
const stateOf = (error: unknown) => (codeOf(error) === 'UNAVAILABLE' ? 'unknown' : 'problem')
const subjectOf = (error: unknown): Subject => subjectOfCode[codeOf(error)] ?? 'server'

/** A check that fails is a finding. */
async function lookedAt(subject: Finding['subject'], look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look()
  } catch (error) {
    return finding(subject, 'unknown', `could not be looked at: ${describe(error)}`)
  }
}
