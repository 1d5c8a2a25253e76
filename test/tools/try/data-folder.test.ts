/** The folder of an embedded database is for one process. Over a database that keeps nothing. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type EmbeddedDatabase, openDataFolder } from '../../../src/tools/try/data-folder.js'

let folder = ''
let locks = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bet-wallet-data-'))
  locks = join(folder, 'processes')
  mkdirSync(locks)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const here = encodeURIComponent(hostname())

/** Counts what it is asked for. */
function database() {
  const counts = { created: 0, closed: 0 }
  const create = async (): Promise<EmbeddedDatabase> => {
    counts.created += 1
    return {
      async close() {
        counts.closed += 1
      },
    }
  }
  return { counts, create }
}

test.each([
  // This process id is alive here: only the host tells them apart.
  [
    'of another host',
    `${process.pid}@another-host`,
    `process ${process.pid} of the host another-host: stop it`,
  ],
  // A process that runs, and is not this one.
  ['of another process', `${process.ppid}@${here}`, `process ${process.ppid}: stop it`],
])('given a lock %s, then the files are not opened', async (_, name, problem) => {
  writeFileSync(join(locks, name), '')
  const { counts, create } = database()
  await expect(openDataFolder(folder, create)).rejects.toThrow(`${folder} is in use by ${problem}`)
  expect(counts.created).toBe(0)
  expect(readdirSync(locks)).toEqual([name])
})

test('given locks of processes that have ended, one of them with this id, then the files are opened', async () => {
  for (const pid of [2 ** 30, process.pid]) writeFileSync(join(locks, `${pid}@${here}`), '')
  const { close } = await openDataFolder(folder, database().create)
  expect(readdirSync(locks)).toEqual([`${process.pid}@${here}`])
  await close()
  expect(readdirSync(locks)).toEqual([])
})

test('given a folder that this process has open, then it is not opened again before it is closed', async () => {
  const { counts, create } = database()
  const first = await openDataFolder(folder, create)
  await expect(openDataFolder(`${folder}/../${basename(folder)}`, create)).rejects.toThrow(
    `in use by process ${process.pid}`,
  )
  await first.close()
  await (await openDataFolder(folder, create)).close()
  expect(counts).toEqual({ created: 2, closed: 2 })
})

test('given a folder that cannot be written, then the database is closed, and the lock is gone', async () => {
  const { counts, create } = database()
  const opening = openDataFolder(folder, () => {
    rmSync(folder, { recursive: true })
    return create()
  })
  await expect(opening).rejects.toThrow(/ENOENT/)
  expect(counts).toEqual({ created: 1, closed: 1 })
  await (await openDataFolder(folder, create)).close()
})

test('given a database whose creation was killed, then its remains are removed', async () => {
  const remains = join(folder, 'pglite', 'half')
  mkdirSync(remains, { recursive: true })
  const noticed: string[] = []
  const open = () => openDataFolder(folder, database().create, () => noticed.push('new'))
  await (await open()).close()
  expect([existsSync(remains), noticed]).toEqual([false, ['new']])
  await (await open()).close()
  expect(noticed).toEqual(['new'])
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
