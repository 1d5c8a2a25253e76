/** Writes files: all of them, or none. */
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface WrittenFile {
  /** Below the current folder, with `/`. */
  path: string
  text: string
}

/** Those of the paths that exist. */
export const existing = (folder: string, paths: readonly string[]): string[] =>
  paths.filter(path => existsSync(join(folder, path)))

/** @throws if a file exists or cannot be written. What was written until then is removed. */
export function writeFiles(folder: string, files: readonly WrittenFile[]): void {
  const created: string[] = []
  try {
    for (const { path, text } of files) {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      const handle = openSync(file, 'wx')
      // Before it is written: on a full disk a part of it would stay.
      created.push(file)
      try {
        writeFileSync(handle, text)
      } finally {
        closeSync(handle)
      }
    }
  } catch (error) {
    for (const file of created) rmSync(file)
    throw error
  }
}
