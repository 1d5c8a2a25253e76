/**
 * Both judges of wallets, side by side: what the audit and the simulator say of every broken and every correct wallet
 * of the tests, with their default settings, and what found it:
 *
 *     npx tsx test/tools/wallets/collections.ts [--only <parts of names, with commas>] [--shard 1/4] [--findings]
 *
 * Not a test: it takes an hour, and four shards at once a quarter of it. `--findings` is for the broken wallets alone,
 * without the simulator, and prints what the first finding of each audit says. Exits 1 if a broken wallet passes both
 * judges, unless the audit warns of it and it is on one of the lists below, if one of them fails a correct wallet, or if
 * the first finding of an audit does not name the defect. The stores and the kit have `npx tsx test/testing/matrix.ts`.
 */
import { parseArgs } from 'node:util'
import { type AuditOptions, auditWallet, simulateSportsbook } from '../../../src/tools/audit/index.js'
import { headlineOf } from '../../../src/tools/audit/printout.js'
import type { SimulationOptions } from '../../../src/tools/random/index.js'
import { found, foundAfterRestart, foundInFront, foundInSimulation } from '../audit/found.js'
import { races } from '../audit/race-rates.js'
import { brokenWallets } from './broken.js'
import { correctWallets } from './correct.js'
import { codesAgreed, correct } from './correct-fronts.js'
import { forgetfulWallets } from './forgetful.js'
import { type Fault, type FrontName, fronts, startFront } from './fronts.js'
import { type Credentials, type FaultName, faults, startPlainWallet } from './independent/plain.js'
import * as simulated from './library.js'

interface Target {
  baseUrl: string
  credentials: Credentials
  /** For the audit: two players with funds in euros. */
  audited: readonly [string, string]
  simulated: readonly string[]
  close(): Promise<void>
  /** For the audit, if the defect shows after a restart. */
  restart?(): void
}

interface Specimen {
  name: string
  /** `tolerated`: neither judge fails it, on purpose. */
  kind: 'correct' | 'broken' | 'tolerated'
  start(): Promise<Target>
  /** What this wallet needs beside the defaults. */
  options?: Partial<SimulationOptions>
  audit?: Partial<AuditOptions>
  /** The cases one of which the first finding of the audit must be; without any, the simulator finds it. */
  first?: readonly string[]
  /** The likely cause that the first finding must name, if any case can meet the defect. */
  cause?: RegExp
}

/** Defects that no judge looks for, and why none has to. None of them moves money. */
const tolerated: Readonly<Record<string, string>> = {
  'ids-in-plain-object': 'the platform sends no such id',
  'oversize-body-kills-connection': 'a closed connection is a refusal too',
  'zero-stake-needs-funds': 'a free bet is refused, and the player sees it',
  'amount-text-refused': 'the interface has numbers',
  'nul-500': 'the platform sends no such id',
  'half-surrogate-500': 'the platform sends no such id',
  'long-id-500': 'the platform sends no such id',
  'ascii-only': 'the interface names no alphabet: an id in another one is refused',
  'balance-as-text': 'the digits are the same',
  'no-www-authenticate': 'a header that the platform does not read',
  'any-content-type': 'the call has the credentials',
  'keys-folded': 'the platform sends no such key',
  'length-required': 'a body without a length is refused',
}
/**
 * Defects that move no money: a valid call is refused or answered with a fault, which the platform rolls back or
 * retries; an invalid call is accepted; or an answer has another form. The audit warns of them by a SHOULD.
 */
