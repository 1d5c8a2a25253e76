/** Where a case plays: opens stores, looks at them, and tells the story. */
import { compare, type Decimal, isDecimal } from '../money.js'
import type {
  Bet,
  CommitResult,
  Operation,
  Player,
  Transaction,
  WalletChanges,
  WalletStore,
} from '../store.js'
import { anna, ben } from './changes.js'
import type { CaseOptions, StoreHarness } from './harness.js'
import { short, shown, shownResult, Trace, tracedStore } from './story.js'

export type Opened = { store: WalletStore }

/** What the random cases go by, with nothing left open. */
export type StageOptions = Required<Omit<CaseOptions, 'only'>>

/** So many players are named in the story, and the others counted. */
const playersTold = 12

export class Stage {
  readonly story: Trace = new Trace()
  /** The case has ended, by whatever: what still runs beside it stops. */
  over = false
  readonly harness: StoreHarness<Opened>
  readonly options: StageOptions
  private readonly openedStores: Opened[] = []

  constructor(harness: StoreHarness<Opened>, options: StageOptions) {
    this.harness = harness
    this.options = options
  }

  /** Opens a store with these players, and nothing else in it. */
  async open(players: readonly Player[] = [anna, ben]): Promise<Wallet> {
    const told = players
      .slice(0, playersTold)
      .map(({ playerId, currency, balance }) => `${short(playerId)} has ${balance} ${currency}`)
    if (players.length > playersTold) told.push(`and ${players.length - playersTold} more`)
    this.story.tell('kit', `opens a store: ${told.join(', ')}`)
    const opened = await this.harness.open(players.map(player => ({ ...player })))
    this.openedStores.push(opened)
    return new Wallet(this, opened, opened.store, 'store', players[0]?.playerId ?? 'nobody')
  }

  async closeAll(): Promise<void> {
    for (const opened of this.openedStores.splice(0)) await this.harness.close?.(opened)
  }

  check(holds: boolean, expected: string, found: unknown): asserts holds {
    this.story.check(holds, expected, found)
  }

  /** Fails instead of waiting for ever. The patience is only used up by a store that blocks. */
  async inTime<T>(what: string, promise: Promise<T>, timeoutMs = this.options.timeoutMs): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>(resolve => {
      timer = setTimeout(resolve, timeoutMs, 'late')
    })
    // The timer goes whatever comes first, a rejection too: it would keep the process alive.
    const first = await Promise.race([promise, late]).finally(() => clearTimeout(timer))
    if (first !== 'late') return first
    const { unanswered } = this.story
    const since = unanswered.length === 0 ? '' : `; still without an answer: ${unanswered.join('; ')}`
    this.story.check(false, what, `nothing after ${timeoutMs} ms${since}`)
    throw first
  }
}

/** One connection to one opened store. */
export class Wallet {
  /** Every call of it is told. */
  readonly store: WalletStore
  private readonly stage: Stage
  private readonly raw: WalletStore
  readonly opened: Opened
  /** A player who is there, to be named in `load` where a case looks for something else. */
  private readonly somebody: string

  constructor(stage: Stage, opened: Opened, raw: WalletStore, who: string, somebody: string) {
    this.stage = stage
    this.opened = opened
    this.raw = raw
    this.somebody = somebody
    this.store = tracedStore(raw, stage.story, who)
  }

  /** The same data through the hook `reopen` or `crash`. */
  async through(hook: 'reopen' | 'crash'): Promise<Wallet> {
    this.stage.story.tell(
      'kit',
      hook === 'reopen' ? 'opens a second connection' : 'crashes the store and opens it again',
    )
    const call = this.stage.harness[hook] as (opened: Opened) => WalletStore | Promise<WalletStore>
    return new Wallet(
      this.stage,
      this.opened,
      await call(this.opened),
      hook === 'reopen' ? 'second connection' : 'store',
      this.somebody,
    )
  }

  commit(changes: WalletChanges): Promise<CommitResult> {
    return this.store.commit(changes)
  }

  /** Commits what must be possible. */
  async committed(
    changes: WalletChanges,
    why = 'every guard holds',
  ): Promise<CommitResult & { status: 'committed' }> {
    const result = await this.commit(changes)
    this.stage.check(result?.status === 'committed', `committed, since ${why}`, shownResult(result))
    return result
  }

