/** Opens a page in Chromium, if the system has it. */
import { spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Of every start: as root too, and without a connection to anywhere. */
export const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
] as const

const browserNames = ['chromium', 'chromium-browser', 'google-chrome']

/** The first browser in PATH that can open a page from a file, or the reason why there is none. */
export async function findBrowser(
  path = process.env.PATH ?? '',
): Promise<{ browser: string } | { reason: string }> {
  const candidates = browserNames.flatMap(name => path.split(delimiter).map(folder => join(folder, name)))
  const reasons: string[] = []
  for (const browser of candidates.filter(isProgram)) {
    const opened = await open(browser, '<p>It opens pages.</p>').catch((error: Error) => error)
    if ('dom' in opened && opened.dom.includes('It opens pages.')) return { browser }
    reasons.push(`${browser} opens no page`)
  }
  return { reason: reasons.join(', ') || `none of ${browserNames.join(', ')} is in PATH` }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export interface Opened {
  /** The document after loading. */
  dom: string
  /** The console messages of the page, including violations of its policy. */
  logged: string[]
}

/** Loads the page from a file. */
export async function open(
  browser: string,
  page: string,
  name = 'page.html',
  ...more: string[]
): Promise<Opened> {
  return inFolder(async folder => {
    const { stdout, stderr } = await run(browser, folder, page, name, [
      '--dump-dom',
      '--enable-logging=stderr',
      ...more,
    ])
    return { dom: stdout, logged: stderr.split('\n').filter(line => /\bCONSOLE\b/.test(line)) }
  })
}

/** Prints the page as PDF. */
export async function print(browser: string, page: string): Promise<Buffer> {
  return inFolder(async folder => {
    const file = join(folder, 'page.pdf')
    await run(browser, folder, page, 'page.html', ['--no-pdf-header-footer', `--print-to-pdf=${file}`])
    return readFileSync(file)
  })
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-browser-'))
  try {
    return await work(folder)
  } finally {
    // Child processes of the browser may write for a moment after it has ended.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

function run(
  browser: string,
  folder: string,
  page: string,
  name: string,
  more: readonly string[],
): Promise<{ stdout: string; stderr: string }> {
  const file = join(folder, name)
  writeFileSync(file, page)
  const child = spawn(
    browser,
    ['--headless', ...flags, `--user-data-dir=${join(folder, 'profile')}`, ...more, pathToFileURL(file).href],
    { stdio: ['ignore', 'pipe', 'pipe'], timeout: 150_000, killSignal: 'SIGKILL' },
  )
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', text => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', text => (stderr += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve({ stdout, stderr })
      else reject(new Error(`${browser} ended with ${code ?? signal}: ${stderr.slice(-2000)}`))
    })
  })
}
