/**
 * What the wallet should answer, written from the specification and the decisions (D1 to D27) and from nothing
 * else: a ledger of what happened, a map of answers, and additions of whole cents. It knows no revisions, no
 * guards and no commits, and looks up in the ledger what the library keeps in its records.
 */
import type { Operation, SettlementType } from '../store.js'

export type Cents = bigint

interface Ids {
  transactionId: string
  betId: string
  playerId: string
}

export type ModelRequest = Ids &
  (
    | { operation: 'placebet'; amount: Cents; currency: string; sessionEnded: boolean }
    | { operation: 'settlement'; type: SettlementType; amount: Cents; currency: string }
    | { operation: 'unsettlement'; type: 'UNSCORED' | 'UNVOIDED' }
    | { operation: 'rollbackbet'; type: 'TECHNICAL_ERROR' | 'MANUAL' }
  )

/** What is wrong with the body that is sent for a request. */
export type BodyDefect = 'none' | 'transactionId missing' | 'playerId with a NUL' | 'date without a day'

/** How the amount is written: by D3 and D21 it is the same amount. */
export type AmountFormat = 'text' | 'with zeros' | 'number' | 'exponent'

/** What becomes of the line between the wallet and its store during a request. */
export type InjectedFault =
  | 'up'
  | 'load throws'
  | 'commit unavailable'
  | 'breaks before commit'
  | 'breaks after commit'

/** One thing that happens to the wallet, with nothing else at the same time. */
export type HistoryStep =
  | { step: 'call'; request: ModelRequest; flaw: BodyDefect; line: InjectedFault; writing: AmountFormat }
  | { step: 'deposit' | 'withdraw'; playerId: string; amount: Cents }
  | { step: 'leave' | 'come'; playerId: string }
  | { step: 'change currency'; playerId: string; currency: string }

export type ModelAnswer =
  | { ok: true; replayed: boolean; balance: Cents; currency: string }
  | { ok: false; replayed: boolean; errorCode: string }
  | 'fault'
  /** Of a step that is no call. */
  | 'done'
  | 'not done'

export interface InitialPlayer {
  playerId: string
  currency: string
  balance: Cents
  /** Whether the wallet knows the player from the beginning. */
  known: boolean
}

/** What the operator has chosen, and the PAM's own rules. */
export interface WalletPolicy {
  clawbacks: boolean
  /** The PAM itself refuses to take more than this at once. */
  takenAtOnceMax: Cents
}

/** What happened to a bet. */
type Entry = Ids & { currency: string; amount: Cents } & (
    | { happened: 'staked' | 'stake returned' | 'given up before it came' }
    | { happened: 'credited' | 'collected' | 'left to the platform'; type: SettlementType }
  )

type Verdict =
  | { says: 'yes'; entry: Entry | null }
  | { says: 'no, for ever'; errorCode: string; entry: Entry | null }
  | { says: 'no'; errorCode: string }

interface FirstAnswer {
  meaning: string
  errorCode: string | null
}

/** What the wallet is expected to answer, and what it is expected to have. */
export interface WalletModel {
  /** One that goes its own way from here. */
  copy(): WalletModel
  /** The answer to a step, which from now on has happened. */
  perform(step: HistoryStep): ModelAnswer
  /** In whole cents. */
  balance(playerId: string): Cents
  /** `null`: the wallet has never heard of it. `over`: rolled back; `live`: credited and not taken back, per type. */
  bet(betId: string): {
    playerId: string
    currency: string
    stake: Cents
    over: boolean
    owed: Cents
    live: ReadonlyMap<SettlementType, Cents>
  } | null
}

/**
 * Makes the model of a wallet.
 *
 * @param openings who is there at first, and with what, in whole cents
 * @param house the operator's choices; `openHouse` of this package has none
 */
export function createModel(openings: readonly InitialPlayer[], house: WalletPolicy): WalletModel {
  return new Model(openings, house)
}

export class Model implements WalletModel {
  readonly #house: WalletPolicy
  readonly #players: Map<string, { opening: Cents; currency: string; known: boolean }>
  #ledger: readonly Entry[] = []
  #external: readonly { playerId: string; amount: Cents }[] = []
  #answers: ReadonlyMap<string, FirstAnswer> = new Map()

