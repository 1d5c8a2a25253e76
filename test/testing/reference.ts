/**
 * The reference store: a correct store as engineers write it over a database, with row locks, a round trip
 * between any two steps, and external writers. Every step is a separate method, so that a mutant can override
 * exactly one.
 */
import { add, compare, type Decimal, decimalsOf, isZero, wholeDigitsOf } from '../../src/money.js'
import type { SettlementRequest } from '../../src/requests.js'
import type {
  Account,
  AddedCredit,
  Bet,
  CommitResult,
  Transaction,
  WalletChanges,
  WalletKeys,
  WalletSnapshot,
  WalletStore,
} from '../../src/store.js'
import type { HeldCommit, HeldPlayer, StoreHarness } from '../../src/testing/harness.js'

/** The range of the columns, as in `numeric(33, 18)`. */
const limits = { digits: 33, scale: 18 }

/** Shared by all connections, and not lost in a crash: three tables, their locks, a clock. */
export class Database {
  /** Accounts, by player and currency. */
  readonly players = new Map<string, Account>()
  readonly bets = new Map<string, Bet>()
  readonly transactions = new Map<string, Transaction>()
  /** The PAM's own rows, which its hook writes with each commit. */
  readonly ownRows: { playerId: string; currency: string | null; amount: Decimal }[] = []
  locks = new Locks()
  /** Increased by a crash: connections of an earlier epoch are lost. */
  epoch = 0
  nowMs = 0
  /** Players whose account the PAM has closed: the store refuses their debits. */
  readonly closed = new Set<string>()
  /** Players above a limit of the PAM: the store refuses their stakes. */
  readonly limited = new Set<string>()
  /** A crash runs these to undo unsynced writes. A correct store adds none. */
  readonly unsynced: (() => void)[] = []
  private nextHold: (HeldCommit & { reach(): void; released: Promise<void> }) | null = null

  /** Arranges that the next commit stops midway. */
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

  /** A held commit stops here. */
  async stopIfHeld(): Promise<void> {
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

  /** While the replicas are stopped, no commit is confirmed. `null`: they run. */
  private replication: Promise<void> | null = null

  /** @returns a function that resumes it */
  stopReplication(): () => void {
    let resume = () => {}
    this.replication = new Promise<void>(resolve => {
      resume = resolve
    })
    return () => {
      this.replication = null
      resume()
    }
  }

  /** A commit is confirmed by the replicas, or lost in a crash. */
  async confirm(): Promise<void> {
    if (this.replication === null) return
    const crashed = new Promise<void>(resolve => {
      this.cutOff.push(resolve)
    })
    await Promise.race([this.replication, crashed])
  }

  crash(): void {
    this.epoch += 1
    this.locks = new Locks()
    this.nextHold = null
    for (const undo of this.unsynced.splice(0).reverse()) undo()
    for (const cut of this.cutOff.splice(0)) cut()
  }
}

export class Deadlock extends Error {}
export class LockTimeout extends Error {}
export class OutOfRange extends Error {}
export class ConnectionLost extends Error {}

/**
 * Exclusive locks by name. A wait that would close a cycle throws {@link Deadlock} instead; a wait for an
 * owner who keeps a lock longer than any lock timeout throws {@link LockTimeout}.
 */
export class Locks {
  private readonly held = new Map<string, { owner: object; queue: { owner: object; go(): void }[] }>()
  private readonly waiting = new Map<object, string>()
  /** Owners who keep their locks. */
  private readonly keepers = new Set<object>()

  /** Takes a lock, and keeps it until `releaseAll`. */
  async keep(owner: object, name: string): Promise<void> {
    await this.take(owner, name)
    this.keepers.add(owner)
  }

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
    if (this.keepers.has(lock.owner)) throw new LockTimeout('lock wait timeout exceeded')
    this.waiting.set(owner, name)
    await new Promise<void>(go => {
      lock.queue.push({ owner, go })
    })
  }

  isKept(name: string): boolean {
    return this.keepers.has(this.held.get(name)?.owner ?? this)
  }

