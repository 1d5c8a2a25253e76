/** The migration: `migrate.ts`, or SQL for the migration tool of the project. */
import { mysqlMigrationSql } from '../../stores/mysql/index.js'
import { postgresMigrationSql } from '../../stores/postgres/index.js'
import { type Mapping, playersOf, viewStatement } from './mapping.js'
import { programText } from './program-text.js'
import type { MigrationTool } from './project.js'
import { tsSql, tsText } from './source-text.js'

export interface WrittenFile {
  /** Below the current folder, with `/`. */
  path: string
  text: string
}

export interface Migration {
  files: readonly WrittenFile[]
  /** The command or the step that runs it. */
  run: string
  /** Whether `store.ts` exports `migrate`. */
  byProgram: boolean
}

export interface MigrationPlace {
  /** The folder of the tool's migrations that exists, or its default. */
  folder: string
  /** The names of the files in it. */
  present: readonly string[]
  /** For the names of files. */
  now: Date
  isModule: boolean
  /** The path from the folder to store.ts, without its extension: `../store`. */
  store: string
}

/** Tools in JavaScript cannot run a file with DELIMITER: that of TypeORM calls the migration. */
const toolsOnMysql: readonly MigrationTool[] = ['flyway', 'typeorm', 'none']

export const toolFor = (mapping: Mapping, tool: MigrationTool): MigrationTool =>
  mapping.engine === 'mysql' && !toolsOnMysql.includes(tool) ? 'none' : tool

export function migrationOf(mapping: Mapping, tool: MigrationTool, place: MigrationPlace): Migration {
  const { folder, present, now, isModule } = place
  const digits = now.toISOString().replace(/\D/g, '')
  const sql = (path: string): WrittenFile => ({ path, text: migrationSql(mapping) })
  const inFolder = `${folder}/bet-wallet.sql`
  switch (toolFor(mapping, tool)) {
    case 'flyway':
      return migration(
        [sql(`${folder}/V${flywayVersion(present, digits)}__bet_wallet.sql`)],
        'flyway migrate',
      )
    case 'node-pg-migrate':
      return migration([sql(`${folder}/${now.getTime()}_bet-wallet.sql`)], 'npx node-pg-migrate up')
    case 'prisma':
      return migration(
        [sql(`${folder}/${digits.slice(0, 14)}_bet_wallet/migration.sql`)],
        'npx prisma migrate deploy',
      )
    case 'drizzle':
      return migration(
        [sql('bet-wallet.sql')],
        'npx drizzle-kit generate --custom --name=bet_wallet, put bet-wallet.sql into the new file, npx drizzle-kit migrate',
      )
    case 'knex':
      return migration(
        [sql(inFolder), { path: `${folder}/${digits.slice(0, 14)}_bet_wallet.ts`, text: knexFile(isModule) }],
        'npx knex migrate:latest',
      )
    case 'kysely':
      return migration(
        [
          sql(inFolder),
          { path: `${folder}/${digits.slice(0, 8)}-bet-wallet.ts`, text: kyselyFile(isModule) },
        ],
        'migrator.migrateToLatest()',
      )
    case 'typeorm': {
      const path = `${folder}/${now.getTime()}-bet-wallet.ts`
      return migration(
        mapping.engine === 'mysql'
          ? [{ path, text: typeormMysqlFile(mapping, place) }]
          : [sql(inFolder), { path, text: typeormFile(isModule, now.getTime()) }],
        'npx typeorm migration:run -d your-data-source.js',
      )
    }
    case 'none':
      return {
        files: [{ path: 'migrate.ts', text: migrateFile(isModule) }],
        run: 'npx tsx migrate.ts',
        byProgram: true,
      }
  }
}

