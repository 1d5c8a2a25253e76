/** Everything that `init` writes for a mapping. Pure. */
import type { WrittenFile } from './files.js'
import { kitFile } from './kit-file.js'
import type { Mapping } from './mapping.js'
import { serverFile } from './server-file.js'
import { storeFile } from './store-file.js'

/** @param folder below the current folder: `.`, `src/wallet` */
export function projectFiles(mapping: Mapping, isModule: boolean, folder: string): WrittenFile[] {
  const files = [
    { path: 'store.ts', text: storeFile(mapping, isModule) },
    { path: 'server.ts', text: serverFile(isModule) },
    { path: 'kit.ts', text: kitFile(mapping, isModule) },
  ]
  return folder === '.' ? files : files.map(({ path, text }) => ({ path: `${folder}/${path}`, text }))
}