const movesNoMoney: readonly string[] = [
  // Retries of a transaction that is recorded already
  ...['changed-type-taken-as-retry', 'changed-odds-refused', 'changed-session-refused'],
  ...['changed-date-refused', 'amounts-compared-as-text', 'player-checked-before-retry'],
  ...['duplicate-refused-otherwise'],
  // Valid calls
  ...['rollback-of-free-bet-refused', 'dates-of-six-decimals', 'trailing-zeros-refused', 'dates-need-zone'],
  ...['dates-need-utc', 'null-odds-refused', 'extra-fields-refused'],
  ...['one-call-at-a-time', 'every-seventh-call-fails'],
  // Invalid calls
  'players-created-by-bets',
  ...['dates-unchecked', 'bet-type-unchecked', 'half-body-accepted', 'yen-with-decimals'],
  ...['ids-coerced', 'exponent-500'],
  ...['malformed-json-500', 'missing-field-500', 'not-an-object-500', 'oversize-body-500'],
  // Answers
  ...['unsettled-bet-503', 'replay-under-another-status', 'reference-never-changes'],
  ...['unknown-player-404', 'success-with-more', 'authentication-after-body'],
]

/** Money, where the interface is silent and a decision of this library says what is right. */
const openInTheInterface: readonly string[] = [
  ...['changed-amount-taken-as-retry', 'changed-currency-taken-as-retry', 'changed-player-taken-as-retry'],
  ...['changed-bet-taken-as-retry', 'one-id-space', 'second-placebet-taken-as-retry'],
  'refused-id-reused',
  ...['refused-rollback-recorded', 'settlement-of-unknown-pays'],
]

/** Defects that appear only with certain currencies. */
const currencies: Readonly<Record<string, { currency: string; balance: string }>> = {
  'yen-with-decimals': { currency: 'JPY', balance: '10000' },
  'dinar-with-two-decimals': { currency: 'KWD', balance: '100.000' },
}

/** Players that only the simulator uses, with enough funds for a whole run. */
const rich = Array.from({ length: 8 }, (_, index) => ({
  ...{ playerId: `sim-${index + 1}`, currency: 'EUR', balance: '1000.00' },
}))
const audited = ['player-1', 'player-2'] as const
const known = [...audited.map(playerId => ({ playerId, currency: 'EUR', balance: '100.00' })), ...rich]

async function plain(fault?: FaultName): Promise<Target> {
  const funds = currencies[fault ?? '']
  const { url, credentials, close } = await startPlainWallet({
    players: known.map(player => ({ ...player, ...funds })),
    ...(fault === undefined ? {} : { fault }),
  })
  return { baseUrl: url, credentials, audited, simulated: known.map(({ playerId }) => playerId), close }
}

async function front(fault: Fault): Promise<Target> {
  const { url, credentials, close } = await startFront(fault, { players: known })
  return { baseUrl: url, credentials, audited, simulated: known.map(({ playerId }) => playerId), close }
}

async function forgetful(name: keyof typeof forgetfulWallets): Promise<Target> {
  const { fault, restart } = forgetfulWallets[name]()
  return { ...(await front(fault)), restart }
}

async function ofSimulator(
  breakage: simulated.Breakage,
  others: readonly (typeof simulated.players)[number][] = [],
): Promise<Target> {
  const players = [...simulated.players, ...others, ...rich]
  const { baseUrl, close } = await simulated.startWallet(breakage, players)
  return {
    baseUrl,
    credentials: simulated.credentials,
    audited: ['ann', 'cem'],
    simulated: players.map(({ playerId }) => playerId),
    close,
  }
}

/** The first finding names the defect. Of a race it is any case that meets it. */
function firstOf(name: string, numbers: readonly number[]): string[] {
  const meets = Object.keys(races).filter(number => races[Number(number)]?.some(fault => fault === name))
  return (meets.length > 0 ? meets : numbers.slice(0, 1)).map(number => `AU-${number}`)
}

const causes: Record<string, RegExp> = {
  'cent-kept': /a fee, or a rounding/,
  // Which settlement is a seventh one depends on retries.
  'answers every seventh settlement with success and does not record it': /A settlement changes the balance/,
}
const causeOf = (name: string) => (causes[name] === undefined ? {} : { cause: causes[name] })

const kindOf = (name: string) => (name in tolerated ? 'tolerated' : 'broken')

