/** The options that belong to a schema, such as the players' table: of every command that needs them. */
import type { ParseArgsConfig } from 'node:util'
import type { MysqlTables } from '../../stores/mysql/index.js'
import { type MinorUnits, minorUnitsIn } from '../init/mapping.js'
import { given, UsageError, wholeNumberOf } from './arguments.js'

export const playersArguments = {
  schema: { type: 'string' },
  players: { type: 'string' },
  id: { type: 'string' },
  'id-type': { type: 'string' },
  'id-collation': { type: 'string' },
  currency: { type: 'string' },
  balance: { type: 'string' },
  reserved: { type: 'string' },
  'balance-type': { type: 'string' },
  'minor-units': { type: 'string' },
  'decimals-min': { type: 'string' },
  'own-players': { type: 'boolean' },
  outbox: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options']

type Switches = 'own-players' | 'outbox'

export type PlayersValues = { [name in Exclude<keyof typeof playersArguments, Switches>]?: string } & {
  [name in Switches]?: boolean
}

/** The options of the store that name tables. Those of PostgreSQL are the same, without `idCollation`. */
export type StoreTables = MysqlTables

const ofPlayers = ['id', 'id-type', 'id-collation', 'currency', 'balance'] as const
const ofBalance = ['reserved', 'balance-type', 'minor-units', 'decimals-min'] as const

/**
 * @returns `null`: the arguments name no table, so that it is the one that the schema was migrated with
 * @throws {UsageError} for half of a table. What the values are, the store checks
 */
export function tablesGiven(values: PlayersValues): StoreTables | null {
  const { players: table, 'own-players': own } = values
  const others = [...ofPlayers, ...ofBalance].filter(name => values[name] !== undefined)
  const tables = {
    ...given('schema', values.schema),
    ...given('outbox', values.outbox),
  }
  if (table === undefined) {
    if (others.length > 0) throw new UsageError(`--${others[0]} needs --players: the players' table`)
    if (own) return tables
    return null
  }
  if (own) throw new UsageError('--players and --own-players exclude each other')
  const { id, currency, balance } = values
  if (!id || !currency || !balance)
    throw new UsageError('--players needs its columns: --id, --currency and --balance')
  const players = {
    table,
    id,
    currency,
    balance,
    ...given('idType', values['id-type']),
    ...given('idCollation', values['id-collation']),
    ...given('reserved', values.reserved),
    ...given('balanceType', values['balance-type']),
    ...given('minorUnits', minorUnitsOf(values['minor-units'])),
    ...given('decimalsMin', wholeNumberOf('--decimals-min', values['decimals-min'])),
  }
  return { ...tables, players: players as NonNullable<StoreTables['players']> }
}

function minorUnitsOf(text: string | undefined): MinorUnits | undefined {
  if (text === undefined) return undefined
  const units = minorUnitsIn(text)
  if (units === null)
    throw new UsageError(`--minor-units must be 2, or EUR=2,JPY=0, not ${JSON.stringify(text)}`)
  return units
}
