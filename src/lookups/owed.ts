/** What is owed to the platform: clawbacks that were not collected, in sum and bet by bet. */
import { add, type Decimal } from '../money.js'
import type { OwedBet, RecordedBet, WalletLookups } from './records.js'
import { microsecondsOf } from './times.js'

/** Bets of one player, and those whose last clawback was refused in [from, to): UTC, ISO 8601. */
export interface OwedFilter {
  playerId?: string
  from?: string
  to?: string
}

export type OwedReport = Awaited<ReturnType<typeof findOwed>>

/** The sum over all settlement types. */
export const owedOf = ({ credits }: Pick<RecordedBet, 'credits'>): Decimal =>
  Object.values(credits).reduce((sum, { owed }) => add(sum, owed), '0')

/**
 * What is owed, of the bets that the filter names. Reads every bet.
 *
 * @returns the sum of each currency, the bets in the order of their last refusal, and how many imported bets
 *   a filter by time leaves out: they have none
 */
export async function findOwed(
  lookups: Pick<WalletLookups, 'owed'>,
  { playerId, from, to }: OwedFilter = {},
) {
  const ofPlayer = (await lookups.owed()).filter(
    ({ bet }) => playerId === undefined || bet.playerId === playerId,
  )
  const isTimed = from !== undefined || to !== undefined
  const isIn = (time: string) =>
    (from === undefined || time >= (microsecondsOf(from) ?? '')) &&
    (to === undefined || time < (microsecondsOf(to) ?? ''))
  const bets = ofPlayer
    .map(rowOf)
    .filter(({ refusedAt }) => !isTimed || (refusedAt !== null && isIn(microsecondsOf(refusedAt) ?? '')))
  const withoutTime = isTimed ? ofPlayer.filter(({ refused }) => refused.length === 0).length : 0
  return { totals: totalsOf(bets), bets, withoutTime }
}

function rowOf({ bet, refused }: OwedBet) {
  const { betId, playerId, currency } = bet
  return {
    ...{ betId, playerId, currency, owed: owedOf(bet) },
    /** Of the last refusal; `null`: what is owed was imported. */
    refusedAt: refused.at(-1)?.recordedAt ?? null,
    /** Of its unsettlements that were refused. */
    transactionIds: refused.map(({ transactionId }) => transactionId),
  }
}

function totalsOf(bets: readonly { currency: string; owed: Decimal }[]) {
  const currencies = [...new Set(bets.map(({ currency }) => currency))].sort()
  return currencies.map(currency => {
    const own = bets.filter(bet => bet.currency === currency)
    return { currency, owed: own.reduce((sum, { owed }) => add(sum, owed), '0'), bets: own.length }
  })
}
