/** The rights that a user needs. docs/mysql.md shows them for an example. */
import { type Right, type RoleUse, rightsOn, rightsOnColumns } from '../../database/rights.js'
import type { Tables } from '../tables.js'
import { creditProcedureName } from './fragments.js'

/** Where the players' table is a view, `ready` also needs to see what is below it: {@link rightsBelow}. */
export function rightsOf({ schema, players, outbox }: Tables, use: RoleUse): Right[] {
  const { id, currency, balance, reserved, version } = players.columns
  const read = [id, currency, balance, ...(reserved === null ? [] : [reserved])]
  const written = version === null ? [balance] : [balance, version]
  const own = (name: string, ...privileges: string[]) => rightsOn('', `${schema}.${name}`, ...privileges)
  const onColumns = (privilege: string, ...columns: string[]) =>
    rightsOnColumns(players.table, privilege, columns)
  switch (use) {
    case 'store':
      return [
        ...own('*', 'EXECUTE', 'CREATE TEMPORARY TABLES'),
        ...own('wallet_transactions', 'SELECT', 'INSERT'),
        ...own('wallet_bets', 'SELECT', 'INSERT', 'UPDATE'),
        ...own('wallet_proofs', 'SELECT', 'INSERT', 'DELETE'),
        ...(outbox ? own('wallet_outbox', 'INSERT') : []),
        ...onColumns('SELECT', ...new Set([...read, ...written])),
        ...onColumns('UPDATE', ...written),
      ]
    case 'lookups':
      return [
        // To see the options that the migration has registered with the procedures.
        ...own('*', 'EXECUTE'),
        ...own('wallet_transactions', 'SELECT'),
        ...own('wallet_bets', 'SELECT'),
        ...onColumns('SELECT', ...read),
      ]
    case 'settlements':
      return [
        ...rightsOn('PROCEDURE', `${schema}.${creditProcedureName}`, 'EXECUTE'),
        ...own('wallet_bets', 'SELECT', 'UPDATE'),
        ...onColumns('SELECT', id, ...(players.accountPerCurrency ? [currency] : []), balance),
        ...onColumns('UPDATE', balance),
      ]
    case 'relay':
      return [...own('wallet_outbox', 'SELECT', 'UPDATE', 'DELETE'), ...own('wallet_transactions', 'SELECT')]
  }
}
