/**
 * Isolates random runs from each other. Opening a store may be slow, so many runs share one store, and each
 * run has its own players, bets and transactions there: its ids carry its number.
 */
import { WalletError } from '../errors.js'
import type { WalletStore } from '../store.js'
import { initialPlayers, severalAccounts } from './arbitraries.js'
import type { CaseContext } from './case-context.js'
import { faultyStore, InjectedFaultError } from './faulty-store.js'
import type {
  Cents,
  HistoryStep,
  InjectedFault,
  ModelAnswer,
  ModelBet,
  ModelRequest,
  WalletModel,
} from './model.js'
import { toModelBet } from './model-comparison.js'
import {
  fromCents,
  handlers,
  type Observed,
  observe,
  platformOptions,
  requestBody,
  toCents,
} from './platform.js'
import { withCommit } from './stores-around.js'
import { shown } from './trace.js'
import type { Wallet } from './wallet.js'

const sandboxesPerStore = 50

const betIds = ['b1', 'b2', 'b3', 'b4', 'b5']

/** @param several whether a player has two accounts */
const accountsWhere = (several: boolean) =>
  (several ? severalAccounts : initialPlayers).filter(({ known }) => known)

const knownPlayers = accountsWhere(false)

/** Whether ids are unique across all players, or no two players have the same ones (`idScope`). */
type IdScope = 'player' | undefined

/** The bets that a run may have. Of an unknown player there is none. */
function betsOf(idScope: IdScope): { betId: string; playerId?: string }[] {
  if (idScope === undefined) return betIds.map(betId => ({ betId }))
  return knownPlayers.flatMap(({ playerId }) =>
    betIds.map(betId => ({ betId: idOfPlayer(betId, playerId), playerId })),
  )
}

const idOfPlayer = (id: string, playerId: string) => `${id}.${playerId}`

/** Gives every player ids of its own, if an id may exist once per player. */
export function withPlayerScopedIds(step: HistoryStep, idScope: IdScope): HistoryStep {
  if (step.step !== 'call' || idScope === undefined) return step
  const { transactionId, betId, playerId } = step.request
  const ids = { transactionId: idOfPlayer(transactionId, playerId), betId: idOfPlayer(betId, playerId) }
  return { ...step, request: { ...step.request, ...ids } }
}

const idIn = (sandbox: number, id: string) => `${id}~${sandbox}`

/** Runs an action when the schedule says so. */
export type Schedule = <T>(label: string, action: () => Promise<T>) => Promise<T>

const immediately: Schedule = (_label, action) => action()

/** Balances by player and currency, and bets, in the shape of the model. */
export interface FinalState {
  balances: ReadonlyMap<string, Cents>
  bets: ReadonlyMap<string, ModelBet | null>
}

export function finalStateOf(model: WalletModel, idScope: IdScope, several: boolean): FinalState {
  return {
    balances: new Map(
      accountsWhere(several).map(({ playerId, currency }) => [
        `${playerId} ${currency}`,
        model.balance(playerId, currency),
      ]),
    ),
    bets: new Map(betsOf(idScope).map(({ betId }) => [betId, model.bet(betId)])),
  }
}

/** The faults that a sandbox can inject; it skips the others. */
export const canInject = (fault: InjectedFault) =>
  fault === 'lost-before-commit' || fault === 'lost-after-commit'

/**
 * The answer `committed` is lost, and `conflict` is not: a placebet that is committed without a load may need
 * a second commit, and the model knows only the last.
 */
function losingCommitted(store: WalletStore): WalletStore {
  return withCommit(store, async changes => {
    const result = await store.commit(changes)
    if (result.status !== 'committed') return result
    throw new InjectedFaultError('Injected fault: lost-answer')
  })
}

function withFault(store: WalletStore, fault: InjectedFault): WalletStore {
  if (fault === 'lost-after-commit') return losingCommitted(store)
  if (fault !== 'lost-before-commit') return faultyStore(store)
  // The model has no loads and commits: it knows what the fault prevents only if the load comes first.
  return { ...faultyStore(store, ['lost-request']), addsCredits: false }
}

