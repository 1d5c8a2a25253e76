import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type mysql from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { processes } from '../processes.js'
import { createMariadbDatabase } from './database.js'
import { freshMariadb, sharedMariadb } from './fresh-database.js'
import { installCommand, mariadbInstallation, noGalera, noMariadb } from './installation.js'
import { type MariadbServer, startMariadb, withConnection } from './server.js'

/** Long enough for any machine; a test that succeeds does not wait for it. */
const patience = { timeout: 50_000 }
const root = fileURLToPath(new URL('../..', import.meta.url))

const query = (config: mysql.ConnectionOptions, text: string) =>
  withConnection(config, async connection => (await connection.query(text))[0])

const processOf = ({ dataFolder }: Pick<MariadbServer, 'dataFolder'>) =>
  Number(readFileSync(join(dirname(dataFolder), 'pid'), 'utf8'))

const isRunning = (pid: number) => processes().some(process => process.pid === pid && process.state !== 'Z')

it('says what is missing, and the command that installs it', () => {
  for (const reason of [noMariadb, noGalera].filter(reason => reason?.includes('not found')))
    expect(reason).toContain(installCommand)
  if (noMariadb === null) expect(mariadbInstallation().mariadbd).toMatch(/^\/.*\/mariadbd$/)
  else expect(mariadbInstallation).toThrow(noMariadb)
})

