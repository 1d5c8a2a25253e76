/** Runs against wallets of the tests, with faults that are functions instead of commands. */
import { recordSettlement, type WalletChanges, type WalletStore } from '../../../src/index.js'
import { createMemoryStore, type MemoryStore } from '../../../src/stores/memory.js'
import type { Difference, SimulationOptions, SimulatorClock } from '../../../src/tools/random/index.js'
import { settingsOf } from '../../../src/tools/random/options.js'
import type { SimulationFaults, SimulationReport } from '../../../src/tools/random/report.js'
import { runSimulation } from '../../../src/tools/random/run.js'
import { type Breakage, credentials, players, type RunningWallet, startWallet } from '../wallets/library.js'

/** Time passes only when somebody waits for it, and then at once. */
export function virtualClock(): SimulatorClock {
  let now = 0
  return {
    now: () => now,
    date: () => 1_790_000_000_000 + now,
    after(milliseconds, run) {
      setImmediate(() => {
        now += milliseconds
        run()
      })
    },
  }
}

export interface Faulted {
  report: SimulationReport & { faults: SimulationFaults }
  lost: Difference[]
  /** Answered calls that each retry decides anew. */
  repeated: Difference[]
  /** The commands that were run, in their order. */
  commands: string[]
  events: string[]
}

const everyMs = 20_000

/** Each fault comes after this number of requests, and after its end. */
export interface FaultedOptions extends Partial<SimulationOptions> {
  commands?: readonly string[]
  requestsPerFault?: number
}

/** Plays until the faults are over. @param run what a command does */
export async function runWithFaults(
  breakage: Breakage,
  { commands = ['kill it'], requestsPerFault = 60, ...options }: FaultedOptions = {},
  run: (command: string, wallet: RunningWallet) => Promise<void> | void = () => {},
): Promise<Faulted> {
  const wallet = await startWallet(breakage)
  const clock = virtualClock()
  const done: string[] = []
  const events: string[] = []
  const over = new AbortController()
  options.signal?.addEventListener('abort', () => over.abort())
  // The time between two faults passes by requests.
  let next = { at: Number.POSITIVE_INFINITY, run: () => {} }
  let requests = 0
  const after: SimulatorClock['after'] = (milliseconds, then) => {
    if (milliseconds !== everyMs) clock.after(milliseconds, then)
    else
      next = {
        at: requests + requestsPerFault,
        run: then,
      }
  }
  try {
    const settings = settingsOf({
      ...{ baseUrl: wallet.baseUrl, credentials, players: players.map(({ playerId }) => playerId), seed: 1 },
      ...{
        concurrency: 4,
        chaos: 0,
        bets: 100_000,
        rememberedBetsMax: 0,
        backOffMsMax: 250,
        timeoutMs: 120_000,
      },
      ...{ giveUpAfterMs: Number.MAX_SAFE_INTEGER, differencesMax: 10_000 },
      ...options,
      ...{ clock: { ...clock, after }, signal: over.signal },
      onProgress(progress) {
        requests = progress.requests
        if (requests < next.at) return
        next.at = Number.POSITIVE_INFINITY
        next.run()
      },
    })
    const report = await runSimulation({
      ...settings,
      // With every answer.
      progressEveryMs: 0,
      faults: {
        ...{ commands, everyMs, repeat: false },
        async runCommand(command) {
          done.push(command)
          await run(command, wallet)
        },
        onEvent: text => events.push(text),
      },
    })
    if (report.faults === null) throw new Error('the report has no faults')
    const of = (kind: Difference['kind']) => report.differences.filter(one => one.kind === kind)
    return {
      ...{ report: { ...report, faults: report.faults }, commands: done, events },
      ...{ lost: of('lost'), repeated: of('replay') },
    }
  } finally {
    await wallet.close()
  }
}

/** A primary, and a standby that receives each commit only when `lag` others have followed it. */
export function asynchronousPair(lag: number) {
  const unsent: WalletChanges[] = []
  const standby = createMemoryStore(players)
  let current: MemoryStore = standby
  let isPromoted = false
  const store: WalletStore = {
    contractVersion: 2,
    load: keys => current.load(keys),
    async commit(changes) {
      const result = await current.commit(changes)
      if (isPromoted || result.status !== 'committed') return result
      unsent.push(changes)
      const [sent] = unsent.length > lag ? unsent.splice(0, 1) : []
      if (sent !== undefined) await standby.commit(sent)
      return result
    },
  }
  return {
    breakage: {
      store: memory => {
        current = memory
        return store
      },
    } satisfies Breakage,
    /** The primary is gone. */
    promote() {
      isPromoted = true
      current = standby
    },
    /** Settles without an answer that has a balance. */
    settle: async (settlement: Parameters<typeof recordSettlement>[1]) => {
      const outcome = await recordSettlement(store, settlement)
      if (!outcome.ok) return { ok: false as const, errorCode: outcome.errorCode }
      return
    },
    /** What the standby had not received when it was promoted. */
    lost: () => unsent.map(({ transaction }) => transaction),
  }
}
