/** The examples as processes, with an empty database that was created once, and the calls that they print. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
)

const started: ChildProcess[] = []
export let folders = ''
/** A data folder of the express example, created once. */
let template = ''

/** For the tests of one file. */
export function prepareExamples(): void {
  folders = mkdtempSync(join(tmpdir(), 'bet-wallet-examples-'))
  template = join(folders, 'template', 'bet_wallet_express')
  // PGlite takes seconds to create a database, and longer on a busy machine.
  beforeAll(async () => {
    expect(existsSync(`${root}/dist/index.js`), 'run `npm run test:long`, which builds first').toBe(true)
    const creating = run('express/server.ts', { PORT: '0', DATA_FOLDER: join(folders, 'template') })
    await until(creating, /Ctrl\+C/)
    creating.child.kill('SIGTERM')
    await creating.closed
  })
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL')
  })
  afterAll(() => rmSync(folders, { recursive: true, force: true, maxRetries: 10 }))
}

export const emptyFolder = () => mkdtempSync(join(folders, 'data-'))

/** A data folder with an empty database for the example. Copied, since creating one takes seconds. */
export function freshFolder(name: string): string {
  const folder = emptyFolder()
  cpSync(template, join(folder, name), { recursive: true })
  return folder
}

/** `npm start` has `bet-wallet` from `src`; the build, which the other processes have, is loaded faster. */
export const fromSource = { TSX_TSCONFIG_PATH: 'tsconfig.json' }
const fromBuild = { TSX_TSCONFIG_PATH: 'examples/tsconfig.json' }

export function run(example: string, environment: Record<string, string> = {}) {
  const own = { ...fromBuild, DATABASE_URL: '', DATA_FOLDER: join(folders, 'unused') }
  // PGlite is WebAssembly: for a few calls, it is compiled in half the time.
  const child = spawn(process.execPath, ['--liftoff-only', '--import', 'tsx', `examples/${example}`], {
    cwd: root,
    env: { ...process.env, ...own, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  const printed = { out: '', error: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.error += text
  })
  const closed = once(child, 'close').then(
    ([code, signal]) => ({ code, signal }) as { code: number | null; signal: string | null },
  )
  return { child, printed, closed }
}

/** Waits until the text is printed. Throws if the process ends before. */
export async function until(
  { child, printed, closed }: ReturnType<typeof run>,
  text: RegExp,
): Promise<string> {
  const over = closed.then(() => 'over')
  while (!text.test(printed.out)) {
    if (
      (await Promise.race([once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), over])) ===
      'over'
    ) {
      throw new Error(`ended without ${text}: ${printed.out}\n${printed.error}`)
    }
  }
  return printed.out
}

/** The words of a printed command, as a shell splits them: only single quotes occur. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
}

export async function runCommand(line: string): Promise<{ status: number; body: string }> {
  if (hasCurl) {
    const environment = { ...process.env, NO_PROXY: '*', no_proxy: '*' }
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: environment })
    const [head = '', body = ''] = stdout.split('\r\n\r\n')
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), body: body.trimEnd() }
  }
  const words = wordsOf(line)
  const after = (option: string) => words[words.indexOf(option) + 1] ?? ''
  const response = await fetch(words.at(-1) ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Basic ${btoa(after('-u'))}` },
    body: after('-d'),
  })
  return { status: response.status, body: await response.text() }
}

/** Runs every printed command in order. Returns the output and the answers. */
export async function runAll(server: ReturnType<typeof run>) {
  const printed = (await until(server, /Ctrl\+C.*\n/)).split('\n')
  const lines = printed.filter(line => line.startsWith('curl '))
  const titles = printed.filter(line => line.startsWith('# '))
  expect(titles).toHaveLength(lines.length)
  const answers: { status: number; body: string }[] = []
  for (const line of lines) answers.push(await runCommand(line))
  return { printed, lines, titles, answers }
}

export function expectAnnounced({ titles, answers }: Awaited<ReturnType<typeof runAll>>): void {
  for (const [index, { status, body }] of answers.entries()) {
    const [, expectedStatus, expectedCode = '', expectedBalance] =
      /: (\d{3})(?: ([A-Z_]+))?(?:, balance ([\d.]+)$|, since|$)/.exec(titles[index] ?? '') ?? []
    expect(status).toBe(Number(expectedStatus))
    if (status === 200) expect(body).toContain(`"balance":${expectedBalance},`)
    else expect(body).toContain(`"errorCode":"${expectedCode}"`)
  }
}

/** What `npm start` answers to its calls on an empty database. */
export const fresh = [
  { status: 200, body: '{"balance":70.00,"currency":"EUR","walletTransactionId":"1"}' },
  { status: 200, body: '{"balance":125.50,"currency":"EUR","walletTransactionId":"2"}' },
  { status: 200, body: '{"balance":70.00,"currency":"EUR","walletTransactionId":"3"}' },
  { status: 200, body: '{"balance":100.00,"currency":"EUR","walletTransactionId":"4"}' },
  {
    status: 402,
    body: '{"errorCode":"INSUFFICIENT_FUNDS","description":"amount: insufficient funds"}',
  },
  { status: 200, body: '{"balance":3800,"currency":"JPY","walletTransactionId":"6"}' },
]
