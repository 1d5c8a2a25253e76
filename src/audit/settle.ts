/** Settles a bet without HTTP: by a function in this process, or by a command of the shell. */
import { spawn } from 'node:child_process'
import type { SettlementRequest } from '../requests.js'
import { raw, write } from './json.js'
import type { SettleAnswer, SettleFunction } from './target.js'

/** The outcome of a settlement. `unknown`: it may be done or not; a retry is safe. */
export type Settled =
  | { kind: 'done'; answer: Extract<SettleAnswer, { ok: true }> | null }
  | { kind: 'refused'; errorCode: string }
  | { kind: 'unknown'; reason: string }

/** A settlement as JSON, its amount as a number with all its digits. */
export function settlementBody(settlement: SettlementRequest): string {
  return write({ ...settlement, amount: raw(settlement.amount) })
}

/** Never rejects. After `timeoutMs` the outcome is unknown. */
export async function settleDirectly(
  how: SettleFunction | { command: string },
  settlement: SettlementRequest,
  timeoutMs: number,
): Promise<Settled> {
  try {
    if (typeof how !== 'function') {
      await runCommand(how.command, `${settlementBody(settlement)}\n`, timeoutMs)
      return { kind: 'done', answer: null }
    }
    const answer = (await withTimeout(Promise.resolve(how(settlement)), timeoutMs)) ?? null
    return answer?.ok === false ? { kind: 'refused', errorCode: answer.errorCode } : { kind: 'done', answer }
  } catch (error) {
    return { kind: 'unknown', reason: error instanceof Error ? error.message : String(error) }
  }
}

async function withTimeout<T>(result: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([result, timeout])
  } finally {
    clearTimeout(timer)
  }
}

const outputCharactersMax = 500

function runCommand(command: string, input: string, timeoutMs: number): Promise<void> {
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
        reject(new Error(`the command was ended by ${signal} (timeout: ${timeoutMs} ms)`))
      else reject(new Error(`the command ended with code ${code}: ${printed.trim()}`))
    })
    // A command may settle without reading its input.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}
