/**
 * The independent model: the answers that the wallet must return, written only from the specification and the
 * decisions (D1 to D28). It has a ledger of events, a map of first answers, and sums of whole cents. It has
 * no revisions, guards or commits, and derives from the ledger the values that the library stores in its
 * records.
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

/** The defect that makes a request body invalid. */
export type BodyDefect = 'none' | 'missing-transaction-id' | 'nul-in-player-id' | 'incomplete-date'

/** How the body writes the amount. All formats are the same amount (D3, D21). */
export type AmountFormat = 'text' | 'trailing-zeros' | 'number' | 'exponent'

/** The fault between the wallet and its store during one request. */
export type InjectedFault =
  | 'none'
  | 'load-throws'
  | 'commit-unavailable'
  | 'lost-before-commit'
  | 'lost-after-commit'

/**
 * The wallet option that refuses an ended session. With `authorizeBet` the wallet loads the player first;
 * otherwise it commits a placebet without a load. The answers are the same, and so the model ignores it. Only
 * `none` cannot refuse: the request must not say that the session has ended.
 */
export type SessionHook = 'none' | 'authorizeRequest' | 'authorizeBet'

/** One event of a history. Nothing else happens at the same time. */
export type HistoryStep =
  | {
      step: 'call'
      request: ModelRequest
      defect: BodyDefect
      fault: InjectedFault
      format: AmountFormat
      /** Of the wallet that receives this call; without it, `authorizeBet`. */
      hook?: SessionHook
    }
  /** `currency`: of one of several accounts. */
  | { step: 'deposit' | 'withdraw'; playerId: string; amount: Cents; currency?: string }
  | { step: 'remove-player' | 'restore-player'; playerId: string }
  | { step: 'change-currency'; playerId: string; currency: string }

export type ModelAnswer =
  | { ok: true; replayed: boolean; balance: Cents; currency: string }
  | { ok: false; replayed: boolean; errorCode: string }
  | 'fault'
  /** The result of a step that is not a call: done, or not possible. */
  | 'done'
  | 'not-done'

/** A player's account; a player with several has one for each currency. */
export interface InitialPlayer {
  playerId: string
  currency: string
  balance: Cents
  /** Whether the player exists in the wallet from the start. */
  known: boolean
}

/** The rules that the operator chooses. */
export interface WalletPolicy {
  clawbacks: boolean
  /** The store itself refuses a larger debit. */
  debitMax: Cents
  /** Of the home account (D28). */
  defaultCurrency?: string
}

/** The name of an account, which it keeps when its currency changes. */
type Account = string

interface AccountState {
  playerId: string
  initialBalance: Cents
  currency: string
  known: boolean
}

/** The account that a request means. */
interface Chosen {
  account: Account
  currency: string
}

/** One event in the life of a bet. */
type LedgerEntry = Ids & { account: Account; currency: string; amount: Cents } & (
    | { event: 'staked' | 'stake-returned' | 'cancelled-before-arrival' }
    | { event: 'credited' | 'collected' | 'uncollected'; type: SettlementType }
  )

type Verdict =
  | { kind: 'accepted'; entry: LedgerEntry | null }
  /** Recorded and replayed (D6, D7). */
  | { kind: 'final-refusal'; errorCode: string; entry: LedgerEntry | null }
  /** Not recorded (D8). */
  | { kind: 'refusal'; errorCode: string }

interface FirstAnswer {
  content: string
  /** That of the account. */
  currency: string
  errorCode: string | null
}

/** A bet as the model derives it from the ledger. */
export interface ModelBet {
  playerId: string
  currency: string
  stake: Cents
  rolledBack: boolean
  /** Clawbacks that the funds did not cover (D7). */
  owed: Cents
  /** Credited and not reversed, per settlement type. */
  live: ReadonlyMap<SettlementType, Cents>
}

/** The expected answers, balances and bets of a wallet. */
export interface WalletModel {
  /** Returns an independent copy in the same state. */
  copy(): WalletModel
  /** Performs a step and returns the expected answer. */
  perform(step: HistoryStep): ModelAnswer
  /** @param currency of one of several accounts */
  balance(playerId: string, currency?: string): Cents
  /** Returns the bet; `null` for an unknown bet. */
  bet(betId: string): ModelBet | null
}

