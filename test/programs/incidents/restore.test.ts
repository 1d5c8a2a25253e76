/**
 * docs/operations.md: the commands of its restore are run as they stand, on a server whose last transactions are lost then. Only paths,
 * the point in time and the address of the server are replaced.
 */
import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { handlePlaceBet, handleRollbackBet, recordSettlement, type WalletStore } from '../../../src/index.js'
import { createMysqlStore, migrateMysql } from '../../../src/stores/mysql/index.js'
import { createPostgresStore, migratePostgres } from '../../../src/stores/postgres/index.js'
import { codeBlocksOf, readPage, sectionOf } from '../../docs/pages.js'
import { installCommand, noMariadb } from '../../mariadb/installation.js'
import { startMariadb } from '../../mariadb/server.js'
import { spawnAs, unprivileged } from '../../postgres/installation.js'
import { freePort, withClient } from '../../postgres/server.js'
import { commandFile } from './looking.js'

const page = readPage('docs/operations.md')
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-restore-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The code of a section, by language. */
const blocksOf = (heading: string, language: string) =>
  codeBlocksOf(sectionOf(page, heading))
    .filter(block => block.language === language)
    .map(({ code }) => code)

/** Runs a block as it stands, apart from these words. */
async function runBlock(
  block: string | undefined,
  words: Record<string, string>,
  options: { env: Record<string, string>; uid?: number; gid?: number },
): Promise<string> {
  let script = block ?? ''
  for (const [word, value] of Object.entries(words)) script = script.replaceAll(word, value)
  expect(script).not.toBe('')
  const { env, ...account } = options
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', script], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', ...env },
    ...account,
  })
  return stdout
}

const dated = () => ({ playerId: 'anna', transactionDate: new Date().toISOString() })
const placebet = (id: string, amount: string) => ({
  ...{
    transactionId: `t-${id}`,
    betId: `b-${id}`,
    amount,
    currency: 'EUR',
    sessionId: 's',
    betType: 'SINGLE',
  },
  ...dated(),
})
const settlement = (id: string, amount: string) => ({
  ...{ transactionId: `s-${id}`, betId: `b-${id}`, type: 'BET_PAID', amount, currency: 'EUR' },
  ...dated(),
})

/** What the platform counts, before and after the point in time. */
const before = [placebet('1', '30')]
const after = [
  ['placebet', placebet('2', '10')],
  ['settlement', settlement('1', '55.50')],
  ['placebet', placebet('3', '5')],
] as const

async function playAfter(store: WalletStore): Promise<void> {
  for (const [operation, call] of after)
    expect(await (operation === 'placebet' ? handlePlaceBet : recordSettlement)(store, call)).toMatchObject({
      ok: true,
    })
  const rollback = { transactionId: 'r-3', betId: 'b-3', type: 'TECHNICAL_ERROR', ...dated() }
  expect(await handleRollbackBet(store, rollback)).toMatchObject({ ok: true })
}

const balanceAfterAll = 100 - 30 - 10 + 55.5

function writeReport(): void {
  const rows = [
    ...before.map(call => ['placebet', call] as const),
    ...after,
    [
      'rollbackbet',
      { transactionId: 'r-3', betId: 'b-3', type: 'TECHNICAL_ERROR', amount: '5', currency: 'EUR' },
    ] as const,
  ].map(([operation, call]) => {
    const { transactionId, betId, amount, currency } = call
    const type = operation === 'settlement' ? 'BET_PAID' : ''
    return [operation, transactionId, betId, 'anna', type, amount, currency].join(',')
  })
  const header = 'operation,transactionId,betId,playerId,type,amount,currency'
  writeFileSync(join(folder, 'platform.csv'), `${[header, ...rows].join('\n')}\n`)
}

/** Steps 4 and 5 of the page, with the restored server: the balance is right again, to the cent. */
async function repair(store: WalletStore, url: string, balance: () => Promise<number>): Promise<void> {
  writeReport()
  const compare = async () => {
    const now = Date.now()
    const words = {
      'npx bet-wallet': `"${process.execPath}" "${commandFile}"`,
      'platform.csv': join(folder, 'platform.csv'),
      '2026-11-22T13:00:00Z': new Date(now - 3_600_000).toISOString(),
      '2026-11-22T14:30:00Z': new Date(now + 3_600_000).toISOString(),
    }
    // Exit code 1: there are differences. The drivers are installed in the repository.
    const block = blocksOf('After a restore', 'sh')[0]
    return await runBlock(`cd '${process.cwd()}'\n${block?.trimEnd()} || test $? = 1`, words, {
      env: { BET_WALLET_DATABASE_URL: url },
    })
  }
  const first = await compare()
  expect(first).toMatch(/In the report, never arrived in the wallet +4 /)

  for (const missing of ['settlement BET_PAID s-1', 'placebet t-2', 'placebet t-3', 'rollbackbet r-3'])
    expect(first).toMatch(new RegExp(` EUR +${missing} +bet b-`))

  // From their senders again, in the order of their dates; and all of them twice.
  for (const play of [playAfter, playAfter]) await play(store)
  expect(await compare()).toMatch(/^EQUAL: /m)
  expect(await balance()).toBe(balanceAfterAll)
}

