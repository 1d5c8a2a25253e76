/** Drills against wallets of the tests, with faults that are functions instead of commands. */
import { recordSettlement, type WalletChanges, type WalletStore } from '../../../src/index.js'
import { createMemoryStore, type MemoryStore } from '../../../src/stores/memory.js'
import { type DrillOptions, drill } from '../../../src/tools/drill/drill.js'
import type { DrillReport, Fault } from '../../../src/tools/drill/report.js'
import type { SimulatorClock } from '../../../src/tools/simulator/index.js'
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

export interface Drilled {
  report: DrillReport
  /** The commands that were run, in their order. */
  commands: string[]
  events: string[]
  /** The names of the faults whose repair was due, after each change. */
  due: string[][]
}

export const kill: Fault = { name: 'kill', command: 'kill it', repair: 'start it' }

/**
 * @param run what a command does
 * @param wallet a running one, which stays open; default: a new one
 */
export async function drillOf(
  breakage: Breakage,
  options: Partial<DrillOptions> = {},
  run: (command: string, wallet: RunningWallet) => Promise<void> | void = () => {},
): Promise<Drilled> {
  const wallet = await startWallet(breakage)
  const commands: string[] = []
  const events: string[] = []
  const due: string[][] = []
  try {
    const report = await drill({
      ...{ baseUrl: wallet.baseUrl, credentials, players: players.map(({ playerId }) => playerId), seed: 1 },
      ...{ faults: [kill], callsPerFault: 60, concurrency: 4, clock: virtualClock() },
      // Without a limit: no silence is watched.
      ...{ repairAfterMs: Number.POSITIVE_INFINITY, giveUpAfterMs: Number.POSITIVE_INFINITY },
      readDurability: null,
      async runCommand(command) {
        commands.push(command)
        await run(command, wallet)
      },
      onEvent: text => events.push(text),
      onRepairsDue: faults => due.push(faults.map(({ name }) => name)),
      ...options,
    })
    return { report, commands, events, due }
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
