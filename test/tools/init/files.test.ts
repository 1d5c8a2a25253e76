/** What `bet-wallet init` writes, as text. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, describe, expect, test } from 'vitest'
import { existing, writeFiles } from '../../../src/tools/init/files.js'
import type { Mapping } from '../../../src/tools/init/mapping.js'
import { type Framework, type MigrationTool, projectOf } from '../../../src/tools/init/project.js'
import { type Answers, propose } from '../../../src/tools/init/propose.js'
import type { Engine, Table } from '../../../src/tools/init/schema.js'
import { ruleLines } from '../../../src/tools/init/store-file.js'
import { projectFiles } from '../../../src/tools/init/write-project.js'
import { codeBlocksOf, readPage } from '../../docs/pages.js'
import { schemaOf, table } from './schemas.js'

const accounts = (engine: Engine, more: Partial<Table> = {}) =>
  table(
    engine,
    'pam.accounts',
    ['account_no varchar(255)', 'currency char(3)', 'balance_cents bigint'],
    ['account_no'],
    more,
  )

function mappingOf(engine: Engine, of: Table, answers: Answers): Mapping {
  const proposal = propose(schemaOf(engine, of), answers)
  if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
  return proposal.mapping
}

interface Given {
  engine?: Engine
  framework?: Framework
  tool?: MigrationTool
  folder?: string
  isModule?: boolean
  mapping?: Mapping
  appModule?: string | null
  onFastify?: boolean
  present?: readonly string[]
}

function written(given: Given = {}): { texts: Record<string, string>; run: string } {
  const { engine = 'postgres', framework = 'express', tool = 'none', folder = '.', isModule = true } = given
  const { appModule = null, onFastify = false, present = [] } = given
  const mapping = given.mapping ?? mappingOf(engine, accounts(engine), { 'minor-units': '2' })
  const place = {
    ...{ folder: 'migrations', present, now: new Date('2026-11-23T20:00:00Z'), isModule },
    store: `../${folder === '.' ? '' : `${folder}/`}store`,
  }
  const { files, run } = projectFiles(mapping, {
    ...{ framework, tool, folder, place, nest: { appModule, onFastify }, grants: 'GRANT' },
  })
  return { texts: Object.fromEntries(files.map(({ path, text }) => [path, text])), run }
}

describe("given the page's table, then the files are the blocks of docs/first-hour.md", () => {
  const blocks = codeBlocksOf(readPage('docs/first-hour.md')).filter(({ language }) => language === 'ts')
  const blockOf = (file: string, others: RegExp) =>
    blocks.find(({ code }) => code.startsWith(`// ${file}\n`) && !others.test(code))?.code

  test.each<[Engine, RegExp]>([
    ['postgres', /mysql/i],
    ['mysql', /postgres/i],
  ])('on %s', (engine, others) => {
    const { texts } = written({ engine })
    for (const file of ['store.ts', 'migrate.ts', 'server.ts', 'kit.ts'])
      expect(texts[file], file).toBe(blockOf(file, others))
    expect(Object.keys(texts).sort()).toEqual(['grants.sql', 'kit.ts', 'migrate.ts', 'server.ts', 'store.ts'])
  })
})

describe('given package.json', () => {
  test.each<[object, readonly Framework[]]>([
    [{}, []],
    [{ dependencies: { express: '5' } }, ['express']],
    [{ devDependencies: { hono: '4' }, dependencies: { koa: '3' } }, ['koa', 'hono']],
    [{ dependencies: { '@nestjs/core': '12', fastify: '5', express: '5' } }, ['nestjs']],
  ])('%j, then the frameworks are %j', (manifest, frameworks) => {
    expect(projectOf(manifest).frameworks).toEqual(frameworks)
  })

  test('then the migration tools are those that it names, and it is a module or not', () => {
    const project = projectOf({
      type: 'module',
      dependencies: { knex: '3' },
      devDependencies: { prisma: '7' },
    })
    expect([project.tools, project.isModule]).toEqual([['prisma', 'knex'], true])
    expect([projectOf({}).tools, projectOf({}).isModule]).toEqual([[], false])
  })
})

describe('given a migration tool', () => {
  test.each<[MigrationTool, readonly string[]]>([
    ['flyway', ['migrations/V20261123200000__bet_wallet.sql']],
    ['node-pg-migrate', ['migrations/1795464000000_bet-wallet.sql']],
    ['prisma', ['migrations/20261123200000_bet_wallet/migration.sql']],
    ['drizzle', ['bet-wallet.sql']],
    ['knex', ['migrations/bet-wallet.sql', 'migrations/20261123200000_bet_wallet.ts']],
    ['kysely', ['migrations/bet-wallet.sql', 'migrations/20261123-bet-wallet.ts']],
    ['typeorm', ['migrations/bet-wallet.sql', 'migrations/1795464000000-bet-wallet.ts']],
  ])('%s on PostgreSQL, then its files, and no migrate.ts', (tool, paths) => {
    const { texts } = written({ tool, folder: 'src/wallet' })
    const names = Object.keys(texts).filter(path => !path.startsWith('src/wallet/'))
    expect(names).toEqual(paths)
    expect(texts['src/wallet/migrate.ts']).toBeUndefined()
    expect(texts['src/wallet/store.ts']).not.toContain('migrate')
    const sql = texts[paths[0] ?? ''] ?? ''
    expect(sql).toContain('CREATE TABLE IF NOT EXISTS "bet_wallet".transactions')
    expect(sql).not.toMatch(/^BEGIN;/m)
  })

  test.each(['knex', 'typeorm', 'kysely'] as const)(
    '%s, then its file is the one of docs/drivers.md',
    tool => {
      const code = Object.entries(written({ tool }).texts).find(([path]) =>
        /migrations\/.*\.ts$/.test(path),
      )?.[1]
      const pages = codeBlocksOf(readPage('docs/drivers.md')).map(block =>
        block.code.replace(/^\/\/ .*\n/, ''),
      )
      expect(pages).toContain(code?.replace('1795464000000', '1763800000000'))
    },
  )

  test.each([
    [['V1__a.sql', 'V9__b.sql', 'V10_1__c.sql', 'R__views.sql'], '11'],
    [['V202611010900__a.sql'], '202611232000'],
    [[], '20261123200000'],
  ])('Flyway with %j, then the next version is V%s', (present, version) => {
    const { texts } = written({ tool: 'flyway', present })
    expect(Object.keys(texts)).toContain(`migrations/V${version}__bet_wallet.sql`)
  })

  test('of JavaScript on MySQL, then migrate.ts: it could not run the SQL', () => {
    expect(Object.keys(written({ engine: 'mysql', tool: 'knex' }).texts)).toContain('migrate.ts')
    expect(
      written({ engine: 'mysql', tool: 'flyway' }).texts['migrations/V20261123200000__bet_wallet.sql'],
    ).toContain('DELIMITER')
  })

  test('TypeORM on MySQL, then its file calls the migration, after the view', () => {
    const texts = (mapping: Mapping, isModule: boolean) =>
      written({ engine: 'mysql', tool: 'typeorm', folder: 'src/wallet', mapping, isModule }).texts
    const plain = texts(mappingOf('mysql', accounts('mysql'), { 'minor-units': '2' }), true)
    expect(Object.keys(plain).filter(path => !path.startsWith('src/'))).toEqual([
      'migrations/1795464000000-bet-wallet.ts',
    ])
    expect(plain['src/wallet/store.ts']).not.toContain('migrate')
    expect(
      plain['migrations/1795464000000-bet-wallet.ts'],
    ).toBe(`import { migrateMysql } from 'bet-wallet/mysql'
import mysql from 'mysql2/promise'
import type { MigrationInterface, QueryRunner } from 'typeorm'
import { players } from '../src/wallet/store.js'

export class BetWallet1795464000000 implements MigrationInterface {
  async up(_runner: QueryRunner) {
    const pool = mysql.createPool(process.env.DATABASE_URL ?? '')
    await migrateMysql(pool, { players }, { lookupIndexes: true }).finally(() => pool.end())
  }
  down = () => Promise.reject(new Error('The records of the wallet are kept'))
}
`)
    const users = table('mysql', 'pam.users', ['id bigint', 'balance decimal(18,2)'], ['id'])
    const viewed = texts(mappingOf('mysql', users, { currency: 'EUR' }), false)
    expect(viewed['migrations/1795464000000-bet-wallet.ts']).toMatch(
      /require\('mysql2\/promise'\)[\s\S]*runner\.query\("CREATE OR REPLACE VIEW .*'EUR'.*\n.*pool = /,
    )
  })

  test('and a view, then the SQL creates it first', () => {
    const mapping = mappingOf(
      'postgres',
      table('postgres', 'pam.users', ['id uuid', 'balance numeric(18,2)'], ['id']),
      {
        currency: 'EUR',
      },
    )
    const sql = written({ mapping, tool: 'flyway' }).texts['migrations/V20261123200000__bet_wallet.sql']
    expect(sql).toMatch(
      /^-- The wallet reads .*\nCREATE OR REPLACE VIEW "pam"."bet_wallet_players" AS .*;\n\n-- Tables/,
    )
  })
})

describe('given a framework', () => {
  test('NestJS, then the application of the project is served, on Express or Fastify', () => {
    const onExpress = written({ framework: 'nestjs', appModule: 'src/app.module' }).texts['server.ts']
    expect(onExpress).toContain("import { AppModule } from './src/app.module.js'")
    expect(onExpress).toContain("app.use('/wallet', createNodeListener(store, {")
    const onFastify = written({ framework: 'nestjs', onFastify: true }).texts['server.ts']
    expect(onFastify).toMatch(/class AppModule \{\} \/\/ yours[\s\S]*new FastifyAdapter\(\)/)
  })

  test.each<Framework>(['express', 'node', 'fastify', 'koa', 'hono', 'nestjs'])(
    '%s, then the path that credits bets is there only with AUDIT=1',
    framework => {
      const routes = written({ framework })
        .texts['server.ts']?.split('\n')
        .filter(line => line.includes('/settlement'))
      expect(routes).toEqual([expect.stringContaining("process.env.AUDIT === '1' ? { '/settlement': ")])
    },
  )

  test('and CommonJS, then what awaits is in a function', () => {
    const { texts } = written({ isModule: false })
    expect(texts['store.ts']).toContain("import pg = require('pg')")
    expect(texts['server.ts']).toMatch(
      /async function main\(\) \{\n {2}await store\.ready\(\)[\s\S]*main\(\)\.catch/,
    )
    expect(Object.values(texts).join('\n')).not.toMatch(/^await /m)
  })
})

describe('given a rule of who may bet', () => {
  const status = [
    ...['currency char(3)', 'balance decimal(18,2)'],
    ...["state enum('active','closed')", 'closed_at timestamp null'],
  ]
  const ruled = (engine: Engine, id: string, answer: string, more: Partial<Table> = {}) => {
    const given = table(engine, 'pam.players', [id, ...status], ['id'], more)
    return written({ engine, mapping: mappingOf(engine, given, { 'may-bet': answer }) }).texts
  }

  test('then the store has it, and the kit plays it on the copy', () => {
    const texts = ruled('postgres', 'id uuid', 'state=active')
    expect(texts['store.ts']).toContain(`\`SELECT 1 FROM \${table} WHERE "id" = $1 AND "state" = 'active'\``)
    expect(texts['store.ts']).toContain(`{ players, withinTransaction: whoMayBet('"pam"."players"') }`)
    const kit = texts['kit.ts']
    expect(kit).toContain(`{ ...scratch, withinTransaction: whoMayBet('bet_wallet_kit."players"') }`)
    expect(kit).toContain(`"state") VALUES ($1, $2, $3, 'active')`)
    expect(kit).toContain(`UPDATE bet_wallet_kit."players" SET "state" = 'closed' WHERE "id" = $1`)
    expect(kit).toMatch(/closePlayer: exclude,\n {2}refuseBets: exclude,/)
    expect(kit).not.toContain('(pool, scratch) }')
    expect(kit).not.toContain('(second, scratch)')
  })

  test('on MySQL, then it is the rule of docs/your-own-code.md', () => {
    const given = table('mysql', 'pam.accounts', ['account_no varchar(255)', ...status], ['account_no'])
    const rule = ruleLines(mappingOf('mysql', given, { 'may-bet': 'state=active' })).join('\n')
    const blocks = codeBlocksOf(readPage('docs/your-own-code.md')).map(({ code }) => code)
    expect(blocks).toContain(`import type { PendingCommit, Query } from 'bet-wallet/mysql'\n${rule}\n`)
  })

  test('on MySQL, then a number is compared as a number, and as text in the copy', () => {
    const texts = ruled('mysql', 'id bigint', 'closed_at=null')
    expect(texts['store.ts']).toContain("whoMayBet('`pam`.`players`', 'CAST(? AS SIGNED)')")
    expect(texts['kit.ts']).toContain("whoMayBet('bet_wallet_kit.`players`', '?')")
    expect(texts['kit.ts']).toContain('SET `closed_at` = now() WHERE')
  })

  test.each([
    ['its last enum value', 'state=active,closed', 'SET "state" = NULL WHERE', 'ALTER "state" DROP NOT NULL'],
    [
      'a value that is not allowed',
      'state=closed',
      `SET "state" = 'active' WHERE`,
      'LIKE "pam"."players" INCLUDING ALL)',
    ],
  ])('then the kit excludes a player by %s', (_, answer, set, altered) => {
    const kit = ruled('postgres', 'id text', answer)['kit.ts']
    expect(kit).toContain(set)
    expect(kit).toContain(altered)
  })

  test('then of a view the kit says what it does not test', () => {
    expect(ruled('postgres', 'id text', 'anyone', { isView: true })['kit.ts']).toContain(
      '    // Only the columns of your view: keys, CHECKs and triggers below it are not tested.\n',
    )
    expect(ruled('postgres', 'id text', 'anyone')['kit.ts']).not.toContain('not tested')
  })
})

/** Templates that evaluate more than the parameters of a function of ours. */
function templatesWithGaps(text: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (
      ts.isTemplateExpression(node) &&
      node.templateSpans.some(({ expression }) => !['table', 'id'].includes(expression.getText()))
    )
      found.push(node.getText())
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('written.ts', text, ts.ScriptTarget.Latest, true))
  return found
}

