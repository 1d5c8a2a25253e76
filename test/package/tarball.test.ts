/** The published package, as an application installs it: the packed tarball of the build in dist. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import ts from 'typescript'
import { afterAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { linkProblem, linksOf, readPage } from '../docs/pages.js'
import { bin, createProject, pack, root } from './project.js'

/** The values that each entry point exports, and no others. A change here is a change for every caller. */
const exportsOf: Record<string, string[]> = {
  'bet-wallet': [
    'WalletError',
    'WalletRefusal',
    'describeError',
    'errorCodes',
    'handlePlaceBet',
    'handleRollbackBet',
    'handleUnsettlement',
    'partitionStore',
    'recordSettlement',
  ],
  'bet-wallet/audit': [
    'AuditError',
    'auditCases',
    'auditWallet',
    'numberedPlayers',
    'renderHtml',
    'renderJunit',
    'renderSimulation',
    'simulateSportsbook',
  ],
  'bet-wallet/batches': ['answerEach', 'bisect', 'createBatches'],
  'bet-wallet/decide': [
    'createRequestParser',
    'decidePlaceBet',
    'decideRollbackBet',
    'decideSettlement',
    'decideUnsettlement',
    'placeBetRule',
    'rollbackBetRule',
    'settlementRule',
    'unsettlementRule',
  ],
  'bet-wallet/http': [
    'JsonNumber',
    'allOf',
    'allowAddresses',
    'anyOf',
    'basicAuth',
    'createFetchHandler',
    'createHttpHandler',
    'createNodeListener',
    'defaultStatusCodes',
    'signature',
  ],
  'bet-wallet/lookups': ['dailyTotals', 'explainBet', 'sentenceOf'],
  'bet-wallet/memory': ['createMemoryStore'],
  'bet-wallet/mysql': [
    'StoreError',
    'createMysqlLookups',
    'createMysqlRelay',
    'createMysqlStore',
    'importBets',
    'importTransactions',
    'migrateMysql',
    'mysqlMigrationSql',
  ],
  'bet-wallet/operations': ['collectMetrics', 'createHealth', 'stopGracefully', 'subscribe'],
  'bet-wallet/postgres': [
    'StoreError',
    'createPostgresLookups',
    'createPostgresRelay',
    'createPostgresStore',
    'fromKnex',
    'fromPostgresJs',
    'fromSlonik',
    'fromTypeOrm',
    'importBets',
    'importTransactions',
    'migratePostgres',
    'postgresMigrationSql',
  ],
  'bet-wallet/reconcile': [
    'ReconcileError',
    'differenceKinds',
    'formatReconciliation',
    'kindTitles',
    'reconcile',
    'renderReconciliation',
  ],
  'bet-wallet/try': ['createMemoryWallet', 'createTryPage', 'isLocalHost', 'openDataFolder'],
  'bet-wallet/testing': [
    'checkWalletStore',
    'concurrentBurst',
    'createModel',
    'faultyStore',
    'fromCents',
    'history',
    'initialPlayers',
    'permissivePolicy',
    'platformOptions',
    'requestBody',
    'toCents',
    'walletStoreCases',
  ],
}
const subpaths = Object.keys(exportsOf)

const nodeNext: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
}

const { folder: project, tarball, installed, remove } = createProject(['fast-check'])
afterAll(remove)

