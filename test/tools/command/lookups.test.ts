/** The commands bet, transaction and player: the built command as a separate process, on real databases. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { handlePlaceBet, recordSettlement } from '../../../src/index.js'
import { type Opened, testedDatabases } from '../../lookups/databases.js'
import { expectGoodPage, textOf } from '../report/page-rules.js'
import { runCommand } from './running.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const command = join(root, 'dist/command.cjs')
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-lookups-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (words: readonly string[], { url = '', ...where }: { cwd?: string; url?: string } = {}) =>
  runCommand(words, { ...where, environment: { BET_WALLET_DATABASE_URL: url } })

const times = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}/g

it('is built', () => {
  expect(existsSync(command), 'run `npm test`, which builds first').toBe(true)
})

const servers = testedDatabases.filter(({ name }) => name !== 'PGlite')

describe.each(servers)('on $name', ({ name, skipped, open }) => {
  describe.skipIf(skipped !== null)(skipped === null ? name : `${name} (skipped: ${skipped})`, () => {
    let wallet: Opened
    let url = ''
    /** The schema is the default on PostgreSQL, and the test's own on MariaDB. */
    let options: string[] = []
    beforeAll(async () => {
      wallet = await open({ ownPlayersTable: true })
      url = wallet.url ?? ''
      options = ['--schema', wallet.schema]
      const common = {
        playerId: 'anna',
        betId: 'b-123',
        currency: 'EUR',
        transactionDate: '2026-11-22T10:00:00Z',
      }
      const bet = { ...common, sessionId: 's', odds: '2', betType: 'SINGLE', amount: '30' }
      await handlePlaceBet(wallet.store, { ...bet, transactionId: 't-1' })
      await handlePlaceBet(wallet.store, { ...bet, transactionId: 't-2' })
      await recordSettlement(wallet.store, {
        ...common,
        transactionId: 's-1',
        type: 'BET_PAID',
        amount: '75',
      })
    })
    afterAll(() => wallet?.close())

    it('tells a bet, with the players table that the migration has registered', async () => {
      const { code, out, error } = await run(['bet', 'b-123', '--database-url', url, ...options])
      expect(error).toBe('')
      const lines = out.split('\n').map(line => line.trim().replace(times, 'TIME'))
      expect(lines.slice(lines.indexOf('What happened') + 1).slice(0, 4)).toEqual([
        expect.stringMatching(/^Recorded \(UTC\) +What happened +Change +Balance after$/),
        expect.stringMatching(/^TIME {2}The stake of 30\.00 EUR was debited\. +-30\.00 +70\.00$/),
        expect.stringMatching(/^TIME {2}Another transaction had placed the bet already.* 0\.00 +70\.00$/),
        expect.stringMatching(/^TIME {2}The bet was settled: the payout of 75\.00 EUR .*\+75\.00 +145\.00$/),
      ])
      expect(out).toMatch(/t-2 +placebet +refused INVALID_BET +D10 +b-123 +anna/)
      expect(out).toContain('Taken once, for 30.00 EUR; settled: 75.00 EUR credited as BET_PAID')
      expect(out).toMatch(/^SETTLED: \+45\.00 EUR in sum/m)
      expect(code).toBe(0)
    })

    it('prints JSON, and reads the URL from the environment', async () => {
      const { code, out } = await run(['bet', 'b-123', '--json', '-', ...options], { url })
      expect(code).toBe(0)
      expect(JSON.parse(out)).toMatchObject({
        ...{ betId: 'b-123', bet: { stake: '30' }, verdict: expect.stringMatching(/^Taken once/) },
        transactions: [{ transactionId: 't-1', rule: 'spec 4.1', balanceAfter: '70' }, {}, {}],
      })
    })

    it('shows a transaction and a player', async () => {
      const transaction = await run(['transaction', 's-1', ...options], { url })
      expect(transaction.out).toMatch(/anna +b-123 +The bet was settled: .* +75\.00 EUR +\+75\.00 +145\.00\n/)
      expect(transaction.out).toMatch(/s-1 +settlement BET_PAID +accepted +D17 +b-123 +anna +\d+ /)
      const player = await run(
        ['player', 'anna', '--limit', '1', '--from', '2020-01-01T00:00+01:00', ...options],
        {
          url,
        },
      )
      expect(player.error).toBe('')
      expect(player.out).toMatch(/^Player anna\n/)
      expect(player.out).toMatch(/b-123 +The bet was settled: .* \+75\.00 +145\.00\n/)
      expect(player.out).toMatch(/\n {2}b-123 {2}Settled {2}30\.00 EUR {2}BET_PAID 75\.00 EUR/)
      expect(player.out).toMatch(/^KNOWN: balance 145\.00 EUR; 1 transaction shown$/m)
      const [, cursor = ''] = /Older transactions +--cursor (\S+)/.exec(player.out) ?? []
      const older = await run(['player', 'anna', '--cursor', cursor, ...options], { url })
      expect(older.out).toMatch(/t-1 +placebet .*\n.*t-2 +placebet /)
      expect(older.out).not.toMatch(/s-1|--cursor/)
    })

    it.each([
      [
        ['bet', 'b-9'],
        /^Bet b-9 is unknown\n[\s\S]* leaves no record if it did not arrive.*\n.* is known only if it was imported\.\n\nUNKNOWN: .*neither a bet nor a recorded call of this id/,
      ],
      [
        ['transaction', 't-9'],
        /^Transaction t-9 is unknown\n[\s\S]*\nUNKNOWN: no operation has recorded this id/,
      ],
      [
        ['player', 'unknown-1'],
        /^Player unknown-1 is unknown: neither the players' table nor a transaction has this id\n\nUNKNOWN: ids are compared exactly \(D24\)\.\n$/,
      ],
    ])('says what an unknown id means, with exit code 1: %j', async (words, message) => {
      const { code, out, error } = await run([...words, ...options], { url })
      expect([code, error]).toEqual([1, ''])
      expect(out).toMatch(message)
    })

    it.each([
      [['bet', 'b-9'], null],
      [['transaction', 't-9'], []],
      [['player', 'unknown-1'], null],
    ])('prints JSON of an unknown id, with exit code 1: %j', async (words, json) => {
      const { code, out, error } = await run([...words, '--json', '-', ...options], { url })
      expect([code, error]).toEqual([1, ''])
      expect(JSON.parse(out)).toEqual(json)
    })

    it('says that the schema was not migrated', async () => {
      const { code, error } = await run(['bet', 'b-123', '--schema', 'elsewhere'], { url })
      expect(code).toBe(2)
      expect(error).toMatch(/^The schema elsewhere has no tables of bet-wallet: .*\n$/)
    })

    it('writes pages for a dispute beside the text, and no part of the URL', async () => {
      const page = join(folder, `${name}.html`)
      for (const [words, text] of [
        [['transaction', 's-1'], /The bet was settled: the payout of 75\.00 EUR was credited\./],
        [['bet', 'b-123'], /The bet was settled: the payout of 75\.00 EUR was credited\./],
        [['player', 'anna'], /Another transaction had placed the bet already; nothing was debited\./],
      ] as const) {
        const { code, out, error } = await run([...words, '--html', page, ...options], { url })
        expect([code, error]).toEqual([0, `Written: ${page}\n`])
        expect(out).toMatch(/b-123/)
        const html = readFileSync(page, 'utf8')
        expectGoodPage(html)
        expect(html).toMatch(text)
        expect(html).toContain('145.00')
        expect(html).not.toContain(new URL(url).password)
        expect(statSync(page).mode & 0o777).toBe(0o600)
        rmSync(page)
      }
      for (const [words, text] of [
        [['bet', 'b-9'], 'neither a bet nor a recorded call'],
        [['player', 'unknown-1'], "neither the players' table nor a transaction has this id"],
      ] as const) {
        const unknown = await run([...words, '--html', page, ...options], { url })
        expect(unknown).toMatchObject({ code: 1, error: expect.stringContaining(`Written: ${page}`) })
        expectGoodPage(readFileSync(page, 'utf8'))
        expect(textOf(readFileSync(page, 'utf8'))).toContain(text)
        rmSync(page)
      }
    })

    it('says that the password is wrong, and never prints the URL', async () => {
      const wrong = url.replace(/:[^:@/]+@/, ':wrong-secret@')
      const { code, error } = await run(['bet', 'b-123', ...options], { url: wrong })
      expect(code).toBe(2)
      expect(error).toMatch(/^The database rejects this client: .*(?:password|denied).*\n$/i)
      expect(error).not.toMatch(/secret/)
    })

    it('says that no server listens', async () => {
      const closedPort = url.replace(/@[^/]+\//, '@127.0.0.1:9/')
      const { code, error } = await run(['bet', 'b-123', ...options], { url: closedPort })
      expect(code).toBe(2)
      expect(error).toMatch(/^The database is unavailable: .*ECONNREFUSED.*\n$/)
    })

    it('says that the driver is missing, and what to do', async () => {
      const { code, error } = await run(['bet', 'b-123', ...options], { url, cwd: folder })
      expect(code).toBe(2)
      expect(error).toMatch(
        /^The driver (?:pg or postgres|mysql2) is not installed in .*: npm install (?:pg|mysql2), here or .* Or .*--config\.\n$/,
      )
    })

    it('needs the index, or --scan', async () => {
      const bare = await open({ lookupIndexes: false })
      try {
        const words = ['player', 'anna', '--schema', bare.schema]
        const { code, error } = await run(words, { url: bare.url ?? '' })
        expect(code).toBe(2)
        expect(error).toMatch(
          /^.* has no index on \(player_id, recorded_at\).*\. Or read the whole table: option --scan\..*\n\nSee bet-wallet player --help\.\n$/,
        )
        expect((await run([...words, '--scan'], { url: bare.url ?? '' })).code).toBe(0)
      } finally {
        await bare.close()
      }
    })
  })
})

