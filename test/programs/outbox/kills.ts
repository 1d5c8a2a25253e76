/**
 * Kills wallets and relays with SIGKILL, and compares what a consumer has received with the tables. Meanwhile
 * deliveries reject with what cannot be stored, rows cannot be read, transactions are gone, the clock goes
 * back, relays have different time limits, and wallets run with and without the outbox:
 * `npx tsx --tsconfig examples/tsconfig.json test/programs/outbox/kills.ts --kills 1000`, with `--engine mysql` on
 * MariaDB. On a cluster (`--engine galera`, `patroni`, `group`) its nodes fail meanwhile: `--faults 20`. It needs a
 * build. Exit code 1 if the books differ.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { randomOf } from '../soak/random.js'
import type { ChildSettings } from './child.js'
import { Consumer } from './consumer.js'
import { engines, type KilledDatabase, type Recorded } from './database.js'
import { inFlightMax, withoutEvents } from './settings.js'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const playersCount = 50
/** On average, in requests of the consumer. */
const pauseBetweenFaults = 200

export interface KillsReport {
  kills: { wallet: number; relay: number }
  /** The injected faults of a cluster, by their kind. */
  faults: Record<string, number>
  /** Processes that ended by themselves, as none could start without its database. */
  ended: number
  /** Times that the clock went back, each with an event without a transaction and an unreadable one. */
  attacks: number
  transactions: number
  /** Of them, by wallets without the outbox. */
  withoutEvent: number
  bets: number
  requests: number
  /** Events that were accepted again. */
  duplicates: number
  /** The most that the kills, the faults and the lost answers explain. */
  duplicatesMax: number
  problems: readonly string[]
}

export async function runKills(
  engine: keyof typeof engines,
  killsMax: number,
  { faultsMax = 0, log = () => {} }: { faultsMax?: number; log?: (line: string) => void } = {},
): Promise<KillsReport> {
  const database = await engines[engine](playersCount)
  const consumer = new Consumer(secret)
  const kills = { wallet: 0, relay: 0 }
  const faults: Record<string, number> = {}
  let ended = 0
  let attacks = 0
  let disturbed = faultsMax > 0
  const isOver = () => kills.wallet + kills.relay >= killsMax && !disturbed
  try {
    const shared = { ...database.address, url: await consumer.listen(), secret, playersCount }
    const { servers } = shared
    const progress = () => `${kills.wallet + kills.relay} kills, ${consumer.requests} requests`
    const slot = async (role: ChildSettings['role'], preferred: number) => {
      const order = servers.map((_, index) => servers[(index + preferred) % servers.length] ?? {})
      while (!isOver()) {
        const own = {
          outbox: preferred === 0 || randomInt(2) === 0,
          timeoutMs: preferred === 1 ? 5_000 : 840_000,
        }
        const child = await start({ role, ...shared, ...own, servers: order })
        if (child === null && faultsMax === 0) throw new Error(`A ${role} has ended by itself`)
        if (child === null) {
          ended += 1
          continue
        }
        const until = consumer.requests + randomInt(60)
        // Also a relay that has nothing to deliver is killed: the wallets are perhaps all dead.
        for (let waits = 0; consumer.requests < until && waits < 200; waits += 1) await sleep(5)
        kills[role] += 1
        if ((kills.wallet + kills.relay) % 50 === 0) log(progress())
        await kill(child)
        // While a node of a cluster is down, it cannot be written to.
        await Promise.allSettled([database.turnClockBack(), database.poison()])
        attacks += 1
      }
    }
    const disturb = async () => {
      if (!disturbed) return
      const answered = async (count: number) => {
        const until = consumer.requests + count
        while (consumer.requests < until) await sleep(20)
      }
      const random = randomOf(randomInt(1_000_000))
      await database.disturb({
        ...{ random, kills: faults, killsMax: faultsMax, answersPerKill: pauseBetweenFaults, callers: 8 },
        ...{ answered, progress, log },
      })
      disturbed = false
    }
    const slots = [slot('wallet', 0), slot('wallet', 1), slot('relay', 1), slot('relay', 2)]
    await Promise.all([...slots, disturb()])
    consumer.faulty = false
    await database.repair()
    await database.passTime()
    const last = await start({ role: 'relay', ...shared, outbox: true, timeoutMs: 5_000 })
    if (last === null) throw new Error('The last relay has ended by itself')
    while ((await database.queued()) > 0) await sleep(50)
    await kill(last)
    // A fault, or a clock that ends leases, may keep both relays from recording what they have delivered.
    const lostRecords = (kills.relay + 2 * faultsMax + 2 * attacks) * inFlightMax
    const report = compare(await database.recorded(), consumer, lostRecords)
    const problems = [...report.problems, ...deadLetterProblems(await database.left())]
    return { kills, faults, ended, attacks, ...report, problems }
  } finally {
    consumer.close()
    await database.close()
  }
}

