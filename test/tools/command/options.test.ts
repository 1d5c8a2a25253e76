/** Each option is declared once, and its rules hold for all of them. */
import { describe, expect, test, vi } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { settingsOf as auditSettings } from '../../../src/tools/audit/options.js'
import { allCommands, commandNames } from '../../../src/tools/command/commands.js'
import { decimal, duration, nameOf, type Option, time, whole } from '../../../src/tools/command/option.js'
import { settingsOf as simulationSettings } from '../../../src/tools/random/options.js'
import { settingsOf as reconcileSettings } from '../../../src/tools/reconcile/options.js'
import { readPage, sectionOf } from '../../docs/pages.js'
import { runCommand } from './running.js'

const commands = (await allCommands()).map(command => ({
  name: command.usage.split(' ')[0] ?? '',
  ...command,
}))
const options = commands.flatMap(({ name, run, options: declared }) =>
  Object.values(declared).map(option => ({ command: name, run, option, flag: `--${nameOf(option)}` })),
)
const wordsOf = ({ flag }: Option<unknown>) => flag.replace(/ .*/, ' x').split(' ')

test('there are at most 12 commands, and at most 68 names of options', () => {
  expect(commands.map(({ name }) => name)).toEqual(commandNames)
  expect(commandNames.length).toBeLessThanOrEqual(12)
  expect(new Set(options.map(({ flag }) => flag)).size).toBeLessThanOrEqual(68)
})

test.each(commands)('the help of $name names each of its options, in at most 100 columns', async each => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  expect(await each.run(['-h'])).toBe(0)
  const help = String(log.mock.calls[0]?.[0])
  log.mockRestore()
  expect(help.split('\n').filter(line => line.length > 100)).toEqual([])
  expect(help).toMatch(/^Usage\n {2}bet-wallet .*\n\n[\s\S]*\nThe exit code is 0/)
  const named = [...help.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag)
  const { help: _, ...others } = each.options
  expect(named).toEqual(Object.values(others).map(option => `--${nameOf(option)}`))
})

describe('given twice', () => {
  test.each(options.filter(({ option }) => !option.isSeveral))(
    '$command $flag is an error that names it',
    async ({ run, option, flag }) => {
      const words = wordsOf(option)
      await expect(run([...words, ...words])).rejects.toThrow(`${flag} is given twice`)
    },
  )

  test('these take several values, and no others', () => {
    const several = options.flatMap(({ command, option, flag }) =>
      option.isSeveral ? `${command} ${flag}` : [],
    )
    expect(several.sort()).toEqual([
      ...['audit --code', 'audit --header', 'audit --only', 'audit --status', 'check --database-url'],
      ...['init --may-bet', 'simulate --fault', 'simulate --header'],
    ])
  })
})

test.each(options.filter(({ option }) => option.flag.includes(' ')))(
  '$command $flag without a value is an error that names it',
  async ({ run, flag }) => {
    await expect(run([flag])).rejects.toThrow(`Option '${flag} <value>' argument missing`)
  },
)

test.each(options.filter(({ option }) => option.isRequired))(
  'without $flag, which is required, $command names it',
  async ({ command, run, flag }) => {
    const others = options
      .filter(each => each.command === command && each.option.isRequired && each.flag !== flag)
      .flatMap(({ option }) => wordsOf(option))
    await expect(run(['x', ...others])).rejects.toThrow(`${flag} is missing; there is no default`)
    await expect(run(['x', ...others, flag, ''])).rejects.toThrow(`${flag} is missing: its value is empty`)
  },
)

test.each<[Option<unknown>, string, unknown]>([
  [whole('--n <n>', ''), '12', 12],
  [decimal('--n <n>', ''), '0.5', 0.5],
  [duration('--n <n>', ''), '500ms', 500],
  [duration('--n <n>', ''), '1.5m', 90_000],
  [time('--n <n>', ''), '2026-11-22T10:00+01:00', '2026-11-22T09:00:00.000000Z'],
])('reads %o', (option, text, value) => {
  expect(option.read([text], '--n')).toBe(value)
  expect(() => option.read(['1 x'], '--n')).toThrow(/^--n must be a .*, not "1 x"$/)
})

