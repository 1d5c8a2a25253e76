/**
 * A real MariaDB or MySQL for tests, benchmarks and soaks. It is started in its own folder and on its own loopback
 * address, can be killed, paused and restarted, and is removed at the end, also when the process that started
 * it is killed.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import mysql from 'mysql2/promise'
import type { Host } from '../mysql/network.js'
import { type Account, environment, spawnAs } from '../postgres/installation.js'
import { freePort } from '../postgres/server.js'
import { exitOf, isAlive, pauseGroup, processes, signalTo, startMsMax, startWatchdog } from '../processes.js'
import { mariadbInstallation, serverEnvironment } from './installation.js'

const pollMs = 20

/** Where a server is, as the options of a mysql2 connection or pool. */
export interface MariadbConfig {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  /** Of a server in a network of its own. */
  readonly socketPath?: string
}

/** A server that we started. */
export interface MariadbServer {
  /** Of a user with all rights; the same after each `start`. */
  readonly config: MariadbConfig
  /** As the server reports it: `"10.11.19-MariaDB-…"`. */
  readonly version: string
  /** The server's data. Removed by `stop`. */
  readonly dataFolder: string
  /** SIGKILL, as in a power cut. Resolves when it has ended; the data stay. */
  kill(): Promise<void>
  /** A normal shutdown, as by an administrator. The data stay. */
  shutDown(): Promise<void>
  /**
   * Restarts it on its data and address, after `kill`, `shutDown` or a crash. Resolves when it accepts
   * connections and {@link MariadbOptions.isReady}.
   */
  start(): Promise<void>
  /** SIGSTOP: connections stay open and silent. When it returns, no thread runs. */
  pause(): void
  /** Ends a pause. */
  resume(): void
  /** Whether its process runs, perhaps paused. */
  isRunning(): boolean
  /** Its log so far. */
  log(): string
  stop(): Promise<void>
}

export interface MariadbOptions {
  /** Server settings by name: `{ innodb_flush_log_at_trx_commit: '2' }`. Default: durable commits. */
  settings?: Readonly<Record<string, string>>
  /** Its loopback address. Default: one of its own. */
  host?: string
  /** The host of a network to run it on. Clients on this machine reach it by its socket. */
  network?: Host
  /** Default: a free one. */
  port?: number
  /** Where to create its folder, to choose the disk. Default: the folder for temporary files. */
  parentFolder?: string
  /** The data come from another server, at its start; this is the password in them. Default: new data. */
  transferredPassword?: string
  /** For new data. Default: a random one. */
  password?: string
  /** More arguments of the program, at its first start only. */
  firstArguments?: readonly string[]
  /** Asked again and again on a new connection, until `start` resolves. Default: it accepts connections. */
  isReady?(connection: mysql.Connection): Promise<boolean>
}

/** A program that is a server of MariaDB or MySQL. */
export interface Engine {
  name: 'MariaDB' | 'MySQL'
  /** The path of its program, and the account that runs it; `null`: our own. Both refuse to run as root. */
  program: string
  account: Account | null
  /** Server settings by name. */
  defaults: Readonly<Record<string, string>>
  /** Creates new data, and executes a file of SQL on them. */
  initialise(dataFolder: string, sqlFile: string): { program: string; parameters: string[] }
  /** SQL that removes the users that new data have. */
  withoutUsers: string
}