  constructor(openings: readonly InitialPlayer[], house: WalletPolicy) {
    this.#house = house
    this.#players = new Map(
      openings.map(({ playerId, balance, currency, known }) => [
        playerId,
        { opening: balance, currency, known },
      ]),
    )
  }

  copy(): Model {
    const copy = new Model([], this.#house)
    for (const [playerId, player] of this.#players) copy.#players.set(playerId, { ...player })
    copy.#ledger = this.#ledger
    copy.#external = this.#external
    copy.#answers = this.#answers
    return copy
  }

  perform(step: HistoryStep): ModelAnswer {
    switch (step.step) {
      case 'call':
        return this.#answer(step.request, step.flaw, step.line)
      case 'deposit':
        return this.#move(step.playerId, step.amount)
      case 'withdraw':
        return this.#move(step.playerId, -step.amount)
      default: {
        const player = this.#players.get(step.playerId)
        if (player === undefined) return 'not done'
        if (step.step === 'change currency') player.currency = step.currency
        else player.known = step.step === 'come'
        return 'done'
      }
    }
  }

  /** What the player has: the opening, and what has come and gone since. */
  balance(playerId: string): Cents {
    let sum = this.#players.get(playerId)?.opening ?? 0n
    for (const move of this.#external) if (move.playerId === playerId) sum += move.amount
    for (const entry of this.#ledger) if (entry.playerId === playerId) sum += moved(entry)
    return sum
  }

  /** What is left of a bet's stake and credits with the player, or what the platform has yet to collect of it. */
  bet(betId: string) {
    const life = this.#ledger.filter(entry => entry.betId === betId)
    const [first] = life
    if (first === undefined) return null
    const over = life.some(
      ({ happened }) => happened === 'stake returned' || happened === 'given up before it came',
    )
    const owed = life.reduce(
      (sum, { happened, amount }) => (happened === 'left to the platform' ? sum + amount : sum),
      0n,
    )
    return {
      playerId: first.playerId,
      currency: first.currency,
      stake: first.amount,
      over,
      owed,
      live: liveOf(life),
    }
  }

  #move(playerId: string, amount: Cents): ModelAnswer {
    if (this.balance(playerId) + amount < 0n) return 'not done'
    this.#external = [...this.#external, { playerId, amount }]
    return 'done'
  }

  #answer(request: ModelRequest, flaw: BodyDefect, line: InjectedFault): ModelAnswer {
    // What the interface does not describe is refused before anybody is asked.
    if (flaw !== 'none' || ('amount' in request && !isAmount(request.amount, request.currency))) {
      return { ok: false, replayed: false, errorCode: 'INVALID_REQUEST' }
    }
    if (line === 'load throws') return 'fault'

    const key = `${request.operation} ${request.transactionId}`
    const first = this.#answers.get(key)
    if (first !== undefined) return this.#again(request, first) // D2: nothing is written

    const verdict = this.#judge(request)
    if (verdict.says === 'no') return { ok: false, replayed: false, errorCode: verdict.errorCode } // D8
    if (line === 'commit unavailable' || line === 'breaks before commit') return 'fault' // D9

    const errorCode = verdict.says === 'yes' ? null : verdict.errorCode
    this.#answers = new Map(this.#answers).set(key, { meaning: meaningOf(request), errorCode })
    if (verdict.entry !== null) this.#ledger = [...this.#ledger, verdict.entry]
    // After a lost commit the wallet looks up what was recorded, and repeats it.
    const replayed = line === 'breaks after commit'
    return errorCode === null ? this.#success(request.playerId, replayed) : { ok: false, replayed, errorCode }
  }

  /** D2 to D4, and D16: a success needs a player. */
  #again(request: ModelRequest, { meaning, errorCode }: FirstAnswer): ModelAnswer {
    if (meaning !== meaningOf(request)) {
      return { ok: false, replayed: false, errorCode: 'TRANSACTION_CONFLICT' }
    }
    if (errorCode !== null) return { ok: false, replayed: true, errorCode }
    if (this.#players.get(request.playerId)?.known !== true) {
      return { ok: false, replayed: false, errorCode: 'INVALID_PLAYER' }
    }
    return this.#success(request.playerId, true)
  }

  #success(playerId: string, replayed: boolean): ModelAnswer {
    const currency = this.#players.get(playerId)?.currency ?? ''
    return { ok: true, replayed, balance: this.balance(playerId), currency }
  }

  /** A request that came for the first time. The order is that of the chapter "The order of the checks". */
  #judge(request: ModelRequest): Verdict {
    const { transactionId, betId, playerId } = request
    const player = this.#players.get(playerId)
    if (player?.known !== true) return no('INVALID_PLAYER') // D16

    const bet = this.bet(betId)
    const { currency } = player
    const ids = { transactionId, betId, playerId, currency }

    if (request.operation === 'placebet') {
      const { amount } = request
      if (bet !== null) return noForEver('INVALID_BET') // D10, D11, D15
      if (request.currency !== currency) return noForEver('INVALID_CURRENCY') // D23
      if (amount > this.balance(playerId)) return noForEver('INSUFFICIENT_FUNDS')
      if (request.sessionEnded) return noForEver('INVALID_SESSION_TOKEN')
      if (amount > this.#house.takenAtOnceMax) return noForEver('LIMIT_OF_THE_HOUSE')
      return yes({ ...ids, happened: 'staked', amount })
    }

    if (bet !== null && bet.playerId !== playerId) return no('INVALID_PLAYER') // D15

    if (request.operation === 'rollbackbet') {
      if (bet === null) return yes({ ...ids, happened: 'given up before it came', amount: 0n }) // D11
      if (bet.over) return yes(null) // D12
      if (bet.live.size > 0 || bet.owed > 0n) return no('INVALID_BET') // D13
      if (bet.currency !== currency) return no('INVALID_CURRENCY') // D23
      return yes({ ...ids, happened: 'stake returned', amount: bet.stake })
    }

    if (bet === null || bet.over) return no('INVALID_BET') // D17, D19

    if (request.operation === 'settlement') {
      const { type, amount } = request
      if (request.currency !== currency || bet.currency !== currency) return no('INVALID_CURRENCY') // D23
      return yes({ ...ids, happened: 'credited', type, amount })
    }

    const type = request.type === 'UNSCORED' ? 'BET_PAID' : 'VOIDED'
    const amount = bet.live.get(type)
    if (amount === undefined) {
      const everCredited = this.#ledger.some(
        entry => entry.betId === betId && entry.happened === 'credited' && entry.type === type,
      )
      return no(everCredited ? 'INVALID_BET' : 'SETTLEMENT_NOT_FOUND') // D19
    }
    if (bet.currency !== currency) return no('INVALID_CURRENCY') // D23
    const collectable =
      amount === 0n ||
      (this.#house.clawbacks && amount <= this.balance(playerId) && amount <= this.#house.takenAtOnceMax)
    return collectable
      ? yes({ ...ids, happened: 'collected', type, amount }) // D18
      : noForEver('INSUFFICIENT_FUNDS', { ...ids, happened: 'left to the platform', type, amount }) // D7, D20
  }
}

