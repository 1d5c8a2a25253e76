/** Writes files: all of them, or none. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { WrittenFile } from './migration-files.js'

/** Those of the paths that exist. */
export const existing = (folder: string, paths: readonly string[]): string[] =>
  paths.filter(path => existsSync(join(folder, path)))

/** @throws if a file exists or cannot be written. What was written until then is removed. */
export function writeFiles(folder: string, files: readonly WrittenFile[]): void {
  const written: string[] = []
  try {
    for (const { path, text } of files) {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text, { flag: 'wx' })
      written.push(file)
    }
  } catch (error) {
    for (const file of written) rmSync(file)
    throw error
  }
}
