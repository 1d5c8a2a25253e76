/** A player with a limit: plays bets, counts what was accepted, and says in words where a rule was wrong. */
import type { SettlementType, WalletStore } from '../store.js'
import type { CaseContext } from './case-context.js'
import { commitTogether } from './gathered-commits.js'
import { callHook } from './hook-calls.js'
import type { Cents } from './model.js'
import { fromCents, toCents } from './platform.js'
import { type CallResult, call } from './platform-calls.js'
import type { Wallet } from './wallet.js'

export type LimitKind = 'stakes' | 'losses'

const hooks = { stakes: 'limitStakes', losses: 'limitLosses' } as const
const verbs = { stakes: 'staked', losses: 'lost, open bets included,' }

type Request = [operation: Parameters<typeof call>[2], fields: Parameters<typeof call>[3]]

interface PlayedBet {
  betId: string
  stake: Cents
  /** Placed in an earlier day or week: what happens to it no longer changes the sum. */
  isPast: boolean
  isRolledBack: boolean
  live: Map<SettlementType, Cents>
}

/** How a round of bets reaches the store. */
interface Round {
  /** The bets use these in turn. By default the store of the wallet. */
  stores?: readonly WalletStore[]
  /** Runs when all bets are about to be committed. */
  meanwhile?(): Promise<void>
  transactionDate?: string
}

export class LimitedPlayer {
  readonly playerId: string
  readonly bets: PlayedBet[] = []
  readonly #context: CaseContext
  readonly #wallet: Wallet
  readonly #kind: LimitKind
  /** Every request that got an answer, with it. */
  readonly #answered: { request: Request; result: CallResult }[] = []
  #limit: Cents = 0n
  #counted: Cents = 0n
  #ids = 0

  constructor(context: CaseContext, wallet: Wallet, playerId: string, kind: LimitKind) {
    this.#context = context
    this.#wallet = wallet
    this.playerId = playerId
    this.#kind = kind
  }