  releaseAll(owner: object): void {
    this.keepers.delete(owner)
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

/** The rows that a commit writes. */
export interface Rows {
  transaction: Transaction
  bet: Bet | null
  player: Account
  /** `false`: the commit does not change the balance, and does not write the player's row. */
  balanceChanges: boolean
}

type TransactionKeys = Pick<Transaction, 'operation' | 'transactionId' | 'playerId' | 'betId'>
type BetKeys = Pick<Bet, 'betId' | 'playerId'>

/** One connection of the store. The last methods are the PAM code beside it. */
export class ReferenceStore implements WalletStore {
  readonly contractVersion = 2
  readonly addsCredits: boolean = true
  readonly database: Database
  private readonly epoch: number

  constructor(database: Database) {
    this.database = database
    this.epoch = database.epoch
  }

  get locks(): Locks {
    return this.database.locks
  }

  // Keys of rows.

  id(text: string): string {
    return text
  }
  transactionKey({ operation, transactionId }: TransactionKeys): string {
    return `${operation} ${this.id(transactionId)}`
  }
  betKey({ betId }: BetKeys): string {
    return this.id(betId)
  }
  playerKey(playerId: string): string {
    return this.id(playerId)
  }
  accountKey({ playerId, currency }: Omit<Account, 'balance'>): string {
    return `${this.playerKey(playerId)}\n${currency}`
  }

  // Loading.

  async load(keys: WalletKeys): Promise<WalletSnapshot> {
    await this.roundTrip()
    const snapshot = {
      bet: this.readBet(keys),
      transaction: this.readTransaction(keys),
      accounts: this.readAccounts(keys),
    }
    await this.roundTrip()
    return snapshot
  }

  async loadConfirmed(keys: WalletKeys): Promise<WalletSnapshot> {
    const snapshot = await this.load(keys)
    await this.database.confirm()
    await this.roundTrip()
    return snapshot
  }

  readBet(keys: WalletKeys): Bet | null {
    return structuredClone(this.storedBet(keys) ?? null)
  }
  readTransaction(keys: WalletKeys): Transaction | null {
    return structuredClone(this.storedTransaction(keys) ?? null)
  }
  readAccounts(keys: WalletKeys): Account[] {
    const known = this.storedAccounts(keys.playerId).map(({ currency }) => currency)
    const currencies = known.length === 0 ? [undefined] : known
    return currencies.flatMap(currency => this.readPlayer(keys, currency) ?? [])
  }
  readPlayer({ playerId }: WalletKeys, currency?: string): Account | null {
    return structuredClone(this.storedPlayer(playerId, currency) ?? null)
  }

  storedBet(keys: BetKeys): Bet | undefined {
    return this.database.bets.get(this.betKey(keys))
  }
  storedTransaction(keys: TransactionKeys): Transaction | undefined {
    return this.database.transactions.get(this.transactionKey(keys))
  }
  storedAccounts(playerId: string): Account[] {
    const beginning = this.accountKey({ playerId, currency: '' })
    return [...this.database.players].flatMap(([key, account]) =>
      key.startsWith(beginning) ? [account] : [],
    )
  }
  /** @param currency of the account; without it, the first one */
  storedPlayer(playerId: string, currency?: string): Account | undefined {
    return this.storedAccounts(playerId).find(
      account => currency === undefined || account.currency === currency,
    )
  }

  // Committing.

  async commit({ transaction, bet, credit, account, request }: WalletChanges): Promise<CommitResult> {
    const changes = this.copied({ transaction, bet, credit, account, request })
    const owner = {}
    try {
      await this.begin(changes)
      for (const name of this.locksOf(changes)) await this.locks.take(owner, name)
      await this.roundTrip()
      if (!this.guardsHold(changes)) return { status: 'conflict' }
      const refusal = this.refusalOf(changes)
      if (refusal !== null) return { status: 'refused', ...refusal }
      const rows = this.rowsOf(changes)
      await this.write(rows, changes)
      await this.database.confirm()
      await this.roundTrip()
      return this.answer(rows, changes)
    } catch (error) {
      return this.answerError(error, changes)
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

  /** Every commit takes its locks in this order: transaction, bet, player. */
  locksOf({ transaction, account: { currency } }: WalletChanges): string[] {
    return [
      `transaction ${this.transactionKey(transaction)}`,
      `bet ${this.betKey(transaction)}`,
      this.accountLock(transaction.playerId, currency),
    ]
  }

  accountLock(playerId: string, currency: string): string {
    return `player ${this.accountKey({ playerId, currency })}`
  }

  guardsHold(changes: WalletChanges): boolean {
    return this.guard1(changes) && this.guard2(changes) && this.guard3(changes)
  }

  guard1({ transaction }: WalletChanges): boolean {
    return this.storedTransaction(transaction) === undefined
  }

  guard2({ transaction, bet, credit }: WalletChanges): boolean {
    if (credit !== null) {
      const stored = this.storedBet(transaction)
      return this.takesCredit(stored, credit) && this.holdsCredit(stored, credit)
    }
    return bet === null || this.revisionMatches(bet, this.storedBet(bet))
  }
  takesCredit(stored: Bet | undefined, { playerId, currency, status }: AddedCredit): boolean {
    return stored?.playerId === playerId && stored.currency === currency && stored.status === status
  }
  /** Whether the columns of the bet can hold the credit with what is live. */
  holdsCredit(stored: Bet | undefined, credit: AddedCredit): boolean {
    try {
      const bet = this.creditedBet(stored, credit)
      return bet !== undefined && this.betRow(bet) !== undefined
    } catch (error) {
      if (error instanceof OutOfRange) return false
      throw error
    }
  }
  revisionMatches(bet: Bet, stored: Bet | undefined): boolean {
    return (stored?.revision ?? 0) === bet.revision - 1
  }

  guard3(changes: WalletChanges): boolean {
    const player = this.accountOf(changes)
    return player !== undefined && this.currencyMatches(player, changes) && this.fundsSuffice(player, changes)
  }
  /** The account that the changes name; another one where there is none, so that the guard refuses. */
  accountOf({ transaction: { playerId }, account: { currency } }: WalletChanges): Account | undefined {
    return this.storedPlayer(playerId, currency) ?? this.storedPlayer(playerId)
  }
  currencyMatches(player: Account, { account }: WalletChanges): boolean {
    return player.currency === account.currency
  }
  fundsSuffice(player: Account, { account }: WalletChanges): boolean {
    if (account.floor === null) return true
    return !this.isLess(this.sum(player.balance, account.delta), account.floor)
  }

  /** The rules of the PAM. They are about debits only. */
  refusalOf({ transaction, account }: WalletChanges): { errorCode: string; description: string } | null {
    if (!account.delta.startsWith('-')) return null
    const player = this.playerKey(transaction.playerId)
    if (this.database.closed.has(player))
      return { errorCode: 'PLAYER_CLOSED', description: 'playerId: the account is closed' }
    if (this.database.limited.has(player) && transaction.operation === 'placebet')
      return { errorCode: 'LIMIT_REACHED', description: 'amount: above the limit of the player' }
    return null
  }

  rowsOf(changes: WalletChanges): Rows {
    const player = this.accountOf(changes)
    const { bet, credit } = changes
    const changed = credit === null ? bet : this.creditedBet(this.storedBet(changes.transaction), credit)
    if (player === undefined || changed === undefined) throw new Error('unknown player or bet')
    return {
      transaction: this.transactionRow(changes.transaction),
      bet: changed && this.betRow(changed),
      player: this.playerRow(player, changes),
      balanceChanges: changes.account.delta !== '0',
    }
  }
  creditedBet(stored: Bet | undefined, { type, amount }: AddedCredit): Bet | undefined {
    if (stored === undefined) return undefined
    const { live, reversed, owed } = stored.credits[type] ?? { live: null, reversed: '0', owed: '0' }
    const credit = { live: this.sum(live ?? '0', amount), reversed, owed }
    return { ...stored, credits: { ...stored.credits, [type]: credit }, revision: stored.revision + 1 }
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
  playerRow(player: Account, { account }: WalletChanges): Account {
    return { ...player, balance: this.column(this.sum(player.balance, account.delta)) }
  }

  /** All rows in one step. A crash before it loses all of them, a crash after it none. */
  async write(rows: Rows, _changes: WalletChanges): Promise<void> {
    await this.database.stopIfHeld()
    await this.roundTrip()
    this.putTransaction(rows)
    this.putBet(rows)
    this.putPlayer(rows)
    this.putOwnRow(rows.transaction)
  }
  /** What the hook of the PAM does. */
  putOwnRow({ playerId, accountCurrency: currency, delta }: Transaction): void {
    if (!isZero(delta)) this.database.ownRows.push({ playerId, currency, amount: delta })
  }
  putTransaction({ transaction }: Rows): void {
    this.database.transactions.set(this.transactionKey(transaction), transaction)
  }
  putBet({ bet }: Rows): void {
    if (bet !== null) this.database.bets.set(this.betKey(bet), bet)
  }
  putPlayer({ player, balanceChanges }: Rows): void {
    if (balanceChanges) this.database.players.set(this.accountKey(player), player)
  }

  answer({ player, transaction }: Rows, _changes: WalletChanges): CommitResult {
    const { walletTransactionId } = transaction
    return { status: 'committed', balance: player.balance, walletTransactionId }
  }

  answerError(error: unknown, { account }: WalletChanges): CommitResult {
    // The database has rolled everything back.
    if (error instanceof Deadlock || error instanceof LockTimeout) return { status: 'conflict' }
    if (error instanceof OutOfRange && account.delta.startsWith('-')) {
      return {
        status: 'refused',
        errorCode: 'AMOUNT_OUT_OF_RANGE',
        description: 'the amount cannot be stored',
      }
    }
    throw error // an unknown outcome, or a credit that cannot be stored
  }

  // Amounts.

  /** Returns the amount as the column stores it. */
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

  /** Other tasks run here. Throws if a crash has cut the connection. */
  async roundTrip(): Promise<void> {
    await undefined
    if (this.epoch !== this.database.epoch) throw new ConnectionLost('the connection was lost')
  }

  // PAM code: the external writers.

  async deposit(playerId: string, amount: Decimal, currency: string): Promise<void> {
    const owner = {}
    await this.locks.take(owner, this.accountLock(playerId, currency))
    await this.roundTrip()
    this.addExternally(playerId, amount, currency)
    this.locks.releaseAll(owner)
  }

  async settle({ playerId, betId, type, amount, currency }: SettlementRequest): Promise<void> {
    const owner = {}
    const keys = { playerId, betId }
    await this.locks.take(owner, `bet ${this.betKey(keys)}`)
    await this.locks.take(owner, this.accountLock(playerId, currency))
    await this.roundTrip()
    const bet = this.storedBet(keys)
    if (bet === undefined) throw new Error(`no bet ${betId}`)
    this.database.bets.set(this.betKey(keys), this.settled(bet, type, amount))
    this.addExternally(playerId, amount, currency)
    this.locks.releaseAll(owner)
  }
  settled(bet: Bet, type: SettlementRequest['type'], amount: Decimal): Bet {
    const { live, reversed, owed } = bet.credits[type] ?? { live: null, reversed: '0', owed: '0' }
    const credit = { live: add(live ?? '0', amount), reversed, owed }
    return { ...bet, credits: { ...bet.credits, [type]: credit }, revision: bet.revision + 1 }
  }

  /** Locks the player, and keeps the lock. */
  async hold(playerId: string, currency: string): Promise<HeldPlayer> {
    const owner = {}
    const { locks } = this
    await locks.keep(owner, this.accountLock(playerId, currency))
    return { release: () => locks.releaseAll(owner) }
  }

  changeCurrency(playerId: string, currency: string): void {
    const player = this.storedPlayer(playerId)
    if (player === undefined) throw new Error(`no player ${playerId}`)
    this.database.players.delete(this.accountKey(player))
    this.database.players.set(this.accountKey({ playerId, currency }), { ...player, currency })
  }

  addExternally(playerId: string, amount: Decimal, currency: string): void {
    const player = this.storedPlayer(playerId, currency)
    if (player === undefined) throw new Error(`no player ${playerId}`)
    this.database.players.set(this.accountKey(player), { ...player, balance: add(player.balance, amount) })
  }
}

export interface OpenedReference {
  store: ReferenceStore
  database: Database
}

/** Every hook of the kit, for the reference or for a mutant of it. */
export function referenceHarness(
  Store: new (database: Database) => ReferenceStore = ReferenceStore,
): Required<Omit<StoreHarness<OpenedReference>, 'playerIds' | 'idScope' | 'stopPartition'>> {
  return {
    limits,
    accountPerCurrency: true,
    open(players) {
      const database = new Database()
      const store = new Store(database)
      for (const player of players) database.players.set(store.accountKey(player), player)
      return { store, database }
    },
    close: ({ database }) => database.crash(),
    reopen: ({ database }) => new Store(database),
    crash(opened) {
      opened.database.crash()
      opened.store = new Store(opened.database)
      return opened.store
    },
    depositExternally: ({ store }, playerId, amount, currency) => store.deposit(playerId, amount, currency),
    settleExternally: ({ store }, settlement) => store.settle(settlement),
    holdPlayer: ({ store }, playerId, currency) => store.hold(playerId, currency),
    closePlayer: ({ store, database }, playerId) => void database.closed.add(store.playerKey(playerId)),
    changeCurrency: ({ store }, playerId, currency) => store.changeCurrency(playerId, currency),
    refuseBets: ({ store, database }, playerId) => void database.limited.add(store.playerKey(playerId)),
    holdCommit: ({ database }) => database.hold(),
    stopReplication: ({ database }) => database.stopReplication(),
    ownRows({ database }, playerId, currency) {
      const own = database.ownRows.filter(row => row.playerId === playerId && row.currency === currency)
      const amounts = own.map(({ amount }) => amount)
      return { count: amounts.length, sum: amounts.reduce(add, '0') }
    },
    advanceClock({ database }, milliseconds) {
      database.nowMs += milliseconds
    },
  }
}
