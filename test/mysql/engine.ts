/**
 * The server of the tests that run on both: MariaDB, and with `DATABASE_ENGINE=mysql` before the command MySQL. Every
 * test of a run is on the same one.
 */
import { noMariadb } from '../mariadb/installation.js'
import { type MariadbOptions, type MariadbServer, startMariadb } from '../mariadb/server.js'
import { mysqlInstallation, noMysql } from './installation.js'
import { startMysql } from './server.js'

export const isMysql = process.env.DATABASE_ENGINE === 'mysql'

/** Why it cannot be started here, and the command that brings it; `null`: it can. */
export const noServer: string | null = isMysql ? noMysql : noMariadb

/** Starts one. @see startMariadb */
export const startServer: (options?: MariadbOptions) => Promise<MariadbServer> = isMysql
  ? startMysql
  : startMariadb

/** Its client for the command line. */
export const clientProgram = (): string => (isMysql ? mysqlInstallation().mysql : 'mariadb')

/** A setting that turns off what no test needs, as none cuts the power of a shared server: its pages cannot be torn. */
export const fastSettings = { innodb_doublewrite: 'OFF' }

/** For the name of a test that is skipped on MySQL: the reason. */
export const withoutOnMysql = (what: string) => (isMysql ? ` (skipped: MySQL has no ${what})` : '')

/** The collation that compares exactly: of the library's own columns. */
export const exactCollation = isMysql ? 'utf8mb4_0900_bin' : 'utf8mb4_nopad_bin'

/** The sessions of the server. MySQL's own table of that name fails while a session runs a statement with an emoji. */
export const processList = isMysql ? 'performance_schema.processlist' : 'information_schema.PROCESSLIST'
