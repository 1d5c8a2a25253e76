/** The sportsbook: matches, and the bets that players place on them. */
import type { SettlementType } from '../../store.js'
import type { Random } from '../numbers/random.js'
import { type BetScenario, createScenarioMix } from './bet-scenarios.js'
import {
  advance,
  type BetContext,
  type BetCounts,
  type BetState,
  close,
  createRollback,
  type PlacedBet,
  place,
  rollBack,
  settle,
} from './bets.js'
import { type Account, type Bet, createBet, shown, type Transaction } from './books.js'
import { ClosedBets } from './closed-bets.js'
import {
  correctResult,
  endMatch,
  kickOff,
  type Match,
  resultChances,
  type Side,
  selections,
} from './matches.js'
import type { Network } from './network.js'
import type { Outbox } from './outbox.js'
import { cashOut, cashOutPercentMax, type Leg } from './payouts.js'
import type { Definite } from './reading.js'
import type { ClosedBet } from './report.js'
import {
  allFunds,
  drawPlayer,
  drawStake,
  isDeepInDebt,
  limitStake,
  mostOfFunds,
  type Stake,
} from './stakes.js'
import { Transactions } from './transactions.js'

interface SportsbookSettings {
  accounts: readonly Account[]
  random: Random
  network: Network
  outbox: Outbox
  runId: string
  /** `false`: no way to settle. Bets stay as they were placed. */
  settles: boolean
  /** Milliseconds since 1970. */
  date: () => number
  rememberedMax: number
  mayBet: () => boolean
  onBetClosed: ((bet: ClosedBet) => void) | null
}

interface SportsbookCounts extends BetCounts {
  matches: number
  goals: number
}

export interface Sportsbook {
  readonly counts: Readonly<SportsbookCounts>
  readonly openBets: number
  /** Closed bets that are kept for retries at the end. */
  closedBets(): Bet[]
  placeBet(): void
  /** Sends the rollbacks that were held back until the end. */
  sendDeferredRollbacks(): void
  /**
   * Sends a rollback of a bet that was never placed: its answer has the balance, and the balance does not
   * change.
   */
  readBalance(account: Account, onAnswer: (answer: Definite | null) => void): Transaction
}

interface SportsbookState extends BetContext {
  readonly settings: SportsbookSettings
  readonly counts: SportsbookCounts
  readonly network: Network
  readonly highStakePlayers: ReadonlySet<Account>
  readonly matches: Match[]
  /** Bets on matches whose result is not final. */
  readonly betsOn: Map<Match, PlacedBet[]>
  readonly closedBets: ClosedBets<Bet>
  /** Their rollbacks are sent at the end. */
  readonly deferredRollbacks: PlacedBet[]
  readonly nextScenario: () => BetScenario
  openBets: number
}

const matchesAtOnce = 8
const chanceOf = { multiple: 0.15, cashOutAtGoal: 0.3, retryOfPast: 0.05 }
const cashOutPercentMin = 50
/** The number of rollbacks that are sent at the end of the run, as after a long failure of the platform. */
const deferredMax = 20
/** The rollback of one unanswered bet of this many waits until the end. */
const deferredEvery = 4
const burstBets = 3
/** Decimals of the currencies of {@link foreignTo}. */
const foreignMinorUnits = 2

export function createSportsbook(settings: SportsbookSettings): Sportsbook {
  const { accounts, network, outbox, random, rememberedMax } = settings
  const transactions = new Transactions(settings.runId, settings.date)
  const book: SportsbookState = {
    settings,
    counts: noCounts(),
    network,
    outbox,
    transactions,
    highStakePlayers: new Set(accounts.filter((_, index) => index % 4 === 0)),
    matches: [],
    betsOn: new Map(),
    closedBets: new ClosedBets(rememberedMax, random),
    deferredRollbacks: [],
    nextScenario: createScenarioMix(random),
    openBets: 0,
    onAccepted: bet => accepted(book, bet),
    onClosed: (bet, state) => closed(book, bet, state),
    spendAll: (bet, then) => spendAll(book, bet, then),
    defers: bet => defers(book, bet),
  }
  return {
    counts: book.counts,
    get openBets() {
      return book.openBets
    },
    closedBets: () => book.closedBets.all(),
    placeBet() {
      placeBet(book)
      retryPast(book)
    },
    sendDeferredRollbacks() {
      for (const bet of book.deferredRollbacks.splice(0)) rollBack(book, bet)
    },
    readBalance(account, onAnswer) {
      const bet = createBet(transactions.newId('n'), account, 0n)
      const rollback = createRollback(transactions, bet)
      outbox.sendUntilAnswered(rollback, onAnswer)
      return rollback
    },
  }
}