  async limitTo(amount: string): Promise<void> {
    const { harness, trace } = this.#context
    const hook = hooks[this.#kind]
    trace.note('PAM', `limits the ${this.#kind} of ${this.playerId} to ${amount}`)
    await callHook(trace, hook, () => harness[hook]?.(this.#wallet.opened, this.playerId, amount))
    this.#limit = toCents(amount)
  }

  /** Places bets of these amounts, all at once, and judges them. */
  async place(amounts: readonly string[], round: Round = {}): Promise<void> {
    const { stores = [this.#wallet.store], meanwhile, transactionDate } = round
    const requests = amounts.map((amount): Request => {
      const fields = { ...this.#newIds('t'), playerId: this.playerId, amount }
      return ['placebet', transactionDate === undefined ? fields : { ...fields, transactionDate }]
    })
    const results = await commitTogether(
      requests.map((request, index) => ({
        store: stores[index % stores.length] as WalletStore,
        run: store => this.send(request, store),
      })),
      meanwhile,
    )
    this.judge(results.map((result, index) => ({ request: requests[index] as Request, result })))
  }

  /** Sends copies of one placebet at once: they are one bet. */
  async placeCopies(amount: string, copies: number): Promise<void> {
    const request = this.bet(amount)
    const { store } = this.#wallet
    const calls = Array.from({ length: copies }, () => ({
      store,
      run: (held: WalletStore) => this.send(request, held),
    }))
    for (const result of await commitTogether(calls)) this.#expectOk(request, result)
    this.judge([{ request, result: this.#resultOf(request) }])
  }

  bet(amount: string, fields: object = {}): Request {
    return ['placebet', { ...this.#newIds('t'), playerId: this.playerId, amount, ...fields }]
  }

  /** Credits the stake. Also for a bet that was never placed. */
  async rollBack(bet: PlayedBet | null): Promise<void> {
    await this.#sendOk(this.rollbackOf(bet?.betId ?? this.#newIds('r').betId))
    if (bet === null || bet.isRolledBack) return
    bet.isRolledBack = true
    this.#count(bet, -bet.stake, -bet.stake)
  }

  rollbackOf(betId: string): Request {
    return ['rollbackbet', { ...this.#newIds('r'), betId, playerId: this.playerId }]
  }

  async settle(bet: PlayedBet, type: SettlementType, amount: string): Promise<void> {
    const fields = { ...this.#newIds('s'), betId: bet.betId, playerId: this.playerId, type, amount }
    await this.#sendOk(['settlement', fields])
    const credit = toCents(amount)
    bet.live.set(type, (bet.live.get(type) ?? 0n) + credit)
    this.#count(bet, type === 'VOIDED' ? -credit : 0n, -credit)
  }

  /** @param isCollected `false`: the funds do not cover it, and it is refused (D7) */
  async clawBack(bet: PlayedBet, type: 'BET_PAID' | 'VOIDED', isCollected = true): Promise<void> {
    const unsettlement = type === 'VOIDED' ? 'UNVOIDED' : 'UNSCORED'
    const ids = { ...this.#newIds('u'), betId: bet.betId, playerId: this.playerId }
    const request: Request = ['unsettlement', { ...ids, type: unsettlement }]
    const result = await this.send(request)
    if (isCollected) this.#expectOk(request, result)
    else this.#context.check(!result.ok && !('fault' in result), 'INSUFFICIENT_FUNDS', result)
    const debit = isCollected ? (bet.live.get(type) ?? 0n) : 0n
    bet.live.delete(type)
    this.#count(bet, type === 'VOIDED' ? debit : 0n, debit)
  }

  /** Retries every request that was answered: no answer may change, and nothing is counted again. */
  async retryAll(): Promise<void> {
    for (const { request, result } of [...this.#answered]) {
      const again = await call(this.#context, this.#wallet.store, ...request, this.#options)
      const isSame = again.ok === result.ok && (again.ok || codeOf(again) === codeOf(result))
      this.#context.check(isSame, `the first answer again: ${codeOf(result)}`, codeOf(again))
    }
  }

  /** A new day or week has begun. */
  forgetPast(): void {
    for (const bet of this.bets) bet.isPast = true
    this.#counted = 0n
  }

  async send(request: Request, store = this.#wallet.store): Promise<CallResult> {
    const result = await call(this.#context, store, ...request, this.#options)
    if (!('fault' in result)) this.#answered.push({ request, result })
    return result
  }

  /** Compares the answers to concurrent bets with the limit, and counts what was accepted. */
  judge(round: readonly { request: Request; result: CallResult }[]): void {
    const before = this.#counted
    const accepted: Cents[] = []
    for (const { request, result } of round) {
      this.#context.check(!('fault' in result), 'a success or a refusal', result)
      if (!result.ok) continue
      const [, { betId, amount = '0' }] = request
      const stake = toCents(amount)
      const bet = { betId, stake, isPast: false, isRolledBack: false, live: new Map() }
      this.bets.push(bet)
      accepted.push(stake)
      this.#count(bet, stake, stake)
    }
    const limit = money(this.#limit)
    const had = `${this.playerId} had ${verbs[this.#kind]} ${money(before)} of ${limit}`
    const expected = `${this.#kind} of at most ${limit}, and no refusal of a bet within the limit`
    if (accepted.length > 0 && this.#counted > this.#limit)
      this.#context.check(false, expected, `limit exceeded: ${had}, and ${shownBets(accepted)} accepted`)
    for (const { request, result } of round) {
      const stake = toCents(request[1].amount ?? '0')
      if (result.ok || this.#counted + stake > this.#limit) continue
      const others = accepted.length === 0 ? '' : `${shownBets(accepted)} accepted, and `
      const refused = `${others}a bet of ${money(stake)} was refused: ${codeOf(result)}`
      this.#context.check(false, expected, `too strict: ${had}, ${others === '' ? 'and ' : ''}${refused}`)
    }
  }

  async #sendOk(request: Request): Promise<void> {
    this.#expectOk(request, await this.send(request))
  }

  #expectOk([operation]: Request, result: CallResult): void {
    this.#context.check(result.ok, `the ${operation} to succeed`, result)
  }

  #resultOf(request: Request): CallResult {
    const answered = this.#answered.find(each => each.request === request)
    return answered?.result ?? { ok: false, fault: 'no answer' }
  }

  #count({ isPast }: PlayedBet, staked: Cents, lost: Cents): void {
    if (!isPast) this.#counted += this.#kind === 'stakes' ? staked : lost
  }

  get #options() {
    return this.#context.harness.walletOptions?.(this.#wallet.opened) ?? {}
  }

  #newIds(letter: string): { transactionId: string; betId: string } {
    this.#ids += 1
    const id = `${this.playerId}-${this.#ids}`
    return { transactionId: `${letter}-${id}`, betId: `b-${id}` }
  }
}

const codeOf = (result: CallResult) =>
  result.ok ? 'ok' : 'fault' in result ? `fault ${result.fault}` : result.errorCode

/** `20.00` */
function money(cents: Cents): string {
  const [whole, fraction = ''] = fromCents(cents).split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}

/** `bets of 20.00 and 15.00 were both` */
function shownBets(stakes: readonly Cents[]): string {
  const amounts = stakes.map(money)
  const last = amounts.pop() ?? ''
  if (amounts.length === 0) return `a bet of ${last} was`
  return `bets of ${amounts.join(', ')} and ${last} were ${amounts.length === 1 ? 'both' : 'all'}`
}
