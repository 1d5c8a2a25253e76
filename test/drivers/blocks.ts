/** The code blocks of the pages of drivers, as files and as functions: what is tested is what is shown. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { codeBlocksOf, readPage, root, sectionOf } from '../docs/pages.js'

/** Inside the sub-project, so that the blocks import its packages. */
export const folderOf = (path: string) => join(root, 'test/drivers/.blocks', basename(path, '.md'))

/** The only ts block of a section. */
export function blockOf(path: string, heading: string): string {
  const blocks = codeBlocksOf(sectionOf(readPage(path), heading)).filter(({ language }) => language === 'ts')
  const [block] = blocks
  if (block === undefined || blocks.length > 1)
    throw new Error(`${path} has ${blocks.length} blocks in its section ${heading}`)
  return block.code
}

/** Writes a file into the folder of a page. Returns its path. */
export function write(path: string, name: string, text: string): string {
  const file = join(folderOf(path), name)
  mkdirSync(folderOf(path), { recursive: true })
  writeFileSync(file, text)
  return file
}

/**
 * Writes the blocks of a page that begin with the name of their file: `// wallet.ts`.
 *
 * @param into the page whose folder they are written to
 */
export function writeNamedBlocks(path: string, into = path): string[] {
  return codeBlocksOf(readPage(path)).flatMap(({ code }) => {
    const [, name] = /^\/\/ ([\w-]+\.ts)\n/.exec(code) ?? []
    return name === undefined ? [] : [write(into, name, code)]
  })
}

/** Opens what a block opens, on a server and with options of the test. */
export type Opener<Store, Options> = (of: {
  url: string
  options: Options
}) => Promise<{ store: Store; end(): Promise<unknown> }>

/**
 * Makes a function of a block: its `url` and `options` are parameters, and not those of the shared file.
 *
 * @param end closes what the block has opened: `knex.destroy()`
 */
export async function openerOf<Store, Options>(
  path: string,
  name: string,
  code: string,
  end: string,
): Promise<Opener<Store, Options>> {
  writeNamedBlocks(path)
  const lines = code.trimEnd().split('\n')
  const file = write(
    path,
    `open-${name.replace(/\W+/g, '-')}.ts`,
    [
      ...lines
        .filter(line => line.startsWith('import '))
        .map(line => line.replace('{ ledgerRow, options, url }', '{ ledgerRow }')),
      'export default async ({ url, options }: any) => {',
      ...lines.filter(line => !line.startsWith('import ')).map(line => line.replace(/^export /, '')),
      `return { store, end: async () => { ${end} } }`,
      '}',
      '',
    ].join('\n'),
  )
  return (await import(file)).default
}