function noCounts(): SportsbookCounts {
  return {
    bets: 0,
    multiples: 0,
    betsAccepted: 0,
    betsRefused: 0,
    cancellations: 0,
    matches: 0,
    goals: 0,
    settlements: 0,
    voids: 0,
    cashOuts: 0,
    unsettlements: 0,
    clawbacksRefused: 0,
    recoveries: 0,
  }
}

// ── Matches ─────────────────────────────────────────────────────────────────────────────────────────────

function startMatch(book: SportsbookState): void {
  const { network, settings } = book
  const { match, schedule } = kickOff(settings.random)
  book.counts.matches += 1
  book.matches.push(match)
  book.betsOn.set(match, [])
  for (const { side, afterSteps } of schedule.goals) network.at(afterSteps, () => score(book, match, side))
  network.at(schedule.endsAfterSteps, () => {
    book.matches.splice(book.matches.indexOf(match), 1)
    resultChanged(book, match, endMatch(match, settings.random))
  })
}

/** Some players cash out when a goal is scored. */
function score(book: SportsbookState, match: Match, side: Side): void {
  const { random, settles } = book.settings
  match.goals[side] += 1
  book.counts.goals += 1
  if (!settles) return
  const bets = book.betsOn.get(match) ?? []
  for (let left = Math.min(2, bets.length); left > 0; left -= 1) {
    const bet = random.pick(bets)
    const isSingle = bet.state.kind === 'open' && bet.legs.length === 1
    if (!isSingle || !random.chance(chanceOf.cashOutAtGoal)) continue
    const percent = random.between(cashOutPercentMin, cashOutPercentMax)
    settle(book, bet, [[{ ...cashOut(bet.stake, percent, bet.account), part: bet.stake }]], 0)
  }
}

/** @param correctionAfterSteps `null`: the result is final */
function resultChanged(book: SportsbookState, match: Match, correctionAfterSteps: number | null): void {
  if (correctionAfterSteps !== null) {
    book.network.at(correctionAfterSteps, () =>
      resultChanged(book, match, correctResult(match, book.settings.random)),
    )
  }
  for (const bet of book.betsOn.get(match) ?? []) advance(book, bet)
  if (match.final) book.betsOn.delete(match)
}

// ── Bets ────────────────────────────────────────────────────────────────────────────────────────────────

function placeBet(book: SportsbookState): void {
  const { accounts, mayBet, random } = book.settings
  const account = drawPlayer(accounts, random)
  const scenario = possible(book, account, book.nextScenario())
  if (scenario === 'burst') {
    // At the same moment, so that the funds are checked before any of the stakes is debited.
    for (let left = burstBets; left > 0 && mayBet(); left -= 1)
      placeOn(book, account, mostOfFunds(account, random), scenario)
  } else placeOn(book, account, drawStake(account, book.highStakePlayers.has(account), random), scenario)
}

/** A scenario that needs faults of the network is played only if the network has them. */
function possible({ network }: SportsbookState, account: Account, scenario: BetScenario): BetScenario {
  if (scenario === 'burst' && isDeepInDebt(account)) return 'plain'
  if (scenario === 'lost-answer' && !network.has('duplicated')) return 'plain'
  const isFault = scenario === 'lost-answer' || scenario === 'early-rollback'
  return isFault && !network.has('answerLost') ? 'plain' : scenario
}