/** Runs a script of the project in its own process and returns the JSON that it prints. */
async function runs(name: string, text: string): Promise<unknown> {
  await writeFile(join(project, name), text)
  const printed = execFileSync(process.execPath, [name], {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(printed)
}

describe('the tarball', () => {
  it('holds the build, the pages and the examples, and no other file', () => {
    const files = filesOf(installed)
    const examples = filesOf(join(root, 'examples')).filter(file => file !== 'tsconfig.json')
    expect(files.filter(file => !file.startsWith('dist/'))).toEqual(
      [
        ...[
          'CHANGELOG.md',
          'LICENSE',
          'README.md',
          'SECURITY.md',
          'package.json',
          'src/tools/command/bin.cjs',
        ],
        ...readdirSync(join(root, 'docs')).flatMap(file => (file.endsWith('.md') ? `docs/${file}` : [])),
        ...['docs/images/audit-report.webp', 'docs/llms.txt', 'docs/openapi.json'],
        ...examples.map(file => `examples/${file}`),
      ].sort(),
    )
    expect(files.filter(file => file.startsWith('dist/'))).toEqual(
      filesOf(join(root, 'dist')).map(file => `dist/${file}`),
    )
    expect(files.filter(file => file.startsWith('dist/') && !/\.(js|cjs|d\.ts|d\.cts)$/.test(file))).toEqual(
      [],
    )
  })

  // 1,020 kB: 780 of the build, which is there as ESM and as CommonJS, and 240 of pages and examples. What runs in a
  // wallet is readable code. No option of the build is tuned to this number.
  it('has at most 1,100 kB packed', () => {
    expect(statSync(tarball).size).toBeLessThanOrEqual(1_100_000)
  })

  it('has a file for each entry point, format and kind, chunks that they share, and the command', () => {
    const names = filesOf(join(installed, 'dist')).filter(
      file => !/-[\w-]{8}\.(?:js|cjs|d\.ts|d\.cts)$/.test(file),
    )
    const entries = subpaths.flatMap(path =>
      ['js', 'cjs', 'd.ts', 'd.cts'].map(extension => `${fileOf(path)}.${extension}`),
    )
    expect(names).toEqual([...entries, 'command.cjs'].sort())
  })

  it('has no script, and the rest of package.json', () => {
    const { scripts, ...rest } = manifest
    expect(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))).toEqual(rest)
    expect(scripts.prepare).toMatch(/npm run build/)
    expect(scripts.postpack).toBe('tsx test/package/postpack.ts')
  })

  it('is the same at each pack, byte by byte', () => {
    const again = mkdtempSync(join(project, 'again-'))
    expect(readFileSync(pack(root, again)).equals(readFileSync(tarball))).toBe(true)
  })

  it('has everything that its pages link to, with the anchors', () => {
    const pages = filesOf(installed).filter(file => /\.md$|^docs\/llms\.txt$/.test(file))
    const links = pages.flatMap(path => {
      const page = readPage(path, installed)
      return linksOf(page).map(target => linkProblem(page, target, installed))
    })
    expect(links.length).toBeGreaterThan(700)
    expect(links.filter(problem => problem !== null)).toEqual([])
  })

  it('has every page and example that docstrings, messages and examples name', () => {
    const texts = filesOf(installed).filter(file => /^(?:dist|examples)\//.test(file))
    const named = texts.flatMap(path => {
      // The bundler breaks long template literals, by a backslash at the end of the line.
      const text = readPage(path, installed).text.replaceAll('\\\n', '')
      const matches = text.matchAll(
        /(?<![\w./-])((?:docs|examples)\/[\w/.-]*\.(?:md|ts|json|yml|yaml|sql))(#[\w-]+)?/g,
      )
      return [...matches].map(([target]) => linkProblem({ path: 'README.md', text }, target, installed))
    })
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter(problem => problem !== null)).toEqual([])
  })

  it('has no entry point beside those that are listed here', () => {
    const entries = Object.keys(manifest.exports).map(path => path.replace(/^\./, 'bet-wallet'))
    const files = ['bet-wallet/openapi.json', 'bet-wallet/package.json']
    expect(entries.sort()).toEqual([...subpaths, ...files].sort())
  })

  it('names the types of each entry point again for moduleResolution node10, which does not read exports', () => {
    const types = Object.fromEntries(
      Object.entries(manifest.exports).flatMap(([path, entry]) =>
        typeof entry === 'string' || path === '.' ? [] : [[path.slice(2), [entry.require.types]]],
      ),
    )
    expect(manifest.typesVersions).toEqual({ '*': types })
  })

  it('passes publint', async () => {
    const bytes = readFileSync(tarball)
    const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
    const { messages, pkg } = await publint({ pack: { tarball: data }, strict: true })
    expect(messages.map(message => formatMessage(message, pkg, { color: false }))).toEqual([])
  })

  it('has types that resolve as its code does, for import, require and bundlers (attw, profile node16)', () => {
    const attw = bin('@arethetypeswrong/cli/dist/index.js')
    const args = [attw, tarball, '--profile', 'node16', '--no-definitely-typed', '--format', 'json']
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: project })
    const { analysis } = JSON.parse(stdout) as {
      analysis: {
        problems: { resolutionKind?: string }[]
        entrypoints: Record<string, { resolutions: Record<string, { resolution: unknown }> }>
      }
    }
    // Node 10 has no subpaths; the profile leaves it out. Compilers that are set to it find the types: test/libraries/types.
    expect(analysis.problems.filter(({ resolutionKind }) => resolutionKind !== 'node10')).toEqual([])
    expect(status).toBe(0)
    for (const path of subpaths) {
      const entry = analysis.entrypoints[path.replace('bet-wallet', '.')]
      expect(entry?.resolutions['node16-esm']?.resolution).toBeTruthy()
      expect(entry?.resolutions['node16-cjs']?.resolution).toBeTruthy()
      expect(entry?.resolutions.bundler?.resolution).toBeTruthy()
    }
  })
})