  /** Commits what must not be, and sees that nothing of it is written. */
  async conflicts(changes: WalletChanges, guard: string): Promise<void> {
    const before = await this.picture(changes)
    const result = await this.commit(changes)
    this.stage.check(result?.status === 'conflict', `conflict, since ${guard}`, shownResult(result))
    const after = await this.picture(changes)
    const written = Object.keys(before).filter(part => after[part] !== before[part])
    this.stage.check(
      written.length === 0,
      `nothing written by a conflict: ${written.map(part => `${part} ${before[part]}`).join(', ')}, as before`,
      written.map(part => `${part} ${after[part]}`).join(', '),
    )
  }

  async bet(betId: string): Promise<Bet | null> {
    return (await this.look({ betId })).bet
  }

  async transaction(operation: Operation, transactionId: string): Promise<Transaction | null> {
    return (await this.look({ operation, transactionId })).transaction
  }

  async player(playerId: string): Promise<Player | null> {
    return (await this.look({ playerId })).player
  }

  async balance(playerId: string): Promise<Decimal> {
    const player = await this.player(playerId)
    this.stage.check(player !== null, `the player ${playerId}`, null)
    return player.balance
  }

  async expectBalance(playerId: string, expected: Decimal, why: string | null = null): Promise<void> {
    const balance = await this.balance(playerId)
    const told = `${short(playerId)} to have exactly ${expected}${why === null ? '' : `: ${why}`}`
    this.stage.check(sameAmount(balance, expected), told, balance)
  }

  async expectBet(expected: Bet): Promise<void> {
    const found = await this.bet(expected.betId)
    this.stage.check(found !== null && sameBet(found, expected), `the bet ${shown(expected)}`, found)
  }

  /** Everything that the changes touch, part by part as text: to be compared with itself. */
  private async picture({ transaction, bet }: WalletChanges): Promise<Record<string, string>> {
    const { operation, transactionId, playerId, betId } = transaction
    const found = await this.raw.load({ operation, transactionId, playerId, betId: bet?.betId ?? betId })
    const { player } = found
    return {
      player: shown(player && { ...player, balance: plain(player.balance) }),
      bet: shown(found.bet),
      transaction: shown(found.transaction),
    }
  }

  private look(
    of: Partial<{ operation: Operation; transactionId: string; playerId: string; betId: string }>,
  ) {
    return this.raw.load({
      operation: 'placebet',
      transactionId: 'not used',
      playerId: this.somebody,
      betId: 'not used',
      ...of,
    })
  }
}

function plain(amount: unknown): unknown {
  return isDecimal(amount) && amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount
}

export function sameAmount(a: unknown, b: unknown): boolean {
  if (a === null || b === null) return a === b
  return isDecimal(a) && isDecimal(b) && compare(a, b) === 0
}

export function sameBet(a: Bet, b: Bet): boolean {
  const types = ['BET_PAID', 'VOIDED', 'CASHOUT'] as const
  return (
    a.betId === b.betId &&
    a.playerId === b.playerId &&
    a.currency === b.currency &&
    a.status === b.status &&
    a.revision === b.revision &&
    sameAmount(a.stake, b.stake) &&
    types.every(type => {
      const [x, y] = [a.credits[type], b.credits[type]]
      if (x === undefined || y === undefined) return x === y
      return sameAmount(x.live, y.live) && sameAmount(x.reversed, y.reversed) && sameAmount(x.owed, y.owed)
    })
  )
}

export function sameTransaction(a: Transaction, b: Transaction): boolean {
  return (
    a.operation === b.operation &&
    a.transactionId === b.transactionId &&
    a.playerId === b.playerId &&
    a.betId === b.betId &&
    sameAmount(a.amount, b.amount) &&
    a.currency === b.currency &&
    a.type === b.type &&
    sameAmount(a.delta, b.delta) &&
    a.refusal?.errorCode === b.refusal?.errorCode &&
    a.refusal?.description === b.refusal?.description &&
    (a.refusal === null) === (b.refusal === null)
  )
}