/** Credited since the last unsettlement, per type; no entry where nothing was (D18). */
function liveOf(life: readonly Entry[]): ReadonlyMap<SettlementType, Cents> {
  const live = new Map<SettlementType, Cents>()
  for (const entry of life) {
    if (entry.happened === 'credited') live.set(entry.type, (live.get(entry.type) ?? 0n) + entry.amount)
    else if (entry.happened === 'collected' || entry.happened === 'left to the platform') {
      live.delete(entry.type)
    }
  }
  return live
}

function moved({ happened, amount }: Entry): Cents {
  switch (happened) {
    case 'staked':
    case 'collected':
      return -amount
    case 'stake returned':
    case 'credited':
      return amount
    default:
      return 0n
  }
}

/** D22: at most 15 digits before the point, and yen have no decimals. */
function isAmount(amount: Cents, currency: string): boolean {
  return amount < 10n ** 17n && (currency !== 'JPY' || amount % 100n === 0n)
}

/** D3. */
function meaningOf(request: ModelRequest): string {
  const { operation, playerId, betId } = request
  const type = 'type' in request ? request.type : ''
  const money = 'amount' in request ? `${request.amount} ${request.currency}` : ''
  return [operation, playerId, betId, type, money].join('|')
}

export const keyOf = ({ operation, transactionId }: { operation: Operation; transactionId: string }) =>
  `${operation} ${transactionId}`

const yes = (entry: Entry | null): Verdict => ({ says: 'yes', entry })
const no = (errorCode: string): Verdict => ({ says: 'no', errorCode })
const noForEver = (errorCode: string, entry: Entry | null = null): Verdict => ({
  says: 'no, for ever',
  errorCode,
  entry,
})
