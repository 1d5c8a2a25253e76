/** `examples/stacks` with their real libraries: each a process of its own on a real server. It must pass the audit. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type AuditOptions, auditWallet } from '../../../src/tools/audit/index.js'
import { root } from '../../docs/pages.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { freePort } from '../../postgres/server.js'

const password = 'test-password'

interface Stack {
  /** Its folder. */
  name: string
  /** Its packages, beside bet-wallet. */
  packages: readonly string[]
  /** Files that the reader has. */
  others?: Readonly<Record<string, string>>
  /** MariaDB, or MySQL. */
  onMysql?: boolean
  /** The arguments of node: to build, and to run. */
  build?: readonly string[]
  run: readonly string[]
  audit?: Partial<AuditOptions>
}

const stacks: readonly Stack[] = [
  {
    name: 'nestjs-typeorm',
    packages: [
      '@nestjs/common',
      '@nestjs/core',
      '@nestjs/platform-express',
      'reflect-metadata',
      'rxjs',
      'typeorm',
      'pg',
    ],
    others: {
      // What TypeOrmModule.forRoot provides. A decorator would need a compiler that knows TypeScript's own kind.
      'app.module.ts': `
        import { Module } from '@nestjs/common'
        import { DataSource } from 'typeorm'
        export class AppModule {}
        const url = process.env.DATABASE_URL
        const dataSource = { provide: DataSource, useFactory: () => new DataSource({ type: 'postgres', url }).initialize() }
        Module({ providers: [dataSource] })(AppModule)`,
    },
    run: ['--import', 'tsx', 'main.ts'],
  },
  {
    name: 'express4-mysql2',
    packages: ['express', 'mysql2'],
    onMysql: true,
    run: ['server.cjs'],
    audit: {
      sign: ({ body }) => ({ 'x-signature': createHmac('sha256', password).update(body).digest('hex') }),
    },
  },
]

/** Where the tests have installed it. */
function placeOf(name: string, stack: Stack): string {
  if (name === 'express' && stack.name === 'express4-mysql2') return join(root, 'node_modules/express4')
  const places = ['test/libraries', '.'].map(part => join(root, part, 'node_modules', name))
  const place = places.find(existsSync)
  if (place === undefined) throw new Error(`${name} is not installed: use npm run test:libraries -- stacks`)
  return place
}

/** Writes the program into an empty folder with its packages. */
function write(stack: Stack): string {
  const folder = join(root, 'test/libraries/stacks/.run', stack.name)
  rmSync(folder, { recursive: true, force: true })
  const put = (name: string, code: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), code)
  }
  put('package.json', JSON.stringify({ private: true, type: 'module' }))
  cpSync(join(root, 'examples/stacks', stack.name), folder, { recursive: true })
  for (const [name, code] of Object.entries(stack.others ?? {})) put(name, code)

  const installed = join(folder, 'node_modules/bet-wallet')
  for (const part of ['package.json', 'dist'])
    cpSync(join(root, part), join(installed, part), { recursive: true })
  for (const name of ['zod', 'big.js', ...stack.packages]) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(placeOf(name, stack), link, 'junction')
  }
  return folder
}

const accounts = [
  'CREATE TABLE pam.accounts (account_no varchar(64) PRIMARY KEY, currency char(3) NOT NULL, balance decimal(18, 2) NOT NULL)',
  "INSERT INTO pam.accounts VALUES ('anna', 'EUR', 100), ('ben', 'EUR', 100)",
]

/** Creates the players' table. A schema of MySQL is a database: the server has one such stack only. */
async function databaseOf({ onMysql = false }: Stack): Promise<{ url: string; drop(): Promise<void> }> {
  if (!onMysql) {
    const { url, pool, drop } = await freshDatabase()
    for (const statement of ['CREATE SCHEMA pam', ...accounts]) await pool.query(statement)
    return { url, drop }
  }
  const { config, pool, drop } = await freshMariadb()
  const collate = ' COLLATE utf8mb4_general_ci'
  await pool.query('CREATE DATABASE pam')
  for (const statement of accounts) await pool.query(statement.replace('varchar(64)', `$&${collate}`))
  const { host, port, user, password: secret, database: name } = config
  return {
    url: `mysql://${user}:${secret}@${host}:${port}/${name}`,
    async drop() {
      await pool.query('DROP DATABASE pam')
      await drop()
    },
  }
}

/** Ends what a test has begun, the last first. */
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function start(folder: string, args: readonly string[], env: Record<string, string>): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !/^NODE_OPTIONS$|^VITEST/.test(name))
  return spawn(process.execPath, args, {
    cwd: folder,
    env: { ...Object.fromEntries(inherited), NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}

async function ended(child: ChildProcess): Promise<void> {
  const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
  expect(code).toBe(0)
}

describe.each(stacks)('$name', stack => {
  const reason = stack.onMysql ? noServer : null
  test.skipIf(reason !== null)(
    `passes the audit${reason === null ? '' : ` (skipped: ${reason})`}`,
    async () => {
      const { url, drop } = await databaseOf(stack)
      ends.push(drop)
      const folder = write(stack)
      const port = await freePort()
      const env = {
        DATABASE_URL: url,
        BET_WALLET_PASSWORD: password,
        BET_WALLET_SECRET: password,
        PORT: String(port),
      }
      if (stack.build !== undefined) await ended(start(folder, stack.build, env))

      const server = start(folder, stack.run, env)
      ends.push(async () => {
        server.kill()
        if (server.exitCode === null) await once(server, 'exit')
      })
      await expect
        .poll(
          () =>
            fetch(`http://127.0.0.1:${port}/`).then(
              () => server.exitCode,
              () => 'starts',
            ),
          {
            timeout: 60_000,
          },
        )
        .toBeNull()

      const { passed, results } = await auditWallet({
        ...{
          baseUrl: `http://127.0.0.1:${port}/wallet`,
          playerId: 'anna',
          otherPlayerId: 'ben',
          currency: 'EUR',
        },
        ...(stack.audit ?? { credentials: { username: 'platform', password } }),
        settle: { url: '/settlement' },
        seed: 1,
      })
      expect(results.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id)).toEqual([])
      expect(passed).toBe(true)
    },
  )
})

test('these are all of them', () => {
  expect(readdirSync(join(root, 'examples/stacks')).sort()).toEqual(stacks.map(({ name }) => name).sort())
})

beforeAll(() => {
  if (!existsSync(join(root, 'dist')))
    throw new Error('There is no dist: use npm run test:libraries -- stacks')
})
