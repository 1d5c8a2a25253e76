/**
 * How much memory and time a reconciliation of many rows takes, against reading both sides alone.
 *
 *     npx tsx test/tools/reconcile/scale.ts --rows 10000000
 *
 * The report is a CSV file in another order than the wallet's records; these are made in the process, which is faster
 * than any database: the ratio is worse than an operator will see. One of 10,000 rows differs. Every phase is a
 * process of its own. Limits: 200 MB, and seven times the CPU time of the reading alone (measured: 4.9 to 6.7).
 */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { RecordedTransaction } from '../../../src/lookups/records.js'
import { reconcile } from '../../../src/tools/reconcile/index.js'
import { mappingOf } from '../../../src/tools/reconcile/mapping.js'
import { openReport } from '../../../src/tools/reconcile/report-rows.js'

const memoryMaxMb = 200
const ratioMax = 7
/** One of so many rows differs. */
const differsEvery = 10_000

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    phase: { type: 'string', default: 'all' },
    file: { type: 'string', default: '' },
  },
})
const rows = Number(values.rows)
const range = { from: '2026-11-21T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' }
const startMs = Date.parse(range.from)
const currencies = ['EUR', 'USD', 'GBP', 'JPY']

function transactionOf(index: number): RecordedTransaction {
  const bet = index >> 1
  const isBet = index % 2 === 0
  const amount = `${(index % 997) + 1}.${String((index % 89) + 10)}`.replace(/0$/, '')
  const at = new Date(startMs + Math.floor((index / rows) * 86_400_000)).toISOString()
  return {
    operation: isBet ? 'placebet' : 'settlement',
    transactionId: `0192f0c4-7b1e-7000-${isBet ? '8' : '9'}${String(bet % 1000).padStart(3, '0')}-${String(bet).padStart(12, '0')}`,
    playerId: `player-${(bet * 7919) % 500_000}`,
    betId: `bet-${String(bet).padStart(12, '0')}`,
    amount,
    currency: currencies[bet % 4] as string,
    type: isBet ? null : 'BET_PAID',
    delta: isBet ? `-${amount}` : amount,
    refusal: null,
    reason: 'ACCEPTED',
    transactionDate: at,
    walletTransactionId: String(index),
    ...{ recordedAt: at, balanceAfter: null, accountCurrency: null },
  }
}

const lookups = {
  async *transactions(): AsyncGenerator<RecordedTransaction> {
    for (let index = 0; index < rows; index += 1) yield transactionOf(index)
  },
}

/** Another order: the step has no factor in common with the number of rows. */
function shuffled(position: number): number {
  let step = Math.floor(rows * 0.618) | 1
  while (gcd(step, rows) !== 1) step += 2
  return Number((BigInt(position) * BigInt(step)) % BigInt(rows))
}
const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))

function writeFile(file: string): void {
  const descriptor = openSync(file, 'w')
  let text = 'operation,transactionId,betId,playerId,type,amount,currency,transactionDate\n'
  for (let position = 0; position < rows; position += 1) {
    const index = shuffled(position)
    const each = transactionOf(index)
    const amount = index % differsEvery === 0 ? '0.01' : (each.amount ?? '')
    text += `${each.operation},${each.transactionId},${each.betId},${each.playerId},${each.type ?? ''},${amount},${each.currency},${each.transactionDate}\n`
    if (text.length > 1_000_000) {
      writeSync(descriptor, text)
      text = ''
    }
  }
  writeSync(descriptor, text)
  closeSync(descriptor)
}

/** Both sides, read and parsed, and not compared. */
async function readAlone(file: string): Promise<number> {
  let count = 0
  const { rows: batches } = await openReport(file, mappingOf(), () => true, null)
  for await (const batch of batches) count += batch.length
  for await (const { transactionId } of lookups.transactions()) if (transactionId !== '') count += 1
  return count
}

async function measured(phase: string, file: string): Promise<void> {
  const started = performance.now()
  const startedCpu = process.cpuUsage()
  if (phase === 'write') writeFile(file)
  else if (phase === 'read') {
    const count = await readAlone(file)
    if (count !== 2 * rows) throw new Error(`${count} rows were read, not ${2 * rows}`)
  } else if (phase === 'reconcile') {
    const { rows: found, kinds } = await reconcile({ report: file, lookups, ...range })
    const expected = Math.ceil(rows / differsEvery)
    const [kind] = kinds
    if (
      kinds.length !== 1 ||
      kind?.kind !== 'other-amount' ||
      kind.count !== expected ||
      found.equal !== rows - expected
    ) {
      throw new Error(`wrong: ${JSON.stringify({ found, kinds })}`)
    }
  }
  const memoryMb = process.resourceUsage().maxRSS / 1024
  const { user, system } = process.cpuUsage(startedCpu)
  const seconds = (performance.now() - started) / 1000
  console.log(JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6, memoryMb }))
}

/** The phases run without tsx, whose memory is not the reconciliation's: its compiler bundles this file. */
function bundle(folder: string): string {
  const script = fileURLToPath(import.meta.url)
  const outfile = join(folder, 'scale.mjs')
  const ofTsx = createRequire(createRequire(script).resolve('tsx'))
  const { buildSync } = ofTsx('esbuild') as { buildSync(options: object): void }
  const banner = {
    js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url)",
  }
  buildSync({
    entryPoints: [script],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner,
    logLevel: 'error',
  })
  return outfile
}

function phase(
  script: string,
  name: string,
  file: string,
): { seconds: number; cpuSeconds: number; memoryMb: number } {
  const args = [script, '--phase', name, '--rows', String(rows), '--file', file]
  return JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
  )
}

function run(): void {
  const folder = mkdtempSync(join(tmpdir(), 'reconcile-scale-'))
  try {
    const file = join(folder, 'platform.csv')
    const script = bundle(folder)
    phase(script, 'write', file)
    const size = (statSync(file).size / 1e6).toFixed(0)
    const nothing = phase(script, 'nothing', file)
    const read = phase(script, 'read', file)
    const compared = phase(script, 'reconcile', file)
    const ratio = compared.cpuSeconds / read.cpuSeconds
    console.log(`${rows.toLocaleString('en')} rows on each side; the report has ${size} MB`)
    console.log(`reading both sides alone  ${read.seconds.toFixed(1)} s  ${read.memoryMb.toFixed(0)} MB`)
    console.log(
      `reconciliation            ${compared.seconds.toFixed(1)} s  ${compared.memoryMb.toFixed(0)} MB at its peak`,
    )
    console.log(`of which node alone takes ${nothing.memoryMb.toFixed(0)} MB`)
    const [alone, both] = [read.cpuSeconds, compared.cpuSeconds]
    console.log(`CPU: ${alone.toFixed(1)} s and ${both.toFixed(1)} s, ratio ${ratio.toFixed(2)}`)
    if (ratio > ratioMax || compared.memoryMb > memoryMaxMb) {
      console.error(`above the limit: ${memoryMaxMb} MB, and ${ratioMax} times the CPU time of the reading`)
      process.exitCode = 1
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (values.phase === 'all') run()
else await measured(values.phase, values.file)
