/**
 * MariaDB and Galera of this machine. No npm package brings them: where they are missing, their tests are
 * skipped with the reason and the command that installs them.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Account, environment } from '../postgres/installation.js'

export interface MariadbInstallation {
  /** The path of the server's program. */
  mariadbd: string
  /** The path of the program that creates a data folder. */
  installDb: string
  /** The account that runs the server; `null`: our own. MariaDB refuses to run as root. */
  account: Account | null
}

export const installCommand = 'apt-get install -y --no-install-recommends mariadb-server galera-4 rsync'

/** A folder with another version than this machine's, unpacked by test/programs/versions/unpack.sh. */
const unpacked = process.env.MARIADB_FOLDER

/** Distributions keep servers outside an ordinary user's PATH. */
const installed = [
  ...(process.env.PATH ?? '').split(delimiter),
  '/usr/sbin',
  '/usr/local/sbin',
  '/usr/libexec',
  '/usr/bin',
]

const libraries = unpacked
  ? [join(unpacked, 'root/usr/lib/galera')]
  : ['/usr/lib/galera', '/usr/lib', '/usr/lib64/galera-4', '/usr/lib64/galera', '/usr/local/lib']

/** The server finds the scripts by which a node gets all data in PATH: they must be those of its version. */
export const serverEnvironment: NodeJS.ProcessEnv = unpacked
  ? { ...environment, PATH: [join(unpacked, 'root/usr/bin'), environment.PATH].join(delimiter) }
  : environment

const program = (name: string, folders = unpacked ? [unpacked] : installed): string | null =>
  folders.map(folder => join(folder, name)).find(path => existsSync(path)) ?? null

const galeraLibrary: string | null =
  libraries.map(folder => join(folder, 'libgalera_smm.so')).find(path => existsSync(path)) ?? null

const missingOf = (needed: Readonly<Record<string, string | null>>): string | null => {
  const missing = Object.keys(needed).filter(name => needed[name] === null)
  return missing.length === 0 ? null : `${missing.join(', ')} not found here. To install: ${installCommand}`
}

/** Why no MariaDB can be started here, and the command that installs it; `null`: it can. */
export const noMariadb: string | null =
  process.platform === 'win32'
    ? 'MariaDB is started on POSIX systems only'
    : missingOf({ mariadbd: program('mariadbd'), 'mariadb-install-db': program('mariadb-install-db') })

/** Why no Galera cluster can be started here; `null`: it can. Its nodes need loopback addresses of their own. */
export const noGalera: string | null =
  noMariadb ??
  (process.platform === 'linux'
    ? missingOf({ 'libgalera_smm.so': galeraLibrary, rsync: program('rsync', installed) })
    : 'a Galera cluster is started on Linux only')

/** @throws Error with the reason why MariaDB does not run on this machine, and the command that installs it */
export function mariadbInstallation(): MariadbInstallation {
  const mariadbd = program('mariadbd')
  const installDb = program('mariadb-install-db')
  if (noMariadb !== null || mariadbd === null || installDb === null) throw new Error(noMariadb ?? '')
  return { mariadbd, installDb, account: serverAccount() }
}

/** The path of Galera's library. @throws Error as {@link mariadbInstallation} */
export function galeraProvider(): string {
  if (noGalera !== null || galeraLibrary === null) throw new Error(noGalera ?? '')
  return galeraLibrary
}

/** The account of the package, where we are root. */
function serverAccount(): Account | null {
  if (process.getuid?.() !== 0) return null
  const idOf = (flag: '-u' | '-g', name: string) =>
    Number(
      execFileSync('id', [flag, name], {
        encoding: 'utf8',
        env: environment,
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    )
  for (const name of ['mysql', 'nobody']) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) }
    } catch {
      // There is no such account.
    }
  }
  throw new Error('MariaDB refuses to run as root, and there is no account mysql or nobody')
}