describe('a MariaDB of our own', () => {
  let server: MariadbServer
  beforeAll(async () => {
    if (noMariadb === null) server = await startMariadb({ settings: { innodb_lock_wait_timeout: '7' } })
  })
  beforeEach(({ skip }) => skip(noMariadb !== null, noMariadb ?? ''))
  afterAll(() => server?.stop())

  it('requires a password, and listens on its loopback address only', async () => {
    const { config, version } = server
    expect(await query(config, 'SELECT VERSION() AS version')).toEqual([{ version }])
    expect(config.host).toMatch(/^127\./)
    expect(config.port).toBeLessThan(32_768)
    for (const wrong of [{ password: 'wrong' }, { password: '' }, { user: '' }])
      await expect(query({ ...config, ...wrong }, 'SELECT 1')).rejects.toMatchObject({ errno: 1045 })
    await expect(query({ ...config, host: '127.0.0.2' }, 'SELECT 1')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    })
  })

  it('is durable by default, and has the given settings', async () => {
    expect(
      await query(
        server.config,
        'SELECT @@innodb_flush_log_at_trx_commit AS durable, @@innodb_lock_wait_timeout AS given',
      ),
    ).toEqual([{ durable: 1, given: 7 }])
  })

  it('does not run as root', () => {
    const { uid, mode } = statSync(server.dataFolder)
    expect(mode & 0o077).toBe(0)
    expect(uid).not.toBe(0)
  })

  it('keeps commits, and nothing else, when it is killed', async () => {
    const { config, pool } = await createMariadbDatabase(server.config)
    await pool.query('CREATE TABLE paid (amount integer)')
    await pool.query('INSERT INTO paid VALUES (1)')
    const open = await pool.getConnection()
    await open.query('BEGIN')
    await open.query('INSERT INTO paid VALUES (2)')
    const pid = processOf(server)
    expect(isRunning(pid)).toBe(true)

    await server.kill()
    expect(isRunning(pid)).toBe(false)
    expect(server.isRunning()).toBe(false)
    await expect(query(config, 'SELECT 1')).rejects.toThrow()
    await expect(open.query('COMMIT')).rejects.toThrow()
    await expect(server.kill()).rejects.toThrow('MariaDB is not running')

    await server.start()
    expect(await query(config, 'SELECT * FROM paid')).toEqual([{ amount: 1 }])
    expect(server.log()).toContain('Starting crash recovery')
    await expect(server.start()).rejects.toThrow('MariaDB is running')
    open.destroy()
    await pool.end()
  })

  it('shuts down as by an administrator, and restarts', async () => {
    await server.shutDown()
    await expect(server.shutDown()).rejects.toThrow('MariaDB is not running')
    await server.start()
    expect(await query(server.config, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('hangs while it is paused, and continues', async () => {
    await withConnection(server.config, async connection => {
      server.pause()
      expect(() => server.pause()).toThrow('MariaDB is paused')
      let answered = false
      const answer = connection.query('SELECT 1 AS one').finally(() => {
        answered = true
      })
      await sleep(100)
      expect(answered).toBe(false)
      server.resume()
      expect((await answer)[0]).toEqual([{ one: 1 }])
      expect(() => server.resume()).toThrow('MariaDB is not paused')
    })
  })

  it.each(['running', 'paused', 'killed', 'shut down'])(
    'stop leaves no process and no folder: %s',
    async state => {
      const other = await startMariadb()
      const pid = processOf(other)
      expect(isRunning(pid)).toBe(true)
      if (state === 'paused') other.pause()
      if (state === 'killed') await other.kill()
      if (state === 'shut down') await other.shutDown()
      await other.stop()
      expect(isRunning(pid)).toBe(false)
      expect(existsSync(dirname(other.dataFolder))).toBe(false)
      await other.stop()
      await expect(other.start()).rejects.toThrow('MariaDB is stopped')
    },
  )

  it('reports why it does not start, and leaves nothing', async () => {
    await expect(startMariadb({ settings: { sql_mode: 'PLENTY' } })).rejects.toThrow(
      "Error while setting value 'PLENTY' to 'sql_mode'",
    )
  })

  it.each(['running', 'paused'])('does not outlive our process when that is killed: %s', async state => {
    const script = `
      import { startMariadb } from './test/mariadb/server.ts'
      const server = await startMariadb()
      console.log(JSON.stringify(server))
      process.stdin.resume()
      process.stdin.once('data', () => {
        server.pause()
        console.log('paused')
      })`
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
      cwd: root,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const { dataFolder } = JSON.parse((await lines.next()).value ?? '{}')
    const pid = processOf({ dataFolder })
    expect(isRunning(pid)).toBe(true)
    if (state === 'paused') {
      child.stdin.write('pause\n')
      expect((await lines.next()).value).toBe('paused')
    }
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    await expect.poll(() => existsSync(dirname(dataFolder)), patience).toBe(false)
    await expect.poll(() => isRunning(pid), patience).toBe(false)
  })

  it('does not keep our process alive', async () => {
    const script = `
      import { startMariadb } from './test/mariadb/server.ts'
      console.log((await startMariadb()).dataFolder)`
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

describe('the MariaDB of the run', () => {
  beforeEach(({ skip }) => skip(noMariadb !== null, noMariadb ?? ''))

  it('is shared by all test files', async () => {
    const [first, second] = await Promise.all([sharedMariadb(), sharedMariadb()])
    expect(second).toEqual(first)
    expect(await query(first.config, 'SELECT VERSION() AS version')).toEqual([{ version: first.version }])
  })

  it('has separate databases', async () => {
    const [first, second] = await Promise.all([
      freshMariadb({ pool: { connectionLimit: 1 } }),
      freshMariadb(),
    ])
    const [id, again] = await Promise.all(
      [1, 2].map(async () => (await first.pool.query('SELECT CONNECTION_ID() AS id'))[0]),
    )
    expect(again).toEqual(id)
    await first.pool.query('CREATE TABLE paid (amount integer)')
    await second.pool.query('CREATE TABLE paid (amount integer)')
    await first.pool.query('INSERT INTO paid VALUES (1)')
    expect((await second.pool.query('SELECT * FROM paid'))[0]).toEqual([])
    expect(await query(first.config, 'SELECT * FROM paid')).toEqual([{ amount: 1 }])

    await first.drop()
    await expect(query(first.config, 'SELECT 1')).rejects.toMatchObject({ errno: 1049 })
    expect(await query(second.config, 'SELECT * FROM paid')).toEqual([])
    await second.drop()
  })
})
