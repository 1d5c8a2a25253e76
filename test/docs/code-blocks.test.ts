/**
 * Every code block of the pages is compiled or executed. Each ts block is a process of its own, two at a time: the whole
 * file takes about a minute on two cores.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import mysql from 'mysql2/promise'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createMysqlStore, type MysqlTables, migrateMysql } from '../../src/stores/mysql/index.js'
import { createPostgresStore, migratePostgres, type PostgresTables } from '../../src/stores/postgres/index.js'
import { allCommands, commandNames } from '../../src/tools/command/commands.js'
import { nameOf } from '../../src/tools/command/option.js'
import { isMysql, noServer, startServer } from '../mysql/engine.js'
import { excerptLike, runSample, samplesOf, withoutNumbers } from './commands.js'
import { type CodeBlock, codeBlocksOf, readPage, readPages, root, sectionOf } from './pages.js'
import { folder, type Ran, run, runProgram, startAll, writePrograms } from './programs.js'

/** Tests of their own run their blocks as stories: first-hour.test.ts, shapes.test.ts. */
const played = ['docs/first-hour.md', 'docs/shapes.md']

const pages = readPages().filter(({ path }) => !played.includes(path))
const blocks = pages.flatMap(codeBlocksOf)
const programs = writePrograms(pages)
const samples = samplesOf(pages)

/**
 * Their commands and statements are run by test/programs/incidents, on servers that they restore, lock and fill; those
 * that forget a player by test/stores/forget-player.ts.
 */
const sectionsRunElsewhere = [
  'Restore PostgreSQL',
  'Restore MariaDB',
  'After a restore',
  'Forget a player',
].flatMap(heading => codeBlocksOf(sectionOf(readPage('docs/operations.md'), heading)).map(({ code }) => code))
const isRunElsewhere = ({ page, code }: CodeBlock) =>
  page === 'docs/runbook.md' || sectionsRunElsewhere.includes(code)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('every block is in a language that is tested here', () => {
  // cjs is a program of docs/http.md.
  const tested = ['ts', 'sh', 'sql', 'json', 'text', 'cjs']
  expect(blocks.filter(({ language }) => !tested.includes(language))).toEqual([])
})

describe('ts blocks', () => {
  test('compile, strictly', () => {
    const { config } = ts.readConfigFile(join(root, 'examples/tsconfig.json'), ts.sys.readFile)
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, join(root, 'examples'))
    const program = ts.createProgram(
      programs.map(({ file }) => file),
      options,
    )
    const problems = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
      const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1
      return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    })
    expect(problems).toEqual([])
  })

  let runs: Promise<Ran>[] = []
  beforeAll(() => {
    const tasks = programs.map(program => () => runProgram(program.file))
    runs = startAll(tasks)
  })

  test.each(programs.map((program, index) => ({ ...program, index })))(
    'run, and print what the page shows ($name)',
    async ({ index, output }) => {
      const ran = await runs[index]
      expect(ran?.stderr).toBe('')
      if (output !== null) expect(ran?.stdout).toBe(output)
      // A script that reports a failed case ends with 1, as a build must.
      expect(ran?.status).toBe(output !== null && /^FAILED/m.test(output) ? 1 : 0)
    },
  )

  test('show what they print, except for the one that runs under node:test', () => {
    const silent = programs.filter(({ output }) => output === null).map(({ code }) => code)
    expect(silent.filter(code => !/from 'node:test'/.test(code))).toEqual([])
  })
})