function placeOn(
  book: SportsbookState,
  account: Account,
  drawn: Stake,
  scenario: BetScenario,
  onAnswer?: () => void,
): void {
  const { random } = book.settings
  while (book.matches.length < matchesAtOnce) startMatch(book)
  const legs = drawLegs(book.matches, account, random)
  const limited = limitStake(drawn, legs, account)
  const { offer } = limited
  const inCents = foreignStake(limited.stake, account)
  const isForeign = scenario === 'other-currency' && inCents > 0n
  const stake = isForeign ? inCents : limited.stake
  const foreign = isForeign ? foreignTo(account.currency, random) : null
  book.openBets += 1
  const bet: PlacedBet = {
    ...createBet(book.transactions.newId('b'), account, stake, foreign),
    legs,
    offer,
    scenario,
    state: { kind: 'placing' },
    credits: [],
    uncollected: false,
  }
  place(book, bet, onAnswer)
}

/** Another currency, or the same code in other letters: codes are compared exactly (D23, D24). */
function foreignTo(currency: string, random: Random): string {
  const lower = currency.toLowerCase()
  if (lower !== currency && random.chance(0.5)) return lower
  return currency === 'USD' ? 'EUR' : 'USD'
}

/** A stake that is a valid amount in the other currencies, too: of two decimals at most. */
function foreignStake(stake: bigint, { decimals, step }: Account): bigint {
  const cent = 10n ** BigInt(Math.max(0, decimals - foreignMinorUnits))
  return stake - (stake % (cent > step ? cent : step))
}

/** Before a clawback, so that it finds no funds. */
function spendAll(book: SportsbookState, { account }: PlacedBet, then: () => void): void {
  const funds = isDeepInDebt(account) ? null : allFunds(account)
  if (funds === null || !book.settings.mayBet()) then()
  else placeOn(book, account, funds, 'plain', then)
}

/** Some rollbacks come as late as possible. */
function defers({ deferredRollbacks, counts, settings }: SportsbookState, bet: PlacedBet): boolean {
  const isDeferred =
    deferredRollbacks.length < deferredMax && settings.mayBet() && counts.bets % deferredEvery === 0
  if (isDeferred) deferredRollbacks.push(bet)
  return isDeferred
}

/** One selection, or two or three on different matches, with odds. */
function drawLegs(matches: readonly Match[], account: Account, random: Random): Leg[] {
  // Fair odds for players who have lost, poor ones for the others: balances neither reach zero nor grow
  // without end.
  const edge = account.low < account.opening ? 0.95 : 0.75
  const count = random.chance(chanceOf.multiple) ? random.between(2, 3) : 1
  const first = random.between(0, matches.length - 1)
  return Array.from({ length: count }, (_, index) => {
    const selection = random.pick(selections)
    const odds = Math.max(101, Math.round((100 / resultChances[selection]) * (edge + random.next() * 0.1)))
    return { match: matches[(first + index) % matches.length] as Match, selection, odds }
  })
}

function accepted(book: SportsbookState, bet: PlacedBet): void {
  if (!book.settings.settles) {
    close(book, bet, 'placed')
    return
  }
  for (const { match } of bet.legs) book.betsOn.get(match)?.push(bet)
  advance(book, bet)
}

const closedStates = { placed: 'PLACED', refused: 'REFUSED', 'rolled-back': 'ROLLED_BACK' } as const

function closed(book: SportsbookState, bet: PlacedBet, { outcome }: BetState & { kind: 'closed' }): void {
  const { betId, account, stake } = bet
  book.openBets -= 1
  book.settings.onBetClosed?.({
    betId,
    playerId: account.playerId,
    currency: account.currency,
    stake: shown(stake, account),
    state: closedStates[outcome],
    live: liveOf(bet),
  })
  book.closedBets.add(bet)
}

function liveOf({ credits, account }: PlacedBet): ClosedBet['live'] {
  const sums = new Map<SettlementType, bigint>()
  for (const { type, settlement } of credits) sums.set(type, (sums.get(type) ?? 0n) + settlement.amount)
  return Object.fromEntries([...sums].map(([type, sum]) => [type, shown(sum, account)]))
}

/** Sends a transaction of a closed bet again, as a message queue that was stuck for long does. */
function retryPast({ closedBets, network, settings: { random } }: SportsbookState): void {
  if (closedBets.isEmpty || !random.chance(chanceOf.retryOfPast) || !network.happens('duplicated')) return
  network.sendAgain(random.pick(closedBets.draw().transactions), 0)
}
