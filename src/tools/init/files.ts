/** What `init` writes for a mapping: all of its files, or none. */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Mapping } from './mapping.js'
import { type ProjectKind, storeFile } from './store-file.js'

/** Its path is below the current folder, with `/`. */
type WrittenFile = ReturnType<typeof example>

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

/**
 * `store.ts` for the table, and files of `examples/init` as they are.
 *
 * @param folder below the current folder: `.`, `src/wallet`
 */
export function projectFiles(mapping: Mapping, kind: ProjectKind, folder: string): WrittenFile[] {
  const files = [
    { path: 'store.ts', text: storeFile(mapping, kind) },
    example('server.ts'),
    example('kit.ts'),
  ].map(file => (kind.isModule ? file : withoutExtensions(file)))
  return folder === '.' ? files : files.map(({ path, text }) => ({ path: `${folder}/${path}`, text }))
}

/** CommonJS, where ts-jest looks for the file as it is named. */
const withoutExtensions = ({ path, text }: WrittenFile): WrittenFile => ({
  path,
  text: text.replace("from './store.js'", "from './store'"),
})

/** The package's own, wherever it is installed. */
function example(path: string) {
  const packageFile = createRequire(import.meta.url).resolve('bet-wallet/package.json')
  return { path, text: readFileSync(join(dirname(packageFile), 'examples/init', path), 'utf8') }
}
