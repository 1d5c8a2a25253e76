/** Compiles what `init` has written, as strictly as TypeScript can. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../docs/pages.js'
import { bin } from '../../package/project.js'
import { filesIn } from './operator.js'

/** @returns what the compiler prints */
export function compile(folders: readonly string[]): string {
  const files = folders.flatMap(filesIn).filter(path => path.endsWith('.ts'))
  const compilerOptions = {
    ...{ noEmit: true, strict: true, module: 'nodenext', target: 'es2022', skipLibCheck: true },
    ...{ noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, types: ['node'] },
  }
  const config = join(root, 'test/.tmp/init', `tsconfig-${process.pid}.json`)
  writeFileSync(config, JSON.stringify({ compilerOptions, files }))
  const { stdout } = spawnSync(process.execPath, [bin('typescript/bin/tsc'), '-p', config], {
    encoding: 'utf8',
  })
  return stdout
}
