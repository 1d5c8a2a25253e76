/** Writes to the terminal and to files. */
import { accessSync, constants, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { UsageError } from './arguments.js'

/**
 * Checks before the run that the file can be written after it.
 *
 * @throws {UsageError}
 */
export function checkWritable(file: string | undefined): void {
  if (file === undefined) return
  try {
    accessSync(dirname(resolve(file)), constants.W_OK)
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new Error('it is a directory')
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`)
  }
}

export function writeReport(file: string | undefined, render: () => string): void {
  if (file === undefined) return
  writeFileSync(file, render())
  console.error(`Written: ${file}`)
}

/** To standard output. */
export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}

/** Replaces the last line of the terminal. */
export function overwriteLine(line: string): void {
  process.stderr.write(`\r\u001b[2K${line}`)
}

export function columnsOf(stream: { columns?: number }): number {
  return Math.max(40, stream.columns ?? 110)
}

/** @returns a signal that the first Ctrl+C aborts. The second one ends the process as usual. */
export function interruptSignal(whatFollows: string): AbortSignal {
  const interrupted = new AbortController()
  process.once('SIGINT', () => {
    console.error(`\nStopping: ${whatFollows}. Ctrl+C again stops at once.`)
    interrupted.abort()
  })
  return interrupted.signal
}
