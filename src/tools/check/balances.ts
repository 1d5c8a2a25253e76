/** The players' table as the wallet reads it: a row per currency, for people, and what no call could use. */
import { isoMinorUnits } from '../../currencies.js'
import { format } from '../../money.js'
import { optionChecks } from '../../option-checks.js'
import { columnsOf } from '../../stores/database/columns.js'
import type { Players } from '../../stores/database/tables.js'
import { type Finding, finding } from './finding.js'

/** What differs between the engines. */
export interface Rows {
  /** Rows as lists of values. */
  ask(text: string): Promise<readonly (readonly unknown[])[]>
  text(expression: string): string
  /** Text that is grouped by its bytes. */
  exact(expression: string): string
}

export type Read = Awaited<ReturnType<typeof readBalances>>

const checks = optionChecks(problem => {
  throw new RangeError(problem)
})
const listedMax = 50
const unknownUnits = isoMinorUnits('')

/**
 * @param from a SELECT in brackets, with the columns `currency` and `balance`
 * @returns `codes`: those in the form of a currency code
 */
export async function readBalances(
  { ask, text, exact }: Rows,
  from: string,
  { balanceType, minorUnits }: Pick<Players, 'balanceType' | 'minorUnits'>,
) {
  const rows = await ask(`SELECT MIN(c), COUNT(*), COUNT(*) - COUNT(b), ${text('MAX(b)')} AS balance
    FROM (SELECT ${text('player.currency')} AS c, player.balance AS b FROM ${from} player) account
    GROUP BY ${exact('c')} ORDER BY 2 DESC LIMIT ${listedMax}`)
  const columns = columnsOf({ idType: 'text', balanceType, minorUnits }, { scale: null }, checks)
  const warnings: string[] = []
  // The balance is that of one of them, in the column's unit; `null`: all are NULL.
  const lines = rows.map(([code, count, withoutBalance, balance]) => {
    const currency = String(code ?? '')
    const accounts = `${count} account${Number(count) === 1 ? '' : 's'}`
    if (Number(withoutBalance) > 0)
      warnings.push(
        `${withoutBalance} of ${currency || 'no currency'} with the balance NULL: each call is a fault (500)`,
      )
    if (currency.trim() === '') {
      warnings.push(`${accounts} without a currency (NULL or empty): no call can use them`)
      return `(none): ${accounts}`
    }
    const iso = isoMinorUnits(currency)
    const isoText = iso === 0 ? 'no decimals' : `${iso} decimals`
    if (currency !== currency.toUpperCase())
      warnings.push(
        `${currency}, ${accounts}: in small letters, a call in ${currency.toUpperCase()} is refused (INVALID_CURRENCY)`,
      )
    else if (iso === unknownUnits)
      warnings.push(
        `${currency} is not in ISO 4217: the option minorUnits of the handlers tells its decimals (without it 8), and --minor-units the audit's`,
      )
    if (!columns.hasCurrency(currency)) {
      warnings.push(
        `${currency}, ${accounts}: players.minorUnits has no entry, and each call is a fault (500)`,
      )
      return `${currency}: ${accounts}`
    }
    if (balance === null) return `${currency}: ${accounts}`
    const units = typeof minorUnits === 'number' ? minorUnits : minorUnits.get(currency)
    const read = `${currency} ${balance} → ${format(columns.fromColumn(String(balance), currency), iso === unknownUnits ? 0 : iso)} ${currency}`
    const isOther = balanceType === 'minor-units' && iso !== unknownUnits && units !== iso
    if (isOther) warnings.push(`${read}; ISO 4217 has ${isoText}: compare it with what the player sees`)
    return `${read}, one of ${accounts}`
  })
  const codes = rows.map(([code]) => String(code)).filter(code => /^[A-Z][A-Z0-9]{1,15}$/.test(code))
  return { lines, warnings, codes }
}

export function balancesFinding({ lines, warnings }: Pick<Read, 'lines' | 'warnings'>): Finding {
  if (lines.length === 0) return finding('balances', 'skipped', 'the players table has no rows')
  const read = 'a balance of each currency, as the wallet reads it: compare it with what the player sees'
  return warnings.length === 0
    ? finding('balances', 'read', read, lines)
    : finding('balances', 'warning', warnings.join('. '), lines)
}
