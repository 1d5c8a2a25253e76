/**
 * A real PostgreSQL for tests, benchmarks and soaks. It is started in its own folder, can be killed, paused
 * and restarted, and is removed at the end, also when the process that started it is killed.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { exitOf, isAlive, processes, signalTo, startMsMax, startWatchdog } from '../processes.js'
import { environment, type Installation, installPostgres, spawnAs } from './installation.js'

const pollMs = 10

/** A server to run statements on. */
export interface DatabaseServer {
  /** `postgres://user:password@host:port/database`, of a user who may create databases. */
  readonly url: string
  /** As the server reports it: `"18.4"`. */
  readonly version: string
  /** Whether we started it, and so may kill it: a {@link PostgresServer}. */
  readonly owned: boolean
  /** Stops it and removes its data. A server that we did not start keeps running. */
  stop(): Promise<void>
}

/** A server that we started. */
export interface PostgresServer extends DatabaseServer {
  readonly owned: true
  /** On 127.0.0.1; the same after each `start`. */
  readonly port: number
  /** The server's data. Removed by `stop`. */
  readonly dataFolder: string
  /**
   * SIGKILL to all of its processes at once, as in a power cut. Resolves when they have ended; the data stay.
   */
  kill(): Promise<void>
  /** A fast shutdown, as by an administrator or a failover: clients receive 57P01. The data stay. */
  shutDown(): Promise<void>
  /**
   * Restarts it on its data and port, after `kill`, `shutDown` or a crash. Resolves when it accepts
   * connections.
   */
  start(): Promise<void>
  /** SIGSTOP to all of its processes: connections stay open and silent. */
  pause(): Promise<void>
  /** Ends a pause. */
  resume(): void
  /** Whether its processes run, perhaps paused. */
  isRunning(): boolean
  /** Its log so far. */
  log(): string
}

export interface PostgresOptions {
  /**
   * Server settings by name: `{ fsync: 'off' }`. Default: those of PostgreSQL, with 200 `max_connections`.
   */
  settings?: Readonly<Record<string, string>>
  /** Where to create its folder, to choose the disk. Default: the folder for temporary files. */
  parentFolder?: string
  /** Data that exist already, as those of a standby. Default: a new, empty database cluster. */
  data?: {
    /** The password of the user postgres in these data. */
    password: string
    /** Fills the server's empty folder; its files must belong to the folder's owner. */
    fill(dataFolder: string): Promise<void>
  }
}

/** Why no server of our own can be killed, or `null`: the reason to skip a test. */
export const noServerOfOurOwn: string | null = process.env.DATABASE_URL
  ? 'DATABASE_URL names a server that must not be killed'
  : null

/** The server of `DATABASE_URL`, else a server of our own. */
export async function openPostgres(options: PostgresOptions = {}): Promise<DatabaseServer> {
  const url = process.env.DATABASE_URL
  if (!url) return startPostgres(options)
  const version = await withClient(url, async client => {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    return rows[0]?.server_version ?? ''
  })
  return { url, version, owned: false, stop: async () => {} }
}

