/** What no catalog proves of the rows of the players' table: counted. */
import type { Players } from '../../stores/database/tables.js'
import type { Rows } from './balances.js'
import { type Finding, finding } from './finding.js'

export interface BetRows {
  bets: string
  /** Whether the row `player` is the account of the row `bet`. */
  isAccountOfBet: string
}

export async function accountsFinding(
  { table, columns: { id, currency }, accountPerCurrency }: Players,
  { ask }: Pick<Rows, 'ask'>,
  { bets, isAccountOfBet }: BetRows,
): Promise<Finding> {
  const countOf = async (rows: string) => Number((await ask(`SELECT COUNT(*) AS n FROM ${rows}`))[0]?.[0])
  const key = accountPerCurrency ? `${id}, ${currency}` : id
  const twice = await countOf(`(SELECT 1 AS row_ FROM ${table} GROUP BY ${key} HAVING COUNT(*) > 1) several`)
  const without = await countOf(
    `${bets} bet WHERE bet.status = 'PLACED' AND NOT EXISTS (SELECT 1 FROM ${table} player WHERE ${isAccountOfBet})`,
  )
  const problems: string[] = []
  if (twice > 0) problems.push(`${twice} have several rows: each call that meets one is a fault (500)`)
  if (without > 0)
    problems.push(`${without} bets have none in their currency: their settlements and rollbacks are refused`)
  return problems.length > 0
    ? finding('accounts', 'warning', problems.join('. '))
    : finding('accounts', 'ok', 'each has one row, and each bet has one')
}
