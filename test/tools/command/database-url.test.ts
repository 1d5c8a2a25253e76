/** Which database a command uses: nothing listens on port 1, and the error names the server that it asked. */
import { expect, test } from 'vitest'
import { runCommand } from './running.js'

const urlOf = (port: number) => `postgres://a:secret@127.0.0.1:${port}/b`
const none = { BET_WALLET_DATABASE_URL: '', DATABASE_URL: '' }
const commands = [
  ['bet', 'b-1'],
  ['migrate', '--own-players'],
  ['grants', 'wallet'],
  ['init', '--folder', 'test/.tmp/init'],
  ['check', '--own-players'],
]

test.each(commands)('given both variables, then %s uses BET_WALLET_DATABASE_URL', async (...words) => {
  const both = { BET_WALLET_DATABASE_URL: urlOf(1), DATABASE_URL: urlOf(2) }
  const { out, error } = await runCommand(words, { environment: both })
  expect(out + error).toContain('127.0.0.1:1')
})

test.each(commands)('given DATABASE_URL alone, then %s uses it', async (...words) => {
  const { out, error } = await runCommand(words, { environment: { ...none, DATABASE_URL: ` ${urlOf(2)}\n` } })
  expect(out + error).toContain('127.0.0.1:2')
})

test.each(commands)('given neither, then %s names the option and both variables', async (...words) => {
  const { code, error } = await runCommand(words, { environment: none })
  expect(code).toBe(2)
  expect(error).toMatch(
    /^.*The database is missing: --database-url .* BET_WALLET_DATABASE_URL or DATABASE_URL/,
  )
})

test('given BET_WALLET_SCHEMA, then it is the schema, unless the option names another', async () => {
  const environment = { ...none, DATABASE_URL: urlOf(1), BET_WALLET_SCHEMA: 'elsewhere' }
  const words = ['grants', 'wallet', '--own-players']
  expect((await runCommand(words, { environment })).out).toContain('ON SCHEMA "elsewhere"')
  const named = await runCommand([...words, '--schema', 'here'], { environment })
  expect(named.out).toContain('ON SCHEMA "here"')
})

test.each(commands.slice(0, -1))(
  'given several URLs, which check reads, then %s says so',
  async (...words) => {
    const environment = { ...none, BET_WALLET_DATABASE_URL: `${urlOf(1)} ${urlOf(2)}` }
    const { code, error } = await runCommand(words, { environment })
    expect(code).toBe(2)
    expect(error).toContain('Only check reads several URLs: state one by --database-url')
    expect(error).not.toContain('secret')
  },
)