export class Sandboxes {
  readonly #context: CaseContext
  readonly #several: boolean
  #wallet: Wallet | null = null
  #count = 0

  constructor(context: CaseContext, several: boolean) {
    this.#context = context
    this.#several = several
  }

  async next(): Promise<Sandbox> {
    const context = this.#context
    if (this.#wallet === null || this.#count % sandboxesPerStore === 0) {
      await context.closeAll()
      context.trace.reset()
      this.#wallet = await context.open(playersOf(this.#count, this.#several))
    }
    this.#count += 1
    const wallet = this.#wallet
    const balances = accountsWhere(this.#several).map(
      ({ playerId, currency, balance }) => `${playerId} has ${fromCents(balance)} ${currency}`,
    )
    context.trace.reset()
    context.trace.note('kit', balances.join(', '))
    const sandbox = { number: this.#count - 1, several: this.#several }
    return new Sandbox(context, wallet, sandbox, crashed => {
      this.#wallet = crashed
    })
  }
}

/** The players of all sandboxes of one store. */
function playersOf(firstSandbox: number, several: boolean) {
  return Array.from({ length: sandboxesPerStore }, (_, offset) =>
    accountsWhere(several).map(({ playerId, currency, balance }) => ({
      playerId: idIn(firstSandbox + offset, playerId),
      currency,
      balance: fromCents(balance),
    })),
  ).flat()
}

export class Sandbox {
  wallet: Wallet
  readonly #context: CaseContext
  readonly #number: number
  readonly #accounts: ReturnType<typeof accountsWhere>
  readonly #onCrash: (wallet: Wallet) => void
  /** Per account: external deposits less external withdrawals. */
  readonly #external = new Map<string, Cents>()

  constructor(
    context: CaseContext,
    wallet: Wallet,
    { number, several }: { number: number; several: boolean },
    onCrash: (wallet: Wallet) => void,
  ) {
    this.#context = context
    this.wallet = wallet
    this.#number = number
    this.#accounts = accountsWhere(several)
    this.#onCrash = onCrash
  }

