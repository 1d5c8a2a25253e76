/** One connection to the store under test, with every call traced, and with the checks that cases share. */
import { add, type Decimal, isDecimal, isZero } from '../money.js'
import type {
  Account,
  Bet,
  CommitResult,
  Operation,
  Transaction,
  WalletChanges,
  WalletSnapshot,
  WalletStore,
} from '../store.js'
import { sameAmount, sameBet, sameTransaction } from './equality.js'
import type { OwnRows, StoreHarness } from './harness.js'
import { callHook } from './hook-calls.js'
import { short, shown, shownResult, type Trace, tracedStore } from './trace.js'

/** The value that `open` of the harness returned. */
export type Opened = { store: WalletStore }

type WalletHook = Exclude<keyof StoreHarness, 'open' | 'limits' | 'playerIds' | 'idScope'>
type HookOf<H extends WalletHook> = Extract<StoreHarness[H], (...values: never[]) => unknown>
type ResultOf<H extends WalletHook> = ReturnType<HookOf<H>>
type ValuesOf<H extends WalletHook> = Parameters<HookOf<H>> extends [unknown, ...infer V] ? V : never

/** Shared by all connections of one opened store. */
interface Shared {
  harness: StoreHarness<Opened>
  trace: Trace
  opened: Opened
  /** A player who exists: `load` needs one even if a case reads something else. */
  knownPlayerId: string
  /** Every transaction that a commit was about, by its key. */
  sent: Map<string, Transaction>
  /** How many commits of all stores of the case have added a credit to a bet. */
  added: { credits: number }
}

interface ExpectedRows extends OwnRows {
  playerId: string
  currency: string
}

export class Wallet {
  /** Every call of this store is traced. */
  readonly store: WalletStore
  readonly opened: Opened
  readonly #shared: Shared
  readonly #untraced: WalletStore

  constructor(shared: Shared, untraced: WalletStore, actor: string) {
    this.#shared = shared
    this.opened = shared.opened
    this.#untraced = untraced
    const traced = tracedStore(untraced, shared.trace, actor)
    this.store = {
      ...traced,
      commit(changes) {
        const { operation, transactionId, playerId } = changes.transaction
        shared.sent.set(shown([operation, transactionId, playerId]), { ...changes.transaction })
        const result = traced.commit(changes)
        // Beside the answer, which must not come later.
        const count = ({ status }: CommitResult) => void (status === 'committed' && shared.added.credits++)
        if (changes.credit !== null) result.then(count, () => undefined)
        return result
      },
    }
  }

  /** Whether the store under test adds credits, whatever the stores around it say. */
  get addsCredits(): boolean {
    return this.opened.store.addsCredits === true
  }

  /** Connects to the same data through the hook `reopen` or `crash`. */
  async connectBy(hook: 'reopen' | 'crash'): Promise<Wallet> {
    const shared = this.#shared
    shared.trace.note(
      'kit',
      hook === 'reopen' ? 'opens a second connection' : 'crashes the store and opens it again',
    )
    const store = await this.hook(hook)
    this.#check(store !== undefined, `${hook} to return a store`, store)
    return new Wallet(shared, store, hook === 'reopen' ? 'second connection' : 'store')
  }

  /** Calls a hook of the harness for this wallet. */
  hook<H extends WalletHook>(name: H, ...values: ValuesOf<H>): Promise<Awaited<ResultOf<H>>> {
    const { harness, trace } = this.#shared
    const hook = harness[name] as unknown as (opened: Opened, ...values: ValuesOf<H>) => Awaited<ResultOf<H>>
    return callHook(trace, name, () => hook.call(harness, this.opened, ...values))
  }

  commit(changes: WalletChanges): Promise<CommitResult> {
    return this.store.commit(changes)
  }

  /** Commits changes that the store must accept. */
  async expectCommitted(
    changes: WalletChanges,
    why = 'every guard holds',
  ): Promise<CommitResult & { status: 'committed' }> {
    const result = await this.commit(changes)
    this.#check(result?.status === 'committed', `committed, because ${why}`, shownResult(result))
    return result
  }

  /** Commits changes that the store must accept. @returns their bet, as it is stored then */
  async committedBet(changes: WalletChanges): Promise<Bet> {
    await this.expectCommitted(changes)
    return await this.existingBet(changes.transaction.betId, changes.transaction.playerId)
  }

