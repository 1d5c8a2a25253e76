/** Settles a bet without HTTP: by a function in this process, or by a command of the shell. */
import { type ChildProcess, spawn } from 'node:child_process'
import { textOf } from '../../foreign-values.js'
import type { SettlementRequest } from '../../requests.js'
import { withTimeout } from '../../timeout.js'
import { raw, write } from './json.js'
import type { Mask } from './secrets.js'
import type { SettleAnswer, SettleFunction, SettleResult, StopSignal } from './target.js'

/** The outcome of a settlement. `unknown`: it may be done or not; a retry is safe. */
export type Settled =
  | { kind: 'done'; answer: Extract<SettleAnswer, { ok: true }> | null }
  | { kind: 'refused'; errorCode: string }
  | { kind: 'unknown'; reason: string }

/** A controller of a framework may answer 2xx with the outcome of `recordSettlement` as it is. */
export const isRefusedIn = (text: string): boolean => /^\s*\{\s*"ok"\s*:\s*false\b/.test(text)

/** A settlement as JSON, its amount as a number with all its digits. */
export function settlementBody(settlement: SettlementRequest): string {
  return write({ ...settlement, amount: raw(settlement.amount) })
}

/** Never rejects. After `timeoutMs` the outcome is unknown. Reasons are masked. */
export async function settleDirectly(
  how: SettleFunction | { command: string },
  settlement: SettlementRequest,
  timeoutMs: number,
  mask: Mask,
): Promise<Settled> {
  try {
    if (typeof how !== 'function') {
      await runCommand(how.command, `${settlementBody(settlement)}\n`, timeoutMs, mask)
      return { kind: 'done', answer: null }
    }
    return settledOf(await withTimeout(Promise.resolve(how(settlement)), timeoutMs, notDoneWithin(timeoutMs)))
  } catch (error) {
    return { kind: 'unknown', reason: mask(textOf(error)) }
  }
}

/** @throws {TypeError} for a value that is not a `SettleAnswer`: a JavaScript caller may return `false` */
function settledOf(answer: SettleResult): Settled {
  if (answer === undefined || answer === null) return { kind: 'done', answer: null }
  if (answer.ok === true) return { kind: 'done', answer }
  if (answer.ok === false) return { kind: 'refused', errorCode: answer.errorCode }
  throw new TypeError('the settle function must return nothing, { ok: true } or { ok: false, errorCode }')
}

const notDoneWithin = (timeoutMs: number) => (): never => {
  throw new Error(`not done within ${timeoutMs} ms`)
}

/** Of what a command prints, the end is shown. More is kept, so that no secret is cut before it is masked. */
const shownMax = 500
const keptMax = 20 * shownMax

/**
 * @param stopped ends the command when it is aborted
 * @throws if its exit code is not 0, with the end of its standard error
 */
export async function runCommand(
  command: string,
  input: string,
  timeoutMs: number,
  mask: Mask,
  stopped: StopSignal | null = null,
): Promise<void> {
  // A process group of its own: a timeout ends the processes of the shell too, which keep its output open.
  const detached = process.platform !== 'win32'
  const child = spawn(command, { shell: true, detached, stdio: ['pipe', 'ignore', 'pipe'] })
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed = (printed + text).slice(-keptMax)
  })
  // A command may settle without reading its input.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  let ended = false
  let stop = () => {}
  const done = new Promise<void>((resolve, reject) => {
    stop = () => reject(new Error('stopped before it had ended'))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      ended = true
      if (code === 0) resolve()
      else {
        const shown = mask(printed).slice(-shownMax).trim()
        reject(new Error(`the command ended with ${signal ?? `code ${code}`}: ${shown}`))
      }
    })
  })
  stopped?.addEventListener('abort', stop)
  if (stopped?.aborted) stop()
  try {
    await withTimeout(done, timeoutMs, notDoneWithin(timeoutMs))
  } finally {
    stopped?.removeEventListener('abort', stop)
    if (!ended) endProcesses(child, detached)
  }
}

function endProcesses(child: ChildProcess, isGroup: boolean): void {
  child.stderr?.destroy()
  if (child.pid === undefined) return // it was never started
  try {
    process.kill(isGroup ? -child.pid : child.pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // ESRCH: it has ended
  }
}
