/** Nothing that the command prints or writes has the password of the database. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runCommand } from './running.js'

const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-secrets-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const secret = 's-3-x'
/** As people write them: characters that are not encoded, a port that is none, an address without its bracket. */
const malformed = [
  `u:${secret}/x@127.0.0.1:9/db`,
  `u:x/${secret}@127.0.0.1:9/db`,
  `u:${secret}#x@127.0.0.1:9/db`,
  `u:x#${secret}@127.0.0.1:9/db`,
  `u:1?${secret}@127.0.0.1:9/db`,
  `u:1/${secret}@127.0.0.1:9/db`,
  `u:${secret}@127.0.0.1:port/db`,
  `u:${secret}@127.0.0.1:99999/db`,
  `u:${secret}@[::1/db`,
  `u:${secret}@/db`,
  `u:${secret}@`,
  `u:${secret}@127.0.0.1:9/db?ssl=${secret}`,
  `u:${secret}@127.0.0.1:9/db?sslmode=${secret}`,
  `u:${secret}@127.0.0.1:9/db?password=${secret}`,
  `u:${secret}%@127.0.0.1:9/db`,
  `u:${secret}%zz@127.0.0.1:9/${secret}`,
  `u:%73-3-x@127.0.0.1:9/db`,
  `u:${secret} x@127.0.0.1:9/db`,
]
const schemes = ['postgres', 'postgresql', 'mysql', 'mariadb', 'MYSQL']

describe.each(schemes)('%s://', scheme => {
  it.each(malformed)('%s', async rest => {
    const url = `${scheme}://${rest}`
    const { code, out, error } = await runCommand(['bet', 'b-1'], {
      environment: { BET_WALLET_DATABASE_URL: url },
    })
    expect([code, out]).toEqual([2, ''])
    // mysql2 has a warning of its own for options that it does not know.
    expect(error).toMatch(/^(?:Ignoring invalid .*\n)*\S.*\n(?:\nSee bet-wallet bet --help\.\n)?$/)
    expect(error).not.toMatch(/s-3-x|%73/)
  })
})

it.each([
  ['of another scheme', [`mssql://u:${secret}@h/db`]],
  ['in place of the id', []],
])('a URL %s', async (_, urls) => {
  const words = ['bet', 'b-1', `postgres://u:${secret}@h/db`]
  const { error } = await runCommand(urls.length === 0 ? words : ['bet', 'b-1', '--database-url', ...urls])
  expect(error).not.toContain(secret)
})

it('an error that is thrown where nothing catches it', async () => {
  const config = join(folder, 'late.mjs')
  writeFileSync(
    config,
    `const error = Object.assign(new TypeError('Invalid URL'), { input: 'mysql://u:${secret}@h' })
    export const lookups = { bet: () => new Promise(() => setTimeout(() => { throw error }, 1)), transaction() {}, player() {}, owed() {}, transactions() {} }`,
  )
  const { code, error } = await runCommand(['bet', 'b-1', '--config', config])
  expect([code, error]).toEqual([2, 'Invalid URL\n'])
})

it.each([
  ['with an @', `u:x@${secret}@h/db`],
  ['where the message is cut', `${'u'.repeat(1_000)}:${secret}@h/db`],
])('an error that quotes a URL with a password %s', async (_, rest) => {
  const config = join(folder, 'quoting.mjs')
  const message = `${'x'.repeat(985)} mysql://${rest}`
  writeFileSync(
    config,
    `const fail = () => { throw new Error(${JSON.stringify(message)}) }
    export const lookups = { bet: fail, transaction: fail, player: fail, owed: fail, transactions: fail }`,
  )
  const { code, error } = await runCommand(['bet', 'b-1', '--config', config])
  expect(code).toBe(2)
  expect(error).not.toContain(secret)
  expect(error).toContain('://***@h')
})

it.each(['pg', 'mysql2'])('%s is not taken from a parent of the current folder', async driver => {
  const parent = join(folder, 'node_modules', driver)
  mkdirSync(parent, { recursive: true })
  writeFileSync(join(parent, 'index.js'), 'console.log("run")')
  const below = join(folder, `below-${driver}`)
  mkdirSync(below)
  const url = `${driver === 'pg' ? 'postgres' : 'mysql'}://u:p@127.0.0.1:9/db`
  const { code, out, error } = await runCommand(['bet', 'b-1', '--database-url', url], { cwd: below })
  expect([code, out]).toEqual([2, ''])
  expect(error).toMatch(/^The driver (?:pg or postgres|mysql2) is not installed in /)
})
