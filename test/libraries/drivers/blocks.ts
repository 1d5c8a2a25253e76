/** The programs of drivers.md, as files and as functions. The tables of docs/postgres.md have their lines. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { codeBlocksOf, readPage, root, sectionOf } from '../../docs/pages.js'

export const page = 'test/libraries/drivers/drivers.md'

/** Inside the sub-project, so that the blocks import its packages. */
export const folderOf = (path: string) => join(root, 'test/libraries/drivers/.blocks', basename(path, '.md'))

/** The only ts block of a section. */
export function blockOf(path: string, heading: string): string {
  const blocks = codeBlocksOf(sectionOf(readPage(path), heading)).filter(({ language }) => language === 'ts')
  const [block] = blocks
  if (block === undefined || blocks.length > 1)
    throw new Error(`${path} has ${blocks.length} blocks in its section ${heading}`)
  return block.code
}

/** Of MikroORM, which looks for files of entities. */
export const withoutEntities = (code: string): string =>
  code.replace("entities: ['dist/entities']", 'entities: [], discovery: { warnWhenNoEntities: false }')

/** Writes a file into the folder of a page. Returns its path. */
export function write(path: string, name: string, text: string): string {
  const file = join(folderOf(path), name)
  mkdirSync(folderOf(path), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** The file that a block shows, as its first line names it: `// database.ts`. */
export const nameOf = (code: string): string | null => /^\/\/ ([\w-]+\.ts)\n/.exec(code)?.[1] ?? null

/** The page that shows how a migration is written. */
export const migrationsPage = 'docs/postgres.md'

/** Writes the files that the pages show. */
export function writeNamedBlocks(): void {
  for (const { code } of [page, migrationsPage].flatMap(path => codeBlocksOf(readPage(path)))) {
    const name = nameOf(code)
    if (name !== null) write(page, name, code)
  }
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
