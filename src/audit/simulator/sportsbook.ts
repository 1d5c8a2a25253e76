/**
 * The sportsbook: matches, bets and what becomes of them, as the platform plays its part by the specification. A
 * placebet is never retried but rolled back; everything else is retried until it is answered; a 4xx is final.
 */
import type { SettlementType } from '../../store.js'
import type { Random } from '../random.js'
import { timesOdds, written } from './amounts.js'
import { type Account, type Bet, type SimulatedOperation, shown, type Transaction } from './books.js'
import type { Judge } from './judge.js'
import type { Network } from './network.js'
import { type Reading, shortOf } from './reading.js'
import type { ClosedBet } from './report.js'

type Selection = 'home' | 'draw' | 'away'

interface Match {
  goals: { home: number; away: number }
  state: 'running' | 'finished' | 'abandoned'
  /** Rises whenever the result is another one, for whatever reason. */
  version: number
  /** No correction will come. */
  closed: boolean
  bets: PlacedBet[]
}

interface Leg {
  match: Match
  selection: Selection
  /** In hundredths. */
  odds: number
}

/** What a settlement credited, as long as it is not reversed. */
interface Credited {
  settlement: Transaction
  type: SettlementType
  /** By the result, before debts were netted off. */
  gross: bigint
  /** The versions of the matches that it was made from. */
  version: number
}

interface PlacedBet extends Bet {
  legs: readonly Leg[]
  /**
   * What keeps players in the game for hours. `insured`: where it loses, the bookmaker buys most of the stake back.
   * `boosted`: for a player with next to nothing; all of the stake, and where it wins, a bonus comes on top.
   */
  offer: 'none' | 'insured' | 'boosted'
  /** The platform waits for an answer. */
  busy: boolean
  credited: Credited | null
  cashedOut: boolean
  closed: boolean
  settlements: number
}

export interface SportsbookSettings {
  accounts: readonly Account[]
  random: Random
  network: Network
  judge: Judge
  runId: string
  /** `false`: nothing can be settled, and bets stay as they are. */
  settles: boolean
  date: () => number
  /** After so many answers that say nothing, and so many milliseconds of them, a transaction is given up. */
  faultsMax: number
  giveUpAfterMs: number
  now: () => number
  rememberedMax: number
  onBetClosed: ((bet: ClosedBet) => void) | null
}

export interface Sportsbook {
  readonly counts: {
    bets: number
    multiples: number
    betsAccepted: number
    betsRefused: number
    matches: number
    goals: number
    settlements: number
    voids: number
    cashOuts: number
    unsettlements: number
    clawbacksRefused: number
    recoveries: number
  }
  /** Transactions without a definite answer. */
  readonly pending: ReadonlySet<Transaction>
  /** Bets whose end is still open. */
  readonly openBets: number
  /** Closed bets that are kept for repeats: the last ones, and some of all times. */
  remembered(): Bet[]
  placeBet(): void
  /** A rollback of a bet that was never placed: answers the balance and moves nothing. */
  readBalance(account: Account, heard: (reading: Reading | null) => void): Transaction
  /** Sends until the answer is definite. `heard` gets a success or a refusal, or `null` where it was given up. */
  insist(
    transaction: Transaction,
    heard: (reading: (Reading & { kind: 'success' | 'refusal' }) | null) => void,
  ): void
}

const matchesAtOnce = 8
/** How many bets are made, on all matches, while one is played. */
const matchSteps = { least: 20, most: 120 }
const goalsMean = { home: 1.5, away: 1.2 }
/** How often a side wins, with goals as above: fair odds are their inverse. */
const chances: Readonly<Record<Selection, number>> = { home: 0.44, draw: 0.26, away: 0.3 }
const selections = Object.keys(chances) as Selection[]
const chanceOf = {
  multiple: 0.15,
  abandoned: 0.05,
  playedAfterAll: 0.5,
  corrected: 0.15,
  cashedOutAtGoal: 0.3,
  beyondFunds: 0.02,
  allIn: 0.06,
  /** For every fourth player: without funds at the wrong moment, so that clawbacks find none. */
  allInOfGamblers: 0.5,
  pastRepeated: 0.05,
}
const correctionStepsMax = 80

