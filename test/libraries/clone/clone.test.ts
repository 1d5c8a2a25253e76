/** The package from a clone of the repository, without a build: the command, `npm pack`, an installation by git. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
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
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it, test } from 'vitest'
import { bin, root } from '../../package/project.js'

const outer = mkdtempSync(join(tmpdir(), 'bet-wallet-clone-'))
afterAll(() => rmSync(outer, { recursive: true, force: true, maxRetries: 10 }))

const noGit = spawnSync('git', ['--version']).status === 0 ? null : 'git is not installed'

/** Of its own, and empty: what npx keeps there of one clone is part of these tests. */
const cache = join(outer, 'npm-cache')

/** npm or npx as a user calls it. Its own scripts get a clean environment, without that of the test runner. */
function npm(command: 'npm' | 'npx', args: readonly string[], cwd: string) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^npm_|^NODE_OPTIONS$|^VITEST|^INIT_CWD$/i.test(name),
  )
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: {
      ...Object.fromEntries(inherited),
      npm_config_cache: cache,
      npm_config_userconfig: join(outer, 'none'),
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
      NO_COLOR: '1',
    },
  })
  return { status, stdout, stderr }
}

/** The files of the working tree that git has or would take: no build, no node_modules. */
function createClone(name: string): string {
  const folder = join(outer, name)
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const file of listed.split('\0').filter(file => file !== '' && existsSync(join(root, file)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  return folder
}

if (noGit !== null) test.skip(`the package from a clone (skipped: ${noGit})`)

describe.skipIf(noGit !== null)('a clone after npm ci, without a build', () => {
  const clone = noGit === null ? createClone('clone') : ''
  if (noGit === null) symlinkSync(bin(''), join(clone, 'node_modules'), 'junction')

  it('has a command that says what to run', () => {
    expect(existsSync(join(clone, 'dist'))).toBe(false)
    const { status, stdout, stderr } = npm('npx', ['bet-wallet', 'audit', '--list'], clone)
    expect({ status, stdout, stderr }).toEqual({
      ...{ status: 2, stdout: '' },
      stderr:
        'The command bet-wallet is not built yet. Run this in the clone, then try again:\n\n  npm ci && npm run build\n',
    })
  })

  it('does not build when its own packages are installed', () => {
    const { status, stderr } = npm('npm', ['run', 'prepare'], clone)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(existsSync(join(clone, 'dist'))).toBe(false)
  })

  it('is built by npm pack', { timeout: 300_000 }, () => {
    const { status, stderr } = npm('npm', ['pack', '--pack-destination', outer], clone)
    expect(status, stderr).toBe(0)
    const [tarball = ''] = readdirSync(outer).filter(name => name.endsWith('.tgz'))
    const packed = execFileSync('tar', ['-tzf', join(outer, tarball)], { encoding: 'utf8' }).split('\n')
    const built = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
    // Chunks are named by their content.
    const names = (files: readonly string[]) =>
      files.map(file => file.replace(/-[A-Z0-9]{8}\./, '-*.')).sort()
    const inDist = packed.filter(file => file.startsWith('package/dist/') && !file.endsWith('/'))
    expect(names(inDist.map(file => file.slice('package/dist/'.length)))).toEqual(names(built))
  })

  it('then has a command that works, although npx has kept the one from before', () => {
    expect(existsSync(join(clone, 'dist/command.cjs'))).toBe(true)
    const { status, stdout } = npm('npx', ['bet-wallet', 'audit', '--list'], clone)
    expect(status).toBe(0)
    expect(stdout).toMatch(/^AU-101 /m)
  })
})

describe.skipIf(noGit !== null)('an installation by git', () => {
  /** The scripts of package.json with npm itself; what they build is replaced, and so are the packages for it. */
  function createRepository(): string {
    const folder = createClone('repository')
    rmSync(join(folder, 'package-lock.json'))
    const file = join(folder, 'package.json')
    const {
      dependencies: _,
      peerDependencies: __,
      devDependencies: ___,
      ...manifest
    } = JSON.parse(readFileSync(file, 'utf8'))
    const build = `node -e "fs.mkdirSync('dist'); fs.writeFileSync('dist/index.cjs', 'module.exports = 4711')"`
    writeFileSync(file, JSON.stringify({ ...manifest, scripts: { ...manifest.scripts, build } }))
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], {
        cwd: folder,
        stdio: 'pipe',
      })
    git('init', '--quiet')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'A clone')
    return folder
  }

  it('makes a package with its build', () => {
    const project = join(outer, 'project')
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "name": "pam", "private": true }')
    const quiet = ['--no-audit', '--no-fund', '--no-package-lock']
    const { status, stderr } = npm('npm', ['install', `git+file://${createRepository()}`, ...quiet], project)
    expect(status, stderr).toBe(0)
    const script = "console.log(require('bet-wallet'))"
    expect(execFileSync(process.execPath, ['-e', script], { cwd: project, encoding: 'utf8' })).toBe('4711\n')
  })
})
