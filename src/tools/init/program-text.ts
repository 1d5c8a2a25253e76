/** Programs as text: as modules, or for a project in CommonJS. */

export interface Program {
  /** Its file, for the first line. */
  file: string
  imports: readonly Import[]
  /** Declarations before the work. */
  before?: readonly string[]
  /** Statements, which may await. */
  work: readonly string[]
}

export type Import =
  /** Import of names: `import { a } from 'b'`. */
  | { names: readonly string[]; from: string }
  /** Of what a package exports as a whole. In CommonJS it has to be required, for any `esModuleInterop`. */
  | { whole: string; from: string }

const importText = (each: Import, isModule: boolean): string => {
  if ('names' in each) return `import { ${each.names.join(', ')} } from '${each.from}'`
  return isModule
    ? `import ${each.whole} from '${each.from}'`
    : `import ${each.whole} = require('${each.from}')`
}

/** As Biome and ESLint sort them: modules of Node.js, packages, own files. */
function sorted(imports: readonly Import[]): Import[] {
  const rank = ({ from }: Import) => (from.startsWith('node:') ? 0 : from.startsWith('.') ? 2 : 1)
  return [...imports].sort((a, b) => rank(a) - rank(b) || (a.from < b.from ? -1 : 1))
}

/** In CommonJS, whose modules cannot await, the work is a function. */
export function programText({ file, imports, before = [], work }: Program, isModule: boolean): string {
  const head = [`// ${file}`, ...sorted(imports).map(each => importText(each, isModule)), ...before]
  if (isModule || work.length === 0) return `${[...head, ...work].join('\n')}\n`
  const indented = work.flatMap(text => text.split('\n')).map(line => (line === '' ? '' : `  ${line}`))
  return `${[
    ...head,
    'async function main() {',
    ...indented,
    '}',
    'main().catch(error => {',
    '  console.error(error)',
    '  process.exit(1)',
    '})',
  ].join('\n')}\n`
}
