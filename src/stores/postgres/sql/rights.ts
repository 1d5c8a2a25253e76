/** The rights that a role needs. docs/postgres.md shows them for an example. */
import { type Right, type RoleUse, rightsOn, rightsOnColumns } from '../../database/rights.js'
import type { Tables } from '../tables.js'
import { quoted } from './quoting.js'

/** Without EXECUTE: on new functions, PostgreSQL grants it to everyone. */
export function rightsOf({ schema, players, outbox }: Tables, use: RoleUse): Right[] {
  const { table, tableName, columns } = players
  const { id, currency, balance, reserved, version } = columns
  const read = [id, currency, balance, ...(reserved === null ? [] : [reserved])]
  const written = version === null ? [balance] : [balance, version]
  const own = (name: string, ...privileges: string[]) => rightsOn('', `${schema}.${name}`, ...privileges)
  const usage = [...new Set([schema, quoted(tableName[0])])].flatMap(name =>
    rightsOn('SCHEMA', name, 'USAGE'),
  )
  switch (use) {
    case 'store':
      return [
        ...usage,
        ...own('migrations', 'SELECT'),
        ...own('options', 'SELECT'),
        ...own('transactions', 'SELECT', 'INSERT'),
        ...own('bets', 'SELECT', 'INSERT', 'UPDATE'),
        ...(outbox ? own('outbox', 'INSERT') : []),
        ...rightsOn('SEQUENCE', `${schema}.wallet_transaction_ids`, 'USAGE'),
        ...rightsOnColumns(table, 'SELECT', [...new Set([...read, ...written])]),
        ...rightsOnColumns(table, 'UPDATE', written),
      ]
    case 'lookups':
      return [
        ...usage,
        ...['transactions', 'bets', 'options'].flatMap(name => own(name, 'SELECT')),
        ...rightsOnColumns(table, 'SELECT', read),
      ]
    case 'settlements':
      return [
        ...usage,
        ...own('bets', 'SELECT', 'UPDATE'),
        ...rightsOnColumns(table, 'SELECT', [id, ...(players.accountPerCurrency ? [currency] : []), balance]),
        ...rightsOnColumns(table, 'UPDATE', [balance]),
      ]
    case 'relay':
      return [
        ...rightsOn('SCHEMA', schema, 'USAGE'),
        ...own('outbox', 'SELECT', 'UPDATE', 'DELETE'),
        ...own('transactions', 'SELECT'),
      ]
  }
}