const specimens: Specimen[] = [
  { name: 'the plain wallet', kind: 'correct', start: () => plain() },
  ...Object.entries(correct).map(
    ([name, fault]): Specimen => ({
      ...{ name, kind: 'correct', start: () => front(fault()) },
      ...(name === 'other-statuses-and-codes' ? { audit: { errorCodes: codesAgreed } } : {}),
    }),
  ),
  ...correctWallets.map(
    ({ breakage, ...others }): Specimen => ({
      ...others,
      kind: 'correct',
      start: () => ofSimulator(breakage()),
    }),
  ),
  ...(Object.keys(faults) as FaultName[]).map(
    (name): Specimen => ({
      ...{ name, kind: kindOf(name), start: () => plain(name) },
      audit: { currency: currencies[name]?.currency ?? 'EUR' },
      first: firstOf(name, found[name]),
    }),
  ),
  ...Object.entries<Fault>(fronts).map(
    ([name, fault]): Specimen => ({
      ...{ name, kind: kindOf(name), start: () => front(fault), audit: fault.audit ?? {} },
      first: firstOf(name, foundInFront[name as FrontName]),
      ...causeOf(name),
    }),
  ),
  ...(Object.keys(forgetfulWallets) as (keyof typeof forgetfulWallets)[]).map(
    (name): Specimen => ({
      ...{ name, kind: 'broken', start: () => forgetful(name) },
      first: firstOf(name, foundAfterRestart[name]),
    }),
  ),
  ...brokenWallets.map(
    ({ name, break: breakIt, options = {}, players }): Specimen => ({
      ...{ name, kind: 'broken', options, first: firstOf(name, foundInSimulation[name] ?? []) },
      ...causeOf(name),
      start: () =>
        ofSimulator(
          breakIt(() => {}, Date.now),
          players,
        ),
    }),
  ),
]

type Level = 'MUST' | 'SHOULD'

interface Judgement {
  passed: boolean
  says: string
  /** The highest level of the failed cases of an audit. */
  level?: Level | undefined
  /** The first finding of an audit: its case, and its words. */
  first?: string | undefined
  words?: readonly (string | null)[]
}

/** The failed cases of an audit: the MUSTs, or the others if there are none. */
async function auditOf({ start, audit }: Specimen): Promise<Judgement> {
  const {
    baseUrl,
    credentials,
    audited: [playerId, otherPlayerId],
    close,
    restart,
  } = await start()
  try {
    const { passed, results, findings } = await auditWallet({
      ...{ baseUrl, credentials, playerId, otherPlayerId, currency: 'EUR', seed: 1 },
      settle: { url: '/settlement' },
      ...(restart === undefined ? {} : { restart }),
      ...audit,
    })
    const failed = results.filter(({ verdict }) => verdict === 'failed')
    const level = (['MUST', 'SHOULD'] as const).find(one => failed.some(result => result.level === one))
    const ids = failed.filter(result => result.level === level).map(({ id }) => id.replace('AU-', ''))
    const more = ids.length > 4 ? [`and ${ids.length - 4} more`] : []
    const says = level === undefined ? 'passed' : [level, ...ids.slice(0, 4), ...more].join(' ')
    const [first] = findings
    const result = results.find(({ id }) => id === first?.id)
    const words = result === undefined ? [] : [headlineOf(result), first?.cause ?? null]
    return { passed, says, level, first: first?.id, words }
  } finally {
    await close()
  }
}

/** The kinds of differences that a simulation finds. */
async function simulationOf({ start, options }: Specimen): Promise<Judgement> {
  const { baseUrl, credentials, simulated: players, close } = await start()
  try {
    const { passed, differences } = await simulateSportsbook({
      ...{ baseUrl, credentials, players, seed: 1, settle: { url: '/settlement' }, giveUpAfterMs: 5_000 },
      ...options,
    })
    const kinds = [...new Set(differences.map(({ kind }) => kind))]
    return { passed, says: passed ? 'reconciled' : kinds.join(', ') }
  } finally {
    await close()
  }
}