  /** Performs one step with the ids of this sandbox. Its fault affects this step only. */
  async perform(
    step: HistoryStep,
    store: WalletStore = this.wallet.store,
    schedule: Schedule = immediately,
  ): Promise<Observed> {
    if (step.step === 'deposit' || step.step === 'withdraw') {
      return schedule(`${step.step} ${step.playerId}`, () => this.#moveExternally(step))
    }
    if (step.step !== 'call') return { answer: 'done', walletTransactionId: null }
    const { request, fault, defect, format, hook } = step
    const faulty = withFault(store, fault)
    const body = requestBody(this.#withOwnIds(request), defect, format)
    const subject = `${request.operation} ${request.transactionId}, ${request.betId}`
    const answered = this.#context.trace.start('platform', shownCall(step), subject)
    try {
      const observed = observe(await handlers[request.operation](faulty, body, platformOptions(hook)))
      answered(shownAnswer(observed.answer))
      return observed
    } catch (error) {
      answered(`fault ${shown(error)}`)
      if (error instanceof WalletError && error.code !== 'STORE_CONTRACT') {
        return { answer: 'fault', walletTransactionId: null }
      }
      throw error
    }
  }

  /** Rolls back a placebet under a transactionId of its own. */
  async rollBack(store: WalletStore, placebet: ModelRequest): Promise<void> {
    const request = rollbackOf(placebet)
    await this.perform({ step: 'call', request, defect: 'none', fault: 'none', format: 'text' }, store)
  }

  async crash(): Promise<void> {
    this.wallet = await this.wallet.connectBy('crash')
    this.#onCrash(this.wallet)
  }

  async finalState(): Promise<FinalState> {
    const balances = new Map<string, Cents>()
    for (const { playerId, currency } of this.#accounts) {
      const balance = await this.wallet.balance(idIn(this.#number, playerId), currency)
      balances.set(`${playerId} ${currency}`, toCents(balance))
    }
    const bets = new Map<string, ModelBet | null>()
    for (const { betId, playerId } of betsOf(this.#context.harness.idScope)) {
      const owner = playerId === undefined ? undefined : idIn(this.#number, playerId)
      const bet = toModelBet(await this.wallet.bet(idIn(this.#number, betId), owner))
      bets.set(betId, bet && { ...bet, playerId: bet.playerId.replace(/~\d+$/, '') })
    }
    return { balances, bets }
  }

  /** Whether the PAM's own rows are those of the recorded movements. */
  async expectOwnRows(): Promise<void> {
    const players = new Set(this.#accounts.map(({ playerId }) => idIn(this.#number, playerId)))
    await this.wallet.expectOwnRows([...players])
  }

  /** A definite answer must be what is recorded. */
  async expectRecord(request: ModelRequest, answer: ModelAnswer): Promise<void> {
    const record = await this.#recorded(request)
    const text = `${shownRequest(request)}, answered ${shownAnswer(answer)}`
    if (typeof answer === 'string') return this.#context.check(false, `a definite answer to ${text}`, answer)
    if (answer.ok) {
      this.#context.check(record !== null && record.refusal === null, `a recorded success of ${text}`, record)
    } else if (isFinal(request, answer.errorCode)) {
      this.#context.check(
        record?.refusal?.errorCode === answer.errorCode,
        `a recorded refusal of ${text}`,
        record,
      )
    }
  }

  /**
   * Checks the money without knowing the rules: no balance is negative, every balance is the initial balance
   * plus all movements, a rolled-back bet nets to zero, and the PAM's own rows are those of the movements.
   */
  async expectMoneyToAddUp(steps: readonly HistoryStep[]): Promise<void> {
    const byAccount = new Map<string, Cents>()
    const stakesByBet = new Map<string, Cents>()
    const owners = new Map<string, string>()
    for (const request of requestsOf(steps)) {
      const record = await this.#recorded(request)
      if (record === null) continue
      const delta = toCents(record.delta)
      addTo(byAccount, `${record.playerId} ${record.accountCurrency}`, delta)
      if (record.operation === 'placebet' || record.operation === 'rollbackbet') {
        addTo(stakesByBet, record.betId, delta)
        owners.set(record.betId, record.playerId)
      }
    }
    const { balances } = await this.finalState()
    for (const { playerId, currency, balance: initial } of this.#accounts) {
      const account = `${playerId} ${currency}`
      const balance = balances.get(account) ?? 0n
      const movements = byAccount.get(`${idIn(this.#number, playerId)} ${currency}`) ?? 0n
      const expected = initial + (this.#external.get(account) ?? 0n) + movements
      this.#context.check(
        balance === expected && balance >= 0n,
        `a balance of ${fromCents(expected)} for ${account}: the initial balance and every recorded movement`,
        fromCents(balance),
      )
    }
    for (const [betId, sum] of stakesByBet) {
      const bet = await this.wallet.bet(betId, owners.get(betId))
      if (bet?.status !== 'ROLLED_BACK') continue
      this.#context.check(sum === 0n, `stake and rollback of ${betId} to net to zero`, fromCents(sum))
    }
    await this.expectOwnRows()
  }

  #recorded({ operation, transactionId, playerId }: ModelRequest) {
    const [id, owner] = [idIn(this.#number, transactionId), idIn(this.#number, playerId)]
    return this.wallet.transaction(operation, id, owner)
  }

  async #moveExternally(step: HistoryStep & { step: 'deposit' | 'withdraw' }): Promise<Observed> {
    const { playerId, amount } = step
    const id = idIn(this.#number, playerId)
    const own = this.#accounts.find(account => account.playerId === playerId)
    const currency = step.currency ?? own?.currency ?? ''
    // A PAM pays out at most the balance. No other writer changes it between this read and the withdrawal.
    if (step.step === 'withdraw' && toCents(await this.wallet.balance(id, currency)) < amount) {
      return { answer: 'not-done', walletTransactionId: null }
    }
    const delta = step.step === 'deposit' ? amount : -amount
    const verb = step.step === 'deposit' ? 'deposits' : 'withdraws'
    this.#context.trace.note('PAM', `${verb} ${fromCents(amount)} ${currency} for ${playerId}`)
    await this.wallet.hook('depositExternally', id, fromCents(delta), currency)
    addTo(this.#external, `${playerId} ${currency}`, delta)
    return { answer: 'done', walletTransactionId: null }
  }

  #withOwnIds<R extends ModelRequest>(request: R): R {
    const { transactionId, betId, playerId } = request
    return {
      ...request,
      transactionId: idIn(this.#number, transactionId),
      betId: idIn(this.#number, betId),
      playerId: idIn(this.#number, playerId),
    }
  }
}

function addTo(sums: Map<string, Cents>, key: string, amount: Cents): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount)
}

/** Every request of the steps once, and the rollback that `rollBack` may have sent for it. */
function requestsOf(steps: readonly HistoryStep[]): Iterable<ModelRequest> {
  const requests = new Map<string, ModelRequest>()
  for (const step of steps) {
    if (step.step !== 'call') continue
    for (const request of [step.request, rollbackOf(step.request)]) {
      requests.set(`${request.operation} ${request.transactionId}`, request)
    }
  }
  return requests.values()
}

function rollbackOf({ transactionId, betId, playerId }: ModelRequest): ModelRequest {
  const ids = { transactionId: `${transactionId}-rollback`, betId, playerId }
  return { operation: 'rollbackbet', ...ids, type: 'TECHNICAL_ERROR' }
}

/** Final refusals are recorded (D6, D7); no other refusal is (D8). */
function isFinal({ operation }: ModelRequest, errorCode: string): boolean {
  if (operation === 'unsettlement') return errorCode === 'INSUFFICIENT_FUNDS'
  const notRecorded = ['INVALID_PLAYER', 'INVALID_REQUEST', 'TRANSACTION_CONFLICT']
  return operation === 'placebet' && !notRecorded.includes(errorCode)
}

function shownCall({ request, hook }: HistoryStep & { step: 'call' }): string {
  const withHook = request.operation === 'placebet' && hook !== 'none'
  return `${shownRequest(request)}${withHook ? `, with ${hook ?? 'authorizeBet'}` : ''}`
}

function shownRequest(request: ModelRequest): string {
  const { operation, transactionId, betId, playerId } = request
  const money = 'amount' in request ? `, ${fromCents(request.amount)} ${request.currency}` : ''
  const type = 'type' in request ? ` ${request.type}` : ''
  return `${operation}${type} ${transactionId}, ${betId} of ${playerId}${money}`
}

export function shownAnswer(answer: ModelAnswer): string {
  if (typeof answer === 'string') return answer
  const replayed = answer.replayed ? ' (replayed)' : ''
  return answer.ok
    ? `ok, balance ${fromCents(answer.balance)} ${answer.currency}${replayed}`
    : `${answer.errorCode}${replayed}`
}

export function shownState({ balances, bets }: FinalState): string {
  const ofAccounts = [...balances].map(([account, balance]) => `${account} ${fromCents(balance)}`)
  const ofBets = [...bets].flatMap(([betId, bet]) => {
    if (bet === null) return []
    const status = bet.rolledBack ? 'rolled back' : 'placed'
    const live = [...bet.live].map(([type, amount]) => `${type} ${fromCents(amount)} live`)
    return [`${betId} ${status} ${[...live, `${fromCents(bet.owed)} owed`].join(', ')}`]
  })
  return [...ofAccounts, ...ofBets].join('; ')
}
