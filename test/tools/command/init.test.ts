/** The command `init`: what it asks, refuses, and leaves as it is. What it writes has tests in test/tools/init. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readBalances } from '../../../src/tools/check/balances.js'
import { decide } from '../../../src/tools/command/init.js'
import { ownDecimals, playersOf } from '../../../src/tools/init/mapping.js'
import type { Answers } from '../../../src/tools/init/propose.js'
import { bin } from '../../package/project.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { schemaOf, table } from '../init/schemas.js'
import { runCommand } from './running.js'

const outer = mkdtempSync(join(tmpdir(), 'bet-wallet-init-'))
afterAll(() => rmSync(outer, { recursive: true, force: true }))

let folders = 0
/** A project with the driver. */
function project(manifest: object | null = { type: 'module' }): string {
  folders += 1
  const folder = join(outer, String(folders))
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(bin('pg'), join(folder, 'node_modules/pg'), 'junction')
  if (manifest !== null) writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  return folder
}

const run = (cwd: string, words: readonly string[], url = 'postgres://u:s-3-x@127.0.0.1:9/db') =>
  runCommand(['init', ...words], { cwd, environment: { DATABASE_URL: url } })

const filesOf = (folder: string) =>
  readdirSync(folder)
    .filter(name => name !== 'node_modules')
    .sort()

