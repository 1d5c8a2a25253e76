/**
 * The route handler of docs/http.md in a real Next.js: built, type-checked, and started as a process of its own.
 * It imports the build of bet-wallet as an installed package.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe } from 'vitest'
import { testRunning } from '../../examples/exchange-tests.js'
import { credentials, initialPlayers } from '../../examples/exchanges.js'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

function next(...args: string[]): ChildProcess {
  const env = {
    ...process.env,
    ...{ NEXT_TELEMETRY_DISABLED: '1', NEXT_IGNORE_INCORRECT_LOCKFILE: '1', NODE_ENV: 'production' as const },
    TEST_WALLET: JSON.stringify({ players: initialPlayers, credentials }),
  }
  const command = [path('../node_modules/next/dist/bin/next'), ...args]
  return spawn(process.execPath, command, { cwd: path('next'), env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** What the process prints, up to its end or to this text. */
function output(child: ChildProcess, until?: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const read = (chunk: Buffer) => {
      text += chunk
      if (until?.test(text)) resolve(text)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', reject)
    child.once('exit', code => {
      if (code === 0 && until === undefined) resolve(text)
      else reject(new Error(`next ended with ${code}:\n${text}`))
    })
  })
}

/** Next.js answers what is none of `POST /wallet/…` itself. */
const answersItself = {
  'the base path alone': 404,
  'a path with a trailing slash': 308,
  'another method': 405,
  'another method with a body, and without credentials': 405,
}

describe('given Next.js 16', () => {
  beforeAll(async () => {
    const installed = path('node_modules/bet-wallet')
    rmSync(installed, { recursive: true, force: true })
    mkdirSync(installed, { recursive: true })
    for (const part of ['package.json', 'dist']) {
      cpSync(path(`../../../${part}`), `${installed}/${part}`, { recursive: true })
    }
    rmSync(path('next/.next'), { recursive: true, force: true })
    await output(next('build'))
  }, 150_000)

  testRunning({ front: 'none', answersItself }, async () => {
    const child = next('start', '--hostname', '127.0.0.1', '--port', '0')
    const printed = await output(child, /127\.0\.0\.1:\d+[\s\S]*Ready/)
    return {
      port: Number(/127\.0\.0\.1:(\d+)/.exec(printed)?.[1]),
      inside: null,
      stop: () =>
        new Promise(resolve => {
          child.once('exit', () => resolve())
          child.kill()
        }),
    }
  })
})
