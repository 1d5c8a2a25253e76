/** Writes to the terminal and to files. */
import { randomBytes } from 'node:crypto'
import { accessSync, closeSync, constants, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { textOf } from '../../foreign-values.js'
import { escapeInvisible, onOneLine } from '../../visible-text.js'
import type { Report } from '../report/model.js'
import { pageOf } from '../report/page.js'
import { textOf as textOfReport } from '../report/text.js'
import { UsageError } from './usage-error.js'

/** The name of standard output, of JSON in place of the text. */
export const standardOutput = '-'

/**
 * Checks before the run that the file can be written after it.
 *
 * @returns the file
 * @throws {UsageError}
 */
export function writable(file: string): string {
  if (file === standardOutput) throw new UsageError('Only --json can be -, standard output')
  try {
    accessSync(dirname(resolve(file)), constants.W_OK)
    const found = statSync(file, { throwIfNoEntry: false })
    if (found?.isDirectory()) throw new Error('it is a directory')
    // It would be replaced.
    if (found !== undefined && !found.isFile()) throw new Error('it is not a file')
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`)
  }
  return file
}

export function writeReport(file: string | undefined, render: () => string): void {
  if (file === undefined) return
  const report = openReport(file)
  try {
    report.write(escapeInvisible(render()))
    report.finish()
  } finally {
    report.discard()
  }
}

const bufferedCharacters = 65_536

/**
 * A file that gets its name only when it is complete. Reports hold players' data: only their owner may read
 * them. Until then the file has a random new name. A link with the final name is replaced and not followed,
 * so the content cannot be written elsewhere.
 */
export function openReport(name: string, start = '') {
  const part = `${name}.${randomBytes(8).toString('hex')}.part`
  const descriptor = openSync(part, 'wx', 0o600)
  let [isOpen, isFinished] = [true, false]
  let text = start
  const write = () => {
    const bytes = Buffer.from(text)
    // A disk that is nearly full takes a part, without an error.
    for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done)
    text = ''
  }
  const close = () => {
    isOpen = false
    closeSync(descriptor)
  }
  const remove = () => rmSync(part, { force: true })
  process.once('exit', remove)
  return {
    write(more: string): void {
      text += more
      if (text.length > bufferedCharacters) write()
    },
    finish(): void {
      write()
      close()
      renameSync(part, name)
      isFinished = true
      process.off('exit', remove)
      console.error(`Written: ${name}`)
    },
    /** Unless it is finished. */
    discard(): void {
      if (isFinished) return
      if (isOpen) close()
      remove()
      process.off('exit', remove)
    },
  }
}

/** On a terminal in colours, unless NO_COLOR is set. */
export function printReport(report: Report): void {
  console.log(textOfReport(report, process.stdout.isTTY && process.env.NO_COLOR === undefined))
}

export interface Outputs {
  json?: string | undefined
  html?: string | undefined
}

/** A result for people, and as JSON and as a page where the options ask for them. */
export function deliver(report: Report, data: unknown, { json, html }: Outputs): void {
  const dataText = () => `${JSON.stringify(data, null, 2)}\n`
  if (json === standardOutput) process.stdout.write(escapeInvisible(dataText()))
  else {
    printReport(report)
    writeReport(json, dataText)
  }
  writeReport(html, () => pageOf(report))
}

const messageMax = 2_000

/** An error message for the terminal. It shows no credentials of a URL. */
export function messageOf(error: unknown): string {
  // Before it is cut: half of a URL has no @ any more.
  const masked = cut(textOf(error), 2 * messageMax).replace(/:\/\/\S{0,2000}@/g, '://***@')
  return onOneLine(cut(masked, messageMax))
}

const cut = (text: string, length: number) => (text.length <= length ? text : `${text.slice(0, length)}…`)

export function overwriteLine(line: string): void {
  process.stderr.write(`\r\u001b[2K${line}`)
}

export function columnsOf(stream: { columns?: number }): number {
  return Math.max(40, stream.columns ?? 110)
}

/**
 * @param onSecond called before the second signal ends the process
 * @returns a signal that Ctrl+C aborts, or the end of a terminal or a pipeline: SIGHUP and SIGTERM
 */
export function stopSignal(whatFollows: string, onSecond: () => void = () => {}): AbortSignal {
  const stopped = new AbortController()
  const stop = () => {
    if (stopped.signal.aborted) {
      onSecond()
      process.exit(130)
    }
    console.error(`\nStopping: ${whatFollows}. Ctrl+C again stops at once.`)
    stopped.abort()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop)
  return stopped.signal
}

/** An error in words. For a host with several addresses, Node.js reports one error without a message. */
export function wordsOf(error: unknown): string {
  const { message, errors, code } = Object(error) as { message?: string; errors?: Error[]; code?: unknown }
  return message || errors?.[0]?.message || String(code ?? error)
}