describe('a config file', () => {
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const lookups = `{
    bet: async betId => betId === 'b-1' ? { betId, bet: null, transactions: [] } : null,
    transaction: async () => [], player: async () => null, owed: async () => [], transactions: async function* () {},
  }`

  it('makes the lookups, is closed, and a pool that it left open does not keep the process', async () => {
    const config = file(
      'config.mjs',
      `setInterval(() => {}, 1000)
      export const lookups = ${lookups}
      export const close = () => console.log('closed')`,
    )
    const { code, out } = await run(['bet', 'b-1', '--config', config])
    expect(out).toMatch(/closed\nBet b-1 of player|Never taken/)
    expect(code).toBe(0)
    expect((await run(['bet', 'b-2', '--config', config])).code).toBe(1)
  })

  it('whose lookups never answer: exit code 2, not that of success', async () => {
    const config = file(
      'silent.mjs',
      `export const lookups = { ...${lookups.trim()}, bet: () => new Promise(() => {}) }`,
    )
    const { code, out, error } = await run(['bet', 'b-1', '--config', config])
    expect([code, out]).toEqual([2, ''])
    expect(error).toMatch(/^The command ended without a result: .*\n$/)
  })

  describe('and what is owed', () => {
    const owed = (betId: string, playerId: string, at: string) => ({
      bet: {
        betId,
        playerId,
        currency: 'EUR',
        credits: { BET_PAID: { live: null, reversed: '0', owed: '20' } },
      },
      refused: [{ recordedAt: at, transactionId: `u-${betId}` }],
    })
    const all = [
      owed('b-1', 'anna', '2026-11-01T10:00:00.000Z'),
      owed('b-2', 'ben', '2026-11-02T10:00:00.000Z'),
    ]
    const owedWith = (words: readonly string[]) =>
      run([
        'owed',
        '--config',
        file(
          'owed.mjs',
          `export const lookups = { ...${lookups.trim()}, owed: async () => ${JSON.stringify(all)} }`,
        ),
        ...words,
      ])

    it('is in words, or as JSON', async () => {
      const { code, out, error } = await owedWith([])
      expect([code, error]).toEqual([0, ''])
      expect(out).toMatch(/2026-11-01 10:00:00\.000 .*b-1[\s\S]*\nOWED: 40\.00 EUR, of 2 bets\n$/)
      const json = await owedWith(['--json', '-'])
      expect(json.code).toBe(0)
      expect(JSON.parse(json.out)).toMatchObject({
        totals: [{ currency: 'EUR', owed: '40', bets: 2 }],
        bets: [{ betId: 'b-1', owed: '20', transactionIds: ['u-b-1'] }, { betId: 'b-2' }],
      })
    })

    it.each([
      [['--player', 'ben'], ['b-2']],
      [['--from', '2026-11-02'], ['b-2']],
      [['--to', '2026-11-02'], ['b-1']],
      [['--player', 'ben', '--to', '2026-11-02'], []],
    ])('only that of %j: %j', async (words, betIds) => {
      const { out } = await owedWith([...words, '--json', '-'])
      expect(JSON.parse(out).bets.map((bet: { betId: string }) => bet.betId)).toEqual(betIds)
    })
  })

  it.each([
    ['missing', () => join(folder, 'missing.mjs'), /missing\.mjs cannot be loaded/],
    [
      'broken',
      () => file('broken.mjs', 'throw new Error("no pool")'),
      /broken\.mjs cannot be loaded: no pool/,
    ],
    ['without lookups', () => file('empty.mjs', 'export const store = {}'), /empty\.mjs must export lookups/],
  ])('that is %s is named', async (_, path, problem) => {
    const { code, error } = await run(['bet', 'b-1', '--config', path()])
    expect(code).toBe(2)
    expect(error).toMatch(problem)
  })
})

