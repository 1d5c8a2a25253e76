/** The command as operators run it: by npx, in a project with the installed tarball. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditCases } from 'bet-wallet/audit'
import { afterAll, describe, expect, it } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { bin, createProject } from '../../package/project.js'
import { startPlainWallet } from '../wallets/independent/plain.js'

const { folder, tarball, remove } = createProject()
afterAll(remove)

function npx(project: string, words: readonly string[]) {
  const child = spawn('npx', ['--no-install', 'bet-wallet', ...words], {
    cwd: project,
    env: { ...process.env, NODE_OPTIONS: '', BET_WALLET_PASSWORD: 'correct horse' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  return new Promise<{ code: number | null; out: string }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve({ code, out }))
  })
}

describe.each(['module', 'commonjs'])('in a project of type %s', type => {
  const project = join(folder, type)

  it('npm installs the command, and npx runs it with its exit code', async () => {
    mkdirSync(project)
    const others = Object.keys(manifest.dependencies).map(name => [name, `file:${bin(name)}`])
    const dependencies = { ...Object.fromEntries(others), 'bet-wallet': `file:${tarball}` }
    writeFileSync(
      join(project, 'package.json'),
      JSON.stringify({ name: 'pam', private: true, type, dependencies }),
    )
    const quiet = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
    execFileSync('npm', ['install', ...quiet], { cwd: project, stdio: 'pipe' })

    const list = await npx(project, ['audit', '--list'])
    expect(list.code).toBe(0)
    expect(list.out.trimEnd().split('\n')).toHaveLength(auditCases.length)

    const wallet = await startPlainWallet({ fault: 'no-tombstone' })
    try {
      const words = ['audit', wallet.url, '--player', 'player-1', '--currency', 'EUR', '--user', 'platform']
      const { code, out } = await npx(project, [...words, '--only', 'AU-101,AU-301'])
      expect(out).toMatch(/^ {2}passed +AU-101.*\n {2}FAILED +AU-301/m)
      expect(code).toBe(1)
    } finally {
      await wallet.close()
    }
  })
})
