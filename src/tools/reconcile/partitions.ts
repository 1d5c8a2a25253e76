/**
 * JSON values in partitions, in a temporary file: what two sides have to compare is larger than the memory. All
 * values of a partition fit into it.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReconcileError } from './errors.js'

/** A partition of 10,000,000 rows has about three megabytes. A power of two. */
export const partitionCount = 1024

/** What a partition collects before it is written. Times the partitions, that is the memory taken. */
const chunkBytes = 8_192

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

type Place = readonly [position: number, size: number]

/** Nothing is written to a file before a partition has collected a chunk. */
export class Partitions<T> {
  /** A chunk per partition: as text, values would keep the text that they were cut from. */
  #bytes = Buffer.alloc(0)
  readonly #filled = new Uint32Array(partitionCount)
  readonly #written: Place[][] = Array.from({ length: partitionCount }, () => [])
  #file: TemporaryFile | null = null

  /** Values with the same key are in the same partition. */
  add(key: string, value: T): void {
    if (this.#bytes.length === 0) this.#bytes = Buffer.allocUnsafeSlow(partitionCount * chunkBytes)
    const partition = partitionOf(key)
    const text = JSON.stringify(value)
    const needed = text.length * bytesPerCharacter + 1
    if (this.#filledOf(partition) + needed > chunkBytes) this.#write(partition, this.#chunkOf(partition))
    if (needed > chunkBytes) this.#write(partition, Buffer.from(`${text},`))
    else {
      const at = partition * chunkBytes + this.#filledOf(partition)
      const size = this.#bytes.write(text, at)
      this.#bytes[at + size] = comma
      this.#filled[partition] = this.#filledOf(partition) + size + 1
    }
  }

  #filledOf = (partition: number) => this.#filled[partition] as number

  #chunkOf(partition: number): Buffer {
    const start = partition * chunkBytes
    return this.#bytes.subarray(start, start + this.#filledOf(partition))
  }

  #write(partition: number, bytes: Buffer): void {
    this.#filled[partition] = 0
    if (bytes.length === 0) return
    this.#file ??= new TemporaryFile()
    this.#written[partition]?.push(this.#file.append(bytes))
  }

  /** The values of each partition, in the order in which they were added. */
  *[Symbol.iterator](): Generator<T[]> {
    for (let partition = 0; partition < partitionCount; partition += 1) yield this.valuesOf(partition)
  }

  valuesOf(partition: number): T[] {
    const written = (this.#written[partition] ?? []).map(place => valuesIn<T>(this.#file?.read(place)))
    return [...written, valuesIn<T>(this.#chunkOf(partition))].flat()
  }

  /** Deletes the file. */
  close(): void {
    this.#file?.close()
    this.#file = null
  }
}

/** A character of a JavaScript string takes at most three bytes in UTF-8. */
const bytesPerCharacter = 3
const comma = 0x2c

/** Behind each value is a comma. */
const valuesIn = <T>(bytes: Buffer | undefined): T[] =>
  bytes?.length ? JSON.parse(`[${bytes.toString('utf8', 0, bytes.length - 1)}]`) : []

/** In the folder for temporary files (TMPDIR), readable by this user only. */
class TemporaryFile {
  readonly #descriptor: number
  readonly #folder: string | null
  #end = 0
  /** For what is read, one after the other. */
  #bytes = Buffer.alloc(0)

  constructor() {
    const folder = namingFolder(() => mkdtempSync(join(tmpdir(), 'bet-wallet-reconcile-')))
    this.#descriptor = namingFolder(() => openSync(join(folder, 'values'), 'wx+', 0o600))
    // Without its name, the file is gone when the process ends, however it ends. Windows keeps it until then.
    this.#folder = process.platform === 'win32' ? folder : null
    if (this.#folder !== null) return
    unlinkSync(join(folder, 'values'))
    rmSync(folder, { recursive: true })
  }

  append(bytes: Buffer): Place {
    const position = this.#end
    for (let done = 0; done < bytes.length; this.#end = position + done) {
      done += namingFolder(() =>
        writeSync(this.#descriptor, bytes, done, bytes.length - done, position + done),
      )
    }
    return [position, bytes.length]
  }

  /** The bytes are valid until the next read. */
  read([position, size]: Place): Buffer {
    if (this.#bytes.length < size) this.#bytes = Buffer.allocUnsafeSlow(size)
    for (let done = 0; done < size; ) {
      const count = readSync(this.#descriptor, this.#bytes, done, size - done, position + done)
      if (count === 0) throw new Error('the temporary file is shorter than what was written to it')
      done += count
    }
    return this.#bytes.subarray(0, size)
  }

  close(): void {
    closeSync(this.#descriptor)
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true })
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
