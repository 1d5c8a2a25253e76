/** How the rows of the players' table are read: counts and examples for people, without a verdict. */
import { isoMinorUnits } from '../../currencies.js'
import { columnsOf } from '../../stores/database/columns.js'
import type { Players } from '../../stores/database/tables.js'
import { check } from '../wire/checks.js'
import { type Finding, finding } from './finding.js'

/** What differs between the engines. */
interface Dialect {
  ask(sql: string): Promise<readonly (readonly unknown[])[]>
  text(expression: string): string
  /** Whether the row `player` is the account of the row `bet`. */
  isAccountOfBet: string
  bets: string
}

const currenciesMax = 30

export async function accountsFinding(players: Players, dialect: Dialect): Promise<Finding> {
  const { ask, text, isAccountOfBet, bets } = dialect
  const { table, columns, accountPerCurrency } = players
  const { id, currency, balance } = columns
  const perCurrency = await ask(`SELECT ${text(currency)} AS code, COUNT(*) AS accounts,
      SUM(CASE WHEN ${balance} IS NULL THEN 1 ELSE 0 END) AS missing, ${text(`MAX(${balance})`)} AS largest
    FROM ${table} GROUP BY 1 ORDER BY 2 DESC`)
  const [[twice] = []] = await ask(`SELECT COUNT(*) AS twice FROM (SELECT 1 FROM ${table}
    GROUP BY ${id}${accountPerCurrency ? `, ${currency}` : ''} HAVING COUNT(*) > 1) several`)
  const [[without] = []] = await ask(`SELECT COUNT(*) AS without FROM ${bets} bet WHERE bet.status = 'PLACED'
    AND NOT EXISTS (SELECT 1 FROM ${table} player WHERE ${isAccountOfBet})`)
  const lines = perCurrency.slice(0, currenciesMax).map(row => lineOf(players, row))
  const counts: [count: unknown, text: string][] = [
    [perCurrency.length - lines.length, 'further currencies'],
    [twice, 'accounts have several rows: each call that meets one fails (500)'],
    [without, 'bets have no account in their currency: settlements and rollbacks of them are refused'],
  ]
  const seen = counts.filter(([count]) => Number(count) > 0).map(([count, what]) => `${count} ${what}`)
  return finding('accounts', 'read', 'each currency as the wallet reads it: compare one with your PAM', [
    ...lines,
    ...seen,
  ])
}

function lineOf(players: Players, [given, accounts, missing, largest]: readonly unknown[]): string {
  const code = String(given ?? '').trimEnd()
  const problems = [
    ...(code === '' ? ['these players cannot bet (500)'] : codeProblems(code)),
    ...(Number(missing) > 0 ? [`${missing} without a balance: these players cannot bet (500)`] : []),
  ]
  const read = largest === null || code === '' ? [] : unitProblems(players, code, String(largest))
  return [`${code || 'no currency'}: ${accounts} rows`, ...read, ...problems].join('; ')
}

/** No currency of ISO 4217 has as many. */
const decimalsUnknown = 8

function codeProblems(code: string): string[] {
  if (code !== code.toUpperCase()) return ['not in capitals: codes are compared exactly']
  if (isoMinorUnits(code) !== decimalsUnknown) return []
  return [
    'not in ISO 4217: it has 8 decimals unless the option minorUnits of the handlers says another number',
  ]
}

function unitProblems(players: Players, code: string, largest: string): string[] {
  const { fromColumn, hasCurrency } = columnsOf(players, { scale: null }, check)
  if (!hasCurrency(code)) return ['players.minorUnits has no entry for it: these players cannot bet (400)']
  const { balanceType, minorUnits } = players
  const example = `the largest balance, ${largest}, is ${fromColumn(largest, code)} ${code}`
  const units = typeof minorUnits === 'number' ? minorUnits : minorUnits.get(code)
  const usual = isoMinorUnits(code)
  const isUsual = balanceType !== 'minor-units' || usual === decimalsUnknown || usual === units
  return isUsual
    ? [example]
    : [example, `WARNING: ISO 4217 has ${usual} decimals, and players.minorUnits ${units}`]
}
