/** What the balances at the end are, and what they are wrong by. */
import { add, type Decimal, fromUnits, textOf, zero } from '../numbers/decimal.js'
import { type Account, shown } from './books.js'
import type { PlayerBooks, SimulationCost } from './report.js'

export function playerBooksOf(account: Account): PlayerBooks {
  const { playerId, currency, opening, low, high, accepted, refused, actual, minorUnits } = account
  return {
    playerId,
    currency,
    accepted,
    refused,
    opening: shown(opening, account),
    expected: low === high ? shown(low, account) : null,
    expectedLeast: shown(low, account),
    expectedMost: shown(high, account),
    actual: actual === null ? null : textOf(actual, minorUnits),
  }
}

interface Sum {
  players: number
  tooMuch: Decimal
  tooLittle: Decimal
  minorUnits: number
}

/** What the balances at the end are wrong by, by currency. */
export function costsOf(accounts: readonly Account[]): SimulationCost[] {
  const sums = new Map<string, Sum>()
  for (const account of accounts) {
    const off = errorOf(account)
    if (off.units === 0n) continue
    const { currency, minorUnits } = account
    const sum = sums.get(currency) ?? { players: 0, tooMuch: zero, tooLittle: zero, minorUnits }
    sums.set(currency, sum)
    sum.players += 1
    if (off.units > 0n) sum.tooMuch = add(sum.tooMuch, off)
    else sum.tooLittle = add(sum.tooLittle, { ...off, units: -off.units })
  }
  return [...sums].map(([currency, { players, tooMuch, tooLittle, minorUnits }]) => ({
    currency,
    players,
    tooMuch: textOf(tooMuch, minorUnits),
    tooLittle: textOf(tooLittle, minorUnits),
  }))
}

/** Negative for a deficit; 0 if the balance is possible, or not known. */
function errorOf({ actual, decimals, low, high }: Account): Decimal {
  if (actual === null) return zero
  const scale = Math.max(decimals, actual.scale)
  const up = (units: bigint, from: number) => units * 10n ** BigInt(scale - from)
  const [units, least, most] = [up(actual.units, actual.scale), up(low, decimals), up(high, decimals)]
  return fromUnits(units > most ? units - most : units < least ? units - least : 0n, scale)
}