/** After those of the folder, and as long: of V42, a time would be above every later V43. */
function flywayVersion(present: readonly string[], time: string): string {
  const versions = present.flatMap(name => /^V(\d+)/.exec(name)?.[1] ?? [])
  if (versions.length === 0) return time.slice(0, 14)
  const last = String(Math.max(...versions.map(Number)))
  return last.length < 8 ? String(Number(last) + 1) : time.slice(0, last.length)
}

const migration = (files: readonly WrittenFile[], run: string): Migration => ({
  files,
  run,
  byProgram: false,
})

function migrateFile(isModule: boolean): string {
  return programText(
    {
      file: 'migrate.ts',
      imports: [{ names: ['migrate', 'pool', 'store'], from: './store.js' }],
      work: [
        'await migrate()',
        'await store.ready() // checks tables, columns, privileges and settings',
        "console.log('ready')",
        'await pool.end()',
      ],
    },
    isModule,
  )
}

function migrationSql(mapping: Mapping): string {
  const players = playersOf(mapping)
  const view = viewStatement(mapping)
  const head =
    view === null
      ? ''
      : `-- The wallet reads your table by a view: its players, with their currency.\n${view};\n\n`
  return (
    head +
    (mapping.engine === 'postgres'
      ? postgresMigrationSql({ players }, { transaction: false, lookupIndexes: true })
      : mysqlMigrationSql({ players }, { lookupIndexes: true }))
  )
}

/** How a migration finds the SQL beside it. */
const readingSql = (isModule: boolean) => ({
  imports: [
    "import { readFileSync } from 'node:fs'",
    ...(isModule ? [] : ["import { join } from 'node:path'"]),
  ],
  file: isModule
    ? "const file = readFileSync(new URL('bet-wallet.sql', import.meta.url), 'utf8')"
    : "const file = readFileSync(join(__dirname, 'bet-wallet.sql'), 'utf8')",
})

const kept = "Promise.reject(new Error('The records of the wallet are kept'))"

function toolFile(isModule: boolean, imported: string, lines: readonly string[]): string {
  const { imports, file } = readingSql(isModule)
  return `${[...imports, imported, '', file, '', ...lines].join('\n')}\n`
}

const knexFile = (isModule: boolean) =>
  toolFile(isModule, "import type { Knex } from 'knex'", [
    'export const up = (knex: Knex) => knex.raw(file)',
    `export const down = () => ${kept}`,
  ])

const kyselyFile = (isModule: boolean) =>
  toolFile(isModule, "import { type Kysely, sql } from 'kysely'", [
    'export const up = (db: Kysely<unknown>) => sql.raw(file).execute(db)',
  ])

const typeormFile = (isModule: boolean, time: number) =>
  toolFile(isModule, "import type { MigrationInterface, QueryRunner } from 'typeorm'", [
    `export class BetWallet${time} implements MigrationInterface {`,
    '  up = (runner: QueryRunner) => runner.query(file)',
    `  down = () => ${kept}`,
    '}',
  ])

/** A pool of its own ends with it: that of the store would keep the process running. */
function typeormMysqlFile(mapping: Mapping, { isModule, now, store }: MigrationPlace): string {
  const view = viewStatement(mapping)
  return `${[
    "import { migrateMysql } from 'bet-wallet/mysql'",
    isModule ? "import mysql from 'mysql2/promise'" : "import mysql = require('mysql2/promise')",
    "import type { MigrationInterface, QueryRunner } from 'typeorm'",
    `import { players } from ${tsText(`${store}.js`)}`,
    '',
    `export class BetWallet${now.getTime()} implements MigrationInterface {`,
    `  async up(${view === null ? '_' : ''}runner: QueryRunner) {`,
    ...(view === null ? [] : [`    await runner.query(${tsSql(view)})`]),
    "    const pool = mysql.createPool(process.env.DATABASE_URL ?? '')",
    '    await migrateMysql(pool, { players }, { lookupIndexes: true }).finally(() => pool.end())',
    '  }',
    `  down = () => ${kept}`,
    '}',
  ].join('\n')}\n`
}
