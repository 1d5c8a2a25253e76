/** The context of a case: the harness, the options, the trace, and the stores that it opens. */
import type { Player } from '../store.js'
import { withTimeout } from '../timeout.js'
import { anna, ben } from './changes.js'
import type { CaseOptions } from './harness.js'
import { callHook } from './hook-calls.js'
import type { KitHarness } from './limit-harness.js'
import { short, Trace } from './trace.js'
import { type Opened, Wallet } from './wallet.js'

const timedOut = Symbol('timed out')

/** A case before it knows its harness. `WS`: of a store; `WL`: of limits. */
export interface CaseDefinition {
  id: `WS-${string}` | `WL-${string}`
  level: 'MUST' | 'SHOULD'
  name: string
  /** The optional hooks that the case uses. A harness without one of them skips the case. */
  needs?: readonly (keyof KitHarness)[]
  /**
   * `'global'`: about ids that are unique across all players. `'player'`: about partitions. By default the
   * case applies to both.
   */
  idScope?: 'global' | 'player'
  run(context: CaseContext): Promise<void>
}

/** The options of the kit with every default applied. */
export type ContextOptions = Required<Omit<CaseOptions, 'only'>>

/** The trace names this many players and only counts the others. */
const namedPlayersMax = 12

export class CaseContext {
  readonly trace: Trace = new Trace()
  /** The case has ended, passed or failed: loops that still run beside it stop. */
  over = false
  /** What a report should say of the passed case. */
  remark: string | null = null
  readonly harness: KitHarness
  readonly options: ContextOptions
  readonly #openedStores: Opened[] = []

  constructor(harness: KitHarness, options: ContextOptions) {
    this.harness = harness
    this.options = options
  }

  /**
   * Whether no two players may have the same id (`idScope`). A case that would give them one is limited by
   * it, and its remark says so.
   */
  keepsIdsApart(): boolean {
    const isLimited = this.harness.idScope === 'player'
    if (isLimited) this.remark = "no two players with the same ids: idScope is 'player'"
    return isLimited
  }

  /** Opens a store that has these players and no other record. */
  async open(players: readonly Player[] = [anna, ben]): Promise<Wallet> {
    const named = players
      .slice(0, namedPlayersMax)
      .map(({ playerId, currency, balance }) => `${short(playerId)} has ${balance} ${currency}`)
    if (players.length > namedPlayersMax) named.push(`and ${players.length - namedPlayersMax} more`)
    this.trace.note('kit', `opens a store: ${named.join(', ')}`)
    const { harness, trace } = this
    const copies = players.map(player => ({ ...player }))
    const opened = await callHook(trace, 'open', () => harness.open(copies))
    this.#openedStores.push(opened)
    const knownPlayerId = players[0]?.playerId ?? 'unknown-player'
    return new Wallet({ harness, trace, opened, knownPlayerId, sent: new Map() }, opened.store, 'store')
  }

  async closeAll(): Promise<void> {
    for (const opened of this.#openedStores.splice(0))
      await callHook(this.trace, 'close', () => this.harness.close?.(opened))
  }

  check(holds: boolean, expected: string, actual: unknown): asserts holds {
    this.trace.check(holds, expected, actual)
  }

  /** Waits for the promise, but not longer than this. */
  async atMost(timeoutMs: number, promise: Promise<unknown>): Promise<void> {
    await withTimeout<unknown>(promise, timeoutMs, () => undefined)
  }

  /** Fails instead of waiting forever. Only a store that blocks reaches the timeout. */
  async withTimeout<T>(
    expected: string,
    promise: Promise<T>,
    timeoutMs = this.options.timeoutMs,
  ): Promise<T> {
    const first = await withTimeout<T | typeof timedOut>(promise, timeoutMs, () => timedOut)
    if (first !== timedOut) return first
    const { unanswered } = this.trace
    const open = unanswered.length === 0 ? '' : `; still unanswered: ${unanswered.join('; ')}`
    this.trace.check(false, expected, `nothing after ${timeoutMs} ms${open}`)
    throw new Error('unreachable: check has thrown')
  }
}
