/** What happened on the page since the process began, and what its buttons do. */
import type { BetHistory, PlayerHistory, WalletLookups } from '../../lookups/index.js'
import type { Account } from '../../store.js'
import { parseDecimal, textOf } from '../numbers/decimal.js'
import { isoMinorUnits } from '../numbers/minor-units.js'
import type { TryEvent, TryState } from './page.js'
import { createTryPlatform, type TryPlatform } from './platform.js'
import { type NewBet, newBetScenarios, placedBetScenarios, type Scenario, type TryBet } from './scenarios.js'
import type { TryTarget } from './wire.js'

export interface TryPageOptions extends TryTarget {
  /** Reads what the wallet has recorded. */
  lookups: Pick<WalletLookups, 'bet' | 'player'>
  /** The players to bet with. They must exist. */
  playerIds: readonly string[]
  /** Where the data is, in one sentence: the page shows it. */
  storage: string
  /**
   * Credits an account, as your cashier does. The amount is above 0, with the decimals of the currency at
   * most.
   *
   * @default none: the page has no button for deposits
   */
  deposit?: (playerId: string, amount: string, currency: string) => Promise<unknown>
}

const amountLengthMax = 15
const eventsMax = 50
const betsMax = 20

export class TrySession {
  readonly #options: TryPageOptions
  readonly #platform: TryPlatform
  readonly #events: TryEvent[] = []
  #notice: string | null = null
  /** New after each start: the database may still have the bets of the last one. */
  readonly #run = Date.now().toString(36).slice(-6)
  #bets = 0

  /** @throws {TypeError} for a `baseUrl` that is not `http:` */
  constructor(options: TryPageOptions) {
    if (new URL(options.baseUrl).protocol !== 'http:')
      throw new TypeError('baseUrl must begin with http://: the page shows what goes over the wire')
    this.#options = options
    this.#platform = createTryPlatform(options)
  }

  async state(): Promise<TryState> {
    const { storage, baseUrl } = this.#options
    const players = await this.#players()
    const bets = await this.#newestBets(players)
    const hasDeposits = this.#options.deposit !== undefined
    return { storage, baseUrl, players, bets, hasDeposits, events: this.#events, notice: this.#notice }
  }

  /** Runs a button. `form` names the player and the stake, or the bet. An unknown one is a notice. */
  async run(name: string, form: URLSearchParams): Promise<void> {
    this.#notice = null
    if (name === 'deposit') {
      this.#notice = await this.#deposit(form.get('playerId') ?? '', form.get('amount') ?? '')
      return
    }
    const starting = newBetScenarios.find(scenario => scenario.name === name)
    if (starting !== undefined) {
      const bet = await this.#newBet(form.get('playerId') ?? '', form.get('stake') ?? '')
      if (bet === null) this.#notice = 'There is no such player.'
      else await this.#play(starting, bet)
      return
    }
    const continuing = placedBetScenarios.find(scenario => scenario.name === name)
    const bet = await this.#placedBet(form.get('betId') ?? '')
    if (continuing === undefined || bet === null) this.#notice = 'There is no such button or bet.'
    else await this.#play(continuing, bet)
  }

  /** @returns what happened, for the reader of the page */
  async #deposit(playerId: string, amount: string): Promise<string> {
    const { deposit } = this.#options
    const account = await this.#account(playerId)
    if (deposit === undefined || account === null) return 'There is no such button or player.'
    const { currency } = account
    const value = parseDecimal(amount.trim())
    const decimals = isoMinorUnits(currency)
    if (value === null || value.units <= 0n || value.scale > decimals || amount.length > amountLengthMax)
      return `The amount must be above 0, and have at most ${decimals} decimals: nothing was deposited.`
    await deposit(playerId, textOf(value), currency)
    return `${textOf(value, decimals)} ${currency} deposited for ${playerId}, as your cashier does: the platform sends no call.`
  }

  async #play<Bet extends TryBet>({ label, description, run }: Scenario<Bet>, bet: Bet): Promise<void> {
    const calls = await run(this.#platform, bet)
    this.#events.unshift({ title: `${label}: ${bet.betId}`, description, calls })
    if (this.#events.length > eventsMax) this.#events.pop()
  }

  async #players(): Promise<PlayerHistory[]> {
    const found = await Promise.all(this.#options.playerIds.map(id => this.#options.lookups.player(id)))
    return found.filter(player => player !== null)
  }

  async #newestBets(players: readonly PlayerHistory[]): Promise<BetHistory[]> {
    const newest = players
      .flatMap(({ transactions }) => transactions)
      .sort((one, other) => other.recordedAt.localeCompare(one.recordedAt))
    const ids = [...new Set(newest.map(({ betId }) => betId))].slice(0, betsMax)
    const bets = await Promise.all(ids.map(id => this.#options.lookups.bet(id)))
    return bets.filter(bet => bet !== null)
  }

  async #newBet(playerId: string, stake: string): Promise<NewBet | null> {
    const account = await this.#account(playerId)
    if (account === null) return null
    this.#bets += 1
    const betId = `bet-${this.#run}-${this.#bets}`
    const { currency, balance } = account
    return {
      betId,
      placebetId: `${betId}/place`,
      playerId,
      currency,
      stake: stake.trim(),
      balance,
      transactionDate: new Date().toISOString(),
    }
  }

  async #account(playerId: string): Promise<Account | null> {
    const known = this.#options.playerIds.includes(playerId)
    return (known && (await this.#options.lookups.player(playerId))?.accounts[0]) || null
  }

  async #placedBet(betId: string): Promise<TryBet | null> {
    const history = betId === '' ? null : await this.#options.lookups.bet(betId)
    const placebet = history?.transactions.find(
      ({ operation, refusal }) => operation === 'placebet' && refusal === null,
    )
    if (placebet === undefined || !this.#options.playerIds.includes(placebet.playerId)) return null
    const { transactionId: placebetId, playerId, amount, currency, transactionDate } = placebet
    return { betId, placebetId, playerId, currency: currency ?? '', stake: amount ?? '', transactionDate }
  }
}
