/**
 * A store as engineers write them over a database: row locks, a round trip between any two steps, and a PAM
 * that moves money beside it. This one is sound. Each of its steps is a method of its own, so that a mutant can
 * get exactly one of them wrong.
 */
import { add, compare, type Decimal, decimalsOf, wholeDigitsOf } from '../../src/money.js'
import type {
  Bet,
  CommitResult,
  Player,
  Transaction,
  WalletChanges,
  WalletKeys,
  WalletSnapshot,
  WalletStore,
} from '../../src/store.js'
import type { ExternalSettlement, HeldCommit, StoreHarness } from '../../src/testing/harness.js'

/** What the columns hold, as in `numeric(33, 18)`. */
const limits = { digits: 33, scale: 18 }

/** What all connections share, and what survives a crash: three tables, their locks, a clock. */
export class Database {
  readonly players = new Map<string, Player>()
  readonly bets = new Map<string, Bet>()
  readonly transactions = new Map<string, Transaction>()
  locks = new Locks()
  /** Raised by a crash. Who connected before it is cut off. */
  epoch = 0
  nowMs = 0
  /** How to undo what was written and not yet synced: a crash does so. A sound store leaves nothing here. */
  readonly unsynced: (() => void)[] = []
  private nextHold: (HeldCommit & { reach(): void; released: Promise<void> }) | null = null

  /** The next commit will stop in its middle. */
  hold(): HeldCommit {
    let reach = () => {}
    let release = () => {}
    const reached = new Promise<void>(resolve => {
      reach = resolve
    })
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    this.nextHold = { reached, reach, released, release }
    return { reached, release }
  }

  /** Where a commit stops if it is to be held. */
  async heldHere(): Promise<void> {
    const hold = this.nextHold
    if (hold === null) return
    this.nextHold = null
    hold.reach()
    const crashed = new Promise<void>(resolve => {
      this.cutOff.push(resolve)
    })
    await Promise.race([hold.released, crashed])
  }

  private readonly cutOff: (() => void)[] = []

  crash(): void {
    this.epoch += 1
    this.locks = new Locks()
    this.nextHold = null
    for (const undo of this.unsynced.splice(0).reverse()) undo()
    for (const cut of this.cutOff.splice(0)) cut()
  }
}

export class Deadlock extends Error {}
export class OutOfRange extends Error {}
export class ConnectionLost extends Error {}

/** Exclusive locks by name. Who would wait in a circle gets a {@link Deadlock} instead. */
export class Locks {
  private readonly held = new Map<string, { owner: object; queue: { owner: object; go(): void }[] }>()
  private readonly waiting = new Map<object, string>()

  async take(owner: object, name: string): Promise<void> {
    const lock = this.held.get(name)
    if (lock === undefined) {
      this.held.set(name, { owner, queue: [] })
      return
    }
    if (lock.owner === owner) return
    let ahead: object | undefined = lock.owner
    while (ahead !== undefined) {
      if (ahead === owner) throw new Deadlock('deadlock detected')
      const awaited = this.waiting.get(ahead)
      ahead = awaited === undefined ? undefined : this.held.get(awaited)?.owner
    }
    this.waiting.set(owner, name)
    await new Promise<void>(go => {
      lock.queue.push({ owner, go })
    })
  }

  releaseAll(owner: object): void {
    for (const [name, lock] of this.held) {
      if (lock.owner !== owner) continue
      const next = lock.queue.shift()
      if (next === undefined) {
        this.held.delete(name)
      } else {
        lock.owner = next.owner
        this.waiting.delete(next.owner)
        next.go()
      }
    }
  }
}

/** What a commit is about to write: whole rows. */
export interface Rows {
  transaction: Transaction
  bet: Bet | null
  player: Player
  /** Where the balance does not move, its row is left alone. */
  moves: boolean
}

type WhoseTransaction = Pick<Transaction, 'operation' | 'transactionId' | 'playerId' | 'betId'>
type WhoseBet = Pick<Bet, 'betId' | 'playerId'>

/** One connection of the store; the last two methods are the PAM's own code. */
export class ReferenceStore implements WalletStore {
  readonly contractVersion = 1
  readonly database: Database
  private readonly epoch: number

  constructor(database: Database) {
    this.database = database
    this.epoch = database.epoch
  }

  get locks(): Locks {
    return this.database.locks
  }

  // How rows are found.

  id(text: string): string {
    return text
  }
  transactionKey({ operation, transactionId }: WhoseTransaction): string {
    return `${operation} ${this.id(transactionId)}`
  }
  betKey({ betId }: WhoseBet): string {
    return this.id(betId)
  }
  playerKey(playerId: string): string {
    return this.id(playerId)
  }

  // Looking.