/** Small, and durable. Names as in Debian's package; what they leave out is MariaDB's own default. */
const mariadb = (): Engine => {
  const { mariadbd, installDb, account } = mariadbInstallation()
  const logFileSize = '16M'
  return {
    name: 'MariaDB',
    program: mariadbd,
    account,
    defaults: {
      character_set_server: 'utf8mb4',
      collation_server: 'utf8mb4_general_ci',
      innodb_flush_log_at_trx_commit: '1',
      innodb_buffer_pool_size: '64M',
      innodb_log_file_size: logFileSize,
      max_connections: '300',
    },
    initialise: (dataFolder, sqlFile) => ({
      program: installDb,
      parameters: [
        '--no-defaults',
        `--datadir=${dataFolder}`,
        `--extra-file=${sqlFile}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        `--innodb_log_file_size=${logFileSize}`,
      ],
    }),
    // A line per statement.
    withoutUsers: 'DELETE FROM mysql.global_priv;\nFLUSH PRIVILEGES;',
  }
}

/** Of every server of this run: `MARIADB_SETTINGS=innodb_snapshot_isolation=ON`, as MariaDB has it since 11.6.2. */
const settingsOfRun: Readonly<Record<string, string>> = Object.fromEntries(
  (process.env.MARIADB_SETTINGS ?? '')
    .split(',')
    .filter(setting => setting !== '')
    .map(setting => setting.split('=')),
)

/** A loopback address of its own: no other program's connections take its ports between `kill` and `start`. */
export const ownAddress = (): string =>
  process.platform === 'linux' ? `127.1.${randomInt(1, 255)}.${randomInt(1, 255)}` : '127.0.0.1'

/** A connection for some statements. */
export async function withConnection<T>(
  config: mysql.ConnectionOptions,
  work: (connection: mysql.Connection) => Promise<T>,
): Promise<T> {
  const connection = await mysql.createConnection({ connectTimeout: 30_000, ...config })
  // Without a listener, a broken connection would end the process. Its query is rejected in any case.
  connection.on('error', () => {})
  try {
    return await work(connection)
  } finally {
    connection.destroy()
  }
}

/**
 * Starts a server of our own. It listens on a loopback address only and requires a password. It does not keep
 * our process alive, and does not outlive it.
 *
 * @throws Error when MariaDB is not installed, or does not start, with its log
 */
export const startMariadb = async (options: MariadbOptions = {}): Promise<MariadbServer> =>
  startEngine(mariadb(), options)

/** The same of any engine. */
export async function startEngine(engine: Engine, options: MariadbOptions = {}): Promise<MariadbServer> {
  const { name, account } = engine
  const folder = mkdtempSync(join(options.parentFolder ?? tmpdir(), `bet-wallet-${name.toLowerCase()}-`))
  const dataFolder = join(folder, 'data')
  const logFile = join(folder, 'log')
  const watchdog = startWatchdog(folder, 'kill -s KILL -- $pids')
  const config: MariadbConfig = {
    host: options.network?.address ?? options.host ?? ownAddress(),
    port: 0,
    user: 'root',
    password: options.transferredPassword ?? options.password ?? randomBytes(16).toString('hex'),
    ...(options.network && { socketPath: join(folder, 'socket') }),
  }
  let version = ''
  let child: ChildProcess | null = null
  let starts = 0
  let paused = false
  let stopping: Promise<void> | null = null

  const log = () => readFileSync(logFile, 'utf8')

  const argumentsOf = (): string[] => [
    '--no-defaults',
    ...Object.entries({
      ...engine.defaults,
      ...settingsOfRun,
      ...options.settings,
      datadir: dataFolder,
      tmpdir: folder,
      socket: join(folder, 'socket'),
      pid_file: join(folder, 'pid'),
      bind_address: config.host,
      port: String(config.port),
    }).map(([name, value]) => `--${name}=${value}`),
    '--skip-name-resolve',
  ]

  function launch(): ChildProcess {
    const more = starts === 0 ? (options.firstArguments ?? []) : []
    starts += 1
    const output = openSync(logFile, 'a')
    const { program, before, as } = launcher(engine, options.network)
    const launched = spawn(program, [...before, ...argumentsOf(), ...more], {
      cwd: folder,
      env: serverEnvironment,
      stdio: ['ignore', output, output],
      // Its own session: Ctrl+C at the terminal reaches only us, and its programs for transfers end with it.
      detached: true,
      ...as,
    })
    closeSync(output)
    // The whole group.
    if (launched.pid !== undefined) watchdog.watch([-launched.pid])
    launched.once('exit', () => {
      paused = false
      watchdog.watch([])
    })
    launched.unref()
    return launched
  }

  const isReady = () =>
    withConnection(config, async connection => {
      const [rows] = await connection.query('SELECT VERSION() AS version')
      version = (rows as { version: string }[])[0]?.version ?? ''
      return (await options.isReady?.(connection)) ?? true
    })

  async function start(): Promise<void> {
    if (stopping !== null) throw new Error(`${name} is stopped`)
    if (child !== null && isAlive(child)) throw new Error(`${name} is running`)
    const logged = log().length
    const until = Date.now() + startMsMax
    child = launch()
    let last: unknown
    while (isAlive(child) && Date.now() < until) {
      try {
        if (await isReady()) return
      } catch (error) {
        last = error
      }
      await sleep(pollMs)
    }
    if (isAlive(child)) await kill()
    throw new Error(`${name} did not start:\n${log().slice(logged)}`, { cause: last })
  }

  function running(): ChildProcess & { pid: number } {
    if (child?.pid === undefined || !isAlive(child)) throw new Error(`${name} is not running`)
    return child as ChildProcess & { pid: number }
  }

  /** It, and the programs that it runs for a transfer of data to or from another node. */
  async function kill(): Promise<void> {
    const server = running()
    signalTo(-server.pid, 'SIGKILL')
    await exitOf(server)
    while (processes().some(({ group, state }) => group === server.pid && state !== 'Z')) await sleep(pollMs)
  }

  async function stop(): Promise<void> {
    try {
      if (child !== null && isAlive(child)) await kill()
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
      await watchdog.stop()
    }
  }

  try {
    chmodSync(folder, 0o711)
    own(folder, account)
    writeFileSync(logFile, '')
    mkdirSync(dataFolder, { mode: 0o700 })
    own(dataFolder, account)
    if (options.transferredPassword === undefined) await initialise(engine, folder, dataFolder, config)
    const port = options.port ?? (options.network ? 3306 : await freePort(config.host))
    Object.assign(config, { port })
    await start()
  } catch (error) {
    await stop()
    throw error
  }

  return {
    config,
    version,
    dataFolder,
    log,
    kill,
    start,
    isRunning: () => child !== null && isAlive(child),

    async shutDown() {
      const server = running()
      signalTo(server.pid, 'SIGTERM')
      await exitOf(server)
    },

    pause() {
      const server = running()
      if (paused) throw new Error(`${name} is paused`)
      pauseGroup(server.pid)
      paused = true
    },

    resume() {
      const server = running()
      if (!paused) throw new Error(`${name} is not paused`)
      signalTo(-server.pid, 'SIGCONT')
      paused = false
    },

    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

/** Only root enters a network; the server there runs as its account all the same. */
function launcher({ program, account }: Engine, network: Host | undefined) {
  if (network === undefined || account === null) return { program, before: [], as: spawnAs(account) }
  const [enter = '', ...before] = network.enter
  const as = ['setpriv', `--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']
  return { program: enter, before: [...before, ...as, program], as: {} }
}

function own(path: string, account: Account | null): void {
  if (account !== null) chownSync(path, account.uid, account.gid)
}

/** New data, with one user, who has a password. */
async function initialise(
  { initialise: create, withoutUsers, account }: Engine,
  folder: string,
  dataFolder: string,
  { user, password, socketPath }: MariadbConfig,
): Promise<void> {
  const users = join(folder, 'users.sql')
  const name = `'${user}'@'${socketPath === undefined ? '127.%' : '%'}'`
  writeFileSync(
    users,
    `${withoutUsers}
     CREATE USER ${name} IDENTIFIED BY '${password}';
     GRANT ALL ON *.* TO ${name} WITH GRANT OPTION;\n`,
    { mode: 0o600 },
  )
  own(users, account)
  const { program, parameters } = create(dataFolder, users)
  // Its own folder for temporary files: a server that starts removes the temporary tables of others in /tmp.
  const environmentOfFolder = { ...environment, TMPDIR: folder }
  await promisify(execFile)(program, parameters, {
    cwd: folder,
    env: environmentOfFolder,
    ...spawnAs(account),
  })
  rmSync(users)
}
