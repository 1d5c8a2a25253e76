/** What differs, in groups, and what it costs. */
import { add, type Decimal, type DecimalText, fromUnits, subtract, textOf, zero } from '../numbers/decimal.js'
import type { Account, Transaction } from './books.js'
import type { Finding } from './judgements.js'
import type { Difference, DifferenceGroup, SimulationCost } from './report.js'

interface Sum {
  players: Set<string>
  tooMuch: Decimal
  tooLittle: Decimal
  minorUnits: number
}

class Sums {
  readonly #sums = new Map<string, Sum>()

  add(units: bigint, { playerId, currency, decimals, minorUnits }: Account): void {
    const sum = this.#sums.get(currency) ?? {
      players: new Set(),
      tooMuch: zero,
      tooLittle: zero,
      minorUnits,
    }
    this.#sums.set(currency, sum)
    sum.players.add(playerId)
    if (units > 0n) sum.tooMuch = add(sum.tooMuch, fromUnits(units, decimals))
    else sum.tooLittle = subtract(sum.tooLittle, fromUnits(units, decimals))
  }

  list(): SimulationCost[] {
    return [...this.#sums].map(([currency, { players, tooMuch, tooLittle, minorUnits }]) => {
      const shown = (amount: Decimal): DecimalText => textOf(amount, minorUnits)
      return { currency, players: players.size, tooMuch: shown(tooMuch), tooLittle: shown(tooLittle) }
    })
  }
}

/** What the balances at the end are wrong by. */
export function costsOf(accounts: readonly Account[]): SimulationCost[] {
  const sums = new Sums()
  for (const account of accounts) {
    const { actual, decimals, low, high } = account
    if (actual === null) continue
    const scale = Math.max(decimals, actual.scale)
    const up = (units: bigint, from: number) => units * 10n ** BigInt(scale - from)
    const units = up(actual.units, actual.scale)
    const [least, most] = [up(low, decimals), up(high, decimals)]
    const off = units > most ? units - most : units < least ? units - least : 0n
    if (off !== 0n) sums.add(off, { ...account, decimals: scale })
  }
  return sums.list()
}

interface Group {
  count: number
  sums: Sums
  first: Difference
  type: string | null
}

/** Groups differences by kind, operation and type: few groups, however many differences there are. */
export class DifferenceGroups {
  readonly #groups = new Map<string, Group>()

  add(first: Difference, about: Transaction | null, { units = 0n }: Finding, account: Account): void {
    const type = about?.type ?? null
    const key = `${first.kind} ${first.operation} ${type}`
    const group = this.#groups.get(key) ?? { count: 0, sums: new Sums(), first, type }
    this.#groups.set(key, group)
    group.count += 1
    if (units !== 0n) group.sums.add(units, account)
  }

  /** In the order in which the first of each occurred. */
  list(): DifferenceGroup[] {
    return [...this.#groups.values()].map(({ count, sums, first, type }) => {
      const { kind, operation } = first
      return { kind, operation, type, count, amounts: sums.list(), first }
    })
  }
}