test('the page lists each option of each command', () => {
  const { text } = sectionOf(readPage('docs/configuration.md'), 'Commands')
  const listed = [...text.matchAll(/^- \*\*(.+?)\*\*: (.*)$/gm)].flatMap(([, names = '', flags = '']) =>
    names
      .split(', ')
      .flatMap(name => [...flags.matchAll(/`(--[\w-]+)/g)].map(([, flag]) => `${name} ${flag}`)),
  )
  const declared = options
    .filter(({ flag }) => flag !== '--help')
    .map(({ command, flag }) => `${command} ${flag}`)
  expect(listed.sort()).toEqual(declared.sort())
})

/** What the tools, and not the parser, reject. Nothing listens on port 1. */
const rejected: [words: string[], problem: RegExp][] = [
  [['audit', 'x', '--player', 'a', '--currency', 'EUR'], /^<base-url> must be a URL/],
  [
    ['audit', 'http://a:b@127.0.0.1:1', '--player', 'a', '--currency', 'EUR'],
    /^<base-url> must not contain a user/,
  ],
  ...(
    [
      [['--other-player', 'a'], /^--other-player must differ from --player$/],
      [['--currency', 'E R'], /^--currency must be a currency code/],
      [['--status', 'INVALID_BET=1'], /^--status\.INVALID_BET must be a status/],
      [['--code', 'NO_CODE=x'], /^--code: unknown code "NO_CODE"/],
      [['--only', 'AU-9999'], /^--only: there is no case "AU-9999"/],
      [['--rounds', '0'], /^--rounds must be a whole number from 1/],
      [['--attempts', '0'], /^--attempts must be/],
      [['--concurrency', '1'], /^--concurrency must be/],
      [['--seed', '4294967296'], /^--seed must be/],
      [['--minor-units', '19'], /^--minor-units\("EUR"\) must be/],
      [['--timeout', '0s'], /^--timeout, in milliseconds, must be a whole number from 1 to 600000$/],
      [['--pause', '0s'], /^--pause, in milliseconds, must be/],
      [['--time-budget', '0s'], /^--time-budget, in milliseconds, must be/],
      [['--header', 'a b: c'], /^--header: "a b" is not a valid header name/],
      [['--user', 'a:b'], /^--user must be non-empty text without a colon/],
      [['--settle-url', '//x'], /^--settle-url must be a path such as \/settlement or a URL, not "\/\/x"/],
      [['--settle-url', 'http://'], /^--settle-url must be a URL/],
      [['--settle-command', ''], /^--settle-command is missing: its value is empty/],
      [['--restart-command', ''], /^--restart-command is missing: its value is empty/],
    ] as [string[], RegExp][]
  ).map(([words, problem]): [string[], RegExp] => {
    const currency = words.includes('--currency') ? [] : ['--currency', 'EUR']
    return [['audit', 'http://127.0.0.1:1', '--player', 'a', ...currency, ...words], problem]
  }),
  ...(
    [
      [['--players', '0'], /^--players must be a list of at least one/],
      [['--players', 'anna,anna'], /^--players\[1\]\.playerId: anna is duplicated/],
      [['--players', 'a', '--rate', '0'], /^--rate must be a number above 0/],
      [['--players', 'a', '--chaos', '7'], /^--chaos must be/],
      [['--players', 'a', '--concurrency', '0'], /^--concurrency must be/],
      [['--players', 'a', '--pause', '25h'], /^--pause, in milliseconds, must be/],
    ] as [string[], RegExp][]
  ).map(([words, problem]): [string[], RegExp] => [['simulate', 'http://127.0.0.1:1', ...words], problem]),
  [['simulate', 'ftp://a', '--players', '2'], /^<base-url> must be a URL of http or https/],
  [['reconcile', 'r', '--from', 'x', '--to', '2026-11-22'], /^--from must be a date/],
  [['reconcile', 'r', '--from', '2026-11-22', '--to', 'x'], /^--to must be a date/],
  [['reconcile', 'r', '--from', '2026-11-22', '--to', '2026-11-21'], /^--to must be later than the start/],
  [
    ['reconcile', 'r', 'r', '--from', '2026-11-21', '--to', '2026-11-22'],
    /^<report> has the same report twice/,
  ],
  [
    ['reconcile', 'r', '--from', '2026-11-21', '--to', '2026-11-22', '--margin', '200h'],
    /^--margin, in milliseconds, must be/,
  ],
  [['try', '--port', '70000'], /^--port must be at most 65535/],
  [['player', 'anna', '--limit', '5000'], /^--limit must be/],
]

test.each(rejected)('%j: the problem names the flag, and no option of the code', async (words, problem) => {
  vi.stubEnv('BET_WALLET_PASSWORD', 'secret')
  vi.stubEnv('BET_WALLET_DATABASE_URL', 'postgres://a@127.0.0.1:1/b')
  const [name, ...others] = words
  const command = commands.find(each => each.name === name)
  // Commands listen for the signals that stop them as long as their process lives.
  vi.spyOn(process, 'on').mockReturnValue(process)
  const error = await command?.run(others).catch((reason: unknown) => reason)
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  expect(String((error as Error).message).replace(/^Invalid options: /, '')).toMatch(problem)
  expect((error as Error).message).not.toMatch(/baseUrl|[a-z]Ms\b|settle\.|credentials/)
})

test('a value that begins with a "-" is asked for in one word', async () => {
  for (const { run, flag } of options.filter(({ option }) => option.flag.includes(' '))) {
    const problem = `${flag} has no value. If it begins with a "-", write ${flag}=-x in one word`
    await expect(run([flag, '-1'])).rejects.toThrow(problem)
  }
})

test('the version is that of the package', async () => {
  expect(await runCommand(['--version'])).toEqual({ code: 0, out: `${manifest.version}\n`, error: '' })
})

test('--staging says that it wants the port', () => {
  const staging = options.find(({ flag }) => flag === '--staging')
  expect(staging?.option.meaning).toContain('with its port')
})

test.each([
  [['frobnicate'], 'Unknown command "frobnicate": the commands are try, init, ', 'bet-wallet --help'],
  [['owed', '--frob'], "Unknown option '--frob'", 'bet-wallet owed --help'],
  [['audit', 'x', '--seed', '1', '--seed', '2'], '--seed is given twice', 'bet-wallet audit --help'],
])('%j: exit code 2, the problem, and where the help is', async (words, problem, help) => {
  const { code, out, error } = await runCommand(words)
  expect([code, out]).toEqual([2, ''])
  expect(error.startsWith(problem), error).toBe(true)
  expect(error).toContain(`\n\nSee ${help}.\n`)
})

/** Three tools have defaults of their own, for who calls them from code. */
test('a default that --help names is that of the code', () => {
  const wallet = { baseUrl: 'http://127.0.0.1:1', players: ['anna'], lookups: { async *transactions() {} } }
  const range = { from: '2026-11-21', to: '2026-11-22' }
  const inCode: Readonly<Record<string, object>> = {
    audit: auditSettings({ baseUrl: wallet.baseUrl, playerId: 'anna', currency: 'EUR' }, []),
    simulate: simulationSettings({ baseUrl: wallet.baseUrl, players: wallet.players }),
    reconcile: reconcileSettings({ report: 'a.csv', lookups: wallet.lookups, ...range }),
  }
  const declared = commands.flatMap(({ name, options: of }) =>
    Object.entries(of).flatMap(([key, { standard, read }]) =>
      standard === undefined || !(name in inCode) ? [] : [[`${name} ${key}`, read([standard], key)] as const],
    ),
  )
  expect(declared.length).toBeGreaterThan(6)
  expect(declared).toEqual(
    declared.map(([path]) => {
      const [name = '', key = ''] = path.split(' ')
      return [path, (inCode[name] as Record<string, unknown>)[key]]
    }),
  )
})
