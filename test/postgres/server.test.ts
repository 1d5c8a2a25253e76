import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { freshDatabase, sharedPostgres } from './fresh-database.js'
import {
  createDatabase,
  noServerOfOurOwn,
  openPostgres,
  type PostgresServer,
  startPostgres,
} from './server.js'

/** Long enough for any machine; a test that succeeds does not wait for it. */
const patience = { timeout: 50_000 }
const root = fileURLToPath(new URL('../..', import.meta.url))

type Row = Record<string, unknown>

async function query(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  try {
    await client.connect()
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

function isRunning(pid: number): boolean {
  if (!exists(pid)) return false
  if (process.platform !== 'linux') return true
  // A process that has exited but is not reaped is still listed.
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return isRunning(pid)
  }
}

const postmasterOf = ({ dataFolder }: Pick<PostgresServer, 'dataFolder'>) =>
  Number(readFileSync(`${dataFolder}/postmaster.pid`, 'utf8').split('\n')[0])

/** A connection and its errors: a connection that the server terminates emits the reason, then the end. */
async function connect(url: string): Promise<{ client: pg.Client; errors: Error[] }> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  const errors: Error[] = []
  client.on('error', error => errors.push(error))
  await client.connect()
  return { client, errors }
}

/** The postmaster and its processes, except the backend of this query. */
async function processesOf(server: Pick<PostgresServer, 'url' | 'dataFolder'>): Promise<number[]> {
  const rows = await query(server.url, 'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
  return [postmasterOf(server), ...rows.map(({ pid }) => Number(pid))]
}

describe('a server of our own', () => {
  let server: PostgresServer
  beforeAll(async () => {
    if (noServerOfOurOwn === null) server = await startPostgres({ settings: { work_mem: '5MB' } })
  })
  beforeEach(({ skip }) => skip(noServerOfOurOwn !== null, noServerOfOurOwn ?? ''))
  afterAll(() => server?.stop())

  it('requires a password, and listens on this machine only', async () => {
    expect(await query(server.url, 'SHOW server_version')).toEqual([{ server_version: server.version }])
    expect(await query(server.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }])
    expect(await query(server.url, 'SHOW unix_socket_directories')).toEqual([{ unix_socket_directories: '' }])
    const wrong = new URL(server.url)
    wrong.password = 'wrong'
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
  })

  it('is durable by default, and has the given settings', async () => {
    expect(await query(server.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }])
    expect(await query(server.url, 'SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }])
    expect(await query(server.url, 'SHOW work_mem')).toEqual([{ work_mem: '5MB' }])
    expect(Number((await query(server.url, 'SHOW max_connections'))[0]?.max_connections)).toBeGreaterThan(99)
  })

  it('does not run as root', () => {
    const { uid, mode } = statSync(server.dataFolder)
    expect(mode & 0o077).toBe(0)
    if (process.platform !== 'win32') expect(uid).not.toBe(0)
  })

  it('keeps commits, and nothing else, when it is killed', async () => {
    const { url, pool } = await createDatabase(server)
    const lost: Error[] = []
    pool.on('error', error => lost.push(error))
    await pool.query('CREATE TABLE paid (amount integer)')
    await pool.query('INSERT INTO paid VALUES (1)')
    const open = await pool.connect()
    open.on('error', error => lost.push(error))
    await open.query('BEGIN')
    await open.query('INSERT INTO paid VALUES (2)')
    const processes = await processesOf(server)

    await server.kill()
    expect(processes.length).toBeGreaterThan(4)
    expect(processes.filter(isRunning)).toEqual([])
    await expect(query(url, 'SELECT')).rejects.toThrow()
    await expect(open.query('COMMIT')).rejects.toThrow()
    await expect(server.kill()).rejects.toThrow('PostgreSQL is not running')

    await server.start()
    expect(await query(url, 'SELECT * FROM paid')).toEqual([{ amount: 1 }])
    expect(server.log()).toContain('automatic recovery in progress')
    await expect(server.start()).rejects.toThrow('PostgreSQL is running')
    open.release(true)
    await pool.end()
    expect(lost.length).toBeGreaterThan(0)
  })

  it.skipIf(process.platform === 'win32')(
    'restarts after a crash, once its remaining processes have ended',
    async () => {
      const { client, errors } = await connect(server.url)
      const orphan = Number((await client.query('SELECT pg_backend_pid() AS pid')).rows[0]?.pid)
      const postmaster = postmasterOf(server)
      process.kill(orphan, 'SIGSTOP')
      process.kill(postmaster, 'SIGKILL')
      await expect.poll(() => exists(postmaster), patience).toBe(false)
      const starting = server.start()
      await expect.poll(() => server.log(), patience).toContain('pre-existing shared memory block')
      process.kill(orphan, 'SIGCONT')
      await starting
      expect(isRunning(orphan)).toBe(false)
      await expect.poll(() => errors.length, patience).toBeGreaterThan(0)
      expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    },
  )

  it('shuts down as by an administrator, and restarts', async () => {
    const { errors } = await connect(server.url)
    await server.shutDown()
    await expect.poll(() => errors[0], patience).toMatchObject({ code: '57P01' })
    await expect(server.shutDown()).rejects.toThrow('PostgreSQL is not running')
    await server.start()
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('hangs while it is paused, and continues', async () => {
    const { client } = await connect(server.url)
    await server.pause()
    await expect(server.pause()).rejects.toThrow('PostgreSQL is paused')
    let answered = false
    const answer = client.query('SELECT 1 AS one').finally(() => {
      answered = true
    })
    await sleep(100)
    expect(answered).toBe(false)
    server.resume()
    expect((await answer).rows).toEqual([{ one: 1 }])
    expect(() => server.resume()).toThrow('PostgreSQL is not paused')
    await client.end()
  })

  it('can be killed while it is paused', async () => {
    await server.pause()
    await server.kill()
    await server.start()
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it.each(['running', 'paused', 'killed', 'shut down'])(
    'stop leaves no process and no folder: %s',
    async state => {
      const other = await startPostgres({ settings: { fsync: 'off' } })
      const processes = await processesOf(other)
      expect(processes.filter(isRunning)).toEqual(processes)
      if (state === 'paused') await other.pause()
      if (state === 'killed') await other.kill()
      if (state === 'shut down') await other.shutDown()
      await other.stop()
      expect(processes.filter(isRunning)).toEqual([])
      expect(existsSync(dirname(other.dataFolder))).toBe(false)
      await other.stop()
      await expect(other.start()).rejects.toThrow('PostgreSQL is stopped')
    },
  )

  it('reports why it does not start, and leaves nothing', async () => {
    await expect(startPostgres({ settings: { work_mem: 'plenty' } })).rejects.toThrow(
      'invalid value for parameter "work_mem": "plenty"',
    )
  })

  // On Windows, child processes survive a killed process.
  it.skipIf(process.platform === 'win32').each(['running', 'paused'])(
    'does not outlive our process when that is killed: %s',
    async state => {
      const script = `
        import { startPostgres } from './test/postgres/server.ts'
        const server = await startPostgres({ settings: { fsync: 'off' } })
        console.log(JSON.stringify(server))
        process.stdin.resume()
        process.stdin.once('data', async () => {
          await server.pause()
          console.log('paused')
        })`
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
        cwd: root,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      const { url, dataFolder } = JSON.parse((await lines.next()).value ?? '{}')
      const processes = await processesOf({ url, dataFolder })
      expect(processes.filter(isRunning)).toEqual(processes)
      if (state === 'paused') {
        child.stdin.write('pause\n')
        expect((await lines.next()).value).toBe('paused')
      }
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
      await expect.poll(() => existsSync(dirname(dataFolder)), patience).toBe(false)
      expect(processes.filter(isRunning)).toEqual([])
    },
  )

  it('does not keep our process alive', async () => {
    const script = `
      import { startPostgres } from './test/postgres/server.ts'
      console.log((await startPostgres({ settings: { fsync: 'off' } })).dataFolder)`
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const gone = once(child, 'exit')
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const dataFolder: string = (await lines.next()).value ?? ''
    expect((await gone)[0]).toBe(0)
    await expect.poll(() => existsSync(dirname(dataFolder)), patience).toBe(false)
  })
})

describe('the server of the run', () => {
  it('is shared by all test files', async () => {
    const [first, second] = await Promise.all([sharedPostgres(), sharedPostgres()])
    expect(second).toEqual(first)
    expect(first.owned).toBe(noServerOfOurOwn === null)
    expect(await query(first.url, 'SHOW server_version')).toEqual([{ server_version: first.version }])
  })

  it('has separate databases', async () => {
    const [first, second] = await Promise.all([freshDatabase({ pool: { max: 2 } }), freshDatabase()])
    expect(first.pool.options.max).toBe(2)
    await first.pool.query('CREATE TABLE paid (amount integer)')
    await second.pool.query('CREATE TABLE paid (amount integer)')
    await first.pool.query('INSERT INTO paid VALUES (1)')
    expect((await second.pool.query('SELECT * FROM paid')).rows).toEqual([])
    expect(await query(first.url, 'SELECT * FROM paid')).toEqual([{ amount: 1 }])

    // A connection that was left open does not prevent it.
    const { errors } = await connect(first.url)
    await first.drop()
    await expect.poll(() => errors[0], patience).toMatchObject({ code: '57P01' })
    await expect(query(first.url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' })
    expect(await query(second.url, 'SELECT * FROM paid')).toEqual([])
    await second.drop()
  })

  it('drops a database whose pool still closes a connection: its error does not end the process', async () => {
    const { pool, drop } = await freshDatabase()
    const connection = await pool.connect()
    connection.release()
    const dropped = drop()
    // As when the server terminates it before it has closed: 57P01.
    connection.emit('error', new Error('terminating connection due to administrator command'))
    await dropped
  })

  it('is the server of DATABASE_URL, where it is set', async () => {
    const { url, version } = await sharedPostgres()
    const before = process.env.DATABASE_URL
    process.env.DATABASE_URL = url
    try {
      const server = await openPostgres()
      expect(server).toMatchObject({ url, version, owned: false })
      await server.stop()
      expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    } finally {
      if (before === undefined) delete process.env.DATABASE_URL
      else process.env.DATABASE_URL = before
    }
  })
})
