/**
 * Draws the platform's calls. What is possible for a bet is read from the books, since most calls drawn
 * blindly are refused: a bet is settled, reversed, rolled back, or left as it is. Now and then comes a call
 * that must be refused.
 *
 * A placebet is never retried but rolled back; every other transaction is retried until it is answered; a 4xx
 * is final. One part of a bet's life follows the other, except where calls are to meet.
 */
import type { SettlementType } from '../../store.js'
import type { Random } from '../numbers/random.js'
import { type Account, accountsOf, Bet, shown, type Transaction } from './books.js'
import type { Network } from './network.js'
import type { Settings } from './options.js'
import { isDefinite } from './reading.js'
import type { ClosedBet } from './report.js'
import type { SimulationCounts } from './tally.js'
import { Transactions } from './transactions.js'

type GeneratorSettings = Settings & {
  accounts: readonly Account[]
  random: Random
  network: Network
  mayBet(): boolean
}

const chanceOf = {
  retryOfPast: 0.05,
  burst: 0.02,
  stranger: 0.01,
  foreignCurrency: 0.02,
  lostAnswer: 0.025,
  earlyRollback: 0.025,
  spent: 0.25,
  equalPayouts: 0.3,
  otherPayout: 0.4,
  lost: 0.2,
}
/** As many open bets are worked on as new ones are placed. */
const openBetsUsual = 6
const burstBets = 3
/** The number of rollbacks that are sent at the end of the run, as after a long failure of the platform. */
const deferredMax = 20
/** The rollback of one unanswered bet of this many waits until the end. */
const deferredEvery = 4
const reverses = { BET_PAID: 'UNSCORED', VOIDED: 'UNVOIDED' } as const
type Reversible = keyof typeof reverses
const settlementTypes = ['BET_PAID', 'BET_PAID', 'VOIDED', 'VOIDED', 'CASHOUT'] as const

export class Generator {
  /** A random sample of the closed bets, of which transactions are sent again at the end. */
  readonly remembered: Bet[] = []
  #closed = 0
  /** Settlements that have ended without success. */
  unsettled = 0
  /** Their rollbacks are sent at the end. */
  readonly #deferred: Bet[] = []
  /** Accepted bets of which nothing is in flight. */
  #open: Bet[] = []
  readonly #settings: GeneratorSettings
  readonly #counts: SimulationCounts
  readonly #transactions: Transactions
  #isOver = false

  constructor(settings: GeneratorSettings, counts: SimulationCounts) {
    this.#settings = settings
    this.#counts = counts
    this.#transactions = new Transactions(settings.runId, settings.clock.date)
  }