describe('given names that are code', () => {
  test.each<Engine>(['postgres', 'mysql'])('on %s, then they stay names', engine => {
    const name = `x\`"'; \${process.exit()} \\`
    const value = `a\`"' \${process.exit()} \\`
    const status = name.replace(';', '.')
    const hostile = table(
      engine,
      'pam.accounts',
      ['id bigint', 'currency char(3)', 'balance numeric(18,2)', 'state text'],
      ['id'],
    )
    const columns = hostile.columns.map(column =>
      column.name === 'id'
        ? { ...column, name }
        : column.name === 'state'
          ? { ...column, name: status }
          : column,
    )
    const mapping = mappingOf(
      engine,
      { ...hostile, name: `t'${'`'}\${1}`, columns, uniqueKeys: [[name]] },
      { players: `pam.t'${'`'}\${1}`, id: name, currency: 'EUR', 'may-bet': `${status}=${value}` },
    )
    for (const [path, text] of Object.entries(written({ engine, mapping }).texts)) {
      if (!path.endsWith('.ts')) continue
      const { diagnostics = [] } = ts.transpileModule(text, { reportDiagnostics: true })
      expect(diagnostics.map(({ messageText }) => messageText)).toEqual([])
      // A template with a gap would be evaluated.
      expect(templatesWithGaps(text), path).toEqual([])
    }
    // The name is the value of the property, in the program as it is read.
    const [, literal = ''] =
      /id: ('(?:[^'\\]|\\.)*')/.exec(written({ engine, mapping }).texts['store.ts'] ?? '') ?? []
    expect(new Function(`return ${literal}`)()).toBe(name)
  })
})

describe('writing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-init-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('given a file that exists, then none is written', () => {
    writeFileSync(join(folder, 'kit.ts'), 'mine')
    expect(existing(folder, ['store.ts', 'kit.ts'])).toEqual(['kit.ts'])
    const files = [
      { path: 'a/store.ts', text: '1' },
      { path: 'kit.ts', text: '2' },
    ]
    expect(() => writeFiles(folder, files)).toThrow(/EEXIST/)
    expect(existsSync(join(folder, 'a/store.ts'))).toBe(false)
    expect(readFileSync(join(folder, 'kit.ts'), 'utf8')).toBe('mine')
  })

  // A limit of the size of files stands for a full disk: the write fails midway.
  test('given a file that cannot be written whole, then nothing of it is left', () => {
    const module = new URL('../../../src/tools/init/files.ts', import.meta.url)
    const program = `import { writeFiles } from ${JSON.stringify(module.href)}
      const files = [{ path: 'small.ts', text: '1' }, { path: 'large.ts', text: 'x'.repeat(100_000) }]
      try { writeFiles(${JSON.stringify(folder)}, files) } catch ({ code }) { console.log(code) }`
    const { stdout, stderr } = spawnSync(
      'sh',
      ['-c', `ulimit -f 1; exec "$0" --import tsx --input-type=module -e "$1"`, process.execPath, program],
      { encoding: 'utf8', env: { ...process.env, TSX_DISABLE_CACHE: '1' } },
    )
    expect([stdout, stderr]).toEqual(['EFBIG\n', ''])
    expect(existing(folder, ['small.ts', 'large.ts'])).toEqual([])
  })
})
