/** What the commands do with the operator's database, on either engine and with the operator's own driver. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { WalletLookups } from '../../lookups/records.js'
import type { RoleUse } from '../../stores/database/rights.js'
import type { MysqlPool, MysqlTables } from '../../stores/mysql/index.js'
import type { MigrationSqlSettings } from '../../stores/postgres/migrate.js'
import type { Read } from '../check/balances.js'
import type { CheckSettings, Finding } from '../check/finding.js'
import type { DatabaseSchema } from '../init/schema.js'
import { UsageError } from './usage-error.js'

/** The options of the store that name tables. Those of PostgreSQL are the same, without `idCollation`. */
export type StoreTables = MysqlTables

type MigrationChoices = Required<MigrationSqlSettings>

export interface About {
  version: string
  user: string
  isStandby: boolean
}

/** It connects with the first statement. */
export interface Database {
  url: string
  /** `null`: PostgreSQL. */
  mysqlPool: MysqlPool | null
  about(): Promise<About>
  /** Reads the catalog. */
  schema(): Promise<DatabaseSchema>
  /** @param from a SELECT in brackets, with the columns `currency` and `balance` */
  balances(from: string, players: StoreTables['players'] & {}): Promise<Read>
  /** @throws {StoreError} `INVALID_OPTIONS` */
  checkTables(tables: StoreTables): void
  /** What the schema was migrated with. @returns `null`: nothing @throws {RightMissing} */
  registered(options: StoreTables): Promise<StoreTables | null>
  /** @returns whether anything was to be done */
  migrate(tables: StoreTables, choices: MigrationChoices): Promise<boolean>
  migrationSql(tables: StoreTables, choices: MigrationChoices): string
  /** @param role as the catalog spells it; on MySQL and MariaDB a role, a user, or `user@host` */
  grants(tables: StoreTables, use: RoleUse, role: string): string[]
  /**
   * On MySQL and MariaDB, of a store whose players' table is a view: what shows it the unique index below.
   * The catalog of PostgreSQL shows it to all.
   */
  grantsBelow?(tables: StoreTables, role: string): Promise<string[]>
  lookups(options: { schema?: string; allowScan: boolean }): WalletLookups
  check(tables: StoreTables, checked: { user: string; settings: CheckSettings }): Promise<Finding[]>
  close(): Promise<void>
}

/** What stops a command, in words for the user: no driver, an unusable config file. */
export class DatabaseError extends Error {}

/** The schema exists, but this user may not see what the migration has registered in it. */
export class RightMissing extends UsageError {
  /** What grants it. */
  readonly statement: (user: string) => string
  constructor(problem: string, statement: (user: string) => string) {
    super(problem)
    this.statement = statement
  }
}

/** Beside a statement, one that reads the next page. */
export const connectionsMax = 2
export const connectMs = 10_000
/** For one statement of a command. Stores, lookups and migrations have limits of their own. */
export const statementMs = 60_000

/**
 * The first of the drivers that is installed in the current folder: the operator's own. Not that of a folder
 * above, as Node.js would look for it: other users may write there, and it is called with the password.
 *
 * @param advice what else to do without it
 * @throws {DatabaseError} if none is installed
 */
export function driver(names: readonly string[], advice: string): { name: string; module: unknown } {
  const folder = process.cwd()
  const name = names.find(each => existsSync(join(folder, 'node_modules', each)))
  if (name === undefined)
    throw new DatabaseError(
      `The driver ${names.join(' or ')} is not installed in ${folder}: npm install ${names[0]}, here or in a folder of tools of its own (with bet-wallet), from which you run the command.${advice}`,
    )
  return { name, module: createRequire(join(folder, 'package.json'))(name) }
}