  async load(keys: WalletKeys): Promise<WalletSnapshot> {
    await this.roundTrip()
    const snapshot = {
      bet: this.readBet(keys),
      transaction: this.readTransaction(keys),
      player: this.readPlayer(keys),
    }
    await this.roundTrip()
    return snapshot
  }

  readBet(keys: WalletKeys): Bet | null {
    return structuredClone(this.storedBet(keys) ?? null)
  }
  readTransaction(keys: WalletKeys): Transaction | null {
    return structuredClone(this.storedTransaction(keys) ?? null)
  }
  readPlayer({ playerId }: WalletKeys): Player | null {
    return structuredClone(this.storedPlayer(playerId) ?? null)
  }

  storedBet(whose: WhoseBet): Bet | undefined {
    return this.database.bets.get(this.betKey(whose))
  }
  storedTransaction(whose: WhoseTransaction): Transaction | undefined {
    return this.database.transactions.get(this.transactionKey(whose))
  }
  storedPlayer(playerId: string): Player | undefined {
    return this.database.players.get(this.playerKey(playerId))
  }

  // Committing.

  async commit({ transaction, bet, balance, request }: WalletChanges): Promise<CommitResult> {
    const changes = this.copied({ transaction, bet, balance, request })
    const owner = {}
    try {
      await this.begin(changes)
      for (const name of this.locksOf(changes)) await this.locks.take(owner, name)
      await this.roundTrip()
      if (!this.guardsHold(changes)) return { status: 'conflict' }
      const rows = this.rowsOf(changes)
      await this.write(rows, changes)
      await this.roundTrip()
      return this.answer(rows, changes)
    } catch (error) {
      return this.failed(error, changes)
    } finally {
      this.locks.releaseAll(owner)
    }
  }

  copied(changes: WalletChanges): WalletChanges {
    return structuredClone(changes)
  }

  async begin(_changes: WalletChanges): Promise<void> {
    await this.roundTrip()
  }

  /** In one order for everybody: transaction, bet, player. */
  locksOf({ transaction }: WalletChanges): string[] {
    return [
      `transaction ${this.transactionKey(transaction)}`,
      `bet ${this.betKey(transaction)}`,
      `player ${this.playerKey(transaction.playerId)}`,
    ]
  }

  guardsHold(changes: WalletChanges): boolean {
    return this.guard1(changes) && this.guard2(changes) && this.guard3(changes)
  }

  guard1({ transaction }: WalletChanges): boolean {
    return this.storedTransaction(transaction) === undefined
  }

  guard2({ bet }: WalletChanges): boolean {
    return bet === null || this.revisionFits(bet, this.storedBet(bet))
  }
  revisionFits(bet: Bet, stored: Bet | undefined): boolean {
    return (stored?.revision ?? 0) === bet.revision - 1
  }

  guard3(changes: WalletChanges): boolean {
    const player = this.storedPlayer(changes.transaction.playerId)
    return player !== undefined && this.currencyFits(player, changes) && this.fundsSuffice(player, changes)
  }
  currencyFits(player: Player, { balance }: WalletChanges): boolean {
    return balance === null || player.currency === balance.currency
  }
  fundsSuffice(player: Player, { balance }: WalletChanges): boolean {
    if (balance === null || balance.floor === null) return true
    return !this.isLess(this.sum(player.balance, balance.delta), balance.floor)
  }

  rowsOf(changes: WalletChanges): Rows {
    const player = this.storedPlayer(changes.transaction.playerId)
    if (player === undefined) throw new Error('the player is gone')
    return {
      transaction: this.transactionRow(changes.transaction),
      bet: changes.bet && this.betRow(changes.bet),
      player: this.playerRow(player, changes),
      moves: changes.balance !== null,
    }
  }
  transactionRow(transaction: Transaction): Transaction {
    const { amount, delta } = transaction
    return {
      ...transaction,
      amount: amount === null ? null : this.column(amount),
      delta: this.column(delta),
      walletTransactionId: `W${this.database.transactions.size + 1}`,
    }
  }
  betRow(bet: Bet): Bet {
    const credits: Bet['credits'] = {}
    for (const type of ['BET_PAID', 'VOIDED', 'CASHOUT'] as const) {
      const credit = bet.credits[type]
      if (credit === undefined) continue
      const { live, reversed, owed } = credit
      credits[type] = {
        live: live === null ? null : this.column(live),
        reversed: this.column(reversed),
        owed: this.column(owed),
      }
    }
    return { ...bet, stake: this.column(bet.stake), credits }
  }
  playerRow(player: Player, { balance }: WalletChanges): Player {
    if (balance === null) return player
    return { ...player, balance: this.column(this.sum(player.balance, balance.delta)) }
  }