describe('sh blocks', () => {
  const lines = blocks
    .filter(block => block.language === 'sh' && !isRunElsewhere(block))
    .flatMap(({ page, code }) =>
      code
        .replace(/\\\n\s*/g, '')
        .split('\n')
        .map(line => line.replace(/(^|\s)#.*$/, '').trim())
        .filter(line => line !== '')
        .flatMap(line => line.split('&&'))
        .map(line => ({ page, line: line.trim() })),
    )

  test.each(lines)('run only what exists ($page: $line)', ({ line }) => {
    const words = line.split(/\s+/).filter(word => !/^[A-Z_]+=/.test(word))
    const [command = '', first = '', second = ''] = words
    expect(['export', 'npm', 'npx']).toContain(command)
    if (command === 'npm') {
      expect(['ci', 'install', ...Object.keys(manifest.scripts)]).toContain(first === 'run' ? second : first)
    }
    if (command !== 'npx') return
    expect(['tsx', 'bet-wallet']).toContain(first)
    if (first === 'tsx') expect(existsSync(join(root, second)), second).toBe(true)
  })

  test('and the text around them name only scripts and flags that exist', async () => {
    for (const { path, text } of pages) {
      const named = [...text.matchAll(/\bnpm (?:run ([\w:]+)|(start|test)\b)/g)].map(([, a, b]) => a ?? b)
      for (const script of named) expect(Object.keys(manifest.scripts), path).toContain(script)
    }
    const commands = await allCommands()
    const flagsOf = (...names: readonly string[]) =>
      commands
        .filter(({ usage }) => names.includes(usage.split(' ')[0] ?? ''))
        .flatMap(({ options }) => Object.values(options).map(option => `--${nameOf(option)}`))
    for (const { path, text } of pages) {
      for (const [, command = '', flags = ''] of text.matchAll(
        /npx bet-wallet ([a-z]+)((?:[^`\n]|\\\n)*)/g,
      )) {
        expect(commandNames, path).toContain(command)
        for (const [flag] of flags.matchAll(/--[a-z-]+/g)) expect(flagsOf(command), path).toContain(flag)
      }
    }
    for (const [page, ...names] of [
      ['docs/audit.md', 'audit', 'simulate'],
      ['docs/records.md', 'bet', 'transaction', 'player', 'owed', 'reconcile', 'migrate'],
    ] as const) {
      const text = pages.find(({ path }) => path === page)?.text ?? ''
      for (const [, flag = ''] of text.matchAll(/`(--[a-z-]+)/g))
        expect(flagsOf(...names), page).toContain(flag)
    }
  })

  test.each(samples)('print what the page shows, apart from numbers ($page)', async sample => {
    const { status, stdout } = await runSample(sample)
    expect(status).toBe(0)
    expect(withoutNumbers(excerptLike(sample.output, stdout))).toBe(withoutNumbers(sample.output))
  })
})

/** Those of one page are for MariaDB and MySQL, all others for PostgreSQL: on one database each, in the order of the pages. */
const mysqlPage = 'docs/mysql.md'

test('sql blocks are executed', async () => {
  const tables: PostgresTables = {
    players: {
      ...{ table: 'pam.accounts', id: 'account_no', currency: 'currency', balance: 'balance_cents' },
      ...{ balanceType: 'minor-units', minorUnits: 2 },
    },
  }
  const database = await PGlite.create()
  await database.exec(`CREATE ROLE wallet; CREATE ROLE wallet_reader; CREATE ROLE settlements; CREATE SCHEMA pam;
    CREATE TABLE pam.accounts (account_no text PRIMARY KEY, currency text NOT NULL, balance_cents bigint NOT NULL);
    INSERT INTO pam.accounts VALUES ('anna', 'EUR', 10000)`)
  await migratePostgres(database, tables)
  await database.exec(`INSERT INTO bet_wallet.bets (bet_id, player_id, currency, stake, status, revision)
    VALUES ('b-1', 'anna', 'EUR', 30, 'PLACED', 1)`)
  for (const { language, code, page } of blocks.filter(block => !isRunElsewhere(block)))
    if (language === 'sql' && page !== mysqlPage) await database.exec(code)

  // What credit_bet recorded.
  const store = createPostgresStore(database, tables)
  const { bet } = await store.load({
    ...{ operation: 'settlement', transactionId: 's-1', playerId: 'anna', betId: 'b-1' },
  })
  expect(Number(bet?.credits.BET_PAID?.live)).toBe(55.5)
  await database.close()
})

test.skipIf(noServer !== null)(
  `sql blocks for MariaDB and MySQL are executed${noServer === null ? '' : ` (skipped: ${noServer})`}`,
  async () => {
    const server = await startServer()
    const pool = mysql.createPool({ ...server.config, multipleStatements: true })
    const tables: MysqlTables = {
      players: {
        ...{
          table: 'pam.accounts',
          id: 'account_no',
          idCollation: 'utf8mb4_general_ci',
          currency: 'currency',
        },
        ...{ balance: 'balance_cents', balanceType: 'minor-units', minorUnits: 2 },
      },
    }
    await pool.query(`CREATE DATABASE pam CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci; CREATE USER wallet;
      CREATE USER wallet_reader; CREATE USER settlements;
      CREATE TABLE pam.accounts (account_no varchar(64) PRIMARY KEY, currency char(3) NOT NULL, balance_cents bigint NOT NULL);
      INSERT INTO pam.accounts VALUES ('anna', 'EUR', 10000)`)
    await migrateMysql(pool, tables)
    await pool.query(`INSERT INTO bet_wallet.wallet_bets (id, bet_id, player_id, currency, stake, status, revision)
      VALUES (1, 'b-1', 'anna', 'EUR', 30, 'PLACED', 1)`)
    // MariaDB has no Group Replication, nor its tables.
    for (const { language, code, page } of blocks)
      if (language === 'sql' && page === mysqlPage && (isMysql || !code.includes('replication_group')))
        await pool.query(code)
    // The rights of the page are enough for the store.
    const user = mysql.createPool({ ...server.config, user: 'wallet', password: '' })
    const store = createMysqlStore(user, tables)
    await store.ready()
    const { bet } = await store.load({
      operation: 'settlement',
      transactionId: 's-1',
      playerId: 'anna',
      betId: 'b-1',
    })
    expect(Number(bet?.credits.BET_PAID?.live)).toBe(55.5)
    await user.end()
    await pool.end()
    await server.stop()
  },
)

test('json blocks are JSON', () => {
  for (const { language, code } of blocks) if (language === 'json') JSON.parse(code)
})

describe.each([
  ['docs/own-store.md', programs.find(({ page }) => page === 'docs/own-store.md')?.code ?? ''],
  [
    'src/store.ts',
    readFileSync(join(root, 'src/store.ts'), 'utf8').match(/```ts\n([\s\S]*? \* ```)/)?.[1] ?? '',
  ],
])('the store that %s shows', (_, code) => {
  test('passes the kit', async () => {
    const sample = code.replace(/^ \* ?/gm, '').match(/^function openStore[\s\S]*?^}\n/m)?.[0] ?? ''
    const store = sample
      .replaceAll(/: (?:readonly Account\[\]|WalletStore)/g, '')
      .replaceAll(/<string, \w+>/g, '')
    const script = `import Big from 'big.js'
      import { checkWalletStore } from 'bet-wallet/testing'
      ${store}
      const harness = { open: players => ({ store: openStore(players) }) }
      const { passed, counts } = await checkWalletStore(harness, { runs: 50, print: null })
      console.log(passed, counts.passed > 60, counts.failed)`
    expect(await run(process.execPath, ['--input-type=module', '--eval', script])).toEqual({
      ...{ status: 0, stdout: 'true true 0\n', stderr: '' },
    })
  })
})
