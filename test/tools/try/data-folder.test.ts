/** The folder of an embedded database: one process opens it, others ask that one. Over a database that keeps nothing. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type EmbeddedDatabase, openDataFolder, readDataFolder } from '../../../src/tools/try/data-folder.js'

let folder = ''
let locks = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bet-wallet-data-'))
  locks = join(folder, 'processes')
  mkdirSync(locks)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const here = encodeURIComponent(hostname())
const ownLock = () => join(locks, `${process.pid}@${here}`)

/** Counts what it is asked for. */
function database(rows: unknown[] = []) {
  const counts = { created: 0, closed: 0 }
  const query = async () => ({ rows })
  const create = async (): Promise<EmbeddedDatabase> => {
    counts.created += 1
    return {
      query,
      transaction: work => work({ query }),
      async close() {
        counts.closed += 1
      },
    }
  }
  return { counts, create }
}

test('given a lock of another host, then the files are not opened, and its process is not asked', async () => {
  // This process id is alive here: only the host tells them apart.
  writeFileSync(join(locks, `${process.pid}@another-host`), JSON.stringify({ port: 1, token: 't' }))
  writeFileSync(join(folder, 'complete'), '')
  const { counts, create } = database()
  const problem = `${folder} is in use by process ${process.pid} of the host another-host: stop it`
  await expect(openDataFolder(folder, create)).rejects.toThrow(problem)
  await expect(readDataFolder(folder, create)).rejects.toThrow(problem)
  expect(counts.created).toBe(0)
  expect(readdirSync(locks)).toEqual([`${process.pid}@another-host`])
})

test('given several queries when the process that answered has ended, then the files are opened once', async () => {
  const server = createServer((_, response) => response.end('{"rows":["of the other process"]}'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  // A process that runs, and is not this one.
  const lock = join(locks, `${process.ppid}@${here}`)
  writeFileSync(lock, JSON.stringify({ port, token: 't' }))
  writeFileSync(join(folder, 'complete'), '')
  const { counts, create } = database(['of the files'])
  const reading = await readDataFolder(folder, create)
  expect(await reading.query('SELECT 1')).toEqual({ rows: ['of the other process'] })

  rmSync(lock)
  server.close()
  server.closeAllConnections()
  const answers = await Promise.all(Array.from({ length: 5 }, () => reading.query('SELECT 1')))
  expect(answers).toEqual(Array.from({ length: 5 }, () => ({ rows: ['of the files'] })))
  expect(counts).toEqual({ created: 1, closed: 0 })
  await reading.close()
  expect(counts.closed).toBe(1)
})

test('given an answer that breaks off when its process closes, then the files are opened', async () => {
  const lock = join(locks, `${process.ppid}@${here}`)
  const server = createServer((_, response) => {
    rmSync(lock)
    response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  writeFileSync(lock, JSON.stringify({ port, token: 't' }))
  writeFileSync(join(folder, 'complete'), '')
  const reading = await readDataFolder(folder, database(['of the files']).create)
  expect(await reading.query('SELECT 1')).toEqual({ rows: ['of the files'] })
  await reading.close()
  server.close()
})

test('given a folder that this process has open, then it is not opened again, but read', async () => {
  const first = await openDataFolder(folder, database(['of the first']).create)
  const { counts, create } = database()
  await expect(openDataFolder(`${folder}/../${basename(folder)}`, create)).rejects.toThrow(
    `in use by process ${process.pid}`,
  )
  const reading = await readDataFolder(folder, create)
  expect(await reading.query('SELECT 1')).toEqual({ rows: ['of the first'] })
  await reading.close()
  await first.close()
  await (await openDataFolder(folder, create)).close()
  expect(counts).toEqual({ created: 1, closed: 1 })
})

test('given rows that JSON cannot hold, then a bigint is text, and the rest is an error', async () => {
  const endless: unknown[] = []
  endless.push(endless)
  const ask = async (rows: unknown[]) => {
    const { close } = await openDataFolder(folder, database(rows).create)
    const { port, token } = JSON.parse(readFileSync(ownLock(), 'utf8'))
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{"text":"SELECT 1"}' },
    })
    await close()
    return [response.status, await response.json()]
  }
  expect(await ask([{ total: 2n ** 60n }])).toEqual([200, { rows: [{ total: '1152921504606846976' }] }])
  expect(await ask(endless)).toEqual([400, { message: expect.stringContaining('circular') }])
})

test('given a file of its name that others may read, then they cannot read the token', async () => {
  writeFileSync(ownLock(), '')
  chmodSync(ownLock(), 0o644)
  const { close } = await openDataFolder(folder, database().create)
  expect(statSync(ownLock()).mode & 0o077).toBe(0)
  await close()
  expect(existsSync(ownLock())).toBe(false)
})

test('given a lock that cannot be written, then the database is closed', async () => {
  const { counts, create } = database()
  const opening = openDataFolder(folder, () => {
    rmSync(locks, { recursive: true })
    return create()
  })
  await expect(opening).rejects.toThrow(/ENOENT/)
  expect(counts).toEqual({ created: 1, closed: 1 })
})

test.each([
  ['new', () => rmSync(folder, { recursive: true })],
  ['there, and open to all', () => chmodSync(folder, 0o755)],
])('given a folder that is %s, when it is opened, then only its owner may enter it', async (_, prepare) => {
  prepare()
  const { close } = await openDataFolder(folder, database().create)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  await close()
})