  /** All of it in one step: what comes before can be cut off, what comes after is durable. */
  async write(rows: Rows, _changes: WalletChanges): Promise<void> {
    await this.database.heldHere()
    await this.roundTrip()
    this.putTransaction(rows)
    this.putBet(rows)
    this.putPlayer(rows)
  }
  putTransaction({ transaction }: Rows): void {
    this.database.transactions.set(this.transactionKey(transaction), transaction)
  }
  putBet({ bet }: Rows): void {
    if (bet !== null) this.database.bets.set(this.betKey(bet), bet)
  }
  putPlayer({ player, moves }: Rows): void {
    if (moves) this.database.players.set(this.playerKey(player.playerId), player)
  }

  answer({ player, transaction }: Rows, _changes: WalletChanges): CommitResult {
    const { walletTransactionId } = transaction
    return { status: 'committed', balance: player.balance, walletTransactionId }
  }

  failed(error: unknown, { balance }: WalletChanges): CommitResult {
    if (error instanceof Deadlock) return { status: 'conflict' } // the database took all of it back
    if (error instanceof OutOfRange && balance?.delta.startsWith('-')) {
      return { status: 'refused', errorCode: 'AMOUNT_OUT_OF_RANGE', description: 'the amount cannot be kept' }
    }
    throw error // its fate is unknown, or money that was to be given cannot be kept
  }

  // Amounts.

  /** As the column keeps it. */
  column(amount: Decimal): Decimal {
    const { digits, scale } = limits
    if (decimalsOf(amount) > scale || wholeDigitsOf(amount) > digits - scale) {
      throw new OutOfRange(`numeric(${digits}, ${scale}) cannot hold ${amount}`)
    }
    return amount
  }
  sum(a: Decimal, b: Decimal): Decimal {
    return add(a, b)
  }
  isLess(a: Decimal, b: Decimal): boolean {
    return compare(a, b) < 0
  }

  /** Others come in between here. Who is cut off from the database learns it here. */
  async roundTrip(): Promise<void> {
    await undefined
    if (this.epoch !== this.database.epoch) throw new ConnectionLost('the connection was lost')
  }

  // The PAM's own code.

  async deposit(playerId: string, amount: Decimal): Promise<void> {
    const owner = {}
    await this.locks.take(owner, `player ${this.playerKey(playerId)}`)
    await this.roundTrip()
    this.addOutside(playerId, amount)
    this.locks.releaseAll(owner)
  }

  async settle({ playerId, betId, type, amount }: ExternalSettlement): Promise<void> {
    const owner = {}
    const whose = { playerId, betId }
    await this.locks.take(owner, `bet ${this.betKey(whose)}`)
    await this.locks.take(owner, `player ${this.playerKey(playerId)}`)
    await this.roundTrip()
    const bet = this.storedBet(whose)
    if (bet === undefined) throw new Error(`no bet ${betId}`)
    this.database.bets.set(this.betKey(whose), this.settled(bet, type, amount))
    this.addOutside(playerId, amount)
    this.locks.releaseAll(owner)
  }
  settled(bet: Bet, type: ExternalSettlement['type'], amount: Decimal): Bet {
    const { live, reversed, owed } = bet.credits[type] ?? { live: null, reversed: '0', owed: '0' }
    const credit = { live: add(live ?? '0', amount), reversed, owed }
    return { ...bet, credits: { ...bet.credits, [type]: credit }, revision: bet.revision + 1 }
  }

  addOutside(playerId: string, amount: Decimal): void {
    const player = this.storedPlayer(playerId)
    if (player === undefined) throw new Error(`no player ${playerId}`)
    this.database.players.set(this.playerKey(playerId), { ...player, balance: add(player.balance, amount) })
  }
}

export interface OpenedReference {
  store: ReferenceStore
  database: Database
}

/** Every hook of the kit, for the reference or for a mutant of it. */
export function referenceHarness(
  Store: new (database: Database) => ReferenceStore = ReferenceStore,
): Required<StoreHarness<OpenedReference>> {
  return {
    limits,
    open(players) {
      const database = new Database()
      const store = new Store(database)
      for (const player of players) database.players.set(store.playerKey(player.playerId), player)
      return { store, database }
    },
    close: ({ database }) => database.crash(),
    reopen: ({ database }) => new Store(database),
    crash(opened) {
      opened.database.crash()
      opened.store = new Store(opened.database)
      return opened.store
    },
    depositExternally: ({ store }, playerId, amount) => store.deposit(playerId, amount),
    settleExternally: ({ store }, settlement) => store.settle(settlement),
    holdCommit: ({ database }) => database.hold(),
    advanceClock({ database }, milliseconds) {
      database.nowMs += milliseconds
    },
  }
}
