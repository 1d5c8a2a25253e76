/** The lookups of a folder, in which `npm start` and the examples keep their data. */
import type { WalletLookups } from '../../lookups/records.js'
import { createPostgresLookups } from '../../stores/postgres/index.js'
import { dataFoldersIn, type EmbeddedDatabase, readDataFolder } from '../try/data-folder.js'
import { given, UsageError } from './arguments.js'
import { driver } from './database.js'

interface PGliteModule {
  PGlite: { create(options: { dataDir: string }): Promise<EmbeddedDatabase> }
}

/** The schemas that a migration has made. */
const schemasStatement = `
  SELECT nspname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE relname IN ('transactions', 'migrations', 'options') AND relkind = 'r'
  GROUP BY nspname HAVING count(*) = 3 ORDER BY nspname`

/**
 * @param folder of a database, or one level above it
 * @throws {UsageError} if it is not clear which database or schema is meant
 * @throws {Error} if the database cannot be opened
 */
export async function folderSource(
  folder: string,
  schema: string | undefined,
): Promise<{ lookups: WalletLookups; close(): Promise<void> }> {
  const [found, ...others] = dataFoldersIn(folder)
  if (found === undefined)
    throw new UsageError(`--folder: ${folder} holds no database of npm start or another example`)
  if (others.length > 0)
    throw new UsageError(`--folder: ${folder} holds several databases: ${[found, ...others].join(', ')}`)
  const { PGlite } = driver('@electric-sql/pglite') as PGliteModule
  const client = await readDataFolder(found, dataDir => PGlite.create({ dataDir }))
  try {
    const name = schema ?? (await schemaIn(found, client.query))
    // Without the indexes of lookups: such a database is small.
    const lookups = createPostgresLookups(client, { ...given('schema', name), allowScan: true })
    return { lookups, close: client.close }
  } catch (error) {
    await client.close()
    throw error
  }
}

/** @returns `undefined` if there is none: the lookups then name what is missing */
async function schemaIn(
  folder: string,
  query: (text: string) => Promise<{ rows: unknown[] }>,
): Promise<string | undefined> {
  const { rows } = await query(schemasStatement)
  const names = (rows as { name: string }[]).map(({ name }) => name)
  if (names.length > 1) throw new UsageError(`${folder} has several schemas: --schema ${names.join(' or ')}`)
  return names[0]
}
