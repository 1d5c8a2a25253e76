/** A project that has installed the packed tarball, without asking a registry. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import manifest from '../../package.json' with { type: 'json' }
import { withoutScripts } from './without-scripts.js'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The path of something in a package of ours. */
export const bin = (name: string) => join(root, 'node_modules', ...name.split('/'))

export interface Project {
  folder: string
  tarball: string
  /** The package as it is installed there. */
  installed: string
  remove(): void
}

/** `npm pack` of a folder whose build is there. @returns the path of the tarball */
export function pack(from: string, folder: string): string {
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
    cwd: from,
    stdio: 'pipe',
  })
  const tarball = join(folder, readdirSync(folder).find(name => name.endsWith('.tgz')) as string)
  // What the script `postpack` does.
  writeFileSync(tarball, withoutScripts(readFileSync(tarball)))
  return tarball
}

/**
 * @param others packages that the project has beside those that the tarball needs
 * @param from the repository, or a copy of it, with its build
 */
export function createProject(others: readonly string[] = [], from = root): Project {
  if (!existsSync(join(from, 'dist'))) throw new Error('There is no dist: run npm run build, or npm test')
  const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-project-'))
  const tarball = pack(from, folder)

  // As an installation leaves it: the package unpacked, its dependencies beside it.
  const installed = join(folder, 'node_modules', 'bet-wallet')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed])
  for (const name of [...Object.keys(manifest.dependencies), ...others]) {
    symlinkSync(bin(name), join(folder, 'node_modules', name), 'junction')
  }
  return { folder, tarball, installed, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