describe('the entry points', () => {
  const list = (load: string) => `
    const found = {}
    for (const path of ${JSON.stringify(subpaths)}) {
      const module = ${load}
      found[path] = Object.keys(module).filter(name => name !== '__esModule').sort()
    }
    console.log(JSON.stringify(found))`

  it('export exactly what is listed here, by import', async () => {
    expect(await runs('exports.mjs', list('await import(path)'))).toEqual(exportsOf)
  })

  it('export exactly what is listed here, by require', async () => {
    expect(await runs('exports.cjs', list('require(path)'))).toEqual(exportsOf)
  })

  it.each(['declared.mts', 'declared.cts'])('declare as values exactly what they export (%s)', async name => {
    const file = join(project, name)
    const imports = subpaths.map(
      (path, index) => `import * as entry${index} from '${path}'; void entry${index}`,
    )
    await writeFile(file, imports.join('\n'))
    const program = ts.createProgram([file], { ...nodeNext, types: [], noEmit: true })
    const checker = program.getTypeChecker()
    const declared: Record<string, string[]> = {}
    for (const statement of program.getSourceFile(file)?.statements ?? []) {
      if (!ts.isImportDeclaration(statement)) continue
      const module = checker.getSymbolAtLocation(statement.moduleSpecifier) as ts.Symbol
      declared[(statement.moduleSpecifier as ts.StringLiteral).text] = checker
        .getExportsOfModule(module)
        .filter(symbol => isValue(symbol, checker))
        .map(symbol => symbol.name)
        .sort()
    }
    expect(declared).toEqual(exportsOf)
  })

  const flow = `
    const bet = {
      transactionId: 't1', betId: 'b1', playerId: 'p1', sessionId: 's1', amount: '30.00', currency: 'EUR',
      odds: '1.85', betType: 'SINGLE', transactionDate: '2026-11-21T10:00:00Z',
    }
    async function flow() {
      const store = createMemoryStore([{ playerId: 'p1', currency: 'EUR', balance: '100.00' }])
      const answer = createHttpHandler(store, { authenticate: basicAuth({ username: 'u', password: 'p' }) })
      const outcomes = []
      outcomes.push(await handlePlaceBet(store, bet))
      outcomes.push(await handlePlaceBet(store, bet))
      outcomes.push(await handlePlaceBet(store, { ...bet, transactionId: 't2', betId: 'b2', amount: '70.01' }))
      const response = await answer({
        method: 'POST',
        path: '/rollbackbet',
        headers: { 'content-type': 'application/json', authorization: 'Basic dTpw' },
        body: JSON.stringify({ ...bet, transactionId: 't3', type: 'TECHNICAL_ERROR' }),
      })
      outcomes.push(response.status, JSON.parse(response.body))
      const parser = createRequestParser()
      const { request } = parser.placebet({ ...bet, transactionId: 't4', betId: 'b4', amount: 0.1 })
      const accounts = store.accounts('p1')
      outcomes.push(decidePlaceBet(request, { accounts, bet: null, transaction: null }).outcome)
      console.log(JSON.stringify(outcomes))
    }
    flow()`
  const names = {
    'bet-wallet': '{ handlePlaceBet }',
    'bet-wallet/decide': '{ createRequestParser, decidePlaceBet }',
    'bet-wallet/http': '{ basicAuth, createHttpHandler }',
    'bet-wallet/memory': '{ createMemoryStore }',
  }
  const expected = [
    { ok: true, replayed: false, balance: '70.00', currency: 'EUR', walletTransactionId: 'W1' },
    { ok: true, replayed: true, balance: '70.00', currency: 'EUR', walletTransactionId: 'W1' },
    {
      ok: false,
      replayed: false,
      errorCode: 'INSUFFICIENT_FUNDS',
      description: 'amount: insufficient funds',
    },
    200,
    { balance: 100, currency: 'EUR', walletTransactionId: 'W3' },
    { ok: true, replayed: false, balance: '99.9', currency: 'EUR', walletTransactionId: null },
  ]

  it.each([
    ['import', 'flow.mjs', (name: string, path: string) => `import ${name} from '${path}'`],
    ['require', 'flow.cjs', (name: string, path: string) => `const ${name} = require('${path}')`],
  ])('accept, replay and refuse alike, by %s', async (_, file, statement) => {
    const head = Object.entries(names).map(([path, name]) => statement(name, path))
    expect(await runs(file, `${head.join('\n')}\n${flow}`)).toEqual(expected)
  })

  it('work together when one is loaded as ESM and another as CommonJS', async () => {
    const mixed = `
      import { createRequire } from 'node:module'
      import { handlePlaceBet, WalletRefusal } from 'bet-wallet'
      import { createMemoryStore } from 'bet-wallet/memory'
      const require = createRequire(import.meta.url)
      const { createHttpHandler } = require('bet-wallet/http')
      const twice = require('bet-wallet').WalletRefusal !== WalletRefusal

      const store = createMemoryStore([{ playerId: 'p1', currency: 'BTC', balance: '1234567890.12345678' }])
      const answer = createHttpHandler(store, {
        authenticate: () => true,
        authorizeBet: () => { throw new WalletRefusal('LIMIT_REACHED', 'The limit of the day is reached') },
        routes: {
          '/esm/placebet': body => handlePlaceBet(store, body),
          '/esm/overloaded': async () => handlePlaceBet({ ...store, commit: async () => ({ status: 'unavailable' }) }, bet('t9')),
        },
        onError: () => {},
      })
      const bet = transactionId => ({
        transactionId, betId: 'b-' + transactionId, playerId: 'p1', sessionId: 's1', amount: '1', currency: 'BTC',
        betType: 'SINGLE', transactionDate: '2026-11-21T10:00:00Z',
      })
      const post = async (path, body) => {
        const headers = { 'content-type': 'application/json' }
        const response = await answer({ method: 'POST', path, headers, body })
        return [response.status, response.body]
      }
      const exact = JSON.stringify(bet('t2')).replace('"amount":"1"', '"amount":1234567890.12345678')
      console.log(JSON.stringify([
        twice,
        await post('/placebet', JSON.stringify(bet('t1'))),
        await post('/esm/placebet', exact),
        await post('/esm/overloaded', '{}'),
        store.account('p1').balance,
      ]))`
    expect(await runs('mixed.mjs', mixed)).toEqual([
      true,
      [400, '{"errorCode":"LIMIT_REACHED","description":"The limit of the day is reached"}'],
      [200, '{"balance":0.00000000,"currency":"BTC","walletTransactionId":"W2"}'],
      [503, expect.stringContaining('UNAVAILABLE')],
      '0',
    ])
  })

  it.each([
    ['import', 'dist/index.js'],
    ['require', 'dist/index.cjs'],
  ])('of the core load neither HTTP nor a store nor any other module, by %s', (_, entry) => {
    const { files, packages } = reached(installed, entry)
    expect([...packages].sort()).toEqual(['big.js', 'node:diagnostics_channel', 'zod'])
    // A name or text of each file that must not be loaded.
    const strangers = [
      ...['createHttpHandler', 'timingSafeEqual', 'www-authenticate', 'readJson', 'createMemoryStore'],
      ...['createPostgresStore', 'walletStoreCases', 'auditWallet'],
    ]
    const marksIn = (paths: Iterable<string>) => {
      const code = [...paths].map(file => readFileSync(join(installed, file), 'utf8')).join('\n')
      return [...strangers, 'handlePlaceBet'].filter(mark => code.includes(mark))
    }
    expect(marksIn(files)).toEqual(['handlePlaceBet'])
    const all = reached(installed, ...subpaths.map(path => entry.replace('index', fileOf(path))))
    expect(marksIn(all.files)).toEqual([...strangers, 'handlePlaceBet'])
    const others = [...all.packages].filter(name => !name.startsWith('node:'))
    expect(others.sort()).toEqual(['big.js', 'fast-check', 'zod'])
  })

  it('keep the syntax of the source, in CommonJS too: nothing is compiled down', () => {
    const code = filesOf(installed).filter(file => /\.c?js$/.test(file))
    const helpers = /_optionalChain|_nullishCoalesce|__publicField|__async\b|tslib/
    expect(code.filter(file => helpers.test(readFileSync(join(installed, file), 'utf8')))).toEqual([])
  })
})