  /** Makes calls: places bets, or works on an open one. */
  readonly call = (): void => {
    const { network, random } = this.#settings
    const { length } = this.#open
    if (random.next() * (length + openBetsUsual) < length) {
      const [bet] = this.#open.splice(random.between(0, length - 1), 1)
      network.start(this.#workOn(bet as Bet))
    } else network.start(this.#placeBets())
    this.#retryPast()
  }

  /** No more calls: what is open stays as it is. */
  end(): void {
    this.#isOver = true
    for (const bet of this.#open.splice(0)) this.#close(bet, 'PLACED')
  }

  sendDeferredRollbacks(): void {
    for (const bet of this.#deferred.splice(0)) this.#settings.network.start(this.#undo(bet, 1))
  }

  /**
   * A rollback of a bet that was never placed, or is rolled back already: its answer has the balance, and the
   * balance does not change.
   */
  readingOf(account: Account): Transaction {
    return this.#rollbackOf(account.reading ?? new Bet(this.#transactions.newId('n'), account, 0n))
  }

  /** Places the smallest bet, whose first rollback is the first reading of one of several accounts. */
  async prepareReading(account: Account): Promise<void> {
    if (account.others.length === 0) return
    const bet = new Bet(this.#transactions.newId('n'), account, 1n)
    bet.placed = this.#transactions.create(bet, 'placebet', { amount: 1n })
    const answer = await this.#settings.network.untilAnswered(bet.placed)
    if (answer?.kind === 'success') account.reading = bet
  }

  /** Sends a transaction of a closed bet again, as a message queue that was stuck for long does. */
  #retryPast(): void {
    const { network, random } = this.#settings
    if (this.remembered.length === 0 || !random.chance(chanceOf.retryOfPast)) return
    if (network.happens('duplicated'))
      network.sendAgain(random.pick(random.pick(this.remembered).transactions))
  }

  // ── Bets ──────────────────────────────────────────────────────────────────────────────────────────────

  async #placeBets(): Promise<void> {
    const { accounts, network, random } = this.#settings
    const account = this.#drawPlayer()
    if (random.chance(chanceOf.burst)) {
      // At the same moment, so that the funds are checked before any of the stakes is debited.
      for (let left = burstBets; left > 0; left -= 1)
        network.start(this.#place(account, sharesOf(account, random.between(6_000, 9_500))))
    } else if (random.chance(chanceOf.stranger)) {
      await this.#placeOfStranger(account)
    } else await this.#place(account, this.#drawStake(account, accounts.indexOf(account) % 4 === 0))
  }

  /** Of a player whom the wallet cannot know. */
  async #placeOfStranger(account: Account): Promise<void> {
    const playerId = `${this.#transactions.newId('x')}${account.playerId}`
    const [stranger] = accountsOf(playerId, account.sessionId, [account]) as [Account]
    const reason = 'the wallet cannot know this player (D16)'
    const bet = new Bet(this.#transactions.newId('b'), stranger, 1n, { kind: 'overspent', reason })
    this.#counts.wrongCalls += 1
    await this.#settings.network.deliver(this.#transactions.create(bet, 'placebet', { amount: 1n }))
  }

  async #place(account: Account, drawn: bigint): Promise<void> {
    const { mayBet, network, random } = this.#settings
    if (!mayBet()) return
    const cents = limited(inCents(drawn, account), largestAmount(account))
    const isForeign = cents > 0n && random.chance(chanceOf.foreignCurrency)
    const currency = isForeign ? foreignTo(account, random) : account.currency
    const stake = isForeign ? cents : limited(drawn, largestAmount(account))
    const reason = `the bet is in ${currency}, and the player's currency is ${account.currency} (D23)`
    const invalid = isForeign ? ({ kind: 'currency', reason } as const) : null
    const bet = new Bet(this.#transactions.newId('b'), account, stake, invalid)
    const placed = this.#transactions.create(bet, 'placebet', { amount: stake, currency })
    bet.placed = placed
    this.#counts.bets += 1
    const roll = random.next()
    const loses = network.has('answerLost') && roll < chanceOf.lostAnswer + chanceOf.earlyRollback
    const waits = roll < chanceOf.lostAnswer
    const answer = await (loses ? network.losingAnswer(placed, waits) : network.once(placed))
    if (answer === null) await this.#rollBackUnknown(bet, loses && waits)
    else if (answer.kind === 'success') {
      this.#counts.betsAccepted += 1
      this.#leave(bet)
    } else {
      this.#counts.betsRefused += 1
      this.#close(bet, 'REFUSED')
    }
  }

  /** Undoes a bet whose placement has an unknown outcome. */
  async #rollBackUnknown(bet: Bet, isContested: boolean): Promise<void> {
    const { network } = this.#settings
    if (!this.#isOver && this.#deferred.length < deferredMax && this.#counts.bets % deferredEvery === 0) {
      this.#deferred.push(bet)
      return
    }
    // Two processes of the platform roll the bet back at the same time, each under an id of its own.
    await this.#undo(bet, isContested && network.has('duplicated') ? 2 : 1)
    // Some platforms send a second rollback under a new id, for example after a restart. It must succeed too,
    // without a change of the balance (D12).
    if (!isContested && network.happens('duplicated')) await network.untilAnswered(this.#rollbackOf(bet))
  }

  async #undo(bet: Bet, count: number): Promise<void> {
    const rollbacks = Array.from({ length: count }, () => this.#rollbackOf(bet))
    const { network, onTransaction } = this.#settings
    await Promise.all(rollbacks.map(rollback => network.untilAnswered(rollback)))
    const { placed, rolledBackAt } = bet
    if (onTransaction !== null && placed?.first === null && placed.sentAt !== 0 && rolledBackAt !== 0)
      await network.untilAnswered(placed)
    this.#close(bet, rolledBackAt === 0 ? 'PLACED' : 'ROLLED_BACK')
  }

  #rollbackOf(bet: Bet): Transaction {
    const rollback = this.#transactions.create(bet, 'rollbackbet', { type: 'TECHNICAL_ERROR' })
    bet.rollback ??= rollback
    return rollback
  }

  // ── Open bets ─────────────────────────────────────────────────────────────────────────────────────────

  async #workOn(bet: Bet): Promise<void> {
    const { random } = this.#settings
    const live = (['BET_PAID', 'VOIDED'] as const).filter(type => bet.credits.some(one => one.type === type))
    const calls = [
      ...Array(bet.credits.length === 0 ? 5 : 2).fill(() => this.#settle(bet)),
      ...live.flatMap(type => Array(5).fill(() => this.#reverse(bet, [type]))),
      ...(live.length > 1 ? Array(3).fill(() => this.#reverse(bet, live)) : []),
      ...(bet.credits.length === 0 && !bet.uncollected ? [() => this.#undo(bet, 1)] : []),
      () => this.#misuse(bet, live),
      ...Array(2).fill(async () => this.#close(bet, 'PLACED')),
    ] as (() => Promise<void>)[]
    await random.pick(calls)()
    this.#leave(bet)
  }

  /** Credits one settlement, or several at once, of which some are equal. */
  async #settle(bet: Bet): Promise<void> {
    const { network, random } = this.#settings
    const type = random.pick(settlementTypes)
    const amount = this.#drawPayout(bet)
    const isFirst = bet.transactions.every(one => one.type !== type)
    if (type !== 'CASHOUT' && isFirst && network.happens('reordered')) {
      // The settlement and its unsettlement are sent together, and may arrive in any order.
      const settlement = this.#settlementOf(bet, type, amount)
      const calls = [() => this.#credit(bet, settlement), () => this.#reverse(bet, [type])]
      if (random.chance(0.5)) calls.reverse()
      await Promise.all(calls.map(call => call()))
      return
    }
    const count = random.chance(chanceOf.equalPayouts) ? 2 : 1
    const settlements = Array.from({ length: count }, () => this.#settlementOf(bet, type, amount))
    if (random.chance(chanceOf.otherPayout))
      settlements.push(this.#settlementOf(bet, random.pick(settlementTypes), this.#drawPayout(bet)))
    await Promise.all(settlements.map(settlement => this.#credit(bet, settlement)))
  }

  #settlementOf(bet: Bet, type: SettlementType, amount: bigint): Transaction {
    const settlement = this.#transactions.create(bet, 'settlement', { type, amount })
    bet.credits.push(settlement)
    this.#counts.settlements += 1
    return settlement
  }

  async #credit(bet: Bet, settlement: Transaction): Promise<void> {
    const answer = await this.#settings.network.untilAnswered(settlement)
    if (answer?.kind === 'success') return
    this.unsettled += 1
    bet.credits = bet.credits.filter(one => one !== settlement)
    this.#close(bet, 'PLACED')
  }

  /** Reverses all credits of the given types: one unsettlement for each type, all at once (D18). */
  async #reverse(bet: Bet, types: readonly Reversible[]): Promise<void> {
    const { random } = this.#settings
    const { account } = bet
    // The player stakes nearly everything before, so that the clawback finds no funds.
    if (random.chance(chanceOf.spent) && account.low >= account.step)
      await this.#place(account, sharesOf(account, 9_900))
    await Promise.all(types.map(type => this.#reverseType(bet, type)))
  }

  async #reverseType(bet: Bet, credited: Reversible): Promise<void> {
    const credits = bet.credits.filter(({ type }) => type === credited)
    const amount = sumOf(credits)
    const unsettlement = this.#transactions.create(bet, 'unsettlement', { type: reverses[credited], amount })
    this.#counts.unsettlements += 1
    // The wallet never finds what it has refused, and the platform knows that.
    const areRefused = () => credits.every(({ first }) => first?.kind === 'refusal')
    const answer = await this.#settings.network.untilAnswered(unsettlement, areRefused)
    if (answer?.kind !== 'success') {
      if (unsettlement.first?.kind === 'refusal') {
        this.#counts.clawbacksRefused += 1
        bet.uncollected = true
      } else this.#close(bet, 'PLACED')
    }
    bet.credits = bet.credits.filter(one => !credits.includes(one))
  }

  /** A call that must change nothing: another amount under a known id, another player, a bet that exists. */
  async #misuse(bet: Bet, live: readonly Reversible[]): Promise<void> {
    const { accounts, network, random } = this.#settings
    const of = bet.placed as Transaction
    const others = accounts.filter(({ playerId }) => playerId !== bet.account.playerId)
    const account = others.length === 0 ? null : random.pick(others)
    const create = (...content: Parameters<Transactions['create']>) => this.#transactions.create(...content)
    const type = 'TECHNICAL_ERROR'
    const { step, minorUnits } = bet.account
    const whole = step * 10n ** BigInt(minorUnits)
    const calls = [
      () => create(bet, 'placebet', { amount: changed(of), misuse: { of } }),
      () => create(bet, 'placebet', { amount: bet.stake, misuse: {} }),
      // In the currency of another account of the player (D28).
      ...bet.account.others.flatMap(({ currency }) => [
        () => create(bet, 'placebet', { amount: bet.stake, currency, misuse: { of } }),
        () => create(bet, 'settlement', { type: 'BET_PAID', amount: whole, currency, misuse: {} }),
      ]),
      ...(account === null ? [] : [() => create(bet, 'rollbackbet', { type, misuse: { account } })]),
      ...(bet.credits.length > 0 ? [() => create(bet, 'rollbackbet', { type, misuse: {} })] : []),
      ...(account === null || live[0] === undefined
        ? []
        : [
            () => create(bet, 'unsettlement', { type: reverses[live[0] as Reversible], misuse: { account } }),
          ]),
    ]
    this.#counts.wrongCalls += 1
    const reading = await network.deliver(random.pick(calls)())
    // It may still arrive, and mean something else by then.
    if (!isDefinite(reading)) this.#close(bet, 'PLACED')
  }

  /** Between two parts of its life. */
  #leave(bet: Bet): void {
    if (bet.closed) return
    if (this.#isOver || this.#settings.settle === 'unsupported') this.#close(bet, 'PLACED')
    else this.#open.push(bet)
  }

  #close(bet: Bet, state: ClosedBet['state']): void {
    if (bet.closed) return
    bet.closed = true
    this.#remember(bet)
    const { betId, account, stake } = bet
    const { playerId, currency } = account
    const live: ClosedBet['live'] = {}
    for (const type of ['BET_PAID', 'VOIDED', 'CASHOUT'] as const) {
      const credits = bet.credits.filter(one => one.type === type)
      if (credits.length > 0) live[type] = shown(sumOf(credits), account)
    }
    this.#settings.onBetClosed?.({ betId, playerId, currency, stake: shown(stake, account), state, live })
  }

  /** All have the same chance (Algorithm R). */
  #remember(bet: Bet): void {
    const { random, rememberedBetsMax } = this.#settings
    const index = this.#closed
    this.#closed += 1
    const place = index < rememberedBetsMax ? index : random.between(0, index)
    if (place < rememberedBetsMax) this.remembered[place] = bet
  }

  // ── Amounts ───────────────────────────────────────────────────────────────────────────────────────────

  /** Some players bet more often than others; players without funds bet rarely. */
  #drawPlayer(): Account {
    const { accounts, random } = this.#settings
    for (let tries = 3; ; tries -= 1) {
      const account = accounts[Math.floor(random.next() ** 2 * accounts.length)] as Account
      if (account.low > 0n || tries === 0) return account
    }
  }

  /** Mostly small, sometimes nothing, nearly all funds, or more than the funds. */
  #drawStake(account: Account, stakesHigh: boolean): bigint {
    const { random } = this.#settings
    const roll = random.next()
    const part = random.between(0, 10_000)
    if (roll < 0.02) return 0n
    if (roll < 0.05) return sharesOf(account, 10_000 + part) + account.step
    if (roll < (stakesHigh ? 0.4 : 0.1)) return sharesOf(account, 6_000 + (part * 4) / 10)
    return atLeast(sharesOf(account, 20 + part / 30), account.step)
  }

  /** Players who have lost win what they lack, others win little: balances neither reach zero nor grow. */
  #drawPayout({ account, stake }: Bet): bigint {
    const { random } = this.#settings
    if (random.chance(chanceOf.lost)) return 0n
    const lacks = account.opening - account.low
    const most = limited(lacks > 0n ? lacks : stake / 4n, largestAmount(account) / 8n)
    return atLeast(partOf(most, random.between(0, 10_000), account.step), account.step)
  }
}

const sumOf = (transactions: readonly Transaction[]) =>
  transactions.reduce((sum, one) => sum + one.amount, 0n)
const limited = (units: bigint, most: bigint) => (units < most ? units : most)
const atLeast = (units: bigint, least: bigint) => (units > least ? units : least)

/** The most digits that an amount may have before its point (D22). */
const wholeDigitsMax = 15

/** The largest amount of the interface (D22), in units. */
const largestAmount = ({ decimals, step }: Account) => 10n ** BigInt(wholeDigitsMax + decimals) - step

/** A part in ten-thousandths, in whole minor units. */
function partOf(units: bigint, share: number, step: bigint): bigint {
  return (((units / step) * BigInt(Math.round(share))) / 10_000n) * step
}

/** Of the least funds that the player can have. */
const sharesOf = ({ low, step }: Account, share: number) => partOf(low > 0n ? low : 0n, share, step)

const changed = ({ amount, account: { step } }: Transaction) =>
  amount > step ? amount - step : amount + step

/** Another currency, or the same code in other letters: codes are compared exactly (D23, D24). */
function foreignTo({ currency, others }: Account, random: Random): string {
  const lower = currency.toLowerCase()
  if (lower !== currency && random.chance(0.5)) return lower
  const known = [currency, ...others.map(other => other.currency)]
  return ['USD', 'EUR', 'GBP', 'SEK', 'CHF'].find(code => !known.includes(code)) as string
}

/** A stake that is a valid amount in the other currencies, too: of two decimals at most. */
function inCents(stake: bigint, { decimals, step }: Account): bigint {
  const cent = 10n ** BigInt(Math.max(0, decimals - 2))
  return stake - (stake % (cent > step ? cent : step))
}
