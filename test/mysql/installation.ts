/** MySQL of this machine. No npm package brings it: where it is missing, its tests are skipped with the reason. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Account, unprivileged } from '../postgres/installation.js'

export const unpackCommand = 'bash test/programs/versions/unpack.sh mysql'

/** As test/programs/versions/unpack.sh has it: outside the repository, and for root a folder that other accounts can read. */
const folder =
  process.env.MYSQL_FOLDER ??
  (process.getuid?.() === 0
    ? '/var/cache/bet-wallet/mysql'
    : join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'bet-wallet/mysql'))

/** Why no MySQL can be started here, and the command that brings it; `null`: it can. */
export const noMysql: string | null =
  process.platform !== 'linux'
    ? 'MySQL is started on Linux only'
    : existsSync(join(folder, 'mysqld'))
      ? null
      : `no MySQL in ${folder}. To unpack it there: ${unpackCommand}`

export interface MysqlInstallation {
  /** The path of the server's program. */
  mysqld: string
  /** The path of the client. */
  mysql: string
  /** The account that runs the server; `null`: our own. MySQL refuses to run as root. */
  account: Account | null
}

/** @throws Error with the reason why MySQL does not run on this machine, and the command that brings it */
export function mysqlInstallation(): MysqlInstallation {
  if (noMysql !== null) throw new Error(noMysql)
  return { mysqld: join(folder, 'mysqld'), mysql: join(folder, 'mysql'), account: unprivileged() }
}
