/** Statements of the commands have a time limit: an option of the driver, which stands in here. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from './running.js'

const drivers = {
  pg: `exports.Pool = class {
    on() {}
    async end() {}
    async query(statement) {
      console.log(JSON.stringify(statement))
      throw new Error('Query read timeout')
    }
  }`,
  mysql2: `exports.createPool = () => ({ promise: () => ({
    end: async () => {},
    getConnection: async () => ({
      release() {},
      destroy: () => console.log('destroyed'),
      async query(statement) {
        console.log(JSON.stringify(statement))
        throw Object.assign(new Error('Query inactivity timeout'), { code: 'PROTOCOL_SEQUENCE_TIMEOUT' })
      },
    }),
  }) })`,
}

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bet-wallet-drivers-'))
  for (const [name, text] of Object.entries(drivers)) {
    await mkdir(join(folder, 'node_modules', name), { recursive: true })
    await writeFile(join(folder, 'node_modules', name, 'index.js'), text)
  }
})
afterAll(() => rm(folder, { recursive: true }))

/** Without the comments that it prints. */
async function runGrants(url: string) {
  const { out, ...rest } = await runCommand(['grants', 'wallet', '--database-url', url], { cwd: folder })
  return { ...rest, out: out.replace(/^--.*\n/gm, '') }
}

test('pg', async () => {
  const { out, error, code } = await runGrants('postgres://a@127.0.0.1:1/b')
  expect(JSON.parse(out)).toMatchObject({ query_timeout: 60_000 })
  expect(error).toContain('Query read timeout')
  expect(code).toBe(2)
})

test('mysql2: a connection on which the statement goes on is closed, for the pool to end', async () => {
  const { out, error, code } = await runGrants('mysql://a@127.0.0.1:1/b')
  const [statement = '', ...rest] = out.trim().split('\n')
  expect(JSON.parse(statement)).toMatchObject({ timeout: 60_000 })
  expect(rest).toEqual(['destroyed'])
  expect(error).toContain('Query inactivity timeout')
  expect(code).toBe(2)
})
