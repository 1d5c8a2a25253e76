/** Transactions whose ids are not known: found by amount and time. */
import { type Decimal, isNegative, isZero, negate, parseDecimal } from '../money.js'
import type { RecordedTransaction, TimeRange, WalletLookups } from './records.js'

export interface TransactionSearch extends TimeRange {
  /** As `searchedAmount` returns it. */
  amount: Decimal
  /** Only this player's transactions: a much shorter search. */
  playerId?: string
  /** How many transactions are returned. */
  limit: number
}

/** In the order of recording. */
export interface FoundTransactions {
  transactions: readonly RecordedTransaction[]
  /** Whether there are more. Of a player the newest are returned, otherwise the oldest. */
  more: boolean
}

const pageRows = 1_000

/** The amount in its one form: `12.50` is `12.5`. `null`: it is no decimal of at least 0. */
export function searchedAmount(text: string): Decimal | null {
  const amount = parseDecimal(text)
  return amount === null || isNegative(amount) ? null : amount
}

/**
 * The transactions of a span of time that name this amount or change the balance by it, also refused ones.
 * Reads the span by the index of the player or of the time, in pages, until it has found more than `limit`.
 */
export async function findTransactions(
  lookups: WalletLookups,
  { amount, playerId, limit, from, to }: TransactionSearch,
): Promise<FoundTransactions> {
  const recorded =
    playerId === undefined
      ? lookups.transactions({ from, to })
      : transactionsOf(lookups, playerId, { from, to })
  const found: RecordedTransaction[] = []
  for await (const transaction of recorded) {
    if (!movesOrNames(transaction, amount)) continue
    found.push(transaction)
    if (found.length > limit) break
  }
  const transactions = found.slice(0, limit)
  if (playerId !== undefined) transactions.reverse()
  return { transactions, more: found.length > limit }
}

function movesOrNames({ amount: named, delta }: RecordedTransaction, amount: Decimal): boolean {
  if (named !== null && parseDecimal(named) === amount) return true
  // 0 is the change of every refusal.
  return !isZero(delta) && [delta, negate(delta)].some(each => parseDecimal(each) === amount)
}

/** The newest first. */
async function* transactionsOf(lookups: WalletLookups, playerId: string, range: TimeRange) {
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = await lookups.player(playerId, {
      ...{ ...range, limit: pageRows },
      ...(cursor === '' ? {} : { cursor }),
    })
    yield* page?.transactions ?? []
    cursor = page?.next ?? null
  }
}
