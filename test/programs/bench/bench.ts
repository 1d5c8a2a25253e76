/**
 * `npm run bench`: the cost of the library, as ratios of two measurements of the same run, with the built
 * package. Exit code 1 if a ratio exceeds its limit.
 */
import { handlePlaceBet, handleRollbackBet, type WalletStore } from 'bet-wallet'
import { numberedPlayers, simulateSportsbook } from 'bet-wallet/audit'
import { createMemoryStore } from 'bet-wallet/memory'
import Big from 'big.js'
import { credentials, median, placeBets, player } from './load.js'
import { plainPlaceBet } from './plain-schema.js'
import { type ServerProcess, startServer } from './server-process.js'

const handlerLimit = 3
const serverLimit = 1.6
const growthLimitMegabytes = 1

function print(title: string, lines: readonly (readonly [string, string])[]): void {
  console.log(`\n${title}`)
  const width = Math.max(...lines.map(([name]) => name.length))
  for (const [name, value] of lines) console.log(`  ${name.padEnd(width)}  ${value.padStart(12)}`)
}

function check(name: string, value: number, limit: number): [string, string] {
  if (value > limit) process.exitCode = 1
  return [`${name}, at most ${limit}${value > limit ? ': LIMIT EXCEEDED' : ''}`, value.toFixed(2)]
}

const microseconds = (value: number) => `${value.toFixed(2)} µs`

/**
 * One request after the other, each with new ids, from its JSON text. Numerator: JSON.parse, then
 * handlePlaceBet on the memory store, awaited: schema, load, rules, commit, outcome. Denominator: JSON.parse,
 * then a plain schema of the same fields, then one subtraction from decimal text to decimal text by big.js.
 */
async function handler(): Promise<void> {
  const perRound = 2_000
  const rounds = 41
  async function handled(texts: readonly string[]): Promise<number> {
    const store = createMemoryStore([player])
    const started = performance.now()
    for (const text of texts) {
      const outcome = await handlePlaceBet(store, JSON.parse(text))
      if (!outcome.ok) throw new Error(outcome.description)
    }
    return ((performance.now() - started) * 1000) / texts.length
  }

  function baseline(texts: readonly string[]): number {
    let balance = player.balance
    const started = performance.now()
    for (const text of texts) {
      const result = plainPlaceBet.safeParse(JSON.parse(text))
      if (!result.success) throw result.error
      balance = new Big(balance).minus(result.data.amount).toFixed()
    }
    return ((performance.now() - started) * 1000) / texts.length
  }

  const measured: { handled: number; baseline: number }[] = []
  const warmUp = 5
  for (let round = 0; round < warmUp + rounds; round += 1) {
    const texts = placeBets(perRound)
    const first = round % 2 === 0 ? await handled(texts) : baseline(texts)
    const second = round % 2 === 0 ? baseline(texts) : await handled(texts)
    if (round < warmUp) continue
    measured.push(
      round % 2 === 0 ? { handled: first, baseline: second } : { handled: second, baseline: first },
    )
  }
  print(`A placebet in process: medians of ${rounds} rounds of ${perRound} requests`, [
    ['JSON.parse and handlePlaceBet on the memory store', microseconds(median(measured.map(m => m.handled)))],
    ['JSON.parse, a plain schema and one subtraction', microseconds(median(measured.map(m => m.baseline)))],
    check('ratio', median(measured.map(m => m.handled / m.baseline)), handlerLimit),
  ])
}

/**
 * CPU time of the server process, user and system, per request: neither the load generator nor idle time
 * counts. The load is the simulated sportsbook without faults, settlements or retries: placebets, and two
 * rollbacks of unknown bets per player, which read its balance. It checks the answers of both servers to the
 * cent. Both servers read the body as a stream, check the credentials, parse the JSON with a schema and hold a
 * balance per player. Only the example has limits, exact numbers, a store that keeps every transaction, and the
 * rules.
 */
async function server(): Promise<void> {
  const perRound = 4_000
  const rounds = 9
  const warmUp = 2
  // New players in every round: no bet wins, and nearly all bets must be accepted.
  const playersOf = (round: number) => numberedPlayers(40, `player-${round}-`)
  const players = Array.from({ length: warmUp + rounds }, (_, round) => playersOf(round))
    .flat()
    .map(playerId => ({ ...player, playerId }))

  async function cost({ baseUrl, usage }: ServerProcess, round: number): Promise<number> {
    const { cpuUs: before } = await usage()
    const report = await simulateSportsbook({
      baseUrl,
      credentials,
      players: playersOf(round),
      settle: 'unsupported',
      bets: perRound,
      rememberedBetsMax: 0,
      concurrency: 8,
      chaos: 0,
      seed: round,
    })
    const { cpuUs: after } = await usage()
    // The bare server knows no rules: it takes a bet in any currency.
    const wrong = report.differences.find(({ kind }) => kind !== 'currency')
    if (wrong !== undefined) throw new Error(`Not reconciled: ${JSON.stringify(wrong)}`)
    return (after - before) / report.requests
  }

  const servers = {
    wallet: await startServer({ kind: 'memory', players }),
    bare: await startServer({ kind: 'bare', players }),
  }
  const measured: { wallet: number; bare: number }[] = []
  for (let round = 0; round < warmUp + rounds; round += 1) {
    const result = { wallet: 0, bare: 0 }
    for (const kind of round % 2 === 0 ? (['wallet', 'bare'] as const) : (['bare', 'wallet'] as const)) {
      result[kind] = await cost(servers[kind], round)
    }
    if (round >= warmUp) measured.push(result)
  }
  for (const { stop } of Object.values(servers)) await stop()
  print(
    `A placebet over HTTP, sent by the simulated sportsbook: CPU time of the server per request, medians of ${rounds} rounds of ${perRound} bets`,
    [
      ['the node:http example on the memory store', microseconds(median(measured.map(m => m.wallet)))],
      [
        'node:http, Basic authentication, JSON.parse, a plain schema, a balance',
        microseconds(median(measured.map(m => m.bare))),
      ],
      check('ratio', median(measured.map(m => m.wallet / m.bare)), serverLimit),
    ],
  )
}

/**
 * The core keeps no state per request: over a store without data, the heap does not grow with the requests.
 */
async function memory(): Promise<void> {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('Run it with --expose-gc')

  const store: WalletStore = {
    contractVersion: 2,
    load: async () => ({ accounts: [player], bet: null, transaction: null }),
    commit: async () => ({ status: 'committed', balance: player.balance, walletTransactionId: null }),
  }
  const options = { authorizeBet: () => {}, onOutcome: () => {} }

  const heaps: [string, string][] = []
  let handled = 0
  let first = 0
  let last = 0
  for (const upTo of [10_000, 100_000, 200_000]) {
    while (handled < upTo) {
      for (const text of placeBets(500)) {
        const bet = JSON.parse(text)
        await handlePlaceBet(store, bet, options) // accepted
        await handlePlaceBet(store, { ...bet, betType: 'NONE' }, options) // malformed
        await handlePlaceBet(store, { ...bet, currency: 'USD' }, options) // refused
        await handleRollbackBet(store, { ...bet, type: 'TECHNICAL_ERROR' }, options)
        handled += 4
      }
    }
    await gc()
    last = process.memoryUsage().heapUsed
    first ||= last
    heaps.push([`heap after ${upTo.toLocaleString('en')} requests`, `${(last / 1e6).toFixed(2)} MB`])
  }
  print('Memory of the core, over a store without data', [
    ...heaps,
    check('growth in MB', (last - first) / 1e6, growthLimitMegabytes),
  ])
}

await handler()
await server()
await memory()
