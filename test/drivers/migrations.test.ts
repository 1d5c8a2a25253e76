/** The files of docs/migrations.md, run by the real tools. */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createPostgresStore, type PostgresStoreOptions } from 'bet-wallet/postgres'
import { afterAll, describe, expect, test } from 'vitest'
import { namesIn, readPage, root, rowsOf } from '../docs/pages.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import type { Database } from '../postgres/server.js'
import { folderOf } from './blocks.js'

const page = 'docs/migrations.md'
const files = Object.fromEntries(
  rowsOf(readPage(page)).map(([tool = '', file]) => [tool, namesIn(file)[0] ?? '']),
)
const program = (path: string) => join(root, 'test/drivers/node_modules', path)

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
  for (const name of ['wallet.ts', 'write-migration.ts'])
    copyFileSync(join(folderOf(page), name), join(folder, name))
  const migration = '20261122000000_bet_wallet.ts'
  if (tool === 'Knex') copyFileSync(join(folderOf(page), migration), join(folder, 'migrations', migration))
  const database = await freshDatabase()
  databases.push(database)
  await database.pool.query(`CREATE SCHEMA pam;
    CREATE TABLE pam.accounts (account_no text PRIMARY KEY, currency text NOT NULL, balance numeric(20,2) NOT NULL)`)
  await run(['write-migration.ts', file], database.url, folder)
  const { options }: { options: PostgresStoreOptions } = await import(join(folder, 'wallet.ts'))
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
