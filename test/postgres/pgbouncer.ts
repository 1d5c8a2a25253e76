/** PgBouncer in front of a server of a test. It does not outlive our process. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startMsMax } from '../processes.js'
import { environment, unprivileged } from './installation.js'
import { freePort } from './server.js'

const program = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer'

/** Why PgBouncer cannot be run, or `null`: the reason to skip a test. */
export const noPgBouncer: string | null = existsSync(program)
  ? null
  : `there is no ${program}: install Debian's package pgbouncer`

/** Why it does not know prepared statements (`max_prepared_statements`, since 1.21); `null`: it does. */
export function noPreparedStatements(): string | null {
  if (noPgBouncer !== null) return noPgBouncer
  const version = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout.split('\n', 1)[0] ?? ''
  const [, major, minor] = (/(\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  const isNew = Number(major) > 1 || (major === 1 && Number(minor) >= 21)
  return isNew ? null : `${version} has no prepared statements: PGBOUNCER names a program of 1.21 or later`
}

export interface PgBouncer {
  /** The URL of the server's database, through PgBouncer. The same after each `start`. */
  readonly url: string
  /** SIGKILL: clients and server connections are lost at once. */
  kill(): Promise<void>
  /** Starts it again. Resolves when it accepts connections. */
  start(): Promise<void>
  stop(): Promise<void>
  /** A command of its administration: `RECONNECT`. */
  command(text: string): Promise<unknown>
}

/** @param databaseUrl `postgres://user:password@host:port/database` */
export async function startPgBouncer(
  databaseUrl: string,
  poolMode: 'session' | 'transaction' | 'statement',
  settings: Readonly<Record<string, number>> = {},
): Promise<PgBouncer> {
  const server = new URL(databaseUrl)
  const account = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-pgbouncer-'))
  chmodSync(folder, 0o711)
  const write = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    if (account !== null) chownSync(path, account.uid, account.gid)
    return path
  }
  const port = await freePort()
  const users = write('users', `"${server.username}" "${decodeURIComponent(server.password)}"\n`)
  const configuration = write(
    'pgbouncer.ini',
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
admin_users = ${server.username}
pool_mode = ${poolMode}
max_client_conn = 500
ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout
${Object.entries({ default_pool_size: 50, ...settings })
  .map(([name, value]) => `${name} = ${value}\n`)
  .join('')}`,
  )
  const url = Object.assign(new URL(databaseUrl), { port: String(port) }).href
  let child: ChildProcess | null = null

  async function start(): Promise<void> {
    const ids =
      account === null ? [] : ['--reuid', `${account.uid}`, '--regid', `${account.gid}`, '--clear-groups']
    const started = spawn('setpriv', ['--pdeathsig', 'KILL', ...ids, program, configuration], {
      cwd: '/',
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child = started
    let log = ''
    started.stderr.setEncoding('utf8').on('data', text => {
      log += text
    })
    const until = Date.now() + startMsMax
    for (;;) {
      try {
        return await connectTo(url)
      } catch (cause) {
        if (started.exitCode !== null || Date.now() > until)
          throw new Error(`PgBouncer did not start:\n${log}`, { cause })
        await sleep(10)
      }
    }
  }

  async function kill(): Promise<void> {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  await start()
  return {
    url,
    start,
    kill,
    async command(text) {
      const administration = new pg.Client({
        connectionString: Object.assign(new URL(url), { pathname: 'pgbouncer' }).href,
      })
      await administration.connect()
      try {
        return (await administration.query(text)).rows
      } finally {
        await administration.end()
      }
    },
    async stop() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function connectTo(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
  } finally {
    await client.end()
  }
}