describe('on PostgreSQL', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  /** Of a role that may read the table, and write nothing. */
  let url = ''
  const role = `init_reader_${process.pid}`
  beforeAll(async () => {
    database = await freshDatabase()
    await database.pool.query(`CREATE SCHEMA pam;
      CREATE TABLE pam.accounts (account_id bigint PRIMARY KEY, account_no text NOT NULL UNIQUE, currency text, cash bigint);
      CREATE ROLE ${role} LOGIN PASSWORD 's-3-x';
      ALTER ROLE ${role} SET default_transaction_read_only = on;
      GRANT USAGE ON SCHEMA pam TO ${role};
      GRANT SELECT ON pam.accounts TO ${role}`)
    url = database.url.replace(/\/\/[^@]*@/, `//${role}:s-3-x@`)
  })
  afterAll(async () => {
    await database.pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
    await database.drop()
  })

  test('given no terminal, then it names each option that is missing, and writes nothing', async () => {
    const folder = project()
    const { code, out, error } = await run(folder, [], database.url)
    expect([code, error]).toEqual([2, ''])
    expect(out.split('\n')).toEqual([
      "The mapping of your players' table",
      'players   pam.accounts: it has an id and a balance',
      'currency  currency: text, judged by its name',
      'balance   cash: bigint',
      '',
      '--id',
      '  Which column is the playerId that the platform sends?',
      '  account_id  bigint, unique',
      '  account_no  text, unique',
      '',
      '--minor-units',
      '  cash is bigint: how many decimals of a currency does it hold?',
      '  2            hundredths (cents) in every currency: 1005 is 10.05',
      '  0            whole units: 1005 is 1005.00, and bets with cents are refused',
      '  EUR=2,JPY=0  by currency: name each one that you have',
      '',
      '--may-bet',
      expect.stringMatching(/^ {2}Who may bet\? .* No column of pam\.accounts looks like a status\.$/),
      '  anyone  closed and excluded players too',
      '',
      'UNCLEAR: state --id and --minor-units and --may-bet',
      '',
    ])
    expect(filesOf(folder)).toEqual(['package.json'])
  })

  test('given a role that may only read, then it proposes, and writes the files below a folder', async () => {
    const folder = project({ dependencies: { koa: '3' } })
    const options = [
      '--id',
      'account_no',
      '--minor-units',
      '2',
      '--may-bet',
      'anyone',
      '--folder',
      'src/wallet',
    ]
    const { code, out, error } = await run(folder, [...options, '--database-url', url])
    expect([code, error]).toEqual([0, ''])
    expect(out).toMatch(/^players +pam\.accounts: it has an id and a balance\nid +account_no: /m)
    expect(out).toContain('  export DATABASE_URL=…  # the URL of this database: the programs read it\n')
    expect(out).toMatch(
      /\n {2}npx bet-wallet migrate --players pam\.accounts --id account_no --currency currency --balance cash --balance-type minor-units --minor-units 2 --lookup-indexes {2}# creates .* with --print, SQL for your migration tool\n/,
    )
    expect(out).toMatch(
      /\n {2}npx bet-wallet grants wallet {2}# prints the rights of the role wallet; .*--for settlements\n/,
    )
    expect(out).toContain('  npx tsx src/wallet/server.ts  # serves the calls;')
    expect(out).toContain('  npx bet-wallet audit http://127.0.0.1:3000/wallet ')
    expect(out).toMatch(/\n {2}npx bet-wallet check {2}# .*wallet's user\n/)
    expect(out).toMatch(/\nWRITTEN: src\/wallet\/store\.ts, src\/wallet\/server\.ts, src\/wallet\/kit\.ts\n$/)
    expect(filesOf(join(folder, 'src/wallet'))).toEqual(['kit.ts', 'server.ts', 'store.ts'])
  })

  test('given a folder of tools of its own, then the files are those of the project beside it', async () => {
    const tools = project(null)
    const beside = join(outer, 'beside')
    mkdirSync(beside)
    writeFileSync(
      join(beside, 'package.json'),
      JSON.stringify({ dependencies: { tsx: '4', 'bet-wallet': '0' } }),
    )
    const options = [
      '--id',
      'account_no',
      '--minor-units',
      '2',
      '--may-bet',
      'anyone',
      '--folder',
      '../beside',
    ]
    const { code, out, error } = await run(tools, options, url)
    expect([code, error]).toEqual([0, ''])
    expect(filesOf(beside)).toEqual(['kit.ts', 'package.json', 'server.ts', 'store.ts'])
    // The project's own package.json counts: it is CommonJS, and has tsx.
    expect(readFileSync(join(beside, 'store.ts'), 'utf8')).toContain("import pg = require('pg')")
    expect(readFileSync(join(beside, 'kit.ts'), 'utf8')).toContain("from './store'")
    expect(out).toContain(
      '  (cd ../beside && npm install pg @types/pg)\n  (cd ../beside && npm install --save-dev fast-check)\n',
    )
    expect(out).toContain('  (cd ../beside && npx tsx server.ts)  #')
    expect(out).not.toContain('# bet-wallet, as you')
  })

  test('given JavaScript in a workspace of pnpm, then what runs TypeScript is added as pnpm does', async () => {
    const workspace = project(null)
    writeFileSync(join(workspace, 'pnpm-lock.yaml'), '')
    mkdirSync(join(workspace, 'packages/pam'), { recursive: true })
    writeFileSync(join(workspace, 'packages/pam/package.json'), JSON.stringify({ type: 'module' }))
    const answers = ['--id', 'account_no', '--minor-units', '2', '--may-bet', 'anyone']
    const { code, out, error } = await run(workspace, [...answers, '--folder', 'packages/pam'], url)
    expect([code, error]).toEqual([0, ''])
    expect(out).toContain('  (cd packages/pam && pnpm add pg @types/pg)\n')
    expect(out).toContain('  (cd packages/pam && pnpm add --save-dev fast-check tsx)\n')
    expect(out).toContain('  (cd packages/pam && npx tsx server.ts)  #')
    expect(out).toContain('  (cd packages/pam && pnpm add …)  # bet-wallet, as you have installed it here\n')
  })

  test('given postgres.js, then store.ts is over it, and pg is not added', async () => {
    const folder = project({ type: 'module', dependencies: { postgres: '3' } })
    const answers = ['--id', 'account_no', '--minor-units', '2', '--may-bet', 'anyone']
    const { code, out, error } = await run(folder, answers, url)
    expect([code, error]).toEqual([0, ''])
    expect(out).not.toMatch(/npm install .*pg/)
    const store = readFileSync(join(folder, 'store.ts'), 'utf8')
    expect(store).toMatch(/^import postgres from 'postgres'$/m)
    expect(store).not.toContain('pg.')
    expect(store).toContain('return { ...fromPostgresJs(sql, notices), reserve, end: () => sql.end() }')
    expect(store).toContain('connect: (to: typeof pool) => to.reserve(),')
  })

  test('given a status, then it asks who may bet, and grants its columns', async () => {
    await database.pool.query(`CREATE TYPE pam.player_state AS ENUM ('Active', 'closed');
      CREATE TABLE pam.members (id bigint PRIMARY KEY, currency text, balance numeric(18,2), state pam.player_state, closed_at timestamptz)`)
    const folder = project()
    const options = ['--players', 'pam.members']
    const unclear = await run(folder, options, database.url)
    expect(unclear.code).toBe(2)
    expect(unclear.out.split('\n').slice(-8)).toEqual([
      '--may-bet',
      expect.stringMatching(/^ {2}Who may bet\? /),
      '  state=…         enum: Active, closed, or null',
      '  closed_at=null  timestamp with time zone, or null',
      '  anyone          closed and excluded players too',
      '',
      'UNCLEAR: state --may-bet',
      '',
    ])
    expect(filesOf(folder)).toEqual(['package.json'])
    const rule = ['--may-bet', 'state=Active', '--may-bet', 'closed_at=null']
    const { code, out, error } = await run(folder, [...options, ...rule], database.url)
    await database.pool.query('DROP TABLE pam.members')
    expect([code, error]).toEqual([0, ''])
    expect(readFileSync(join(folder, 'store.ts'), 'utf8')).toContain(
      `"state" = 'Active' AND "closed_at" IS NULL`,
    )
    expect(out).toContain(
      '\n  GRANT SELECT ("state", "closed_at") ON "pam"."members" TO "wallet";  # SQL: and these\n',
    )
  })

  test('given a file that exists, then the proposal is shown, the file is named, and none is written', async () => {
    const folder = project()
    writeFileSync(join(folder, 'kit.ts'), 'mine')
    const { code, out, error } = await run(
      folder,
      ['--id', 'account_no', '--minor-units', '2', '--may-bet', 'anyone'],
      url,
    )
    expect(code).toBe(2)
    expect(out).toMatch(/^players +pam\.accounts: [\s\S]*\nunit +minor units, 2 decimals: /m)
    expect(error).toMatch(/^kit\.ts exists, and nothing is overwritten: no file was written\./)
    expect(filesOf(folder)).toEqual(['kit.ts', 'package.json'])
    expect(readFileSync(join(folder, 'kit.ts'), 'utf8')).toBe('mine')
  })

  test('given options that cannot be, then the problem', async () => {
    const { code, error } = await run(project(), ['--players', 'pam.players'], url)
    expect([code, error]).toEqual([
      2,
      expect.stringMatching(/^--players: there is no table pam\.players.*pam\.accounts/),
    ])
  })
})