const debianFolder = '/usr/lib/postgresql'
const programs = ['initdb', 'pg_ctl', 'pg_basebackup']
const postgresFolder = existsSync(debianFolder)
  ? (readdirSync(debianFolder)
      .sort((a, b) => Number(b) - Number(a))
      .map(version => join(debianFolder, version, 'bin'))
      .find(path => programs.every(name => existsSync(join(path, name)))) ?? null)
  : null
const noPostgres =
  postgresFolder === null
    ? `${programs.join(', ')} not found in ${debianFolder}. To install: apt-get install -y --no-install-recommends postgresql`
    : null

describe.skipIf(noPostgres !== null)(
  `PostgreSQL${noPostgres === null ? '' : ` (skipped: ${noPostgres})`}`,
  () => {
    it('is restored to a point in time, and repaired', async () => {
      const account = unprivileged()
      const own = (path: string) => {
        mkdirSync(path, { mode: 0o700 })
        if (account !== null) chownSync(path, account.uid, account.gid)
        return path
      }
      chmodSync(folder, 0o755)
      const home = own(join(folder, 'postgres'))
      const backup = own(join(home, 'backup'))
      own(join(backup, 'wal'))
      const [data, restored] = [join(home, 'data'), join(home, 'restored')]
      const ports = [await freePort(), await freePort()] as const
      const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`
      const as = (port: number) => ({
        ...spawnAs(account),
        env: {
          PATH: `${postgresFolder}:${process.env.PATH}`,
          PGPORT: String(port),
          DATABASE_URL: urlOf(port),
        },
      })
      const paths = { '/backup': backup, '/restored': restored }
      const [first, second] = [as(ports[0]), as(ports[1])]
      const stop = (where: string) =>
        runBlock(
          `test ! -e ${where}/postmaster.pid || pg_ctl stop --pgdata ${where} --mode immediate --silent`,
          {},
          first,
        )
      const start = () =>
        runBlock(`pg_ctl start --pgdata ${data} --wait --silent --log ${home}/log`, {}, first)
      try {
        await runBlock(
          `initdb --pgdata=${data} --username=postgres --auth=trust --no-sync >${home}/initdb.log`,
          {},
          first,
        )
        await runBlock(
          `printf "listen_addresses = '127.0.0.1'\\nunix_socket_directories = ''\\n" >>${data}/postgresql.conf`,
          {},
          first,
        )
        await start()
        await withClient(urlOf(ports[0]), async client => {
          const [settings = ''] = blocksOf('Restore PostgreSQL', 'sql')
          for (const statement of settings.replaceAll('/backup', backup).split(/;\n/).filter(Boolean))
            await client.query(statement)
        })
        await stop(data)
        await start()

        const [backUp, restore] = blocksOf('Restore PostgreSQL', 'sh')
        const pool = new pg.Pool({ connectionString: urlOf(ports[0]) })
        pool.on('error', () => {})
        await migratePostgres(pool, {}, { lookupIndexes: true })
        await pool.query("INSERT INTO bet_wallet.players VALUES ('anna', 'EUR', 100)")
        const store = createPostgresStore(pool)
        await runBlock(backUp, paths, first)
        for (const call of before) expect(await handlePlaceBet(store, call)).toMatchObject({ ok: true })
        const { rows } = await pool.query('SELECT clock_timestamp()::text AS time')
        await playAfter(store)
        // The last of the WAL, as an archive has it a little later.
        const { rows: switched } = await pool.query('SELECT pg_walfile_name(pg_switch_wal()) AS name')
        await expect
          .poll(() => existsSync(join(backup, 'wal', switched[0].name)), { interval: 50 })
          .toBe(true)
        const last = await pool.query(
          'SELECT max(wallet_transaction_id::bigint)::int AS id FROM bet_wallet.transactions',
        )
        await pool.end()
        await stop(data)

        await runBlock(restore, { ...paths, '2026-11-22 14:00:00+00': rows[0].time }, second).catch(
          (cause: Error) => {
            throw new Error(readFileSync(join(restored, 'log'), 'utf8'), { cause })
          },
        )
        const restoredPool = new pg.Pool({ connectionString: urlOf(ports[1]) })
        restoredPool.on('error', () => {})
        // Promoted: it accepts writes.
        await expect
          .poll(async () => (await restoredPool.query('SELECT pg_is_in_recovery() AS it')).rows[0].it)
          .toBe(false)
        const { rows: kept } = await restoredPool.query('SELECT transaction_id FROM bet_wallet.transactions')
        expect(kept).toEqual([{ transaction_id: 't-1' }])
        await restoredPool.query(blocksOf('After a restore', 'sql')[0] ?? '')
        const again = createPostgresStore(restoredPool)
        await again.ready()
        await repair(again, urlOf(ports[1]), async () => {
          const found = await restoredPool.query('SELECT balance::float FROM bet_wallet.players')
          return found.rows[0].balance
        })
        const { rows: references } = await restoredPool.query(
          "SELECT wallet_transaction_id::int AS id FROM bet_wallet.transactions WHERE transaction_id <> 't-1'",
        )
        for (const { id } of references) expect(id).toBeGreaterThan(last.rows[0].id)
        await restoredPool.end()
      } finally {
        for (const where of [data, restored]) await stop(where).catch(() => '')
      }
    })
  },
)

const clients = ['mariadb', 'mariadb-dump', 'mariadb-binlog'].filter(
  name => !(process.env.PATH ?? '').split(':').some(path => existsSync(join(path, name))),
)
const noMariadbPrograms =
  noMariadb ??
  (clients.length === 0 ? null : `${clients.join(', ')} not found here. To install: ${installCommand}`)

describe.skipIf(noMariadbPrograms !== null)(
  `MariaDB${noMariadbPrograms === null ? '' : ` (skipped: ${noMariadbPrograms})`}`,
  () => {
    it('is restored to a point in time, and repaired', async () => {
      const settings = { log_bin: 'bin', binlog_format: 'ROW', sync_binlog: '1' }
      const [lost, restored] = [await startMariadb({ settings }), await startMariadb({ settings })]
      const backup = join(folder, 'mariadb')
      try {
        mkdirSync(join(backup, 'binlog'), { recursive: true })
        const envOf = (name: string, { config }: typeof lost) => {
          const home = join(backup, name)
          mkdirSync(home)
          const { host, port, user, password } = config
          const file = `[client]\nhost=${host}\nport=${port}\nuser=${user}\npassword=${password}\n`
          writeFileSync(join(home, '.my.cnf'), file, { mode: 0o600 })
          return { env: { HOME: home } }
        }
        const [from, to] = [envOf('lost', lost), envOf('restored', restored)]
        const [backUp, restore] = blocksOf('Restore MariaDB', 'sh')
        const pool = mysql.createPool({ ...lost.config })
        await pool.query('CREATE DATABASE pam')
        await pool.query(
          'CREATE TABLE pam.accounts (id varchar(64) COLLATE utf8mb4_bin PRIMARY KEY, currency char(3), balance decimal(20,2))',
        )
        await pool.query("INSERT INTO pam.accounts VALUES ('anna', 'EUR', 100)")
        const options = {
          players: {
            table: 'pam.accounts',
            id: 'id',
            idCollation: 'utf8mb4_bin',
            currency: 'currency',
            balance: 'balance',
          },
        }
        await migrateMysql(pool, options, { lookupIndexes: true })
        const store = createMysqlStore(pool, options)
        await runBlock(backUp, { '/backup': backup }, from)
        for (const call of before) expect(await handlePlaceBet(store, call)).toMatchObject({ ok: true })
        // --stop-datetime counts in whole seconds.
        const time = await nextSecond(pool)
        await playAfter(store)
        await pool.end()
        await lost.shutDown()

        for (const name of readdirSync(lost.dataFolder).filter(file => /^bin\.0/.test(file)))
          cpSync(join(lost.dataFolder, name), join(backup, 'binlog', name))
        const [, log = '', position = ''] =
          /LOG_FILE='(.*?)', MASTER_LOG_POS=(\d+)/.exec(readFileSync(join(backup, 'base.sql'), 'utf8')) ?? []
        const words = { '/backup': backup, 'bin.000001': log, '4711': position, '2026-11-22 14:00:00': time }
        expect(await runBlock(restore, words, to)).toContain(`'${log}', MASTER_LOG_POS=${position}`)
        const restoredPool = mysql.createPool({ ...restored.config })
        const [kept] = await restoredPool.query('SELECT transaction_id FROM bet_wallet.wallet_transactions')
        expect(kept).toEqual([{ transaction_id: 't-1' }])
        const again = createMysqlStore(restoredPool, options)
        await again.ready()
        const { host, port, user, password } = restored.config
        await repair(again, `mysql://${user}:${password}@${host}:${port}/bet_wallet`, async () => {
          const [rows] = await restoredPool.query('SELECT balance FROM pam.accounts')
          return Number((rows as { balance: string }[])[0]?.balance)
        })
        await restoredPool.end()
      } finally {
        await Promise.all([lost.stop(), restored.stop()])
      }
    })
  },
)

/** Waits for the server's next whole second, and returns it: UTC, `2026-11-22 14:00:00`. */
async function nextSecond(pool: mysql.Pool): Promise<string> {
  const now = async () => {
    const [rows] = await pool.query("SELECT DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%d %H:%i:%s') AS time")
    return (rows as { time: string }[])[0]?.time ?? ''
  }
  const first = await now()
  for (;;) {
    const time = await now()
    if (time !== first) return time
  }
}
