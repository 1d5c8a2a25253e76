import { setTimeout as pause, setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { asFloat, minorUnits, readAmount, type Units, writeAmount } from './amounts.js'
import type { FaultName } from './faults.js'
import { Locks } from './locks.js'
import type {
  CreditType,
  Operation,
  Placebet,
  Request,
  Rollback,
  Settlement,
  Unsettlement,
} from './requests.js'

export type RefusalCode =
  | 'INVALID_PLAYER'
  | 'INVALID_BET'
  | 'INVALID_CURRENCY'
  | 'INSUFFICIENT_FUNDS'
  | 'SETTLEMENT_NOT_FOUND'
  | 'TRANSACTION_CONFLICT'

export type Success = { balance: string; currency: string; reference: string }
export type Refusal = { code: RefusalCode; description: string }
export type Answer = Success | Refusal

export type PlayerOptions = { playerId: string; currency: string; balance: string }

/** `float` is the balance of a wallet with that defect. */
type Player = { currency: string; balance: Units; float: number }

/** `live` is undefined without a reversible credit: a live credit of 0 is a lost bet, and reversible. */
type Credit = {
  live: Units | undefined
  reversed: Units
  owed: Units
  unsettled: boolean
  /** The settlements of the live credit. */
  parts: Units[]
}

/** A bet that was rolled back before it was placed is rolled back with a stake of 0: the tombstone. */
type Bet = {
  playerId: string
  /** The transaction that opened it. */
  transactionId: string
  stake: Units
  rolledBack: boolean
  credits: Map<CreditType, Credit>
  latestDate: number
}

type Recorded = { request: Request; refusal: Refusal | undefined; reference: string; balanceThen: string }

const unknownPlayer: Refusal = { code: 'INVALID_PLAYER', description: 'The player is not known' }
const otherPlayer: Refusal = { code: 'INVALID_PLAYER', description: 'The bet belongs to another player' }
const betKnown: Refusal = { code: 'INVALID_BET', description: 'The bet is known from another transaction' }
const betUnknown: Refusal = { code: 'INVALID_BET', description: 'There is no such bet' }
const betSettled: Refusal = { code: 'INVALID_BET', description: 'A settled bet cannot be rolled back' }
const betRolledBack: Refusal = { code: 'INVALID_BET', description: 'The bet is rolled back' }
const alreadyUnsettled: Refusal = { code: 'INVALID_BET', description: 'The settlement was reversed before' }
const datedBefore: Refusal = { code: 'INVALID_BET', description: 'The bet has a later transaction' }
const otherCurrency: Refusal = { code: 'INVALID_CURRENCY', description: 'The player has another currency' }
const noFunds: Refusal = { code: 'INSUFFICIENT_FUNDS', description: 'The funds do not cover the amount' }
const neverSettled: Refusal = {
  code: 'SETTLEMENT_NOT_FOUND',
  description: 'No such settlement of the bet yet',
}
const conflict: Refusal = {
  code: 'TRANSACTION_CONFLICT',
  description: 'The transactionId was used otherwise',
}

/**
 * How long the wallet with a race looks away between a check and the change that depends on it. `long`: more than
 * a slow database takes; the turns of the loop are for a machine that stalls meanwhile, so that requests which were
 * sent together still meet. `short`: a fast database on the same machine. `turn`: one turn of the loop, as between
 * two statements of one process.
 */
export type Window = 'long' | 'short' | 'turn'

const windows: Record<Window, () => Promise<void>> = {
  async long() {
    await pause(20)
    for (let turns = 0; turns < 50; turns += 1) await turnOfTheLoop()
  },
  async short() {
    await pause(2)
  },
  async turn() {
    await turnOfTheLoop()
  },
}

/** The defects that lock bet and player in the wrong order, by the operation that does. */
const lockFaults = new Map<Operation, FaultName>([
  ['rollbackbet', 'locks-crossed-by-rollback'],
  ['unsettlement', 'locks-crossed-by-unsettlement'],
  ['settlement', 'locks-crossed-by-settlement'],
])

const settlementRaces = [
  'race-settlement-retry',
  'race-settlement-lost-update',
  'race-settlement-of-bet',
  'race-settlement-of-rollback',
] as const

/**
 * The wallet's records and the rules over them. A valid book decides and books without giving up the thread in
 * between, so no two requests ever meet: only some of the faults wait.
 *
 * Players are given at the start and neither leave nor change their currency, so a bet is always in the currency
 * of its player: what D16 and D23 say about players who do has no case here.
 */
export class Book {
  private readonly players = new Map<string, Player>()
  private readonly bets = new Map<string, Bet>()
  private readonly records = new Map<string, Recorded>()
  private readonly locks = new Locks()
  private readonly lookAway: () => Promise<void>
  private references = 0
  private readonly tombstones: string[] = []

  /** @throws RangeError if a balance is no amount that the wallet can hold */
  constructor(
    players: readonly PlayerOptions[],
    private readonly clawbacks: boolean,
    private readonly fault: FaultName | undefined,
    window: Window = 'long',
  ) {
    this.lookAway = windows[window]
    for (const { playerId, currency, balance } of players) {
      const units = readAmount(balance, 8)
      if (units === undefined) throw new RangeError(`The balance of ${playerId} is no amount: ${balance}`)
      this.players.set(playerId, { currency, balance: units, float: asFloat(units) })
    }
  }

  /** Decides a request, changes the balance, and records final decisions. */
  async carryOut(request: Request): Promise<Answer> {
    const crossing = lockFaults.get(request.operation)
    if (![...lockFaults.values()].some(fault => this.has(fault))) return await this.decide(request)
    const keys = [`player ${request.playerId}`, `bet ${request.betId}`]
    if (crossing !== undefined && this.has(crossing)) keys.reverse()
    const owner = Symbol(request.transactionId)
    try {
      for (const key of keys) {
        await this.locks.take(owner, key)
        await this.lookAway()
      }
      return await this.decide(request)
    } finally {
      this.locks.releaseAll(owner)
    }
  }

  private async decide(request: Request): Promise<Answer> {
    const player = this.players.get(request.playerId)
    if (this.has('player-checked-before-retry') && player === undefined) return unknownPlayer
    const record = this.records.get(this.key(request))
    if (record !== undefined && !this.repeatIsDecidedAfresh(request, record))
      return this.repeat(record, request)
    if (player === undefined) {
      if (this.has('players-created-by-bets') && request.operation === 'placebet') {
        this.players.set(request.playerId, { currency: request.currency, balance: 0n, float: 0 })
        return request.amount === 0n ? unknownPlayer : noFunds
      }
      if (this.has('unknown-player-success')) return { balance: '0.00', currency: 'EUR', reference: 'W0' }
      return unknownPlayer
    }
    const bet = this.bets.get(request.betId)
    if (this.has('race-retry')) await this.lookAway()
    if (bet !== undefined && this.has('date-decides-order')) {
      if (request.date < bet.latestDate) return datedBefore
      bet.latestDate = request.date
    }
    switch (request.operation) {
      case 'placebet':
        return this.place(request, player, bet)
      case 'settlement':
        return this.settle(request, player, bet)
      case 'unsettlement':
        return this.unsettle(request, player, bet)
      case 'rollbackbet':
        return this.rollBack(request, player, bet)
    }
  }

  /** The defects with a client that has disconnected: half of the work is undone. */
  afterHangUp(request: Request): void {
    const player = this.players.get(request.playerId)
    if (request.operation !== 'placebet' || player === undefined) return
    if (this.has('disconnect-forgets-record')) {
      this.records.delete(this.key(request))
      this.bets.delete(request.betId)
    }
    if (this.has('disconnect-forgets-debit')) this.move(player, request.amount)
  }

  private async place(request: Placebet, player: Player, known: Bet | undefined): Promise<Answer> {
    if (known !== undefined && !this.placeable(known, request)) {
      if (this.has('second-placebet-taken-as-retry') && !known.rolledBack) return this.accept(request, player)
      return this.refuse(request, betKnown)
    }
    if (this.has('ids-in-plain-object') && request.betId in {}) return this.refuse(request, betKnown)
    if (!this.isSameCurrency(request.currency, player) && !this.has('currency-mismatch-accepted')) {
      return this.refuse(request, otherCurrency)
    }
    if (this.has('refusal-debits')) this.move(player, -request.amount)
    if (
      !this.has('funds-not-checked') &&
      !this.covers(player, this.has('refusal-debits') ? 0n : request.amount)
    ) {
      if (this.has('refusal-not-recorded')) return noFunds
      if (this.has('rollback-of-refused-pays')) this.open(request, request.amount)
      return this.refuse(request, noFunds)
    }
    const balance = player.balance
    if (this.has('race-funds') || this.has('race-lost-update') || this.has('race-bet')) {
      await this.lookAway()
      // Each of these races is for one thing: what it is not for, a careful database would still have caught.
      const meanwhile = this.records.get(this.key(request))
      if (meanwhile !== undefined) return this.repeat(meanwhile, request)
      if (!this.has('race-bet') && this.bets.has(request.betId)) return this.refuse(request, betKnown)
      if (!this.has('race-funds') && !this.covers(player, request.amount))
        return this.refuse(request, noFunds)
    }
    if (this.has('race-lost-update')) player.balance = balance - request.amount
    else if (!this.has('refusal-debits')) this.move(player, -request.amount)
    this.open(request, request.amount)
    return this.accept(request, player)
  }

  private async settle(request: Settlement, player: Player, bet: Bet | undefined): Promise<Answer> {
    if (bet === undefined) {
      if (!this.has('settlement-of-unknown-pays')) return betUnknown
      this.move(player, request.amount)
      return this.accept(request, player)
    }
    if (bet.playerId !== request.playerId) return otherPlayer
    const isTombstone = bet.stake === 0n && this.has('settlement-of-tombstone-pays')
    if (bet.rolledBack && !isTombstone && !this.has('settlement-of-rolled-back-pays')) return betRolledBack
    if (request.currency !== player.currency) return otherCurrency
    const read = { balance: player.balance, credit: bet.credits.get(request.type) }
    if (settlementRaces.some(race => this.has(race))) {
      await this.lookAway()
      const meanwhile = this.records.get(this.key(request))
      if (meanwhile !== undefined && !this.has('race-settlement-retry'))
        return this.repeat(meanwhile, request)
      if (bet.rolledBack && !this.has('race-settlement-of-rollback')) return betRolledBack
    }
    const credit = this.has('race-settlement-of-bet') ? read.credit : bet.credits.get(request.type)
    bet.credits.set(request.type, {
      live: (credit?.live ?? 0n) + request.amount,
      reversed: credit?.reversed ?? 0n,
      owed: credit?.owed ?? 0n,
      unsettled: credit?.unsettled ?? false,
      parts: [...(credit?.parts ?? []), request.amount],
    })
    if (this.has('race-settlement-lost-update')) player.balance = read.balance
    this.move(player, request.amount)
    return this.accept(request, player)
  }

  private async unsettle(request: Unsettlement, player: Player, bet: Bet | undefined): Promise<Answer> {
    if (bet === undefined) {
      return this.has('unsettlement-of-unknown-succeeds') ? this.accept(request, player) : betUnknown
    }
    if (bet.playerId !== request.playerId && !this.has('unsettlement-of-other-player-debits'))
      return otherPlayer
    if (bet.rolledBack) return betRolledBack
    const credit = this.creditToReverse(request, bet)
    if (credit === undefined) {
      if (this.has('unscored-of-unsettled-succeeds')) return this.accept(request, player)
      if (this.has('unscored-of-unsettled-is-final')) return betUnknown
      if (this.has('settlement-not-found-is-final')) return this.refuse(request, neverSettled)
      return neverSettled
    }
    const live = this.creditLeft(request, credit)
    if (live === undefined) return alreadyUnsettled
    if (this.has('unsettlement-of-lost-refused') && live === 0n) return alreadyUnsettled
    if (this.has('resettlement-not-unsettled') && credit.unsettled) return alreadyUnsettled

    const due = this.amountDue(request, bet, credit, live)
    const collectable = this.clawbacks ? this.covers(player, due) : due === 0n
    if (!collectable && this.has('unsettlement-debits-partially')) {
      this.reverse(credit, live)
      this.move(player, -player.balance)
      return this.accept(request, player)
    }
    if (!collectable && !this.has('unsettlement-goes-negative')) {
      if (this.has('refused-unsettlement-collects-later')) return noFunds
      if (this.has('refused-unvoided-collects-later') && request.type === 'UNVOIDED') return noFunds
      if (this.has('uncollected-credit-collected-again')) return this.refuse(request, noFunds)
      credit.live = undefined
      credit.parts = []
      credit.owed += live
      if (this.has('refused-unsettlement-not-recorded')) return noFunds
      return this.refuse(request, noFunds)
    }
    const { balance } = player
    if (this.has('race-unsettlement')) await this.lookAway()
    if (this.has('race-unsettlement-of-settlement')) {
      await this.lookAway()
      const meanwhile = this.records.get(this.key(request))
      if (meanwhile !== undefined) return this.repeat(meanwhile, request)
      if (credit.live === undefined) return alreadyUnsettled
      if (!this.covers(player, due)) return noFunds
      // The sum was read before; this is what is marked.
      this.reverse(credit, credit.live)
    } else if (!this.has('unsettlement-reverses-twice')) this.reverse(credit, live)
    const voided =
      request.type === 'UNSCORED' && this.has('unscored-reverses-both') && bet.credits.get('VOIDED')
    if (voided && voided.live !== undefined) this.reverse(voided, voided.live)
    if (this.has('race-unsettlement-lost-update')) {
      await this.lookAway()
      player.balance = balance
    }
    this.move(player, -due)
    return this.accept(request, player)
  }

  private async rollBack(request: Rollback, player: Player, bet: Bet | undefined): Promise<Answer> {
    if (bet === undefined) {
      if (this.has('rollback-of-unknown-refused')) return betUnknown
      if (this.has('race-rollback')) await this.lookAway()
      if (!this.forgetsTombstone(request)) this.open(request, 0n).rolledBack = true
      if (this.has('last-300-tombstones')) this.forgetOldestTombstone(request.betId)
      return this.accept(request, player)
    }
    if (bet.playerId !== request.playerId && !this.has('rollback-of-other-player-pays')) return otherPlayer
    if (bet.rolledBack && this.has('rollback-of-rolled-back-refused')) return betRolledBack
    if (!bet.rolledBack && bet.stake === 0n && this.has('rollback-of-free-bet-refused')) return betUnknown
    if (bet.rolledBack && !this.has('rollback-new-id-pays-again')) {
      if (this.has('rollback-retry-pays-again') && this.records.has(this.key(request)))
        this.move(player, bet.stake)
      return this.accept(request, player)
    }
    if ([...bet.credits].some(([type, credit]) => this.forbidsRollback(type, credit, bet.stake)))
      return this.has('refused-rollback-recorded') ? this.refuse(request, betSettled) : betSettled
    if (this.has('race-rollback')) await this.lookAway()
    bet.rolledBack = true
    if (this.has('retry-after-rollback-debits')) this.forgetPlacebet(request.betId)
    if (!this.has('rollback-pays-nothing')) this.move(player, bet.stake)
    return this.accept(request, player)
  }

  private forgetsTombstone({ betId, playerId }: Rollback): boolean {
    if (this.has('no-tombstone')) return true
    if (this.has('tombstones-of-first-player')) return playerId !== [...this.players.keys()][0]
    const wasRefused = ({ request, refusal }: Recorded) => request.betId === betId && refusal !== undefined
    return this.has('no-tombstone-of-refused') && [...this.records.values()].some(wasRefused)
  }

  private forgetOldestTombstone(betId: string): void {
    this.tombstones.push(betId)
    if (this.tombstones.length > 300) this.bets.delete(this.tombstones.shift() as string)
  }

  private creditToReverse({ type }: Unsettlement, { credits }: Bet): Credit | undefined {
    if (this.has('unvoided-reverses-paid')) return credits.get('BET_PAID')
    if (type === 'UNVOIDED') return credits.get('VOIDED')
    const paid = credits.get('BET_PAID')
    return paid === undefined && this.has('unscored-reverses-void') ? credits.get('VOIDED') : paid
  }

  /** What is left to reverse. */
  private creditLeft(request: Unsettlement, { live, reversed, owed }: Credit): Units | undefined {
    if (this.has('unsettlement-retry-debits-again') && this.records.has(this.key(request))) return reversed
    if (this.has('unvoided-debits-again') && request.type === 'UNVOIDED') return live ?? reversed + owed
    return live
  }

  private amountDue({ type }: Unsettlement, bet: Bet, credit: Credit, live: Units): Units {
    const isVoid = type === 'UNVOIDED'
    if (this.has('unsettlement-debits-last-only')) return credit.parts.at(-1) ?? 0n
    if (this.has('unvoided-debits-last-only') && isVoid) return credit.parts.at(-1) ?? 0n
    if (this.has('equal-payouts-debited-once') && !isVoid)
      return [...new Set(credit.parts)].reduce((sum, part) => sum + part, 0n)
    if (this.has('unvoided-debits-stake') && isVoid) return bet.stake
    if (this.has('unscored-reverses-both') && !isVoid) return live + (bet.credits.get('VOIDED')?.live ?? 0n)
    if (this.has('unsettlement-debits-all-ever')) return live + credit.reversed
    return live
  }

  private reverse(credit: Credit, live: Units): void {
    credit.live = undefined
    credit.parts = []
    credit.reversed += live
    credit.unsettled = true
  }

  private forbidsRollback(type: CreditType, { live, owed, unsettled }: Credit, stake: Units): boolean {
    if (this.has('rollback-of-settled-pays')) return false
    if (this.has('rollback-after-resettlement-pays') && unsettled) return false
    if (this.has('rollback-of-part-voided-pays') && type === 'VOIDED') return (live ?? 0n) + owed >= stake
    if (this.has('rollback-of-voided-pays') && type === 'VOIDED') return false
    if (this.has('rollback-of-cashed-out-pays') && type === 'CASHOUT') return false
    if (this.has('rollback-of-lost-pays') && live === 0n) return false
    if (this.has('rollback-after-reversal-refused') && unsettled) return true
    if (this.has('rollback-after-unvoided-refused') && type === 'VOIDED' && unsettled) return true
    return live !== undefined || (owed > 0n && !this.has('rollback-of-uncollected-pays'))
  }

  private placeable(known: Bet, request: Placebet): boolean {
    if (this.has('rolled-back-bet-placed-again')) return known.rolledBack && known.stake > 0n
    if (this.has('retry-after-rollback-debits')) return known.rolledBack && known.stake > 0n
    if (this.has('retry-debits-again')) return this.records.has(this.key(request))
    if (this.has('last-1000-remembered')) return known.transactionId === request.transactionId
    return this.has('second-placebet-debits') && !known.rolledBack
  }

  private open(request: Request, stake: Units): Bet {
    const { playerId, transactionId, date } = request
    const bet: Bet = {
      ...{ playerId, transactionId, stake, rolledBack: false },
      ...{ credits: new Map(), latestDate: date },
    }
    this.bets.set(request.betId, bet)
    return bet
  }

  private covers(player: Player, amount: Units): boolean {
    if (this.has('whole-balance-refused')) return player.balance > amount
    if (this.has('zero-stake-needs-funds') && player.balance === 0n) return false
    if (this.has('float-arithmetic')) return player.float >= asFloat(amount)
    return player.balance >= amount
  }

  /** The only place that changes balances. */
  private move(player: Player, change: Units): void {
    player.balance += change
    player.float += asFloat(change)
  }

  private accept(request: Request, player: Player): Answer {
    const success = this.success(player, this.nextReference())
    this.record(request, undefined, success)
    return success
  }

  private refuse(request: Request, refusal: Refusal): Refusal {
    this.record(request, refusal)
    return refusal
  }

  private record(request: Request, refusal: Refusal | undefined, success?: Success): void {
    const { reference, balance } = success ?? { reference: '', balance: '' }
    this.records.set(this.key(request), { request, refusal, reference, balanceThen: balance })
    if (this.has('last-1000-remembered')) this.forgetOldest(this.records)
    const { operation } = request
    if (this.has('last-1000-settlements-remembered') && /settlement/.test(operation))
      this.forgetOldest([...this.records].filter(([, { request: other }]) => other.operation === operation))
  }

  /** All but 1,000. */
  private forgetOldest(records: Iterable<[string, Recorded]>): void {
    const keys = [...records].map(([key]) => key)
    if (keys.length > 1_000) this.records.delete(keys[0] as string)
  }

  private repeat(record: Recorded, request: Request): Answer {
    const { refusal, reference } = record
    const otherOperation = record.request.operation !== request.operation
    if (!otherOperation && this.meaning(record.request) !== this.meaning(request)) return conflict
    if (refusal !== undefined) return refusal
    if (this.checksFundsAgain(request)) return noFunds
    if (this.has('retry-refused')) return conflict
    const player = this.players.get(record.request.playerId)
    if (player === undefined) return unknownPlayer
    const success = this.success(
      player,
      this.has('retry-answers-new-reference') ? this.nextReference() : reference,
    )
    return this.has('retry-answers-old-balance') ? { ...success, balance: record.balanceThen } : success
  }

  private repeatIsDecidedAfresh(
    { operation, betId }: Request,
    { refusal, request: record }: Recorded,
  ): boolean {
    if (refusal !== undefined && this.has('refused-id-reused') && betId !== record.betId) return true
    if (operation === 'placebet') return this.has('retry-debits-again')
    if (operation === 'settlement') return this.has('settlement-retry-pays-again')
    if (operation === 'unsettlement') {
      const isPaidAgain = this.bets.get(betId)?.credits.get('BET_PAID')?.live !== undefined
      if (this.has('old-unsettlement-debits-resettlement') && refusal === undefined && isPaidAgain)
        return true
      return this.has('unsettlement-retry-debits-again')
    }
    return this.has('rollback-retry-pays-again')
  }

  private checksFundsAgain(request: Request): boolean {
    const player = this.players.get(request.playerId)
    if (player === undefined) return false
    if (request.operation === 'placebet')
      return this.has('retry-checks-funds') && player.balance < request.amount
    const reversed = this.bets.get(request.betId)?.credits.get('BET_PAID')?.reversed ?? 0n
    return (
      request.operation === 'unsettlement' &&
      this.has('unsettlement-retry-checks-funds') &&
      player.balance < reversed
    )
  }

  private isSameCurrency(code: string, { currency }: Player): boolean {
    return code === currency || (this.has('currency-case-folded') && code.toUpperCase() === currency)
  }

  private success(player: Player, reference: string): Success {
    const [first] = this.players.values()
    const { currency, balance, float } =
      this.has('balance-of-first-player') && first !== undefined ? first : player
    if (this.has('float-arithmetic')) return { balance: String(float), currency, reference }
    return { balance: writeAmount(balance, minorUnits(currency)), currency, reference }
  }

  /** The key of a transaction. JSON separates the parts, whatever the ids contain. */
  private key({ operation, transactionId, playerId, betId }: Request): string {
    const bets = operation === 'placebet' || operation === 'rollbackbet'
    const parts: string[] = [this.has('one-id-space') && bets ? 'bet' : operation, transactionId]
    if (this.has('ids-unique-per-player')) parts.push(playerId)
    if (this.has('ids-unique-per-bet')) parts.push(betId)
    return JSON.stringify(parts)
  }

  /** The content that a retry must share with the first request. */
  private meaning(request: Request): string {
    const parts: string[] = []
    if (!this.has('changed-player-taken-as-retry')) parts.push(request.playerId)
    if (!this.has('changed-bet-taken-as-retry')) parts.push(request.betId)
    if ('amount' in request) {
      const { amount, amountText, currency } = request
      if (this.has('amounts-compared-as-text')) parts.push(amountText)
      else if (!this.has('changed-amount-taken-as-retry')) parts.push(String(amount))
      if (!this.has('changed-currency-taken-as-retry')) parts.push(currency)
    }
    if ('type' in request && !this.has('changed-type-taken-as-retry')) parts.push(request.type)
    if ('odds' in request && this.has('changed-odds-refused')) parts.push(request.odds)
    if ('sessionId' in request && this.has('changed-session-refused')) parts.push(request.sessionId)
    if (this.has('changed-date-refused')) parts.push(String(request.date))
    return JSON.stringify(parts)
  }

  private forgetPlacebet(betId: string): void {
    for (const [key, { request }] of this.records) {
      if (request.operation === 'placebet' && request.betId === betId) this.records.delete(key)
    }
  }

  private nextReference(): string {
    if (this.has('reference-never-changes')) return 'W'
    this.references += 1
    return `W${this.references}`
  }

  private has(fault: FaultName): boolean {
    return this.fault === fault
  }
}
