/** The files of docs/migrations.md, run by the real tools: once, again, and with an error at their end. */
import { execFile } from 'node:child_process'
import { appendFileSync, copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createPostgresStore, type PostgresStoreOptions } from 'bet-wallet/postgres'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { namesIn, readPage, root, rowsOf } from '../docs/pages.js'
import { sharedPostgres } from '../postgres/fresh-database.js'
import { createDatabase, type Database } from '../postgres/server.js'
import { folderOf, writeNamedBlocks } from './blocks.js'

const page = 'docs/migrations.md'
const folder = folderOf(page)
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

async function run(args: readonly string[], url: string): Promise<void> {
  await promisify(execFile)(process.execPath, ['--import', 'tsx', ...args], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: url, TSX_TSCONFIG_PATH: join(root, 'tsconfig.json') },
  })
}

describe.each(Object.entries(tools))('%s', (tool, argsOf) => {
  const file = join(folder, files[tool] ?? '')
  let database: Database
  const opened: Database[] = []
  let options: PostgresStoreOptions

  beforeEach(async () => {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(dirname(file), { recursive: true })
    writeNamedBlocks('docs/drivers.md', page)
    for (const written of writeNamedBlocks(page))
      if (/^\d/.test(basename(written)) && tool === 'Knex')
        copyFileSync(written, join(folder, 'migrations', basename(written)))
    options = (await import(join(folder, 'wallet.ts'))).options
    database = await createDatabase(await sharedPostgres())
    opened.push(database)
    await database.pool.query(`CREATE SCHEMA pam;
      CREATE TABLE pam.accounts (account_no text PRIMARY KEY, currency text NOT NULL, balance numeric(20,2) NOT NULL)`)
    await run(['write-migration.ts', file], database.url)
  })
  afterAll(async () => {
    for (const each of opened) await each.drop()
  })

  test('makes what the store needs, and can be run again', async () => {
    await run(argsOf(database.url), database.url)
    await run(argsOf(database.url), database.url)
    await createPostgresStore(database.pool, options).ready()
  })

  test('does all of it or nothing', async () => {
    appendFileSync(file, '\nSELECT 1 / 0;\n')
    await expect(run(argsOf(database.url), database.url)).rejects.toThrow(/division by zero/)
    const { rows } = await database.pool.query("SELECT to_regnamespace('bet_wallet') AS found")
    expect(rows).toEqual([{ found: null }])
  })
})
