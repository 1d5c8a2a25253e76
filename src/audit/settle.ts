/** Settles a bet as the operator said that it is done. */
import { spawn } from 'node:child_process'
import type { Client } from './client.js'
import { quoted } from './curl.js'
import { write, written } from './json.js'
import type { AuditSettings, AuditSettlement } from './options.js'
import type { AuditExchange } from './report.js'

/** Writes down what was done. `flaw`: why it is not done, or `null`. */
export async function settle(
  settings: AuditSettings,
  client: Client,
  settlement: AuditSettlement,
  label: string,
  record: (exchange: AuditExchange) => void,
): Promise<string | null> {
  const how = settings.settle
  if (how === 'cannot') return 'no way to settle was given'
  const body = write({ ...settlement, amount: written(settlement.amount) })
  if (typeof how === 'object' && 'url' in how) {
    const { exchange, reply } = client.send({ label, path: how.url, body, headers: how.headers ?? {} })
    record(exchange)
    const { status, text } = await reply
    if (status !== null && status >= 200 && status <= 299) return null
    return status === null ? (exchange.error ?? 'no answer') : `${status} ${text.slice(0, 200)}`.trim()
  }

  const command = typeof how === 'object' ? how.command : null
  const exchange: AuditExchange = {
    label,
    sentAtMs: client.now(),
    answeredAtMs: null,
    method: command === null ? 'CALL' : 'RUN',
    path: command ?? 'settle()',
    body,
    curl: command === null ? '' : `echo ${quoted(body)} | ${command}`,
    status: null,
    answer: null,
    balance: null,
    error: null,
    omitted: 0,
  }
  record(exchange)
  try {
    if (typeof how === 'function') await inTime(Promise.resolve(how(settlement)), settings.timeoutMs)
    else await run(how.command, `${body}\n`, settings.timeoutMs)
    exchange.answeredAtMs = client.now()
    return null
  } catch (error) {
    exchange.error = error instanceof Error ? error.message : String(error)
    return exchange.error
  }
}

async function inTime(done: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}

const outputCharactersMax = 500

function run(command: string, input: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, stdio: ['pipe', 'ignore', 'pipe'], timeout: timeoutMs })
    let printed = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-outputCharactersMax)
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve()
      else if (signal !== null)
        reject(new Error(`the command was ended by ${signal}; its time is ${timeoutMs} ms`))
      else reject(new Error(`the command ended with code ${code}: ${printed.trim()}`))
    })
    // A command may settle without reading what it is told.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}
