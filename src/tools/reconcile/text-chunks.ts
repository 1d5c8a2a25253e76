/** The bytes of the platform's report as text, and its rows, in bounded memory. */
import { createReadStream } from 'node:fs'
import { invalidRow, ReconcileError } from './errors.js'

/** A path, or the content in chunks: bytes in UTF-8, or text. */
export type ReportSource = string | AsyncIterable<Uint8Array | string>

const chunkBytes = 64 * 1024

/** @throws {ReconcileError} `INVALID_REPORT` for a file that cannot be read, or is not UTF-8 */
export async function* textChunks(source: ReportSource): AsyncGenerator<string> {
  const chunks: AsyncIterable<Uint8Array | string> =
    typeof source === 'string' ? createReadStream(source, { highWaterMark: chunkBytes }) : source
  // The decoder drops a byte order mark.
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  const decoded = (bytes?: Uint8Array) => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
    } catch {
      return invalidRow(line, null, 'this line, or one of the next ones, is not UTF-8')
    }
  }
  try {
    for await (const chunk of chunks) {
      const text = typeof chunk === 'string' ? chunk : decoded(chunk)
      yield text
      line += text.split('\n').length - 1
    }
  } catch (cause) {
    if (cause instanceof ReconcileError || typeof source !== 'string') throw cause
    const problem = `The platform's report cannot be read: ${(cause as Error).message}`
    throw new ReconcileError('INVALID_REPORT', problem, { cause })
  }
  yield decoded()
}
