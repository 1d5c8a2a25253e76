/** Each option is declared once, and its rules hold for all of them. */
import { describe, expect, test, vi } from 'vitest'
import { allCommands, commandNames } from '../../../src/tools/command/commands.js'
import { decimal, duration, nameOf, type Option, time, whole } from '../../../src/tools/command/option.js'
import { readPage, rowsOf, sectionOf } from '../../docs/pages.js'
import { runCommand } from './running.js'

const commands = (await allCommands()).map(command => ({
  name: command.usage.split(' ')[0] ?? '',
  ...command,
}))
const options = commands.flatMap(({ name, run, options: declared }) =>
  Object.values(declared).map(option => ({ command: name, run, option, flag: `--${nameOf(option)}` })),
)
const wordsOf = ({ flag }: Option<unknown>) => flag.replace(/ .*/, ' x').split(' ')

test('there are at most 12 commands, and at most 65 names of options', () => {
  expect(commands.map(({ name }) => name)).toEqual(commandNames)
  expect(commandNames.length).toBeLessThanOrEqual(12)
  expect(new Set(options.map(({ flag }) => flag)).size).toBeLessThanOrEqual(65)
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
    await expect(run(['x', ...others, flag, ''])).rejects.toThrow(`${flag} is missing; there is no default`)
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

test('the page lists each option with what the help says of it', () => {
  const rows = rowsOf(sectionOf(readPage('docs/configuration.md'), 'Commands')).slice(1)
  for (const { command, flag } of options.filter(each => each.flag !== '--help')) {
    const found = rows.filter(
      ([name = '', used = '']) => name.includes(flag) && used.split(', ').includes(command),
    )
    expect(
      found.map(([name = '']) => name.split(/[` ]/)[1]),
      command,
    ).toContain(flag)
  }
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