test.each<[string, object | null, readonly string[], RegExp]>([
  ['no package.json', null, [], /^There is no package\.json in .*npm init -y/],
  ['an argument', {}, ['store'], /^init has no arguments: store/],
  ['a database that is down', {}, [], /ECONNREFUSED/],
])('given %s, then exit code 2 and the problem', async (_, manifest, words, problem) => {
  const folder = project(manifest)
  const { code, error } = await run(folder, words)
  expect(code).toBe(2)
  expect(error).toMatch(problem)
  expect(error).not.toContain('s-3-x')
  expect(existsSync(join(folder, 'store.ts'))).toBe(false)
})

test('given no URL, then it names the variable', async () => {
  const { code, error } = await run(project(), [], '')
  expect([code, error]).toEqual([2, expect.stringMatching(/DATABASE_URL \(environment\)/)])
})

describe('given a terminal', () => {
  const schema = schemaOf(
    'postgres',
    table('postgres', 'pam.accounts', ['id bigint', 'account_no text', 'cash bigint'], ['id', 'account_no']),
  )

  /** A person who types these lines. */
  async function typing(
    lines: readonly string[],
    options: Answers = {},
    from = schema,
    read: Parameters<typeof decide>[3] = async () => ({ lines: [], warnings: [], codes: [] }),
  ) {
    const printed: string[] = []
    const left = [...lines]
    const log = vi.spyOn(console, 'log').mockImplementation(text => void printed.push(String(text)))
    const ask = async (question: string) => {
      printed.push(question)
      const line = left.shift()
      if (line === undefined) throw new Error(`Asked once more: ${printed.at(-1)}`)
      return line
    }
    const proposal = await decide(from, options, ask, read).finally(() => log.mockRestore())
    return {
      players: proposal && playersOf(proposal.mapping),
      mayBet: proposal?.mapping.mayBet,
      decimals: proposal && ownDecimals(proposal.mapping),
      ...{ printed, left },
    }
  }

  test('then it asks one question after the other, each below what is known', async () => {
    const { players, printed } = await typing(['account_no', 'EUR', '2', 'anyone'])
    expect(players).toEqual({
      ...{ table: 'pam.bet_wallet_players', id: 'account_no', currency: 'currency' },
      ...{ balance: 'cash', balanceType: 'minor-units', minorUnits: 2 },
    })
    expect(printed).toEqual([
      expect.stringMatching(
        /players +pam\.accounts: [\s\S]*\nUNCLEAR: state --id and --currency and --minor-units and --may-bet$/,
      ),
      '--id: ',
      expect.stringMatching(
        /id +account_no: as stated[\s\S]*\nUNCLEAR: state --currency and --minor-units and --may-bet$/,
      ),
      '--currency: ',
      expect.stringMatching(/currency +EUR: as stated[\s\S]*\nUNCLEAR: state --minor-units and --may-bet$/),
      '--minor-units: ',
      expect.stringMatching(/\nUNCLEAR: state --may-bet$/),
      '--may-bet: ',
      expect.stringMatching(/\nCLEAR: every part of the mapping is known$/),
    ])
  })

  test('then the unit is asked with a row as each would read it, and the row as it is read is shown', async () => {
    const columns = ['account_no text', 'currency char(3)', 'balance numeric(64,0)']
    const whole = schemaOf('postgres', table('postgres', 'pam.accounts', columns, ['account_no']))
    const asked: string[] = []
    const read: Parameters<typeof decide>[3] = async (accounts, players) => {
      asked.push(accounts)
      const unit = { balanceType: 'minor-units', minorUnits: Number(players.minorUnits) } as const
      const rows = { ask: async () => [['EUR', 2, 0, '100500']], text: String, exact: String }
      return readBalances(rows, accounts, unit)
    }
    const { players, printed } = await typing(['2', 'anyone'], {}, whole, read)
    expect(players).toMatchObject({ balance: 'balance', balanceType: 'minor-units', minorUnits: 2 })
    expect(printed[0]).toContain('--minor-units 2: EUR 100500 → 1005.00 EUR, one of 2 accounts\n')
    expect(printed[0]).toContain('--minor-units 0: EUR 100500 → 100500.00 EUR, one of 2 accounts\n')
    expect(printed[0]).toContain('\nUNCLEAR: state --minor-units and --may-bet')
    expect(printed.at(-1)).toMatch(/EUR 100500 → 1005\.00 EUR, one of 2 accounts\n[\s\S]*\nCLEAR: /)
    expect(new Set(asked)).toEqual(
      new Set(['(SELECT "currency" AS currency, "balance" AS balance FROM "pam"."accounts")']),
    )
  })

  test('then the codes of the rows that ISO 4217 lacks get the decimals of the balance', async () => {
    const columns = ['account_no text', 'currency text', 'balance numeric(18,6)']
    const chips = schemaOf('postgres', table('postgres', 'pam.accounts', columns, ['account_no']))
    const rows = [
      ['EUR', 2, 0, '100'],
      ['CHIP', 2, 0, '-1'],
      ['GOLD', 1, 1, null],
      ['gold', 1, 0, '5'],
      [null, 1, 0, '5'],
    ]
    const database = { ask: async () => rows, text: String, exact: String }
    const numeric = { balanceType: 'numeric', minorUnits: 0 } as const
    const read = async () => await readBalances(database, '', numeric)
    const { decimals } = await typing(['anyone'], {}, chips, read)
    expect(decimals).toEqual({ CHIP: 6, GOLD: 6 })
  })

  test('then rows that this user may not read are said', async () => {
    const read = async () => {
      throw new Error('permission denied for table accounts')
    }
    const { printed } = await typing(
      ['anyone'],
      { id: 'account_no', currency: 'EUR', 'minor-units': '2' },
      schema,
      read,
    )
    expect(printed.at(-1)).toContain('could not be read: permission denied for table accounts')
  })

  test('then an answer that cannot be is asked again', async () => {
    const { players, printed } = await typing(['3', '', 'no', 'id', 'euro', 'EUR', 'EUR=2', 'anyone'])
    expect(players).toMatchObject({ id: 'id', idType: 'bigint', minorUnits: { EUR: 2 } })
    expect(printed).toContainEqual(expect.stringMatching(/^--id: pam\.accounts has no column no\./))
    expect(printed).toContainEqual(expect.stringMatching(/^--currency: pam\.accounts has no column euro/))
  })

  test('then it asks who may bet, and again after a value that cannot be', async () => {
    const columns = ['id bigint', 'currency char(3)', 'balance decimal(18,2)', "state enum('on','off')"]
    const stated = schemaOf('postgres', table('postgres', 'pam.accounts', columns, ['id']))
    const { mayBet, printed, left } = await typing(['', 'state=no', 'state=on'], {}, stated)
    expect([mayBet, left]).toMatchObject([[{ column: { name: 'state' }, values: ['on'] }], []])
    expect(printed[0]).toContain('\n  state=…  enum: on, off\n')
    expect(printed).toContain('--may-bet state=no: "no" is no value of state, which is on, off')
  })

  test('then what the options say is not asked', async () => {
    const { players, left } = await typing(['EUR=2', 'anyone'], { id: 'account_no', currency: 'EUR' })
    expect([players, left]).toMatchObject([{ id: 'account_no' }, []])
  })
})