describe('the types', () => {
  it('name no type of another package', () => {
    const types = filesOf(installed).filter(file => /\.d\.c?ts$/.test(file))
    expect(types.length).toBeGreaterThanOrEqual(2 * subpaths.length)
    for (const file of types) {
      const text = readFileSync(join(installed, file), 'utf8')
      const others = modulesIn(text).filter(module => !module.startsWith('.'))
      expect(others).toEqual(file.startsWith('dist/testing.') ? ['fast-check'] : [])
      expect(withoutComments(text)).not.toMatch(/\bzod\b|\bZod|\bz\.|\bbig\.js\b|\bBig\b/)
      expect(text).not.toMatch(/reference types/)
    }
  })

  const consumer = `
    const store: WalletStore = {
      contractVersion: 2,
      load: async ({ playerId }) => ({
        accounts: [{ playerId, currency: 'EUR', balance: '1' }], bet: null, transaction: null,
      }),
      commit: async ({ account }) => account.delta === '0'
        ? { status: 'committed', balance: '1', walletTransactionId: null }
        : { status: 'refused', errorCode: 'LIMIT_REACHED', description: 'The limit of the day is reached' },
    }
    const options: WalletOptions = {
      authorizeBet(request, account) {
        const currencies: [string, string] = [request.currency, account.currency]
        if (currencies[0] !== currencies[1]) throw new WalletRefusal('ANY_CODE', 'text')
      },
      onOutcome: event => { const reason: string = event.reason; void reason },
    }
    const createMemoryStoreOf = (players: Iterable<Account>) => ({ store: createMemoryStore(players), pool: 'mine' })
    export async function main(): Promise<string> {
      const memory = createMemoryStore([{ playerId: 'p1', currency: 'EUR', balance: '1.00' }])
      const outcome: WalletOutcome = await handlePlaceBet(memory, {}, options)
      if (outcome.ok) { const balance: string = outcome.balance; return balance }
      const code: string = outcome.errorCode
      const answer = createHttpHandler(store, { ...options, authenticate: basicAuth({ username: 'u', password: 'p' }) })
      const response = await answer({ method: 'POST', path: '/placebet', headers: {}, body: '{}' })
      const read = createRequestParser().placebet({})
      if ('request' in read) {
        const decision = decidePlaceBet(read.request, { accounts: [], bet: null, transaction: null })
        return decision.outcome.ok ? decision.outcome.currency : decision.outcome.description
      }
      const { passed }: { passed: boolean } = await checkWalletStore({ open: players => createMemoryStoreOf(players) })
      for (const { id, run } of walletStoreCases({ open: players => createMemoryStoreOf(players) })) void [id, run, passed]
      const postgres: PostgresStore = createPostgresStore({ query: async () => ({ rows: [] }) }, {
        async withinTransaction(query, pending) {
          for (const { changes, balance, refuse } of pending) {
            await query('SELECT $1', [changes.transaction.betId, balance])
            if (changes.account.delta === '-1') refuse('LIMIT_REACHED', 'The limit of the day is reached')
          }
        },
      })
      const batches: Batches<string, string> = createBatches({
        ...{ slotsMax: 1, batchMax: 1, queueMax: 1, queuedMsMax: 1, sheddable: () => false },
        onShed: entry => entry.resolve('shed'),
        perform: async entries => entries.forEach(entry => entry.resolve(entry.item)),
      })
      void batches.stats.queued
      const mysql: MysqlStore = createMysqlStore([{ getConnection() {} }], {
        schema: 'wallet',
        players: { table: 'pam.accounts', id: 'id', idCollation: 'utf8mb4_general_ci', currency: 'c', balance: 'b' },
      })
      await mysql.ping().catch(error => (error as StoreError).code === 'UNAVAILABLE')
      await postgres.ready().catch(error => (error as StoreError).code === 'SCHEMA_MISSING')
      const lookups: WalletLookups = createPostgresLookups({ query: async () => ({ rows: [] }) })
      const history = await lookups.bet('b-1')
      if (history !== null) return explainBet(history).verdict
      const totals = dailyTotals(lookups)
      void [totals, formatReconciliation]
      const health: { drain(): void } = createHealth({ check: () => postgres.ping() })
      subscribe('bet-wallet:commit', ({ status }) => { const text: string | null = status; void text })
      void [health, collectMetrics, stopGracefully]
      // @ts-expect-error authenticate is required
      createHttpHandler(store, {})
      // @ts-expect-error amounts are text
      createMemoryStore([{ playerId: 'p1', currency: 'EUR', balance: 1 }])
      const audit: AuditReport = await auditWallet({ baseUrl: 'http://127.0.0.1/', playerId: 'p1', currency: 'EUR' })
      const simulation: SimulationReport = await simulateSportsbook({ baseUrl: audit.target, players: ['p1'] })
      // @ts-expect-error playerId is required
      await auditWallet({ baseUrl: simulation.target, currency: 'EUR' })
      const failed: WalletError | null = null
      return code + response.body + read.issues + String(failed)
    }`
  const imported = `
    import { handlePlaceBet, type Account, type WalletError, type WalletOptions, type WalletOutcome, WalletRefusal, type WalletStore } from 'bet-wallet'
    import { type AuditReport, auditWallet, type SimulationReport, simulateSportsbook } from 'bet-wallet/audit'
    import { type Batches, createBatches } from 'bet-wallet/batches'
    import { createRequestParser, decidePlaceBet } from 'bet-wallet/decide'
    import { basicAuth, createHttpHandler } from 'bet-wallet/http'
    import { dailyTotals, explainBet, type WalletLookups } from 'bet-wallet/lookups'
    import { createMemoryStore } from 'bet-wallet/memory'
    import { createMysqlStore, type MysqlStore } from 'bet-wallet/mysql'
    import { createPostgresLookups, createPostgresStore, type PostgresStore, type StoreError } from 'bet-wallet/postgres'
    import { formatReconciliation } from 'bet-wallet/reconcile'
    import { collectMetrics, createHealth, stopGracefully, subscribe } from 'bet-wallet/operations'
    import { createTryPage } from 'bet-wallet/try'
    import { checkWalletStore, walletStoreCases } from 'bet-wallet/testing'`

  const commonJs = { module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10 }
  const bundler = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }
  const node16 = { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 }

  it.each([
    ['nodenext', 'consumer.mts', nodeNext, 'd.ts'],
    ['nodenext', 'consumer.cts', nodeNext, 'd.cts'],
    ['node16', 'consumer.mts', node16, 'd.ts'],
    ['node16', 'consumer.cts', node16, 'd.cts'],
    ['bundler', 'consumer.ts', bundler, 'd.ts'],
    ['node10', 'consumer.ts', commonJs, 'd.cts'],
  ])('serve a strict program (%s, %s), with nothing else installed', async (_, name, options, extension) => {
    await writeFile(join(project, name), `${imported}\n${consumer}`)
    const program = ts.createProgram([join(project, name)], {
      ...nodeNext,
      ...options,
      lib: ['lib.es2022.d.ts'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
    })
    // docs/first-hour.md, TypeScript: fast-check 4 has no types for node10. Its own files do not find their imports.
    const isKnown = ({ code, file }: ts.Diagnostic) =>
      options === commonJs && code === 2307 && /\/fast-check\/lib\//.test(file?.fileName ?? '')
    const problems = ts.getPreEmitDiagnostics(program).filter(problem => !isKnown(problem))
    const host = { getCanonicalFileName: String, getCurrentDirectory: () => project, getNewLine: () => '\n' }
    expect(ts.formatDiagnostics(problems, host)).toBe('')
    const read = program.getSourceFiles().map(file => file.fileName)
    for (const path of subpaths) {
      expect(read.filter(file => file.endsWith(`/dist/${fileOf(path)}.${extension}`))).toHaveLength(1)
    }
  })
})

function fileOf(subpath: string): string {
  return subpath === 'bet-wallet' ? 'index' : subpath.replace('bet-wallet/', '')
}

/** Whether an export exists at run time: also behind `export { name } from`, not for types. */
function isValue(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return (target.flags & ts.SymbolFlags.Value) !== 0
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort()
}

/** Every module that a file imports, requires or re-exports. */
function modulesIn(text: string): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName)
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
}

/** Everything that these files of the package load: its own files, and packages by name. */
function reached(folder: string, ...entries: string[]): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    for (const module of modulesIn(readFileSync(join(folder, file), 'utf8'))) {
      if (module.startsWith('.')) visit(join(dirname(file), module).replaceAll('\\', '/'))
      else packages.add(module)
    }
  }
  for (const entry of entries) visit(entry)
  return { files, packages }
}