/**
 * Creates the model of a wallet.
 *
 * @param players the initial players, balances in whole cents
 * @param policy the operator's rules; `permissivePolicy` has none
 */
export function createModel(players: readonly InitialPlayer[], policy: WalletPolicy): WalletModel {
  return new Model(players, policy)
}

export class Model implements WalletModel {
  readonly #policy: WalletPolicy
  readonly #accounts: Map<Account, AccountState>
  #ledger: readonly LedgerEntry[] = []
  #external: readonly { account: Account; amount: Cents }[] = []
  #answers: ReadonlyMap<string, FirstAnswer> = new Map()

  constructor(players: readonly InitialPlayer[], policy: WalletPolicy) {
    this.#policy = policy
    this.#accounts = new Map(
      players.map(({ playerId, balance, currency, known }) => [
        `${playerId} ${currency}`,
        { playerId, initialBalance: balance, currency, known },
      ]),
    )
  }

  copy(): Model {
    const copy = new Model([], this.#policy)
    for (const [account, state] of this.#accounts) copy.#accounts.set(account, { ...state })
    copy.#ledger = this.#ledger
    copy.#external = this.#external
    copy.#answers = this.#answers
    return copy
  }

  perform(step: HistoryStep): ModelAnswer {
    switch (step.step) {
      case 'call':
        return this.#answer(step.request, step.defect, step.fault)
      case 'deposit':
        return this.#moveExternally(step, step.amount)
      case 'withdraw':
        return this.#moveExternally(step, -step.amount)
      default: {
        const accounts = this.#accountsOf(step.playerId)
        for (const [, account] of accounts) {
          if (step.step === 'change-currency') account.currency = step.currency
          else account.known = step.step === 'restore-player'
        }
        return accounts.length === 0 ? 'not-done' : 'done'
      }
    }
  }

  /** The initial balance plus every external movement and every ledger entry. */
  balance(playerId: string, currency?: string): Cents {
    const [account] =
      this.#accountsOf(playerId).find(([, own]) => own.currency === (currency ?? own.currency)) ?? []
    return account === undefined ? 0n : this.#balanceOf(account)
  }

  #balanceOf(account: Account): Cents {
    let sum = this.#accounts.get(account)?.initialBalance ?? 0n
    for (const move of this.#external) if (move.account === account) sum += move.amount
    for (const entry of this.#ledger) if (entry.account === account) sum += deltaOf(entry)
    return sum
  }

  #accountsOf(playerId: string): [Account, AccountState][] {
    return [...this.#accounts].filter(([, state]) => state.playerId === playerId)
  }

  /** D28: the account in the currency, else the home account. */
  #choose(playerId: string, wanted: string | undefined): Chosen | null {
    const known = this.#accountsOf(playerId).filter(([, state]) => state.known)
    const inOrder = known.map(([account, { currency }]) => ({ account, currency }))
    inOrder.sort((one, other) => (one.currency < other.currency ? -1 : 1))
    const inCurrency = (code?: string) => inOrder.find(({ currency }) => currency === code)
    return inCurrency(wanted) ?? inCurrency(this.#policy.defaultCurrency) ?? inOrder[0] ?? null
  }

  bet(betId: string): ModelBet | null {
    const entries = this.#ledger.filter(entry => entry.betId === betId)
    const [first] = entries
    if (first === undefined) return null
    const uncollected = entries.filter(({ event }) => event === 'uncollected')
    return {
      playerId: first.playerId,
      currency: first.currency,
      stake: first.amount,
      rolledBack: entries.some(
        ({ event }) => event === 'stake-returned' || event === 'cancelled-before-arrival',
      ),
      owed: uncollected.reduce((sum, { amount }) => sum + amount, 0n),
      live: liveOf(entries),
    }
  }

  #moveExternally(
    { playerId, currency }: { playerId: string; currency?: string },
    amount: Cents,
  ): ModelAnswer {
    const [account] =
      this.#accountsOf(playerId).find(([, own]) => own.currency === (currency ?? own.currency)) ?? []
    if (account === undefined || this.#balanceOf(account) + amount < 0n) return 'not-done'
    this.#external = [...this.#external, { account, amount }]
    return 'done'
  }

  #answer(request: ModelRequest, defect: BodyDefect, fault: InjectedFault): ModelAnswer {
    // A request that the interface does not describe is refused before the store is read.
    if (defect !== 'none' || ('amount' in request && !isAmount(request.amount, request.currency))) {
      return { ok: false, replayed: false, errorCode: 'INVALID_REQUEST' }
    }
    if (fault === 'load-throws') return 'fault'

    const key = keyOf(request)
    const first = this.#answers.get(key)
    if (first !== undefined) return this.#replay(request, first) // D2: no changes

    const wanted = 'amount' in request ? request.currency : this.bet(request.betId)?.currency
    const chosen = this.#choose(request.playerId, wanted)
    if (chosen === null) return { ok: false, replayed: false, errorCode: 'INVALID_PLAYER' } // D16
    const verdict = this.#decide(request, chosen)
    if (verdict.kind === 'refusal') return { ok: false, replayed: false, errorCode: verdict.errorCode } // D8
    if (fault === 'commit-unavailable' || fault === 'lost-before-commit') return 'fault' // D9

    const errorCode = verdict.kind === 'accepted' ? null : verdict.errorCode
    const { currency } = chosen
    this.#answers = new Map(this.#answers).set(key, { content: contentOf(request), currency, errorCode })
    if (verdict.entry !== null) this.#ledger = [...this.#ledger, verdict.entry]
    // After a lost answer the wallet reads the recorded decision and replays it.
    const replayed = fault === 'lost-after-commit'
    return errorCode === null ? this.#success(chosen, replayed) : { ok: false, replayed, errorCode }
  }

  /** D2 to D4, and D16: a success needs a player. */
  #replay(request: ModelRequest, { content, currency, errorCode }: FirstAnswer): ModelAnswer {
    if (content !== contentOf(request)) {
      return { ok: false, replayed: false, errorCode: 'TRANSACTION_CONFLICT' }
    }
    if (errorCode !== null) return { ok: false, replayed: true, errorCode }
    const chosen = this.#choose(request.playerId, currency)
    if (chosen === null) return { ok: false, replayed: false, errorCode: 'INVALID_PLAYER' }
    return this.#success(chosen, true)
  }

  #success({ account, currency }: Chosen, replayed: boolean): ModelAnswer {
    return { ok: true, replayed, balance: this.#balanceOf(account), currency }
  }

  /** Decides a new request. The order of the checks is part of the rules: final refusals depend on it. */
  #decide(request: ModelRequest, chosen: Chosen): Verdict {
    const { betId, playerId } = request
    const bet = this.bet(betId)
    const { currency } = chosen
    if (request.operation === 'placebet') return this.#decidePlaceBet(request, chosen, bet)
    if (bet !== null && bet.playerId !== playerId) return refusal('INVALID_PLAYER') // D15
    if (request.operation === 'rollbackbet') return this.#decideRollback(request, chosen, bet)
    if (bet === null || bet.rolledBack) return refusal('INVALID_BET') // D17, D19
    if (request.operation === 'unsettlement') return this.#decideUnsettlement(request, chosen, bet)

    const { type, amount } = request
    if (request.currency !== currency || bet.currency !== currency) return refusal('INVALID_CURRENCY') // D23
    return accepted({ ...idsOf(request), ...chosen, event: 'credited', type, amount })
  }

  #decidePlaceBet(
    request: ModelRequest & { operation: 'placebet' },
    chosen: Chosen,
    bet: ModelBet | null,
  ): Verdict {
    const { amount } = request
    if (bet !== null) return finalRefusal('INVALID_BET') // D10, D11, D15
    if (request.currency !== chosen.currency) return finalRefusal('INVALID_CURRENCY') // D23
    if (amount > this.#balanceOf(chosen.account)) return finalRefusal('INSUFFICIENT_FUNDS')
    if (request.sessionEnded) return finalRefusal('INVALID_SESSION_TOKEN')
    if (amount > this.#policy.debitMax) return finalRefusal('DEBIT_LIMIT_EXCEEDED')
    return accepted({ ...idsOf(request), ...chosen, event: 'staked', amount })
  }

  #decideRollback(request: ModelRequest, chosen: Chosen, bet: ModelBet | null): Verdict {
    const ids = { ...idsOf(request), ...chosen }
    if (bet === null) return accepted({ ...ids, event: 'cancelled-before-arrival', amount: 0n }) // D11
    if (bet.rolledBack) return accepted(null) // D12
    if (bet.live.size > 0 || bet.owed > 0n) return refusal('INVALID_BET') // D13
    if (bet.currency !== chosen.currency) return refusal('INVALID_CURRENCY') // D23
    return accepted({ ...ids, event: 'stake-returned', amount: bet.stake })
  }

  #decideUnsettlement(
    request: ModelRequest & { operation: 'unsettlement' },
    chosen: Chosen,
    bet: ModelBet,
  ): Verdict {
    const { betId } = request
    const type = request.type === 'UNSCORED' ? 'BET_PAID' : 'VOIDED'
    const amount = bet.live.get(type)
    if (amount === undefined) {
      const everCredited = this.#ledger.some(
        entry => entry.betId === betId && entry.event === 'credited' && entry.type === type,
      )
      return refusal(everCredited ? 'INVALID_BET' : 'SETTLEMENT_NOT_FOUND') // D19
    }
    if (bet.currency !== chosen.currency) return refusal('INVALID_CURRENCY') // D23
    const { clawbacks, debitMax } = this.#policy
    const funds = this.#balanceOf(chosen.account)
    const collectable = amount === 0n || (clawbacks && amount <= funds && amount <= debitMax)
    const ids = { ...idsOf(request), ...chosen }
    return collectable
      ? accepted({ ...ids, event: 'collected', type, amount }) // D18
      : finalRefusal('INSUFFICIENT_FUNDS', { ...ids, event: 'uncollected', type, amount }) // D7, D20
  }
}

