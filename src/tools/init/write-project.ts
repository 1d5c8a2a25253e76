/** What `init` writes for a mapping: `store.ts` for its table, and files of `examples/init` as they are. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { WrittenFile } from './files.js'
import type { Mapping } from './mapping.js'
import { storeFile } from './store-file.js'

/** @param folder below the current folder: `.`, `src/wallet` */
export function projectFiles(mapping: Mapping, isModule: boolean, folder: string): WrittenFile[] {
  const files = [
    { path: 'store.ts', text: storeFile(mapping, isModule) },
    example('server.ts'),
    example('kit.ts'),
  ]
  return folder === '.' ? files : files.map(({ path, text }) => ({ path: `${folder}/${path}`, text }))
}

/** The package's own, wherever it is installed. */
function example(path: string): WrittenFile {
  const packageFile = createRequire(import.meta.url).resolve('bet-wallet/package.json')
  return { path, text: readFileSync(join(dirname(packageFile), 'examples/init', path), 'utf8') }
}
