/**
 * `bet-wallet/memory`: the reference store. It meets the whole contract and is written to be read. For tests
 * and demos: its data is lost when the process ends.
 */
import { creditedBet } from '../credits.js'
import { add, compare, type Decimal, isDecimal, isNegative, isZero, negate } from '../money.js'
import type {
  Account,
  AddedCredit,
  Bet,
  CommitResult,
  Operation,
  Transaction,
  WalletChanges,
  WalletKeys,
  WalletSnapshot,
  WalletStore,
} from '../store.js'

/** A {@link WalletStore} in memory, with the PAM's side: accounts, deposits, withdrawals and queries. */
export interface MemoryStore extends WalletStore {
  /**
   * Adds an account, of a new player or in a further currency.
   *
   * @throws {TypeError} if the account exists or a field is invalid
   */
  readonly openAccount: (account: Account) => void
  /**
   * A deposit by an external writer.
   *
   * @param amount decimal text of at least 0
   * @param currency required only for a player with several accounts
   * @returns the balance after it
   * @throws {TypeError} for an unknown account or an invalid amount
   */
  readonly deposit: (playerId: string, amount: Decimal, currency?: string) => Decimal
  /**
   * A withdrawal or a lost casino game by an external writer, like `deposit`.
   *
   * @throws {RangeError} if the balance would fall below 0
   */
  readonly withdraw: (playerId: string, amount: Decimal, currency?: string) => Decimal
  /**
   * @param currency required only for a player with several accounts
   * @throws {TypeError} where it is missing
   */
  readonly account: (playerId: string, currency?: string) => Account | null
  /** All accounts, or those of a player, in the order in which they were opened. */
  readonly accounts: (playerId?: string) => Account[]
  readonly bet: (betId: string) => Bet | null
  /** All bets, or those of a player, tombstones included, in the order of their first commit. */
  readonly bets: (playerId?: string) => Bet[]
  /** All recorded transactions, or those of a player, refusals included, in the order of their commits. */
  readonly transactions: (playerId?: string) => Transaction[]
  /** The sums of the player's uncollected clawbacks, owed to the platform (D7), by currency. */
  readonly owed: (playerId: string) => Record<string, Decimal>
}

/**
 * Creates a store in memory.
 *
 * @param accounts the initial accounts, with balances as decimal text: `{ playerId: 'p1', currency: 'EUR',
 *   balance: '100.00' }`; of a player in several currencies, one each
 * @throws {TypeError} naming the invalid field of an account
 */
export function createMemoryStore(accounts: Iterable<Account> = []): MemoryStore {
  const data: Data = {
    players: new Map(),
    bets: new Map(),
    transactions: {
      placebet: new Map(),
      unsettlement: new Map(),
      rollbackbet: new Map(),
      settlement: new Map(),
    },
    transactionsInOrder: [],
  }
  const store: MemoryStore = {
    contractVersion: 2,
    addsCredits: true,
    load: async keys => load(data, keys),
    commit: async changes => commit(data, changes),
    ...writersOf(data),
    ...queriesOf(data),
  }
  for (const account of accounts) store.openAccount(account)
  return store
}

/**
 * The tables. Every stored record is a frozen copy: no caller can change it, so `load` need not copy it
 * again.
 */
interface Data {
  /** The accounts of each player. */
  players: Map<string, readonly Account[]>
  bets: Map<string, Bet>
  transactions: Record<Operation, Map<string, Transaction>>
  transactionsInOrder: Transaction[]
}

// One moment: load and commit contain no await.

function load(data: Data, { operation, transactionId, playerId, betId }: WalletKeys): WalletSnapshot {
  return {
    bet: data.bets.get(betId) ?? null,
    transaction: data.transactions[operation].get(transactionId) ?? null,
    accounts: accountsOf(data, playerId),
  }
}

const accountsOf = (data: Data, playerId: string) => data.players.get(playerId) ?? []

function setBalance(data: Data, changed: Account, balance: Decimal): void {
  const { playerId, currency } = changed
  const accounts = accountsOf(data, playerId).map(account =>
    account === changed ? frozenAccount({ playerId, currency, balance }) : account,
  )
  data.players.set(playerId, accounts)
}

/** All guards, then all writes: all or nothing. */
function commit(
  data: Data,
  { transaction, bet, credit, account: { currency, delta, floor } }: WalletChanges,
): CommitResult {
  const { operation, transactionId } = transaction
  if (data.transactions[operation].has(transactionId)) return { status: 'conflict' } // guard 1

  const stored = data.bets.get(bet?.betId ?? transaction.betId)
  if (bet !== null && (stored?.revision ?? 0) !== bet.revision - 1) return { status: 'conflict' } // guard 2
  if (credit !== null && !isOf(stored, credit)) return { status: 'conflict' } // guard 2, of a credit

  const account = accountsOf(data, transaction.playerId).find(each => each.currency === currency)
  if (account === undefined) return { status: 'conflict' } // guard 3
  const changed = credit === null ? bet : unlessTooLong(() => creditedBet(stored as Bet, credit))
  const balance = unlessTooLong(() => add(account.balance, delta))
  if (balance === null || (credit !== null && changed === null)) return { status: 'conflict' }
  if (floor !== null && compare(balance, floor) < 0) return { status: 'conflict' } // guard 3

  const walletTransactionId = `W${data.transactionsInOrder.length + 1}`
  const recorded = frozenTransaction(transaction, walletTransactionId)
  data.transactions[operation].set(transactionId, recorded)
  data.transactionsInOrder.push(recorded)
  if (changed !== null) data.bets.set(changed.betId, frozenBet(changed))
  setBalance(data, account, balance)
  return { status: 'committed', balance, walletTransactionId }
}