export function createSportsbook(settings: SportsbookSettings): Sportsbook {
  const { accounts, random, network, judge, runId } = settings
  const gamblers = new Set(accounts.filter((_, index) => index % 4 === 0))
  const matches: Match[] = []
  const pending = new Set<Transaction>()
  const recentlyClosed: Bet[] = []
  const sampledClosed: Bet[] = []
  let closedCount = 0
  let openBets = 0
  let ids = 0
  const counts = {
    bets: 0,
    multiples: 0,
    betsAccepted: 0,
    betsRefused: 0,
    matches: 0,
    goals: 0,
    settlements: 0,
    voids: 0,
    cashOuts: 0,
    unsettlements: 0,
    clawbacksRefused: 0,
    recoveries: 0,
  }

  // ── Transactions ───────────────────────────────────────────────────────────────────────────────────────────────

  const idOf = (kind: string) => {
    ids += 1
    return `${runId}-${kind}${ids}`
  }

  function transact(
    bet: Bet,
    operation: SimulatedOperation,
    content: { type: Transaction['type']; amount: bigint; fields: string; recovered?: bigint },
  ): Transaction {
    const { account, betId } = bet
    const { type, amount, fields, recovered = 0n } = content
    const transactionId = idOf(operation[0] as string)
    // By hand: it is half of the time of making a call. Ids are letters, digits and "-"; what is the operator's is escaped.
    const body =
      `{"transactionId":"${transactionId}","betId":"${betId}","playerId":${JSON.stringify(account.playerId)},` +
      `${fields}"transactionDate":"${new Date(settings.date()).toISOString()}"}`
    const transaction: Transaction = {
      operation,
      transactionId,
      account,
      bet,
      amount,
      type,
      body,
      recovered,
      low: 0n,
      high: 0n,
      sentAt: 0,
      first: null,
      faults: 0,
    }
    bet.transactions.push(transaction)
    return transaction
  }

  const typeField = (type: string) => `"type":"${type}",`
  const moneyFields = (amount: bigint, { decimals, minorUnits, currency }: Account) =>
    `"amount":${written(amount, decimals, minorUnits)},"currency":${JSON.stringify(currency)},`

  function insist(
    transaction: Transaction,
    heard: (reading: (Reading & { kind: 'success' | 'refusal' }) | null) => void,
  ): void {
    pending.add(transaction)
    let firstFaultAt = 0
    const hear = (reading: Reading | null): void => {
      if (reading?.kind === 'success' || reading?.kind === 'refusal') {
        pending.delete(transaction)
        heard(reading)
        return
      }
      if (reading === null) {
        network.attempt(transaction, hear)
        return
      }
      transaction.faults += 1
      if (transaction.faults === 1) firstFaultAt = settings.now()
      const patient =
        transaction.faults < settings.faultsMax || settings.now() - firstFaultAt < settings.giveUpAfterMs
      if (reading.kind === 'fault' && !patient) {
        pending.delete(transaction)
        const found = `${transaction.faults} times no definite answer, the last one: ${shortOf(reading)}`
        judge.differs(transaction, 'unanswered', 'a definite answer', found)
        heard(null)
        return
      }
      network.retry(transaction, hear)
    }
    network.attempt(transaction, hear)
  }

  // ── Matches ────────────────────────────────────────────────────────────────────────────────────────────────────

  function kickOff(): Match {
    const match: Match = {
      goals: { home: 0, away: 0 },
      state: 'running',
      version: 0,
      closed: false,
      bets: [],
    }
    counts.matches += 1
    const steps = random.between(matchSteps.least, matchSteps.most)
    for (const side of ['home', 'away'] as const) {
      for (let goal = goalsOf(goalsMean[side]); goal > 0; goal -= 1) {
        network.at(random.between(1, steps - 1), () => score(match, side))
      }
    }
    network.at(steps, () => end(match))
    return match
  }

  /** Poisson, by Knuth's way. */
  function goalsOf(mean: number): number {
    let goals = 0
    for (let left = random.next(); left > Math.exp(-mean); left *= random.next()) goals += 1
    return goals
  }

  function score(match: Match, side: 'home' | 'away'): void {
    match.goals[side] += 1
    counts.goals += 1
    if (!settings.settles) return
    for (let bets = Math.min(2, match.bets.length); bets > 0; bets -= 1) {
      const bet = random.pick(match.bets)
      const isFree = bet.state === 'open' && !bet.busy && bet.legs.length === 1
      if (isFree && random.chance(chanceOf.cashedOutAtGoal)) cashOut(bet, random.between(50, 130))
    }
  }

  function end(match: Match): void {
    matches.splice(matches.indexOf(match), 1)
    match.state = random.chance(chanceOf.abandoned) ? 'abandoned' : 'finished'
    match.version += 1
    const corrected = random.chance(
      match.state === 'abandoned' ? chanceOf.playedAfterAll : chanceOf.corrected,
    )
    if (corrected) network.at(random.between(1, correctionStepsMax), () => correct(match))
    else match.closed = true
    advanceAll(match)
  }

  function correct(match: Match): void {
    if (match.state === 'abandoned') {
      match.state = 'finished'
      match.goals = { home: goalsOf(goalsMean.home), away: goalsOf(goalsMean.away) }
    } else if (match.goals.home > 0 && random.chance(0.5)) match.goals.home -= 1
    else if (match.goals.away > 0) match.goals.away -= 1
    else match.goals.home += 1
    match.version += 1
    // Now and then the correction is taken back, too.
    if (random.chance(chanceOf.corrected))
      network.at(random.between(1, correctionStepsMax), () => correct(match))
    else match.closed = true
    advanceAll(match)
  }

  function advanceAll(match: Match): void {
    for (const bet of match.bets) advance(bet)
    if (match.closed) match.bets = []
  }

  // ── Bets ───────────────────────────────────────────────────────────────────────────────────────────────────────

  function placeBet(): void {
    while (matches.length < matchesAtOnce) matches.push(kickOff())
    const account = chosenPlayer()
    const { stake, offer } = stakeOf(account)
    // Fair for those who have lost, poor for the others: so that balances neither end at nothing nor grow for ever.
    const edge = account.low < account.opening ? 0.95 : 0.75
    const legsCount = random.chance(chanceOf.multiple) ? random.between(2, 3) : 1
    const first = random.between(0, matchesAtOnce - 1)
    const legs = Array.from({ length: legsCount }, (_, index): Leg => {
      const selection = random.pick(selections)
      const odds = Math.max(101, Math.round((100 / chances[selection]) * (edge + random.next() * 0.1)))
      return { match: matches[(first + index) % matchesAtOnce] as Match, selection, odds }
    })
    const odds = legs.reduce((product, leg) => product * BigInt(leg.odds), 1n)

    const betId = idOf('b')
    const bet: PlacedBet = {
      betId,
      account,
      stake,
      placed: null,
      rollback: null,
      rolledBackAt: 0,
      state: 'placing',
      transactions: [],
      legs,
      offer,
      busy: true,
      credited: null,
      cashedOut: false,
      closed: false,
      settlements: 0,
    }
    const fields =
      `"sessionId":${JSON.stringify(account.sessionId)},${moneyFields(stake, account)}` +
      `"odds":${written(odds, 2 * legsCount, 2)},"betType":"${legsCount === 1 ? 'SINGLE' : 'MULTIPLE'}",`
    const placed = transact(bet, 'placebet', { type: null, amount: stake, fields })
    bet.placed = placed
    counts.bets += 1
    if (legsCount > 1) counts.multiples += 1
    openBets += 1
    pending.add(placed)
    network.attempt(placed, reading => {
      pending.delete(placed)
      if (reading?.kind === 'success') accepted(bet)
      else if (reading?.kind === 'refusal') {
        counts.betsRefused += 1
        close(bet, 'refused')
      } else rollBack(bet)
    })
    repeatPast()
  }

  /** Some bet more than others. Who has nothing at all, bets seldom. */
  function chosenPlayer(): Account {
    for (let tries = 3; ; tries -= 1) {
      const account = accounts[Math.floor(random.next() ** 2 * accounts.length)] as Account
      if (account.low > 0n || tries === 0) return account
    }
  }

  /** Mostly little, sometimes all, now and then too much. In whole minor units. */
  function stakeOf(account: Account): Pick<PlacedBet, 'stake' | 'offer'> {
    const { step, low, opening } = account
    const funds = low > 0n ? low : 0n
    const share = (part: number) => ((funds / step) * BigInt(Math.round(part * 10_000))) / 10_000n
    const roll = random.next()
    const part = random.next()
    const minors = (count: bigint) => (count > 0n ? count : 1n) * step
    if (roll < chanceOf.beyondFunds) return { stake: minors(share(1 + part / 2) + 1n), offer: 'none' }
    if (funds * 10n < opening) return { stake: minors(share(0.02 + 0.2 * part)), offer: 'boosted' }
    const allIn = gamblers.has(account) ? chanceOf.allInOfGamblers : chanceOf.allIn
    if (roll < chanceOf.beyondFunds + allIn && funds <= 10n * opening) {
      return { stake: minors(share(0.6 + 0.35 * part)), offer: funds < opening ? 'insured' : 'none' }
    }
    return { stake: minors(share(0.002 + 0.03 * part)), offer: 'none' }
  }

  function accepted(bet: PlacedBet): void {
    counts.betsAccepted += 1
    bet.state = 'open'
    bet.busy = false
    if (!settings.settles) {
      close(bet, 'open')
      return
    }
    for (const { match } of bet.legs) if (!match.closed) match.bets.push(bet)
    advance(bet)
  }

  function rollBack(bet: PlacedBet): void {
    const fields = typeField('TECHNICAL_ERROR')
    const rollback = transact(bet, 'rollbackbet', { type: 'TECHNICAL_ERROR', amount: 0n, fields })
    bet.rollback = rollback
    insist(rollback, reading => {
      if (reading?.kind !== 'success') {
        close(bet, 'open')
        return
      }
      // Some platforms ask again under another id, as after a restart: it has to succeed too, and to move nothing (D12).
      if (network.happens('duplicated')) {
        insist(transact(bet, 'rollbackbet', { type: 'TECHNICAL_ERROR', amount: 0n, fields }), () =>
          close(bet, 'rolled back'),
        )
      } else close(bet, 'rolled back')
    })
  }

  const versionOf = (bet: PlacedBet) => bet.legs.reduce((sum, { match }) => sum + match.version, 0)

  /** Does what is next for a bet, if anything is. */
  function advance(bet: PlacedBet): void {
    if (bet.busy || bet.closed) return
    if (bet.legs.some(({ match }) => match.state === 'running')) return
    const version = versionOf(bet)
    if (bet.credited === null) settle(bet, version)
    else if (bet.credited.version !== version) unsettle(bet, bet.credited)
    else if (bet.legs.every(({ match }) => match.closed)) close(bet, 'credited')
  }

  function settle(bet: PlacedBet, version: number): void {
    const { account } = bet
    const legs = bet.legs.filter(({ match }) => match.state !== 'abandoned')
    if (legs.length === 0) {
      counts.voids += 1
      credit(bet, 'VOIDED', { gross: bet.stake, recovered: 0n, version })
      return
    }
    const won = legs.every(({ match, selection }) => selection === resultOf(match))
    const odds = legs.reduce((product, leg) => product * BigInt(leg.odds), 1n)
    if (!won && bet.offer !== 'none') {
      cashOut(bet, bet.offer === 'insured' ? 90 : 100)
      return
    }
    const bonus = bet.offer === 'boosted' ? (account.opening / account.step / 4n) * account.step : 0n
    const gross = won ? timesOdds(bet.stake, odds, legs.length, account.step) + bonus : 0n
    // Spec 4.2 rule 2: debts come off what is won, until they are recovered.
    const recovered = gross < account.debt ? gross : account.debt
    if (recovered > 0n) counts.recoveries += 1
    account.debt -= recovered
    credit(bet, 'BET_PAID', { gross, recovered, version })
  }

  function cashOut(bet: PlacedBet, percent: number): void {
    const gross = timesOdds(bet.stake, BigInt(percent), 1, bet.account.step)
    counts.cashOuts += 1
    bet.cashedOut = true
    credit(bet, 'CASHOUT', { gross, recovered: 0n, version: 0 })
  }

  function credit(
    bet: PlacedBet,
    type: SettlementType,
    { gross, recovered, version }: { gross: bigint; recovered: bigint; version: number },
  ): void {
    const { account } = bet
    const amount = gross - recovered
    const settlement = transact(bet, 'settlement', {
      type,
      amount,
      recovered,
      fields: typeField(type) + moneyFields(amount, account),
    })
    counts.settlements += 1
    bet.settlements += 1
    bet.busy = true
    bet.state = 'credited'
    bet.credited = { settlement, type, gross, version }
    // The first one of a bet only: what was credited and reversed before, an overtaking unsettlement would find reversed.
    const overtaken = bet.settlements === 1 && type !== 'CASHOUT' && network.happens('reordered')
    let settled = !overtaken
    let unsettled = !overtaken
    insist(settlement, reading => {
      settled = true
      if (reading?.kind !== 'success') {
        account.debt += recovered
        bet.credited = null
        close(bet, 'open')
      } else if (unsettled) idle(bet)
    })
    if (!overtaken) return
    reverse(bet, bet.credited, () => {
      unsettled = true
      if (settled) idle(bet)
    })
  }

  function idle(bet: PlacedBet): void {
    bet.busy = false
    if (bet.cashedOut) close(bet, 'credited')
    else advance(bet)
  }

  function unsettle(bet: PlacedBet, credited: Credited): void {
    bet.busy = true
    reverse(bet, credited, () => idle(bet))
  }

  function reverse(bet: PlacedBet, { settlement, type: credited, gross }: Credited, done: () => void): void {
    const { account } = bet
    const type = credited === 'VOIDED' ? 'UNVOIDED' : 'UNSCORED'
    counts.unsettlements += 1
    insist(
      transact(bet, 'unsettlement', { type, amount: settlement.amount, fields: typeField(type) }),
      reading => {
        if (reading?.kind === 'success') {
          // What was kept back from this settlement for older debts, is owed again.
          account.debt += settlement.recovered
        } else if (reading?.kind === 'refusal' && reading.errorCode === 'INSUFFICIENT_FUNDS') {
          counts.clawbacksRefused += 1
          account.debt += gross
        } else {
          close(bet, 'credited')
          return
        }
        bet.credited = null
        bet.state = 'open'
        done()
      },
    )
  }

  /** The end of a bet: its sums go to the player's, and it is forgotten, but for a few. */
  function close(bet: PlacedBet, state: Bet['state']): void {
    if (bet.closed) return
    bet.closed = true
    bet.busy = true
    bet.state = state
    openBets -= 1
    const { account } = bet
    if (state === 'open' || state === 'credited') {
      account.entitled += (bet.credited?.gross ?? 0n) - bet.stake
    }
    bet.legs = []
    settings.onBetClosed?.({
      betId: bet.betId,
      playerId: account.playerId,
      currency: account.currency,
      stake: shown(bet.stake, account),
      state:
        bet.state === 'credited' || bet.state === 'open'
          ? 'PLACED'
          : bet.state === 'refused'
            ? 'REFUSED'
            : 'ROLLED_BACK',
      live: bet.credited === null ? null : shown(bet.credited.settlement.amount, account),
      type: bet.credited?.type ?? null,
    })
    remember(bet)
  }

  // ── The past ───────────────────────────────────────────────────────────────────────────────────────────────────

  function remember(bet: Bet): void {
    const half = settings.rememberedMax >> 1
    if (half === 0) return
    // The last ones in a ring, and of all of them each with the same chance (a reservoir).
    recentlyClosed[closedCount % half] = bet
    if (closedCount < half) sampledClosed[closedCount] = bet
    else {
      const place = random.between(0, closedCount)
      if (place < half) sampledClosed[place] = bet
    }
    closedCount += 1
  }

  /** As from a queue that was stuck for long: something of long ago comes again. */
  function repeatPast(): void {
    if (sampledClosed.length === 0 || !random.chance(chanceOf.pastRepeated) || !network.happens('duplicated'))
      return
    network.repeat(random.pick(random.pick(sampledClosed).transactions), 0)
  }

  return {
    counts,
    pending,
    get openBets() {
      return openBets
    },
    remembered: () => [...new Set([...recentlyClosed, ...sampledClosed])],
    placeBet,
    insist,
    readBalance(account, heard) {
      const betId = idOf('n')
      const fields = typeField('TECHNICAL_ERROR')
      const bet: Bet = {
        betId,
        account,
        stake: 0n,
        placed: null,
        rollback: null,
        rolledBackAt: 0,
        state: 'rolled back',
        transactions: [],
      }
      const transaction = transact(bet, 'rollbackbet', { type: 'TECHNICAL_ERROR', amount: 0n, fields })
      insist(transaction, heard)
      return transaction
    },
  }
}

function resultOf({ goals }: Match): Selection {
  return goals.home > goals.away ? 'home' : goals.home < goals.away ? 'away' : 'draw'
}
