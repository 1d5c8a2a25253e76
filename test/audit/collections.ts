/**
 * Both judges of wallets, side by side: what the audit and the simulator say of every broken and every correct wallet
 * of the tests, with their default settings:
 *
 *     npx tsx test/audit/collections.ts [--only <part of a name>] [--shard 1/4]
 *
 * Not a test: it takes an hour, and four shards at once a quarter of it. Exits 1 if no judge
 * finds a broken wallet, or if one fails a correct one. The stores and the kit have `npm run test:matrix`.
 */
import { parseArgs } from 'node:util'
import { type AuditOptions, auditWallet, simulateSportsbook } from '../../src/audit/index.js'
import type { SimulationOptions } from '../../src/audit/simulator/index.js'
import { type Fault, fronts, startFront } from './broken-wallets.js'
import { correct } from './correct-wallets.js'
import { brokenWallets } from './simulator/broken.js'
import { correctWallets } from './simulator/correct.js'
import * as simulated from './simulator/wallet.js'
import { type Credentials, type FaultName, faults, startPlainWallet } from './wallets/plain.js'

interface Target {
  baseUrl: string
  credentials: Credentials
  /** For the audit: two players with funds in euros. */
  audited: readonly [string, string]
  simulated: readonly string[]
  close(): Promise<void>
}

interface Specimen {
  name: string
  /** `tolerated`: neither judge fails it, on purpose. */
  kind: 'correct' | 'broken' | 'tolerated'
  start(): Promise<Target>
  /** What this wallet needs beside the defaults. */
  options?: Partial<SimulationOptions>
  audit?: Partial<AuditOptions>
}

/** Defects that no platform meets; test/audit/broken.test.ts says why the audit leaves them alone. */
const tolerated: readonly string[] = ['ids-in-plain-object', 'oversize-body-kills-connection']
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

const specimens: Specimen[] = [
  { name: 'the plain wallet', kind: 'correct', start: () => plain() },
  ...Object.entries(correct).map(
    ([name, fault]): Specimen => ({ name, kind: 'correct', start: () => front(fault()) }),
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
      ...{ name, kind: tolerated.includes(name) ? 'tolerated' : 'broken', start: () => plain(name) },
      audit: { currency: currencies[name]?.currency ?? 'EUR' },
    }),
  ),
  ...Object.entries(fronts).map(
    ([name, fault]): Specimen => ({ name, kind: 'broken', start: () => front(fault) }),
  ),
  ...brokenWallets.map(
    ({ name, break: breakIt, options = {}, players }): Specimen => ({
      ...{ name, kind: 'broken', options },
      start: () =>
        ofSimulator(
          breakIt(() => {}, Date.now),
          players,
        ),
    }),
  ),
]

/** The failed cases of an audit: the MUSTs, or the others if there are none. */
async function auditOf({ start, audit }: Specimen): Promise<{ passed: boolean; says: string }> {
  const {
    baseUrl,
    credentials,
    audited: [playerId, otherPlayerId],
    close,
  } = await start()
  try {
    const { passed, results } = await auditWallet({
      ...{ baseUrl, credentials, playerId, otherPlayerId, currency: 'EUR', seed: 1 },
      settle: { url: '/settlement' },
      ...audit,
    })
    const failed = results.filter(({ verdict }) => verdict === 'failed')
    const level = ['MUST', 'SHOULD', 'MAY'].find(one => failed.some(result => result.level === one))
    const ids = failed.filter(result => result.level === level).map(({ id }) => id.replace('AU-', ''))
    const more = ids.length > 4 ? [`and ${ids.length - 4} more`] : []
    return { passed, says: level === undefined ? 'passed' : [level, ...ids.slice(0, 4), ...more].join(' ') }
  } finally {
    await close()
  }
}

/** The kinds of differences that a simulation finds. */
async function simulationOf({ start, options }: Specimen): Promise<{ passed: boolean; says: string }> {
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
const outcomeOf = (judged: Promise<{ passed: boolean; says: string }>) =>
  judged.catch((error: Error) => ({ passed: false, says: error.message.split('\n')[0] as string }))

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, shard: { type: 'string', default: '1/1' } },
})
const [shard = 1, shards = 1] = values.shard.split('/').map(Number)
const chosen = specimens
  .filter(({ name }) => name.includes(values.only))
  .filter((_, index) => index % shards === shard - 1)

let wrong = 0
console.log(['wallet', 'audit', 'simulator', 'together'].join(' | '))
for (const specimen of chosen) {
  const audit = await outcomeOf(auditOf(specimen))
  const simulation = await outcomeOf(simulationOf(specimen))
  const passed = audit.passed && simulation.passed
  const found = !passed ? 'found' : audit.says === 'passed' ? 'not found' : 'a warning only'
  const isRight = specimen.kind === 'broken' ? found !== 'not found' : passed
  if (!isRight) wrong += 1
  const together = specimen.kind === 'broken' ? found : passed ? 'passed' : 'WRONG: failed'
  console.log([`${specimen.kind}: ${specimen.name}`, audit.says, simulation.says, together].join(' | '))
}
console.log(wrong === 0 ? 'Both judges are right.' : `${wrong} wallets are judged wrongly by both.`)
if (wrong > 0) process.exitCode = 1
