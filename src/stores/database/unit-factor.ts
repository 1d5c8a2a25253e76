/** The unit of the balance column, as SQL. */

import { sql } from './sql-text.js'
import type { Players } from './tables.js'

/**
 * The SQL of what a balance in the column's unit is multiplied by, to be in whole units of the currency; NULL
 * for a currency whose minor units are not known. `null`: the column holds whole units.
 *
 * @param currency the SQL of the player's currency
 * @param literal quotes text for SQL
 */
export function unitFactor(
  { balanceType, minorUnits }: Pick<Players, 'balanceType' | 'minorUnits'>,
  currency: string,
  literal: (text: string) => string,
): string | null {
  if (balanceType !== 'minor-units') return null
  if (typeof minorUnits === 'number') return factorOf(minorUnits)
  // In one order: the functions of the same options have the same text.
  const cases = [...minorUnits]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, units]) => `WHEN ${literal(code)} THEN ${factorOf(units)}`)
  if (cases.length === 0) return 'NULL'
  return sql`
    CASE ${currency}
      ${cases.join('\n')}
    END`
}

/** `0.01` for 2. */
const factorOf = (units: number) => (units === 0 ? '1' : `0.${'1'.padStart(units, '0')}`)
