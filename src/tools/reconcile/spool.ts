/**
 * Lines of text in partitions, in a temporary file: what two sides have to compare is larger than the memory.
 * All lines of a partition fit into it.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReconcileError } from './errors.js'

/** A partition of 10,000,000 lines has about a megabyte. A power of two. */
export const partitions = 1024

/** What a partition collects before it is written. Times the partitions, that is the memory taken. */
const chunkBytes = 16_384
const firstBytes = 512
/** A character of a JavaScript string takes at most three bytes in UTF-8. */
const bytesPerCharacter = 3

/** FNV-1a, 32 bits: which partition a key belongs to. */
export function partitionOf(key: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  }
  // The low bits of FNV depend on few characters: all bits are folded in.
  return (hash ^ (hash >>> 15) ^ (hash >>> 23)) & (partitions - 1)
}

/** The lines of a partition, in the order in which they were added. */
export function* linesOf(spool: Spool, partition: number): Generator<string> {
  for (const lines of spool.chunks(partition)) yield* lines
}

/** Nothing is written to a file before a partition has collected a chunk. */
export class Spool {
  readonly #collected = Array.from({ length: partitions }, () => new Partition())
  #file: SpoolFile | null = null
  #end = 0
  /** For the chunks that are read, one after the other. */
  #chunk = Buffer.alloc(0)

  /** @param line without line ends */
  add(partition: number, line: string): void {
    const into = this.#collected[partition] as Partition
    const needed = line.length * bytesPerCharacter + 1
    if (into.filled + needed > chunkBytes && into.filled > 0) this.#flush(into)
    into.add(line, needed)
  }

  /** No line is added any more: what was collected for the file is written to it, and its memory is free. */
  seal(): void {
    if (this.#file === null) return
    for (const partition of this.#collected) {
      if (partition.filled > 0) this.#flush(partition)
      partition.bytes = Buffer.alloc(0)
    }
  }

  /** The lines of a partition, in the order in which they were added, some at a time. */
  *chunks(partition: number): Generator<string[]> {
    const { bytes, filled, written } = this.#collected[partition] as Partition
    for (let index = 0; index < written.length; index += 2) {
      const [position, size] = [written[index] as number, written[index + 1] as number]
      if (this.#chunk.length < size) this.#chunk = Buffer.allocUnsafeSlow(size)
      readAll((this.#file as SpoolFile).descriptor, this.#chunk, size, position)
      yield linesIn(this.#chunk, size)
    }
    if (filled > 0) yield linesIn(bytes, filled)
  }

  /** Deletes the file. */
  close(): void {
    this.#file?.close()
    this.#file = null
  }

  #flush(partition: Partition): void {
    this.#file ??= namingFolder(createFile)
    writeAll(this.#file.descriptor, partition.bytes.subarray(0, partition.filled), this.#end)
    partition.written.push(this.#end, partition.filled)
    this.#end += partition.filled
    partition.filled = 0
  }
}

/** Lines are bytes at once: as strings, they would keep the text that they were cut from. */
class Partition {
  bytes: Buffer = Buffer.alloc(0)
  filled = 0
  /** Position and size of each chunk in the file, in turn. */
  readonly written: number[] = []

  add(line: string, needed: number): void {
    if (this.filled + needed > this.bytes.length) {
      const size = Math.max(this.filled + needed, Math.min(2 * this.bytes.length, chunkBytes), firstBytes)
      const larger = Buffer.allocUnsafeSlow(size)
      this.bytes.copy(larger, 0, 0, this.filled)
      this.bytes = larger
    }
    this.filled += this.bytes.write(line, this.filled)
    this.bytes[this.filled] = newline
    this.filled += 1
  }
}

const newline = 10

/** Each line ends with a line end. Short texts: the engine frees them early, and one of megabytes late. */
const linesIn = (bytes: Buffer, size: number) => bytes.toString('utf8', 0, size - 1).split('\n')

function readAll(descriptor: number, into: Buffer, size: number, position: number): void {
  for (let done = 0; done < size; ) {
    const count = readSync(descriptor, into, done, size - done, position + done)
    if (count === 0) throw new Error('the temporary file is shorter than what was written to it')
    done += count
  }
}

function writeAll(descriptor: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += namingFolder(() => writeSync(descriptor, bytes, done, bytes.length - done, position + done))
  }
}

function namingFolder<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    const problem = `The temporary file in ${tmpdir()} cannot be written (TMPDIR names another folder): `
    throw new ReconcileError('TEMPORARY_FILE', problem + (cause as Error).message, { cause })
  }
}

interface SpoolFile {
  descriptor: number
  close(): void
}

/** In the folder for temporary files (TMPDIR), readable by this user only. */
function createFile(): SpoolFile {
  const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-reconcile-'))
  const descriptor = openSync(join(folder, 'lines'), 'wx+', 0o600)
  // Without its name, the file is gone when the process ends, however it ends. Windows keeps it until then.
  const isUnnamed = process.platform !== 'win32'
  if (isUnnamed) {
    unlinkSync(join(folder, 'lines'))
    rmSync(folder, { recursive: true })
  }
  return {
    descriptor,
    close() {
      closeSync(descriptor)
      if (!isUnnamed) rmSync(folder, { recursive: true, force: true })
    },
  }
}