/**
 * Starts a server of our own. It listens on 127.0.0.1 only and requires a password. It does not keep our
 * process alive, and does not outlive it.
 *
 * @throws Error when it does not start, with its log
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const installation = installPostgres(options.parentFolder)
  const { folder, version } = installation
  const dataFolder = join(folder, 'data')
  const logFile = join(folder, 'log')
  const password = options.data?.password ?? randomBytes(16).toString('hex')
  const watchdog = startWatchdog(folder, quit)
  let port = 0
  let url = ''
  let postmaster: ChildProcess | null = null
  let paused: readonly number[] | null = null
  let stopping: Promise<void> | null = null
  let removed = false

  const log = () => readFileSync(logFile, 'utf8')

  function launch(): ChildProcess {
    const settings = {
      max_connections: '200',
      ...options.settings,
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
    }
    const output = openSync(logFile, 'a')
    const child = spawn(
      installation.program('postgres'),
      ['-D', dataFolder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      // Its own session: Ctrl+C at the terminal reaches only us, and we stop the server.
      {
        cwd: folder,
        env: environment,
        stdio: ['ignore', output, output],
        detached: true,
        ...spawnAs(installation.account),
      },
    )
    closeSync(output)
    watchdog.watch([child.pid])
    child.once('exit', () => {
      paused = null
      watchdog.watch([])
    })
    child.unref()
    return child
  }

  async function start(choosePort: boolean): Promise<void> {
    if (removed) throw new Error('PostgreSQL is stopped')
    if (postmaster !== null && isAlive(postmaster)) throw new Error('PostgreSQL is running')
    const until = Date.now() + startMsMax
    for (;;) {
      if (choosePort) {
        port = await freePort()
        url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
      }
      const logged = log().length
      const child = launch()
      let last: unknown
      while (isAlive(child) && Date.now() < until) {
        try {
          await withClient(url, client => client.query('SELECT 1'), 10_000)
          if (!isAlive(child)) break
          postmaster = child
          return
        } catch (error) {
          last = error
          await sleep(pollMs)
        }
      }
      if (isAlive(child)) {
        child.kill('SIGKILL')
        await exitOf(child)
      }
      const newLog = log().slice(logged)
      // Processes of a killed server that are still ending, or a port that another process has taken
      // meanwhile.
      const isTemporary =
        /pre-existing shared memory block|lock file .* already exists|Address already in use/.test(newLog)
      if (!isTemporary || Date.now() >= until) {
        throw new Error(`PostgreSQL ${version} did not start:\n${newLog}`, { cause: last })
      }
      await sleep(pollMs)
    }
  }

  function running(): ChildProcess {
    if (postmaster === null || !isAlive(postmaster)) throw new Error('PostgreSQL is not running')
    return postmaster
  }

  /** Sends the postmaster a signal that stops it, and waits for its exit. */
  async function end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const child = running()
    child.kill(signal)
    // Paused processes receive it when they resume.
    resume()
    await exitOf(child)
  }

  function resume(): void {
    const pids = paused ?? []
    paused = null
    for (const pid of pids) signalTo(pid, 'SIGCONT')
    if (pids.length > 0) watchdog.watch(pids.slice(0, 1))
  }

  async function remove(): Promise<void> {
    removed = true
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    await watchdog.stop()
  }

  async function stop(): Promise<void> {
    try {
      // A killed server leaves shared memory that only a restart frees.
      if (postmaster === null || !isAlive(postmaster)) await start(false)
      // Without a final checkpoint: the data are removed now.
      await end('SIGQUIT')
    } finally {
      await remove()
    }
  }

  try {
    writeFileSync(logFile, '')
    createDataFolder(installation, dataFolder)
    if (options.data === undefined) await initialise(installation, dataFolder, password)
    else await options.data.fill(dataFolder)
    await start(true)
  } catch (error) {
    await remove()
    throw error
  }

  return {
    url,
    version,
    port,
    dataFolder,
    owned: true,
    log,

    async kill() {
      const child = running()
      const pids = paused ?? (await halt(child))
      for (const pid of pids) signalTo(pid, 'SIGKILL')
      await exitOf(child)
      while (processes().some(({ pid, state }) => pids.includes(pid) && state !== 'Z')) await sleep(pollMs)
    },

    shutDown: () => end('SIGINT'),

    start: () => start(false),

    isRunning: () => postmaster !== null && isAlive(postmaster),

    async pause() {
      const child = running()
      if (paused !== null) throw new Error('PostgreSQL is paused')
      paused = await halt(child)
      for (const pid of paused.slice(1)) signalTo(pid, 'SIGSTOP')
      watchdog.watch(paused)
    },

    resume() {
      if (paused === null) throw new Error('PostgreSQL is not paused')
      resume()
    },

    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

export interface DatabaseOptions {
  /** Options of the pool: `{ max: 16 }`. */
  pool?: Omit<pg.PoolConfig, 'connectionString'>
  /** Other than UTF8. */
  encoding?: 'LATIN1'
}

/** A database for one test file. */
export interface Database {
  readonly url: string
  /**
   * Connections to it. When the server is killed, the pool emits `error` for idle connections: a test that
   * kills the server must listen to it.
   */
  readonly pool: pg.Pool
  /** Ends the pool and drops the database; other connections to it are terminated. */
  drop(): Promise<void>
}

/** Creates an empty database on the server. */
export async function createDatabase(
  server: Pick<DatabaseServer, 'url'>,
  options: DatabaseOptions = {},
): Promise<Database> {
  const name = `bet_wallet_${randomBytes(8).toString('hex')}`
  const encoded = options.encoding && `ENCODING '${options.encoding}' LOCALE 'C' TEMPLATE template0`
  await withClient(server.url, client => client.query(`CREATE DATABASE ${name} ${encoded ?? ''}`))
  const location = new URL(server.url)
  location.pathname = `/${name}`
  const url = location.href
  const pool = new pg.Pool({ ...options.pool, connectionString: url })
  pool.on('connect', client => client.on('error', () => {}))
  return {
    url,
    pool,
    async drop() {
      // `end` does not wait until its connections are closed: those that are still closing are terminated, and the
      // pool emits their errors.
      pool.on('error', () => {})
      await pool.end()
      await withClient(server.url, client => client.query(`DROP DATABASE ${name} WITH (FORCE)`))
    },
  }
}

export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  connectionTimeoutMillis = 120_000,
): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis })
  // Without a listener, a broken connection would end the process. Its query is rejected in any case.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}

