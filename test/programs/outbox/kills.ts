/**
 * Kills wallets and relays with SIGKILL, and compares what a consumer has received with the tables:
 * `npx tsx --tsconfig examples/tsconfig.json test/programs/outbox/kills.ts --kills 1000`, with `--engine mysql` on
 * MariaDB. It needs a build. Exit code 1 if the books differ.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { ChildSettings } from './child.js'
import { Consumer } from './consumer.js'
import { type KilledDatabase, openDatabase, type Recorded } from './database.js'

const inFlightMax = 16
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const playersCount = 50

export interface KillsReport {
  kills: { wallet: number; relay: number }
  transactions: number
  bets: number
  requests: number
  /** Events that were accepted again. */
  duplicates: number
  /** The most that the kills and the lost answers explain. */
  duplicatesMax: number
  problems: readonly string[]
}

export async function runKills(
  engine: ChildSettings['engine'],
  killsMax: number,
  log: (line: string) => void = () => {},
): Promise<KillsReport> {
  const database = await openDatabase(engine, playersCount)
  const consumer = new Consumer(secret)
  const kills = { wallet: 0, relay: 0 }
  try {
    const shared = { engine, ...database.address, url: await consumer.listen(), secret, playersCount }
    const slot = async (role: ChildSettings['role']) => {
      while (kills.wallet + kills.relay < killsMax) {
        const child = await start({ role, ...shared })
        const until = consumer.requests + randomInt(60)
        // Also a relay that has nothing to deliver is killed: the wallets are perhaps all dead.
        for (let waits = 0; consumer.requests < until && waits < 200; waits += 1) await sleep(5)
        kills[role] += 1
        const killed = kills.wallet + kills.relay
        if (killed % 50 === 0) log(`${killed} kills, ${consumer.requests} requests`)
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    }
    await Promise.all([slot('wallet'), slot('wallet'), slot('relay'), slot('relay')])
    consumer.faulty = false
    await database.passTime()
    const last = await start({ role: 'relay', ...shared })
    while ((await database.queued()) > 0) await sleep(50)
    last.kill('SIGKILL')
    return { kills, ...compare(await database.recorded(), consumer, kills.relay) }
  } finally {
    consumer.close()
    await database.close()
  }
}

async function start(settings: ChildSettings): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('child.ts', import.meta.url)), [JSON.stringify(settings)], {
    execArgv: ['--import', 'tsx'],
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
  })
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`A ${settings.role} ended: ${code}`)
    }),
  ])
  return child
}

/** @param recorded every transaction, those of a bet in the order of their commits */
function compare(
  recorded: readonly Recorded[],
  { received, requests, lostAnswers, problems: found }: Consumer,
  relayKills: number,
): Omit<KillsReport, 'kills'> {
  const problems = [...found]
  const before = new Map<string, string>()
  for (const { id, betId, transactionId, delta, balanceAfter } of recorded) {
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
  const ids = new Set(recorded.map(({ id }) => id))
  for (const id of received.keys()) if (!ids.has(id)) problems.push(`${id}: delivered, and not recorded`)
  const duplicates = [...received.values()].reduce((sum, { accepted }) => sum + accepted - 1, 0)
  const duplicatesMax = relayKills * inFlightMax + lostAnswers
  if (duplicates > duplicatesMax) problems.push(`${duplicates} duplicates: more than ${duplicatesMax}`)
  return { transactions: recorded.length, bets: before.size, requests, duplicates, duplicatesMax, problems }
}

export type { KilledDatabase }

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '1000' },
      engine: { type: 'string', default: 'postgres' },
    },
  })
  const engine = values.engine === 'mysql' ? 'mysql' : 'postgres'
  const report = await runKills(engine, Number(values.kills), line => console.log(line))
  console.log({ ...report, problems: report.problems.slice(0, 20) })
  if (report.problems.length > 0) process.exitCode = 1
}
