/**
 * `bet-wallet/memory`: the reference store. It meets the whole contract and is written to be read. For tests
 * and demos: its data is lost when the process ends.
 */
import { add, compare, type Decimal, isDecimal, isNegative, negate } from '../money.js'
import type {
  Bet,
  CommitResult,
  Operation,
  Player,
  Transaction,
  WalletChanges,
  WalletKeys,
  WalletSnapshot,
  WalletStore,
} from '../store.js'

/** A {@link WalletStore} in memory, with the PAM's side: accounts, deposits, withdrawals and queries. */
export interface MemoryStore extends WalletStore {
  /**
   * Adds a player.
   *
   * @throws {TypeError} if the player exists or a field is invalid
   */
  openPlayer(player: Player): void
  /**
   * A deposit by an external writer.
   *
   * @param amount decimal text of at least 0
   * @returns the balance after it
   * @throws {TypeError} for an unknown player or an invalid amount
   */
  deposit(playerId: string, amount: Decimal): Decimal
  /**
   * A withdrawal or a lost casino game by an external writer, like `deposit`.
   *
   * @throws {RangeError} if the balance would fall below 0
   */
  withdraw(playerId: string, amount: Decimal): Decimal
  player(playerId: string): Player | null
  bet(betId: string): Bet | null
  /** All bets, or those of a player, tombstones included, in the order of their first commit. */
  bets(playerId?: string): Bet[]
  /** All recorded transactions, or those of a player, refusals included, in the order of their commits. */
  transactions(playerId?: string): Transaction[]
  /** The sum of the player's uncollected clawbacks, owed to the platform (D7). */
  owed(playerId: string): Decimal
}

/**
 * Creates a store in memory.
 *
 * @param players the initial players, with balances as decimal text: `{ playerId: 'p1', currency: 'EUR',
 *   balance: '100.00' }`
 * @throws {TypeError} naming the invalid field of a player
 */
export function createMemoryStore(players: Iterable<Player> = []): MemoryStore {
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
    load: async keys => load(data, keys),
    commit: async changes => commit(data, changes),
    ...writersOf(data),
    ...queriesOf(data),
  }
  for (const player of players) store.openPlayer(player)
  return store
}

/**
 * The tables. Every stored record is a frozen copy: no caller can change it, so `load` need not copy it
 * again.
 */
interface Data {
  players: Map<string, Player>
  bets: Map<string, Bet>
  transactions: Record<Operation, Map<string, Transaction>>
  transactionsInOrder: Transaction[]
}

// One moment: load and commit contain no await.

function load(data: Data, { operation, transactionId, playerId, betId }: WalletKeys): WalletSnapshot {
  return {
    bet: data.bets.get(betId) ?? null,
    transaction: data.transactions[operation].get(transactionId) ?? null,
    player: data.players.get(playerId) ?? null,
  }
}

/** All guards, then all writes: all or nothing. */
function commit(data: Data, { transaction, bet, balance }: WalletChanges): CommitResult {
  const { operation, transactionId } = transaction
  if (data.transactions[operation].has(transactionId)) return { status: 'conflict' } // guard 1

  const revision = bet === null ? 0 : (data.bets.get(bet.betId)?.revision ?? 0)
  if (bet !== null && revision !== bet.revision - 1) return { status: 'conflict' } // guard 2

  const player = data.players.get(transaction.playerId)
  if (player === undefined) return { status: 'conflict' } // removed since the load
  let after = player.balance
  if (balance !== null) {
    if (player.currency !== balance.currency) return { status: 'conflict' } // guard 3
    after = add(player.balance, balance.delta)
    if (balance.floor !== null && compare(after, balance.floor) < 0) return { status: 'conflict' } // guard 3
  }

  const walletTransactionId = `W${data.transactionsInOrder.length + 1}`
  const recorded = frozenTransaction(transaction, walletTransactionId)
  data.transactions[operation].set(transactionId, recorded)
  data.transactionsInOrder.push(recorded)
  if (bet !== null) data.bets.set(bet.betId, frozenBet(bet))
  if (balance !== null) data.players.set(player.playerId, frozenPlayer({ ...player, balance: after }))
  return { status: 'committed', balance: after, walletTransactionId }
}

/** The PAM's side: an external writer of accounts and balances. */
function writersOf(data: Data): Pick<MemoryStore, 'openPlayer' | 'deposit' | 'withdraw'> {
  const change = (playerId: string, delta: Decimal): Decimal => {
    const player = data.players.get(playerId)
    if (player === undefined) throw new TypeError('playerId: unknown player')
    const balance = add(player.balance, delta)
    if (isNegative(delta) && isNegative(balance)) throw new RangeError('amount: insufficient funds')
    data.players.set(playerId, frozenPlayer({ ...player, balance }))
    return balance
  }
  return {
    openPlayer(player) {
      const { playerId, currency, balance } = player
      if (typeof playerId !== 'string' || playerId === '') throw new TypeError('playerId must be text')
      if (typeof currency !== 'string' || currency === '') throw new TypeError('currency must be text')
      if (!isDecimal(balance)) throw new TypeError('balance must be decimal text such as "100.00"')
      if (data.players.has(playerId)) throw new TypeError('playerId: the player already exists')
      data.players.set(playerId, frozenPlayer(player))
    },
    deposit: (playerId, amount) => change(playerId, positive(amount)),
    withdraw: (playerId, amount) => change(playerId, negate(positive(amount))),
  }
}

function positive(amount: Decimal): Decimal {
  if (isDecimal(amount) && !isNegative(amount)) return amount
  throw new TypeError('amount must be decimal text of at least 0, such as "50.00"')
}

function queriesOf(data: Data): Pick<MemoryStore, 'player' | 'bet' | 'bets' | 'transactions' | 'owed'> {
  const bets = (playerId?: string) =>
    [...data.bets.values()].filter(bet => playerId === undefined || bet.playerId === playerId)
  return {
    player: playerId => data.players.get(playerId) ?? null,
    bet: betId => data.bets.get(betId) ?? null,
    bets,
    transactions: playerId =>
      data.transactionsInOrder.filter(({ playerId: of }) => playerId === undefined || of === playerId),
    owed: playerId =>
      bets(playerId)
        .flatMap(bet => Object.values(bet.credits))
        .reduce((sum, { owed }) => add(sum, owed), '0'),
  }
}

// Field by field and not by spread: in Node 20 every frozen spread gets its own hidden class, 4 µs and 350
// bytes each.

function frozenPlayer({ playerId, currency, balance }: Player): Player {
  return Object.freeze({ playerId, currency, balance })
}

function frozenTransaction(transaction: Transaction, walletTransactionId: string): Transaction {
  const { operation, transactionId, playerId, betId } = transaction
  const { amount, currency, type, delta, refusal, reason, transactionDate } = transaction
  return Object.freeze({
    operation,
    transactionId,
    playerId,
    betId,
    amount,
    currency,
    type,
    delta,
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