const isOf = (bet: Bet | undefined, { playerId, currency, status }: AddedCredit) =>
  bet?.playerId === playerId && bet.currency === currency && bet.status === status

/** The result; `null` where its sum has over 40 digits. */
function unlessTooLong<T>(sum: () => T): T | null {
  try {
    return sum()
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** The PAM's side: an external writer of accounts and balances. */
function writersOf(data: Data): Pick<MemoryStore, 'openAccount' | 'deposit' | 'withdraw'> {
  const change = (playerId: string, delta: Decimal, currency?: string): Decimal => {
    const account = accountIn(data, playerId, currency)
    if (account === null) throw new TypeError('playerId: unknown player, or no account in the currency')
    const balance = add(account.balance, delta)
    if (isNegative(delta) && isNegative(balance)) throw new RangeError('amount: insufficient funds')
    setBalance(data, account, balance)
    return balance
  }
  return {
    openAccount(account) {
      const { playerId, currency, balance } = account
      if (typeof playerId !== 'string' || playerId === '') throw new TypeError('playerId must be text')
      if (typeof currency !== 'string' || currency === '') throw new TypeError('currency must be text')
      if (!isDecimal(balance)) throw new TypeError('balance must be decimal text such as "100.00"')
      const others = accountsOf(data, playerId)
      if (others.some(each => each.currency === currency))
        throw new TypeError('playerId: the player already has an account in this currency')
      data.players.set(playerId, [...others, frozenAccount(account)])
    },
    deposit: (playerId, amount, currency) => change(playerId, positive(amount), currency),
    withdraw: (playerId, amount, currency) => change(playerId, negate(positive(amount)), currency),
  }
}

function accountIn(data: Data, playerId: string, currency?: string): Account | null {
  const accounts = accountsOf(data, playerId)
  if (currency === undefined && accounts.length > 1)
    throw new TypeError('currency is required: the player has several accounts')
  return accounts.find(each => currency === undefined || each.currency === currency) ?? null
}

function positive(amount: Decimal): Decimal {
  if (isDecimal(amount) && !isNegative(amount)) return amount
  throw new TypeError('amount must be decimal text of at least 0, such as "50.00"')
}

function queriesOf(
  data: Data,
): Pick<MemoryStore, 'account' | 'accounts' | 'bet' | 'bets' | 'transactions' | 'owed'> {
  const bets = (playerId?: string) =>
    [...data.bets.values()].filter(bet => playerId === undefined || bet.playerId === playerId)
  return {
    account: (playerId, currency) => accountIn(data, playerId, currency),
    accounts: playerId =>
      playerId === undefined ? [...data.players.values()].flat() : [...accountsOf(data, playerId)],
    bet: betId => data.bets.get(betId) ?? null,
    bets,
    transactions: playerId =>
      data.transactionsInOrder.filter(({ playerId: of }) => playerId === undefined || of === playerId),
    owed(playerId) {
      const sums: Record<string, Decimal> = {}
      for (const { currency, credits } of bets(playerId))
        for (const { owed } of Object.values(credits))
          if (!isZero(owed)) sums[currency] = add(sums[currency] ?? '0', owed)
      return sums
    },
  }
}

// Field by field and not by spread: in Node 20 every frozen spread gets its own hidden class, 4 µs and 350
// bytes each.

function frozenAccount({ playerId, currency, balance }: Account): Account {
  return Object.freeze({ playerId, currency, balance })
}

function frozenTransaction(transaction: Transaction, walletTransactionId: string): Transaction {
  const { operation, transactionId, playerId, betId } = transaction
  const { amount, currency, type, delta, accountCurrency, refusal, reason, transactionDate } = transaction
  return Object.freeze({
    operation,
    transactionId,
    playerId,
    betId,
    amount,
    currency,
    type,
    delta,
    accountCurrency,
    refusal: refusal && Object.freeze({ errorCode: refusal.errorCode, description: refusal.description }),
    reason,
    transactionDate,
    walletTransactionId,
  })
}

function frozenBet({ betId, playerId, currency, stake, status, credits, revision }: Bet): Bet {
  return Object.freeze({
    betId,
    playerId,
    currency,
    stake,
    status,
    credits: frozenCredits(credits),
    revision,
  })
}

const noCredits: Bet['credits'] = Object.freeze({})

function frozenCredits(credits: Bet['credits']): Bet['credits'] {
  if (Object.keys(credits).length === 0) return noCredits
  const copies: Bet['credits'] = {}
  for (const type of ['BET_PAID', 'VOIDED', 'CASHOUT'] as const) {
    const credit = credits[type]
    if (credit === undefined) continue
    copies[type] = Object.freeze({ live: credit.live, reversed: credit.reversed, owed: credit.owed })
  }
  return Object.freeze(copies)
}
