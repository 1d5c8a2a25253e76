/** A player with a limit: plays bets, counts what was accepted, and says in words where a rule was wrong. */
import type { SettlementType, WalletOptions, WalletStore } from 'bet-wallet'
import type { Account } from '../../src/store.js'
import { commitTogether } from '../../src/testing/gathered-commits.js'
import { fromCents, toCents } from '../../src/testing/platform.js'
import { type CallResult, call } from '../../src/testing/platform-calls.js'
import { Trace } from '../../src/testing/trace.js'

export type LimitKind = 'stakes' | 'losses'

/** An operator's rule in a store, and the PAM that sets the limits. */
export interface LimitedWallet {
  store: WalletStore
  /** Connects as another process does. */
  connect(): WalletStore
  /** The options of the handlers. */
  options?: WalletOptions
  limit(kind: LimitKind, playerId: string, amount: string): Promise<unknown>
  /** For these milliseconds, or permanently if they are `null`. */
  exclude(playerId: string, milliseconds: number | null): Promise<unknown>
  advanceClock(milliseconds: number): Promise<unknown>
}

/** Opens a wallet with these players and no other record. */
export type OpenLimited = (players: readonly Account[]) => Promise<LimitedWallet>

const verbs = { stakes: 'staked', losses: 'lost, open bets included,' }

export type Request = [operation: Parameters<typeof call>[2], fields: Parameters<typeof call>[3]]

interface PlayedBet {
  betId: string
  stake: bigint
  /** Placed in an earlier day or week: what happens to it no longer changes the sum. */
  isPast: boolean
  isRolledBack: boolean
  live: Map<SettlementType, bigint>
}

/** How a round of bets reaches the store. */
interface Round {
  /** The bets use these in turn. By default the store of the wallet. */
  stores?: readonly WalletStore[]
  /** Runs when all bets are about to be committed. */
  meanwhile?(): Promise<void>
  transactionDate?: string
}

/** Sends a call of the platform. */
export const sendTo = (
  { store, options }: Pick<LimitedWallet, 'store' | 'options'>,
  [operation, fields]: Request,
): Promise<CallResult> => call({ trace: new Trace() }, store, operation, fields, options)

export class LimitedPlayer {
  readonly playerId: string
  readonly bets: PlayedBet[] = []
  readonly #wallet: LimitedWallet
  readonly #kind: LimitKind
  /** Every request that got an answer, with it. */
  readonly #answered: { request: Request; result: CallResult }[] = []
  #limit = 0n
  #counted = 0n
  #ids = 0

  constructor(wallet: LimitedWallet, playerId: string, kind: LimitKind) {
    this.#wallet = wallet
    this.playerId = playerId
    this.#kind = kind
  }

  get lastBet(): PlayedBet {
    const bet = this.bets.at(-1)
    if (bet === undefined) throw new Error('no bet was accepted')
    return bet
  }

  async limitTo(amount: string): Promise<void> {
    await this.#wallet.limit(this.#kind, this.playerId, amount)
    this.#limit = toCents(amount)
  }

  /** Places bets of these amounts, all at once, and judges them. */
  async place(amounts: readonly string[], round: Round = {}): Promise<void> {
    const { stores = [this.#wallet.store], meanwhile, transactionDate } = round
    const requests = amounts.map(amount => this.bet(amount, transactionDate ? { transactionDate } : {}))
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
    const results = await commitTogether(calls)
    for (const result of results) check(result.ok, 'each copy of the placebet to succeed', result)
    this.judge([{ request, result: results[0] as CallResult }])
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
    if (isCollected) await this.#sendOk(request)
    else {
      const result = await this.send(request)
      check(codeOf(result) === 'INSUFFICIENT_FUNDS', 'INSUFFICIENT_FUNDS', result)
    }
    const debit = isCollected ? (bet.live.get(type) ?? 0n) : 0n
    bet.live.delete(type)
    this.#count(bet, type === 'VOIDED' ? debit : 0n, debit)
  }

  /** Retries every request that was answered: no answer may change, and nothing is counted again. */
  async retryAll(): Promise<void> {
    for (const { request, result } of [...this.#answered]) {
      const again = await sendTo(this.#wallet, request)
      check(codeOf(again) === codeOf(result), `the first answer again: ${codeOf(result)}`, again)
    }
  }

  /** A new day or week has begun. */
  forgetPast(): void {
    for (const bet of this.bets) bet.isPast = true
    this.#counted = 0n
  }

  async send(request: Request, store = this.#wallet.store): Promise<CallResult> {
    const result = await sendTo({ ...this.#wallet, store }, request)
    if (!('fault' in result)) this.#answered.push({ request, result })
    return result
  }

  /** Compares the answers to concurrent bets with the limit, and counts what was accepted. */
  judge(round: readonly { request: Request; result: CallResult }[]): void {
    const before = this.#counted
    const accepted: bigint[] = []
    for (const { request, result } of round) {
      check(!('fault' in result), 'a success or a refusal', result)
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
      check(false, expected, `limit exceeded: ${had}, and ${shownBets(accepted)} accepted`)
    for (const { request, result } of round) {
      const stake = toCents(request[1].amount ?? '0')
      if (result.ok || this.#counted + stake > this.#limit) continue
      const others = accepted.length === 0 ? '' : `${shownBets(accepted)} accepted, and `
      const refused = `${others}a bet of ${money(stake)} was refused: ${codeOf(result)}`
      check(false, expected, `too strict: ${had}, ${others === '' ? 'and ' : ''}${refused}`)
    }
  }

  async #sendOk(request: Request): Promise<void> {
    const result = await this.send(request)
    check(result.ok, `the ${request[0]} to succeed`, result)
  }

  #count({ isPast }: PlayedBet, staked: bigint, lost: bigint): void {
    if (!isPast) this.#counted += this.#kind === 'stakes' ? staked : lost
  }

  #newIds(letter: string): { transactionId: string; betId: string } {
    this.#ids += 1
    const id = `${this.playerId}-${this.#ids}`
    return { transactionId: `${letter}-${id}`, betId: `b-${id}` }
  }
}

/** @throws {CaseFailed} unless `holds` */
export function check(holds: boolean, expected: string, actual: unknown): asserts holds {
  const trace: Trace = new Trace()
  trace.check(holds, expected, actual)
}

const codeOf = (result: CallResult) =>
  result.ok ? 'ok' : 'fault' in result ? `fault ${result.fault}` : result.errorCode

/** `20.00` */
function money(cents: bigint): string {
  const [whole, fraction = ''] = fromCents(cents).split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}

/** `bets of 20.00 and 15.00 were both` */
function shownBets(stakes: readonly bigint[]): string {
  const amounts = stakes.map(money)
  const last = amounts.pop() ?? ''
  if (amounts.length === 0) return `a bet of ${last} was`
  return `bets of ${amounts.join(', ')} and ${last} were ${amounts.length === 1 ? 'both' : 'all'}`
}
