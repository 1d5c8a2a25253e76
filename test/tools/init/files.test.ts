/** What `bet-wallet init` writes, as text. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, describe, expect, test } from 'vitest'
import { parseWords, valuesOf } from '../../../src/tools/command/option.js'
import { playersOptions, tablesGiven } from '../../../src/tools/command/players-options.js'
import { projectFiles, writeFiles } from '../../../src/tools/init/files.js'
import { type Mapping, playersOf, playersWords, viewStatement } from '../../../src/tools/init/mapping.js'
import { projectReport } from '../../../src/tools/init/printed.js'
import { type Answers, propose } from '../../../src/tools/init/propose.js'
import type { Column, Engine, Table } from '../../../src/tools/init/schema.js'
import { ruleLines } from '../../../src/tools/init/store-file.js'
import { codeBlocksOf, readPage, root } from '../../docs/pages.js'
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
  const proposal = propose(schemaOf(engine, of), { 'may-bet': 'anyone', ...answers })
  if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
  return proposal.mapping
}

interface Given {
  engine?: Engine
  folder?: string
  isModule?: boolean
  mapping?: Mapping
}

function written({ engine = 'postgres', folder = '.', isModule = true, mapping }: Given = {}) {
  const given = mapping ?? mappingOf(engine, accounts(engine), { 'minor-units': '2' })
  return Object.fromEntries(
    projectFiles(given, { isModule, hasPostgresJs: false }, folder).map(
      ({ path, text }): [string, string] => [path, text],
    ),
  )
}

test.each<Engine>(['postgres', 'mysql'])(
  "given the page's table, then three files are written, on %s",
  engine => {
    expect(Object.keys(written({ engine })).sort()).toEqual(['kit.ts', 'server.ts', 'store.ts'])
    expect(Object.keys(written({ engine, folder: 'src/wallet' }))[0]).toBe('src/wallet/store.ts')
  },
)

test.each<Engine>(['postgres', 'mysql'])(
  'given a column of locked funds, on %s, then it is 0 in the copy: it may be declared as reserved',
  engine => {
    const columns = [
      'account_no varchar(255)',
      'currency char(3)',
      'balance_cents bigint',
      'locked_cents bigint',
    ]
    const mapping = mappingOf(engine, table(engine, 'pam.accounts', columns, ['account_no']), {
      'minor-units': '2',
    })
    const store = written({ mapping })['store.ts']
    expect(store).toMatch(/INSERT INTO .*balance_cents\W+locked_cents\W+VALUES \(\S+ \S+ 0, 0\)/)
    expect(store).not.toContain('ALTER TABLE')
  },
)

test.each<Engine>(['postgres', 'mysql'])(
  'given a balance whose name has several lines, on %s, then store.ts is a program',
  engine => {
    const [id, currency, balance] = accounts(engine).columns as [Column, Column, Column]
    for (const lineBreak of ['\n', '\r', '\u2028', '\u2029']) {
      const named = { ...balance, name: `balance${lineBreak}of the player` }
      const of = accounts(engine, { columns: [id, currency, named] })
      const mapping = mappingOf(engine, of, { balance: named.name, 'minor-units': '2' })
      const { diagnostics } = ts.transpileModule(written({ mapping })['store.ts'] ?? '', {
        reportDiagnostics: true,
      })
      expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([])
    }
  },
)

describe('examples/init', () => {
  const exampleOf = (file: string) => readFileSync(join(root, 'examples/init', file), 'utf8')

  test("given the page's table, then its files are written", () => {
    expect(Object.keys(written()).sort()).toEqual(readdirSync(join(root, 'examples/init')).sort())
    for (const [file, text] of Object.entries(written())) expect(text, file).toBe(exampleOf(file))
  })

  test.each<Given>([{ engine: 'mysql' }, { isModule: false }])(
    'given %o, then all but store.ts are as they are',
    given => {
      for (const file of ['server.ts', 'kit.ts']) {
        // ts-jest looks for ./store.js itself, where the project is CommonJS.
        const text = exampleOf(file)
        expect(text).toContain("'./store.js'")
        expect(written(given)[file], file).toBe(
          given.isModule === false ? text.replace("'./store.js'", "'./store'") : text,
        )
      }
      expect(written(given)['store.ts']).not.toBe(exampleOf('store.ts'))
    },
  )
})

describe('the options of bet-wallet migrate', () => {
  test.each<[Engine, string, string]>([
    ['postgres', '2', '--balance-type minor-units --minor-units 2'],
    [
      'mysql',
      'EUR=2,JPY=0',
      '--id-collation utf8mb4_general_ci --currency currency --balance balance_cents --balance-type minor-units --minor-units EUR=2,JPY=0',
    ],
  ])('on %s with %s, then they name the same table', (engine, units, expected) => {
    const mapping = mappingOf(engine, accounts(engine), { 'minor-units': units })
    const words = playersWords(mapping)
    expect(words.join(' ')).toContain(expected)
    const values = valuesOf(playersOptions, parseWords(playersOptions, words).given)
    expect(tablesGiven(values)?.players).toEqual(playersOf(mapping))
  })
})

describe('codes outside ISO 4217', () => {
  const columns = ['account_no text', 'balance numeric(18,6)']
  const chips = mappingOf('postgres', table('postgres', 'pam.accounts', columns, ['account_no']), {
    currency: 'CHIP',
    'may-bet': 'anyone',
  })

  test('are in store.ts with the decimals that the column holds, and in the printed audit', () => {
    expect(written({ mapping: chips })['store.ts']).toContain(
      "new Map<string, number>([['CHIP', 6]]).get(currency)\n",
    )
    // Of the platform's calls, and of the settlements of the audit.
    const server = written({ mapping: chips })['server.ts']
    expect(server).toContain("basePath: '/wallet',\n    minorUnits,\n")
    expect(server).toContain('recordSettlement(store, body, { minorUnits })')
    const additions = ['pnpm add --save-dev tsx']
    const { sections } = projectReport({
      mapping: chips,
      folder: '.',
      packages: '.',
      paths: [],
      additions,
      needsUrl: false,
    })
    expect(JSON.stringify(sections)).toContain('--currency CHIP --minor-units 6 ')
    expect(JSON.stringify(sections)).toContain('"pnpm add --save-dev tsx\\n')
  })

  test('of an enum: its labels, with no more decimals than an amount may have', () => {
    const labelled = [
      'account_no varchar(64)',
      "currency enum('EUR','CHIP','usd','GOLD')",
      'balance numeric(40,20)',
    ]
    const mapping = mappingOf('mysql', table('mysql', 'pam.accounts', labelled, ['account_no']), {
      id: 'account_no',
    })
    expect(written({ mapping })['store.ts']).toContain("([['CHIP', 18], ['GOLD', 18]])")
  })

  test('of minor units by currency: those alone that ISO 4217 lacks', () => {
    const mapping = mappingOf('postgres', accounts('postgres'), { 'minor-units': 'EUR=2,GOLD=3' })
    expect(written({ mapping })['store.ts']).toContain("([['GOLD', 3]])")
  })
})

describe('a version column', () => {
  const columns = [
    'account_no text',
    'currency text null',
    'balance numeric(18,2) null',
    'lock_version integer default',
  ]
  const versioned = table('postgres', 'pam.accounts', columns, ['account_no'])

  test('is in the options, in the printed words and in a view; NULLs are said', () => {
    const proposal = propose(schemaOf('postgres', versioned), { 'may-bet': 'anyone' })
    if (proposal.status !== 'ready') throw new Error(proposal.status)
    expect(playersOf(proposal.mapping)).toMatchObject({ version: 'lock_version' })
    expect(playersWords(proposal.mapping).join(' ')).toContain('--version lock_version')
    const { given } = parseWords(playersOptions, playersWords(proposal.mapping))
    expect(tablesGiven(valuesOf(playersOptions, given))?.players).toEqual(playersOf(proposal.mapping))
    expect(proposal.notes.join(' ')).toMatch(
      /balance may be NULL.*currency may be NULL.*lock_version is counted up with each change of the balance \(players\.version\)/,
    )
    const ofEuros = mappingOf('postgres', versioned, { 'may-bet': 'anyone', currency: 'EUR' })
    expect(viewStatement(ofEuros)).toContain('"balance", "lock_version" FROM')
  })
})

describe('the server', () => {
  test('then the path that credits bets is there only with AUDIT=1', () => {
    const routes = written()
      ['server.ts']?.split('\n')
      .filter(line => line.includes('/settlement'))
    expect(routes).toEqual([expect.stringContaining("process.env.AUDIT === '1' ? { '/settlement': ")])
  })

  test('then it names the page of the frameworks, which is in the package', () => {
    expect(written()['server.ts']).toContain('// In your framework: node_modules/bet-wallet/docs/http.md\n')
    expect(existsSync(join(root, 'docs/http.md'))).toBe(true)
  })

  test('then the page of the first hour has a store in JavaScript beside it', () => {
    const blocks = codeBlocksOf(readPage('docs/first-hour.md')).filter(({ language }) => language === 'js')
    expect(blocks.map(({ code }) => code.split('\n')[0])).toEqual(['// wallet.js'])
  })

  test('then it is also CommonJS: what awaits is in a function', () => {
    const texts = written({ isModule: false })
    expect(texts['store.ts']).toContain("import pg = require('pg')")
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
    return written({ engine, mapping: mappingOf(engine, given, { 'may-bet': answer }) })
  }

  test('then the store has it, and its copy for the kit too', () => {
    const texts = ruled('postgres', 'id uuid', 'state=active')
    expect(texts['store.ts']).toContain(`\`SELECT 1 FROM \${table} WHERE "id" = $1 AND "state" = 'active'\``)
    expect(texts['store.ts']).toContain(`{ players, withinTransaction: whoMayBet('"pam"."players"') }`)
    expect(texts['store.ts']).toContain(
      `players: copied, withinTransaction: whoMayBet('bet_wallet_kit."players"') }`,
    )
    expect(texts['store.ts']).toContain(`"state") VALUES ($1, $2, 0, 'active')`)
    expect(texts['store.ts']).toContain(
      `UPDATE bet_wallet_kit."players" SET "state" = 'closed' WHERE "id" = $1`,
    )
    expect(texts['store.ts']).toMatch(/closePlayer: exclude,\n {4}refuseBets: exclude,/)
  })

  test('about the player in another table, then the store reads it there, and the copy for the kit does not', () => {
    const users = table('postgres', 'pam.users', ['id bigint', "state enum('active','closed')"], ['id'])
    const columns = ['user_id bigint', 'currency char(3)', 'balance numeric(18,2)']
    const wallets = table('postgres', 'pam.wallets', columns, ['user_id'])
    const proposal = propose(schemaOf('postgres', wallets, users), { 'may-bet': 'users.state=active' })
    if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
    const store = written({ mapping: proposal.mapping })['store.ts'] ?? ''
    expect(store).toContain(`FROM \${table} player WHERE "user_id" = $1\${persons}`)
    expect(store.match(/whoMayBet\('.*/g)).toEqual([
      `whoMayBet('"pam"."wallets"', \` AND EXISTS (SELECT 1 FROM "pam"."users" person WHERE person."id" = player."user_id" AND person."state" = 'active')\`) })`,
    ])
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
    expect(texts['store.ts']).toContain("whoMayBet('bet_wallet_kit.`players`', '?')")
    expect(texts['store.ts']).toContain('SET `closed_at` = now() WHERE')
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
    const store = ruled('postgres', 'id text', answer)['store.ts']
    expect(store).toContain(set)
    expect(store).toContain(altered)
  })

  test('then of a view it says what the kit does not test', () => {
    expect(ruled('postgres', 'id text', 'anyone', { isView: true })['store.ts']).toContain(
      '\n// Only the columns of your view: keys, CHECKs and triggers below it are not tested.\n',
    )
    expect(ruled('postgres', 'id text', 'anyone')['store.ts']).not.toContain('not tested')
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
    for (const [path, text] of Object.entries(written({ engine, mapping }))) {
      if (!path.endsWith('.ts')) continue
      const { diagnostics = [] } = ts.transpileModule(text, { reportDiagnostics: true })
      expect(diagnostics.map(({ messageText }) => messageText)).toEqual([])
      // A template with a gap would be evaluated.
      expect(templatesWithGaps(text), path).toEqual([])
    }
    // The name is the value of the property, in the program as it is read.
    const [, literal = ''] =
      /id: ('(?:[^'\\]|\\.)*')/.exec(written({ engine, mapping })['store.ts'] ?? '') ?? []
    expect(new Function(`return ${literal}`)()).toBe(name)
  })
})

describe('writing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-init-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('given a file that exists, then none is written', () => {
    writeFileSync(join(folder, 'kit.ts'), 'mine')
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
    expect(readdirSync(folder)).toEqual(expect.not.arrayContaining(['small.ts']))
    expect(readdirSync(folder)).toEqual(expect.not.arrayContaining(['large.ts']))
  })
})
