/** The context of a case: the harness, the options, the trace, and the stores that it opens. */
import type { Account, Decimal } from '../store.js'
import { withTimeout } from '../timeout.js'
import { anna, ben } from './changes.js'
import { sameAmount } from './equality.js'
import type { CaseOptions, StoreHarness } from './harness.js'
import { callHook } from './hook-calls.js'
import { short, Trace } from './trace.js'
import { type Opened, Wallet } from './wallet.js'

const timedOut = Symbol('timed out')

/** A case before it knows its harness. */
export interface CaseDefinition extends CaseConditions {
  id: string
  name: string
  run(context: CaseContext): Promise<void>
}

interface CaseConditions {
  /** @default MUST */
  level?: 'MUST' | 'SHOULD'
  /** The optional hooks that the case uses. A harness without one of them skips the case. */
  needs?: readonly (keyof StoreHarness)[]
  /**
   * `'global'`: about ids that are unique across all players. `'player'`: about partitions. By default the
   * case applies to both.
   */
  idScope?: 'global' | 'player'
}

export type Run = (wallet: Wallet, context: CaseContext) => Promise<void>

/** A case with conditions. Its wallet has these players, by default anna and ben. */
interface CaseRow extends CaseConditions {
  players?: readonly Account[]
  run: Run
}

/** A case that opens its own wallets. */
interface CaseWithoutWallet extends CaseConditions {
  runAlone(context: CaseContext): Promise<void>
}

/** The cases of a table: `'WS-20 what the store must do': how it is tested`. */
export function casesOf(
  table: Record<`WS-${number} ${string}`, Run | CaseRow | CaseWithoutWallet>,
): CaseDefinition[] {
  return Object.entries(table).map(([title, row]) => {
    const [id = ''] = title.split(' ', 1)
    const name = title.slice(id.length + 1)
    if ('runAlone' in row) return { ...row, id, name, run: row.runAlone }
    const { players, run, ...conditions } = typeof row === 'function' ? { players: undefined, run: row } : row
    return { ...conditions, id, name, run: async context => run(await context.open(players), context) }
  })
}

/** Starts many calls in this order, without waiting for answers in between. */
export function concurrently<T>(count: number, start: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => start(index)))
}

/** The options of the kit with every default applied. */
export type ContextOptions = Required<Omit<CaseOptions, 'only'>>

/** The trace names this many players and only counts the others. */
const namedPlayersMax = 12

export class CaseContext {
  readonly trace: Trace = new Trace()
  /** The case has ended, passed or failed: loops that still run beside it stop. */
  over = false
  /** What the commits of its stores have done. */
  readonly added = { credits: 0 }
  /** What a report should say of the passed case. */
  remark: string | null = null
  readonly harness: StoreHarness
  readonly options: ContextOptions
  readonly #openedStores: Opened[] = []

  constructor(harness: StoreHarness, options: ContextOptions) {
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
  async open(players: readonly Account[] = [anna, ben]): Promise<Wallet> {
    const named = players
      .slice(0, namedPlayersMax)
      .map(({ playerId, currency, balance }) => `${short(playerId)} has ${balance} ${currency}`)
    if (players.length > namedPlayersMax) named.push(`and ${players.length - namedPlayersMax} more`)
    this.trace.note('kit', `opens a store: ${named.join(', ')}`)
    const { harness, trace, added } = this
    const copies = players.map(player => ({ ...player }))
    const opened = await callHook(trace, 'open', () => harness.open(copies))
    this.#openedStores.push(opened)
    const knownPlayerId = players[0]?.playerId ?? 'unknown-player'
    return new Wallet(
      { harness, trace, opened, knownPlayerId, sent: new Map(), added },
      opened.store,
      'store',
    )
  }

  async closeAll(): Promise<void> {
    for (const opened of this.#openedStores.splice(0))
      await callHook(this.trace, 'close', () => this.harness.close?.(opened))
  }

  /** Tells the compiler nothing: `trace.check` asserts what holds. */
  check(holds: boolean, expected: string, actual: unknown): void {
    this.trace.check(holds, expected, actual)
  }

  expectCredits(): void {
    this.check(this.added.credits > 0, 'settlements that are committed without a load', 'none')
  }

  expectAmount(actual: unknown, expected: Decimal, where: string): void {
    this.check(sameAmount(actual, expected), `${expected} ${where}`, actual)
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
