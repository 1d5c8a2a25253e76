/** The migrations of docs/postgres.md, run by the real tools. */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createPostgresStore, type PostgresStoreOptions } from 'bet-wallet/postgres'
import { afterAll, describe, expect, test } from 'vitest'
import { namesIn, readPage, root, rowsOf, sectionOf } from '../../docs/pages.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import type { Database } from '../../postgres/server.js'
import { folderOf, migrationsPage, page } from './blocks.js'

const files = Object.fromEntries(
  rowsOf(sectionOf(readPage(migrationsPage), 'Migration tools')).map(([tool = '', file]) => [
    tool,
    namesIn(file)[0] ?? '',
  ]),
)
const program = (path: string) => join(root, 'test/libraries/node_modules', path)

const script = (code: string) => ['--input-type=module', '--eval', code]

/** Per tool: what `Then` runs, in the folder that the names of the page begin in. */
const tools: Record<string, (url: string) => string[]> = {
  'node-pg-migrate': () => [
    program('node-pg-migrate/bin/node-pg-migrate.js'),
    'up',
    '--migrations-dir',
    'migrations',
  ],
  Knex: url => [
    ...[program('knex/bin/cli.js'), 'migrate:latest', '--client', 'pg', '--connection', url],
    ...['--migrations-directory', 'migrations'],
  ],
  Drizzle: () =>
    script(`
      import { drizzle } from 'drizzle-orm/node-postgres'
      import { migrate } from 'drizzle-orm/node-postgres/migrator'
      const db = drizzle(process.env.DATABASE_URL)
      await migrate(db, { migrationsFolder: 'drizzle' }).finally(() => db.$client.end())`),
  Kysely: () =>
    script(`
      import { promises as fs } from 'node:fs'
      import path from 'node:path'
      import { FileMigrationProvider, Kysely, Migrator, PostgresDialect } from 'kysely'
      import pg from 'pg'
      const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
      const db = new Kysely({ dialect: new PostgresDialect({ pool }) })
      const provider = new FileMigrationProvider({ fs, path, migrationFolder: path.resolve('migrations') })
      const { error } = await new Migrator({ db, provider }).migrateToLatest()
      await db.destroy()
      if (error) throw error`),
  TypeORM: () =>
    script(`
      import { DataSource } from 'typeorm'
      const url = process.env.DATABASE_URL
      const source = await new DataSource({ type: 'postgres', url, migrations: ['migrations/*.ts'] }).initialize()
      await source.runMigrations().finally(() => source.destroy())`),
}

/** What drizzle-kit generates beside the SQL. */
const journal = {
  ...{ version: '7', dialect: 'postgresql' },
  entries: [{ idx: 1, version: '7', when: 1_763_800_000_000, tag: '0001_bet_wallet', breakpoints: true }],
}

/** Other files of the page that a tool needs, by their names. */
const others: Record<string, string> = {
  Knex: '20261122000000_bet_wallet.ts',
  Kysely: '20261122-bet-wallet.ts',
  TypeORM: '1763800000000-bet-wallet.ts',
}

async function run(args: readonly string[], url: string, cwd: string): Promise<void> {
  await promisify(execFile)(process.execPath, ['--import', 'tsx', ...args], {
    cwd,
    env: { ...process.env, DATABASE_URL: url, TSX_TSCONFIG_PATH: join(root, 'tsconfig.json') },
  })
}

const databases: Database[] = []
afterAll(() => Promise.all(databases.map(({ drop }) => drop())))

/** A folder with the files of the page, and an empty PAM. */
async function prepare(tool: string) {
  const folder = mkdtempSync(join(folderOf(page), `${tool}-`))
  const file = join(folder, files[tool] ?? '')
  mkdirSync(dirname(file), { recursive: true })
  for (const name of ['database.ts', 'write-migration.ts'])
    copyFileSync(join(folderOf(page), name), join(folder, name))
  const other = others[tool]
  if (other !== undefined) copyFileSync(join(folderOf(page), other), join(folder, 'migrations', other))
  if (tool === 'Drizzle') {
    mkdirSync(join(folder, 'drizzle/meta'))
    writeFileSync(join(folder, 'drizzle/meta/_journal.json'), JSON.stringify(journal))
  }
  const database = await freshDatabase()
  databases.push(database)
  await database.pool.query(`CREATE SCHEMA pam;
    CREATE TABLE pam.accounts (account_no text PRIMARY KEY, currency text NOT NULL, balance numeric(20,2) NOT NULL)`)
  await run(['write-migration.ts', file], database.url, folder)
  const { options }: { options: PostgresStoreOptions } = await import(join(folder, 'database.ts'))
  return { folder, file, database, options }
}

describe('a file of the page', () => {
  test.concurrent.each(Object.entries(tools))(
    '%s makes what the store needs, can be run again, and does all of it or nothing',
    async (tool, argsOf) => {
      const { folder, file, database, options } = await prepare(tool)
      const migrate = () => run(argsOf(database.url), database.url, folder)
      const sql = readFileSync(file, 'utf8')
      writeFileSync(file, `${sql}\nSELECT 1 / 0;\n`)
      await expect(migrate()).rejects.toThrow(/division by zero/)
      const { rows } = await database.pool.query("SELECT to_regnamespace('bet_wallet') AS found")
      expect(rows).toEqual([{ found: null }])
      writeFileSync(file, sql)
      await migrate()
      await migrate()
      await createPostgresStore(database.pool, options).ready()
    },
  )
})