/** @returns `null`: it has ended before it was ready */
async function start(settings: ChildSettings): Promise<ChildProcess | null> {
  const child = fork(fileURLToPath(new URL('child.ts', import.meta.url)), [JSON.stringify(settings)], {
    execArgv: ['--import', 'tsx'],
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
  })
  return await Promise.race([once(child, 'message').then(() => child), once(child, 'exit').then(() => null)])
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) throw new Error(`A process ended by itself: ${child.exitCode}`)
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Only events without a transaction are given up. */
const deadLetterProblems = (left: Awaited<ReturnType<KilledDatabase['left']>>) => [
  ...(left.some(({ betId }) => betId.startsWith('gone-')) ? [] : ['no event without a transaction is left']),
  ...left
    .filter(({ betId, problem }) => !betId.startsWith('gone-') || !problem.includes('is missing'))
    .map(({ betId, problem }) => `${betId}: given up: ${problem}`),
]

/** @param recorded every transaction, those of a bet in the order of their commits */
function compare(
  recorded: readonly Recorded[],
  { received, requests, lostAnswers, problems: found }: Consumer,
  lostRecords: number,
): Omit<KillsReport, 'kills' | 'faults' | 'ended' | 'attacks'> {
  const problems = [...found]
  const events = recorded.filter(({ betId }) => !betId.startsWith(withoutEvents))
  const before = new Map<string, string>()
  for (const { id, betId, transactionId, delta, balanceAfter } of events) {
    const event = received.get(id)
    if (event === undefined || event.acceptedAt === null) {
      problems.push(`${id}: recorded, and not delivered`)
      continue
    }
    const { data } = event.body
    if (data.transactionId !== transactionId || data.betId !== betId || Number(data.delta) !== delta)
      problems.push(`${id}: another content than recorded`)
    if (Number(data.balanceAfter) !== balanceAfter) problems.push(`${id}: another balance than recorded`)
    const earlier = received.get(before.get(betId) ?? '')
    if (earlier !== undefined && !(event.firstAt > (earlier.acceptedAt ?? Number.POSITIVE_INFINITY)))
      problems.push(`${id}: sent before the earlier event of its bet was accepted`)
    before.set(betId, id)
  }
  const ids = new Set(events.map(({ id }) => id))
  for (const id of received.keys()) if (!ids.has(id)) problems.push(`${id}: delivered, and not recorded`)
  const duplicates = [...received.values()].reduce((sum, { accepted }) => sum + accepted - 1, 0)
  const duplicatesMax = lostRecords + lostAnswers
  if (duplicates > duplicatesMax) problems.push(`${duplicates} duplicates: more than ${duplicatesMax}`)
  const withoutEvent = recorded.length - events.length
  return {
    transactions: recorded.length,
    withoutEvent,
    bets: before.size,
    requests,
    duplicates,
    duplicatesMax,
    problems,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '1000' },
      faults: { type: 'string' },
      engine: { type: 'string', default: 'postgres' },
    },
  })
  if (!(values.engine in engines))
    throw new Error(`--engine must be one of ${Object.keys(engines).join(', ')}`)
  const isCluster = ['patroni', 'galera', 'group'].includes(values.engine)
  const report = await runKills(values.engine as keyof typeof engines, Number(values.kills), {
    faultsMax: Number(values.faults ?? (isCluster ? 20 : 0)),
    log: line => console.log(line),
  })
  console.log({ ...report, problems: report.problems.slice(0, 20) })
  if (report.problems.length > 0) process.exitCode = 1
}
