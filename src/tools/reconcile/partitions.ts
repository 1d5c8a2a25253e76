/**
 * JSON values in partitions, in a temporary file: what two sides have to compare is larger than the memory.
 * All values of a partition fit into it.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReconcileError } from './errors.js'

/** A partition of 10,000,000 rows has about one and a half megabytes. A power of two. */
export const partitionCount = 2048

/** What a partition collects before it is written. Times the partitions, that is the memory taken. */
const chunkBytes = 4_096

/** FNV-1a, 32 bits: which partition a key belongs to. */
export function partitionOf(key: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  }
  // The low bits of FNV depend on few characters: all bits are folded in.
  return (hash ^ (hash >>> 15) ^ (hash >>> 23)) & (partitionCount - 1)
}

/** The values with the same key, in their order. */
export function groupsBy<T>(values: Iterable<T>, keyOf: (value: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const value of values) {
    const group = groups.get(keyOf(value))
    if (group === undefined) groups.set(keyOf(value), [value])
    else group.push(value)
  }
  return [...groups.values()]
}

/** Nothing is written to a file before a partition has collected a chunk. */
export class Partitions<T> {
  readonly #file = new TemporaryFile()
  readonly #partitions = Array.from({ length: partitionCount }, () => new Partition(this.#file))

  /** Values with the same key are in the same partition. */
  add(key: string, value: T): void {
    this.#partitions[partitionOf(key)]?.add(JSON.stringify(value))
  }

  /** The values of each partition, in the order in which they were added. */
  *[Symbol.iterator](): Generator<T[]> {
    for (let partition = 0; partition < partitionCount; partition += 1) yield this.valuesOf(partition)
  }

  valuesOf(partition: number): T[] {
    return this.#partitions[partition]?.values() as T[]
  }

  /** Deletes the file. */
  close(): void {
    this.#file.close()
  }
}

/** A character of a JavaScript string takes at most three bytes in UTF-8. */
const bytesPerCharacter = 3

/** A chunk begins with position and size of the one before: a list of them would be half of the memory. */
const headerBytes = 16

const noChunk = { position: 0, size: 0 }

/** Behind each value is a comma. They are bytes at once: as text, they would keep what they were cut from. */
class Partition {
  #bytes = Buffer.alloc(0)
  #filled = headerBytes
  #written = noChunk

  constructor(readonly file: TemporaryFile) {}

  add(value: string): void {
    const needed = value.length * bytesPerCharacter + 1
    if (this.#filled > headerBytes && this.#filled + needed > this.#bytes.length) this.#write()
    const size = headerBytes + needed
    if (size > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(Math.max(size, chunkBytes))
    this.#filled += this.#bytes.write(`${value},`, this.#filled)
  }

  #write(): void {
    this.#bytes.writeDoubleLE(this.#written.position, 0)
    this.#bytes.writeDoubleLE(this.#written.size, 8)
    const position = this.file.append(this.#bytes.subarray(0, this.#filled))
    this.#written = { position, size: this.#filled }
    this.#filled = headerBytes
  }

  values(): unknown[] {
    const lists = [valuesIn(this.#bytes.subarray(headerBytes, this.#filled))]
    for (let { position, size } = this.#written; size > 0; ) {
      const chunk = this.file.read(position, size)
      lists.push(valuesIn(chunk.subarray(headerBytes)))
      position = chunk.readDoubleLE(0)
      size = chunk.readDoubleLE(8)
    }
    return lists.reverse().flat()
  }
}

const valuesIn = (bytes: Buffer): unknown[] =>
  bytes.length === 0 ? [] : JSON.parse(`[${bytes.toString('utf8', 0, bytes.length - 1)}]`)

/** In the folder for temporary files (TMPDIR), readable by this user only. */
class TemporaryFile {
  #descriptor: number | null = null
  #folder: string | null = null
  #end = 0
  /** For what is read, one after the other. */
  #bytes = Buffer.alloc(0)

  #opened(): number {
    if (this.#descriptor !== null) return this.#descriptor
    const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-reconcile-'))
    this.#descriptor = openSync(join(folder, 'values'), 'wx+', 0o600)
    // Without its name, the file is gone when the process ends, however it ends. Windows keeps it until then.
    if (process.platform === 'win32') this.#folder = folder
    else rmSync(folder, { recursive: true })
    return this.#descriptor
  }

  /** @returns its position in the file */
  append(bytes: Buffer): number {
    const position = this.#end
    try {
      for (let done = 0; done < bytes.length; this.#end = position + done)
        done += writeSync(this.#opened(), bytes, done, bytes.length - done, position + done)
    } catch (cause) {
      const problem = `The temporary file in ${tmpdir()} cannot be written (TMPDIR names another folder): `
      throw new ReconcileError('TEMPORARY_FILE', problem + (cause as Error).message, { cause })
    }
    return position
  }

  /** The bytes are valid until the next read. */
  read(position: number, size: number): Buffer {
    if (this.#bytes.length < size) this.#bytes = Buffer.allocUnsafeSlow(size)
    for (let done = 0; done < size; ) {
      const count = readSync(this.#opened(), this.#bytes, done, size - done, position + done)
      if (count === 0) throw new Error('the temporary file is shorter than what was written to it')
      done += count
    }
    return this.#bytes.subarray(0, size)
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true })
  }
}