/** An audit or a simulation that ends with an error has not passed: the error says why. */
const outcomeOf = (judged: Promise<Judgement>): Promise<Judgement> =>
  judged.catch((error: Error) => ({ passed: false, says: error.message.split('\n')[0] as string }))

const names: Record<'found' | 'warned' | 'open' | 'passed' | 'wrong' | 'misnamed', string[]> = {
  ...{ found: [], warned: [], open: [], passed: [], wrong: [], misnamed: [] },
}

/** What the two say together. */
function together({ name, kind }: Specimen, audit: Judgement, simulation: Judgement): string {
  const failedBy = [
    ...(audit.passed ? [] : [audit.level === 'MUST' ? 'a MUST' : 'an audit that was cut short']),
    ...(simulation.passed ? [] : ['the simulator']),
  ].join(' and ')
  const isFailed = failedBy !== ''
  if (kind !== 'broken') {
    names[isFailed ? 'wrong' : 'passed'].push(name)
    return isFailed ? `WRONG: failed by ${failedBy}` : 'passed'
  }
  if (isFailed) {
    names.found.push(name)
    return `found by ${failedBy}`
  }
  const isOpen = openInTheInterface.includes(name)
  const isRight = audit.level !== undefined && (isOpen || movesNoMoney.includes(name))
  names[!isRight ? 'wrong' : isOpen ? 'open' : 'warned'].push(name)
  if (audit.level === undefined) return 'WRONG: not found'
  return `${isRight ? '' : 'WRONG: '}found by a ${audit.level} only`
}

const listOf = (some: readonly string[]) =>
  [some.length, ...(some.length > 0 ? [`(${some.join(', ')})`] : [])].join(' ')

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      shard: { type: 'string', default: '1/1' },
      findings: { type: 'boolean', default: false },
    },
  })
  const [shard = 1, shards = 1] = values.shard.split('/').map(Number)
  const chosen = specimens
    .filter(({ kind }) => kind === 'broken' || !values.findings)
    .filter(({ name }) => values.only.split(',').some(part => name.includes(part)))
    .filter((_, index) => index % shards === shard - 1)

  if (!values.findings) console.log(['wallet', 'audit', 'first finding', 'simulator', 'together'].join(' | '))
  for (const specimen of chosen) {
    const audit = await outcomeOf(auditOf(specimen))
    const { kind, name, first = [], cause } = specimen
    const isNamed = cause?.test(audit.words?.[1] ?? '') ?? first.includes(audit.first ?? '')
    const isMisnamed = first.length > 0 && !isNamed
    if (isMisnamed) names.misnamed.push(`${name}: ${audit.first} instead of ${first.join(' or ')}`)
    const row = [`${kind}: ${name}`, audit.says, audit.first ?? '']
    if (values.findings) {
      console.log([...row, ...(audit.words ?? []), isMisnamed ? 'WRONG' : ''].join(' | '))
      continue
    }
    const simulation = await outcomeOf(simulationOf(specimen))
    console.log([...row, simulation.says, together(specimen, audit, simulation)].join(' | '))
  }
  const { warned, open, passed, wrong, misnamed } = names
  console.log(`
Broken wallets
  found by a MUST or the simulator: ${names.found.length}
  found by a SHOULD only: ${warned.length + open.length}
    no money is at stake: ${listOf(warned)}
    the interface leaves it open: ${listOf(open)}
Correct and tolerated wallets
  passed: ${passed.length}
Judged wrongly: ${listOf(wrong)}
The first finding of the audit does not name the defect: ${listOf(misnamed)}

How often each race is found, in 100 audits: npx tsx test/tools/audit/race-rates.ts 100
Wallets that forget after a pause instead of a restart: test/tools/audit/later.test.ts`)
  if (wrong.length + misnamed.length > 0) process.exitCode = 1
}

await main()