function createDataFolder({ account }: Installation, dataFolder: string): void {
  mkdirSync(dataFolder, { mode: 0o700 })
  if (account !== null) chownSync(dataFolder, account.uid, account.gid)
}

async function initialise(installation: Installation, dataFolder: string, password: string): Promise<void> {
  const { folder, account, version } = installation
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (account !== null) chownSync(passwordFile, account.uid, account.gid)
  await promisify(execFile)(
    installation.program('initdb'),
    [
      `--pgdata=${dataFolder}`,
      `--pwfile=${passwordFile}`,
      '--username=postgres',
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The same on every machine, independent of its locales. The provider is new in PostgreSQL 17.
      '--locale=C',
      ...(Number.parseInt(version, 10) >= 17
        ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8']
        : []),
      // Its files need not survive a power cut before the first start.
      '--no-sync',
      '--no-instructions',
    ],
    { cwd: folder, env: environment, ...spawnAs(account) },
  )
  rmSync(passwordFile)
}

/** The first process is the postmaster. Paused processes must be resumed, to end. */
const quit = `
  kill -QUIT $pids
  kill -CONT $pids
  while [ -e "$folder/data/postmaster.pid" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
  if [ -e "$folder/data/postmaster.pid" ]; then kill -KILL $pids; fi
`

/** Pauses the postmaster, so that it starts no new processes; returns its id and those of its children. */
async function halt(postmaster: ChildProcess): Promise<number[]> {
  const { pid } = postmaster
  if (pid === undefined) return []
  if (process.platform === 'win32') return [pid]
  postmaster.kill('SIGSTOP')
  for (;;) {
    const all = processes()
    const own = all.find(process => process.pid === pid)
    if (own === undefined || /[TZ]/.test(own.state)) {
      return [pid, ...all.filter(({ parent }) => parent === pid).map(process => process.pid)]
    }
    await sleep(1)
  }
}

/** Below the ephemeral ports: an outgoing connection could take one of those between `kill` and `start`. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 30_000)
    const server = createServer()
    server.listen(port, host)
    try {
      await once(server, 'listening')
      return port
    } catch (error) {
      if (!['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    } finally {
      server.close()
    }
  }
}
