/**
 * Lines of text in partitions, in a temporary file: what two sides have to compare is larger than the memory.
 * All lines of a partition fit into it.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReconcileError } from './errors.js'

/** A partition of 10,000,000 lines has some megabytes. */
export const partitions = 256

/** Of text that a partition collects before it is written. Times the partitions, that is the memory taken. */
const chunkCharacters = 16_384

export interface Spool {
  /** @param line without line ends */
  add(partition: number, line: string): void
  /** The lines of a partition, in the order in which they were added. */
  lines(partition: number): string[]
  /** Deletes the file. */
  close(): void
}

/** FNV-1a, 32 bits: which partition a key belongs to. The same keys are always in the same partition. */
export function partitionOf(key: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  }
  // The low bits of FNV depend on few characters: all bits are folded in.
  return (hash ^ (hash >>> 15) ^ (hash >>> 23)) & (partitions - 1)
}

/** Nothing is written to a file before a partition has collected a chunk. */
export function createSpool(): Spool {
  const open = Array.from({ length: partitions }, () => '')
  const places = Array.from({ length: partitions }, () => ({
    offsets: [] as number[],
    sizes: [] as number[],
  }))
  let file: SpoolFile | null = null
  let end = 0
  const write = (partition: number) => {
    file ??= createFile()
    const bytes = Buffer.from(open[partition] as string, 'utf8')
    writeAll(file.descriptor, bytes, end)
    places[partition]?.offsets.push(end)
    places[partition]?.sizes.push(bytes.length)
    end += bytes.length
    open[partition] = ''
  }
  return {
    add(partition, line) {
      const text = `${open[partition]}${line}\n`
      open[partition] = text
      if (text.length > chunkCharacters) write(partition)
    },
    lines(partition) {
      const { offsets, sizes } = places[partition] as { offsets: number[]; sizes: number[] }
      const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size, 0))
      let filled = 0
      for (const [index, offset] of offsets.entries()) {
        const until = filled + (sizes[index] as number)
        for (let from = offset; filled < until; ) {
          const count = readSync((file as SpoolFile).descriptor, bytes, filled, until - filled, from)
          if (count === 0) throw new Error('the temporary file is shorter than what was written to it')
          filled += count
          from += count
        }
      }
      const text = bytes.toString('utf8') + open[partition]
      return text === '' ? [] : text.slice(0, -1).split('\n')
    },
    close() {
      file?.close()
      file = null
    },
  }
}

function writeAll(descriptor: number, bytes: Buffer, position: number): void {
  try {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(descriptor, bytes, done, bytes.length - done, position + done)
    }
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