it.each([
  [['bet'], /<betId> is missing: bet-wallet bet <betId>/],
  [['bet', 'b', '1'], /Only one <betId> is allowed; unexpected: 1/],
  [['bet', 'b-1'], /The database is missing: --database-url/],
  [['owed', '--from', '2026-12-01', '--to', '2026-11-01'], /--to must be later than --from/],
  [['player', 'anna', '--from', '2026-12-01', '--to', '2026-12-01'], /--to must be later than --from/],
  [
    ['bet', 'b-1', '--database-url', 'http://user:secret@host/'],
    /must begin with postgres:\/\/ or mysql:\/\//,
  ],
  [['bet', 'b-1', '--config', 'a.mjs', '--schema', 'x'], /--config excludes/],
  [
    ['player', 'anna', '--from', 'yesterday'],
    /--from must be a time, .*\n\nSee bet-wallet player --help\.\n$/,
  ],
  [['owed', 'b-1'], /owed has no arguments: b-1/],
  [
    ['transaction', 't-1', '--lines', 't.jsonl'],
    /^Unknown option '--lines'\n\nSee bet-wallet transaction --help\.\n$/,
  ],
  [['bet', 'b-1', '--html', '/nowhere/bet.html'], /\/nowhere\/bet\.html cannot be written/],
  [['player', 'anna', '--html', '/'], /\/ cannot be written: it is a directory/],
  [
    ['simulate', 'http://127.0.0.1:9', '--players', '1', '--html', '/'],
    /\/ cannot be written: it is a directory/,
  ],
])('explains wrong usage: %j', async (words, problem) => {
  const { code, error } = await run(words)
  expect(code).toBe(2)
  expect(error).toMatch(problem)
  expect(error).not.toMatch(/secret|\n {4}at /)
})