  /** Commits changes that must be a conflict, and checks that the store wrote nothing. */
  async expectConflict(changes: WalletChanges, guard: string): Promise<void> {
    const before = await this.#picture(changes)
    const result = await this.commit(changes)
    this.#check(result?.status === 'conflict', `conflict, because ${guard}`, shownResult(result))
    const after = await this.#picture(changes)
    if (result.snapshot) {
      const [expected, actual] = [shown(after), shown(pictureOf(result.snapshot))]
      this.#check(
        actual === expected,
        `the snapshot of the conflict to be what load returns: ${expected}`,
        actual,
      )
    }
    const written = Object.keys(before).filter(part => after[part] !== before[part])
    this.#check(
      written.length === 0,
      `no changes after a conflict: ${written.map(part => `${part} ${before[part]}`).join(', ')}, as before`,
      written.map(part => `${part} ${after[part]}`).join(', '),
    )
  }

  /** @param of the player of the bet, unless it is the first one of `open` */
  async bet(betId: string, of?: string): Promise<Bet | null> {
    return (await this.#read({ betId, ...this.#inPartitionOf(of) })).bet
  }

  /** @param of the player of the transaction, unless it is the first one of `open` */
  async transaction(operation: Operation, transactionId: string, of?: string): Promise<Transaction | null> {
    return (await this.#read({ operation, transactionId, ...this.#inPartitionOf(of) })).transaction
  }

  async accounts(playerId: string): Promise<readonly Account[]> {
    return (await this.#read({ playerId })).accounts
  }

  /** @param currency of one of several accounts */
  async balance(playerId: string, currency?: string): Promise<Decimal> {
    const accounts = await this.accounts(playerId)
    const found = accounts.filter(account => currency === undefined || account.currency === currency)
    const [account] = found
    this.#check(
      account !== undefined && found.length === 1,
      `one account of ${playerId}${currency === undefined ? '' : ` in ${currency}`}`,
      accounts,
    )
    return account.balance
  }

  async existingBet(betId: string, of?: string): Promise<Bet> {
    const bet = await this.bet(betId, of)
    this.#check(bet !== null, `the bet ${betId}`, bet)
    return bet
  }

  async expectBalance(
    playerId: string,
    expected: Decimal,
    why: string | null = null,
    currency?: string,
  ): Promise<void> {
    const balance = await this.balance(playerId, currency)
    const text = `a balance of exactly ${expected} for ${short(playerId)}${why === null ? '' : `: ${why}`}`
    this.#check(sameAmount(balance, expected), text, balance)
  }

  /** Everything that a commit of these changes records. */
  async expectRecords({ transaction: expected, bet }: WalletChanges): Promise<void> {
    const { operation, transactionId, playerId } = expected
    const actual = await this.transaction(operation, transactionId, playerId)
    const isSame = actual !== null && sameTransaction(actual, expected)
    this.#check(isSame, `the transaction ${shown(expected)}`, actual)
    if (bet !== null) await this.expectBet(bet)
  }

  async expectBet(expected: Bet): Promise<void> {
    const actual = await this.bet(expected.betId, expected.playerId)
    this.#check(actual !== null && sameBet(actual, expected), `the bet ${shown(expected)}`, actual)
  }

  /**
   * Compares the PAM's own rows with the recorded movements, whatever became of their commits.
   *
   * @param playerIds of all commits unless given
   */
  async expectOwnRows(playerIds?: readonly string[]): Promise<void> {
    const { harness, sent } = this.#shared
    if (harness.ownRows === undefined || harness.ownRows === null) return
    const accounts = await Promise.all((playerIds ?? []).map(playerId => this.accounts(playerId)))
    const expected = new Map<string, ExpectedRows>()
    const expect = (playerId: string, currency: string, delta: Decimal) => {
      const key = harness.accountPerCurrency ? `${currency} ${playerId}` : playerId
      const { count, sum, ...known } = expected.get(key) ?? { count: 0, sum: '0', currency }
      // Of a player with one account, a commit that moved nothing may have named another currency.
      const moved = isZero(delta) ? { count, currency: known.currency } : { count: count + 1, currency }
      expected.set(key, { playerId, sum: add(sum, delta), ...moved })
    }
    for (const { playerId, currency } of accounts.flat()) expect(playerId, currency, '0')
    for (const { operation, transactionId, playerId, accountCurrency } of sent.values()) {
      if (playerIds !== undefined && !playerIds.includes(playerId)) continue
      const recorded = await this.transaction(operation, transactionId, playerId)
      // It may have been recorded for another player.
      const moved = recorded?.playerId === playerId ? recorded : { accountCurrency, delta: '0' }
      expect(playerId, moved.accountCurrency ?? '', moved.delta)
    }
    for (const { playerId, currency, count, sum } of expected.values()) {
      const rows = await this.hook('ownRows', playerId, currency)
      this.#check(
        rows?.count === count && isDecimal(rows.sum) && sameAmount(rows.sum, sum),
        `ownRows of ${short(playerId)} in ${currency} to be those of the recorded movements: ${shown({ count, sum })}`,
        rows,
      )
    }
  }

  #check(holds: boolean, expected: string, actual: unknown): asserts holds {
    this.#shared.trace.check(holds, expected, actual)
  }

  /** Every record that the changes touch, each as text, to compare it before and after. */
  async #picture({ transaction, bet }: WalletChanges) {
    const { operation, transactionId, playerId, betId } = transaction
    const keys = { operation, transactionId, playerId, betId: bet?.betId ?? betId }
    return pictureOf(await this.#untraced.load(keys))
  }

  /** Bets and transactions are found by their ids alone, unless the store has partitions. */
  #inPartitionOf(playerId: string | undefined): { playerId?: string } {
    return playerId === undefined || this.#shared.harness.idScope !== 'player' ? {} : { playerId }
  }

  #read(keys: Partial<{ operation: Operation; transactionId: string; playerId: string; betId: string }>) {
    return this.#untraced.load({
      operation: 'placebet',
      transactionId: 'not used',
      playerId: this.#shared.knownPlayerId,
      betId: 'not used',
      ...keys,
    })
  }
}

function withoutTrailingZeros(amount: unknown): unknown {
  return isDecimal(amount) && amount.includes('.') ? amount.replace(/(?:\.|(?<![.0]))0+$/, '') : amount
}

/** A snapshot as text: its accounts may come in any order, and balances with zeros at their end. */
export function pictureOf({ accounts, bet, transaction }: WalletSnapshot): Record<string, string> {
  const trimmed = accounts.map(each => ({ ...each, balance: withoutTrailingZeros(each.balance) }))
  return {
    accounts: shown(trimmed.map(shown).sort()),
    bet: shown(bet),
    transaction: shown(transaction),
  }
}