/** Credited since the last unsettlement, per type; a type without a live credit has no entry (D18). */
function liveOf(entries: readonly LedgerEntry[]): ReadonlyMap<SettlementType, Cents> {
  const live = new Map<SettlementType, Cents>()
  for (const entry of entries) {
    if (entry.event === 'credited') live.set(entry.type, (live.get(entry.type) ?? 0n) + entry.amount)
    else if (entry.event === 'collected' || entry.event === 'uncollected') live.delete(entry.type)
  }
  return live
}

function deltaOf({ event, amount }: LedgerEntry): Cents {
  switch (event) {
    case 'staked':
    case 'collected':
      return -amount
    case 'stake-returned':
    case 'credited':
      return amount
    default:
      return 0n
  }
}

/** D22: at most 15 digits before the decimal point, and yen have no decimals. */
function isAmount(amount: Cents, currency: string): boolean {
  return amount < 10n ** 17n && (currency !== 'JPY' || amount % 100n === 0n)
}

/** The fields that a retry must not change (D3). */
function contentOf(request: ModelRequest): string {
  const { operation, playerId, betId } = request
  const type = 'type' in request ? request.type : ''
  const money = 'amount' in request ? `${request.amount} ${request.currency}` : ''
  return [operation, playerId, betId, type, money].join('|')
}

export const keyOf = ({ operation, transactionId }: { operation: Operation; transactionId: string }) =>
  `${operation} ${transactionId}`

const idsOf = ({ transactionId, betId, playerId }: Ids): Ids => ({ transactionId, betId, playerId })

const accepted = (entry: LedgerEntry | null): Verdict => ({ kind: 'accepted', entry })
const refusal = (errorCode: string): Verdict => ({ kind: 'refusal', errorCode })
const finalRefusal = (errorCode: string, entry: LedgerEntry | null = null): Verdict => ({
  kind: 'final-refusal',
  errorCode,
  entry,
})
