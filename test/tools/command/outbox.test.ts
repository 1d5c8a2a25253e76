/** The outbox by the command alone: its table, exactly the rights of wallet and relay, and what `check` says of it. */
import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { handlePlaceBet } from '../../../src/index.js'
import type { WalletStore } from '../../../src/store.js'
import type { OutboxTable } from '../../../src/stores/database/outbox.js'
import { createMysqlStore, mysqlMigrationSql } from '../../../src/stores/mysql/index.js'
import { mysqlOutbox } from '../../../src/stores/mysql/relay.js'
import { createPostgresStore, postgresMigrationSql } from '../../../src/stores/postgres/index.js'
import { postgresOutbox } from '../../../src/stores/postgres/relay.js'
import { mysqlGrants } from '../../../src/tools/command/mysql.js'
import { postgresGrants } from '../../../src/tools/command/postgres.js'
import { placeBet } from '../../fixtures.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { lineOf, runCommand } from './running.js'

const roles = ['wallet', 'relay'].map(name => `${name}_of_events_${process.pid}`)
const [wallet = '', relay = ''] = roles

interface Opened {
  schema: string
  /** Of the administrator. */
  url: string
  urlOf(role: string): string
  run(statement: string): Promise<unknown>
  /** Of a role, which has seen no privilege yet. */
  as<T>(role: string, work: (own: { store: WalletStore; outbox: OutboxTable }) => Promise<T>): Promise<T>
  store: WalletStore
  outboxTable: string
  migrationSql: string
  relayGrants: string[]
  drop(): Promise<void>
}

async function openPostgres(): Promise<Opened> {
  const { pool, url, drop } = await freshDatabase()
  for (const role of roles) await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  const urlOf = (role: string) => Object.assign(new URL(url), { username: role, password: 'secret' }).href
  const options = { outbox: true, allowNotDurable: true }
  return {
    ...{ schema: 'bet_wallet', url, urlOf, outboxTable: 'bet_wallet.outbox' },
    run: statement => pool.query(statement),
    store: createPostgresStore(pool, options),
    migrationSql: postgresMigrationSql({ outbox: true }),
    relayGrants: postgresGrants({ outbox: true }, 'relay', relay),
    async as(role, work) {
      const own = new pg.Pool({ connectionString: urlOf(role) })
      try {
        return await work({
          store: createPostgresStore(own, options),
          outbox: postgresOutbox(own, undefined),
        })
      } finally {
        await own.end()
      }
    },
    async drop() {
      for (const role of roles) await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
      await drop()
    },
  }
}

async function openMysql(): Promise<Opened> {
  const { pool, config, drop } = await freshMariadb()
  const { host, port, user, password, database: schema } = config
  for (const role of roles) await pool.query(`CREATE USER ${role} IDENTIFIED BY 'secret'`)
  const options = { schema, outbox: true, allowNotDurable: true }
  return {
    ...{ schema, outboxTable: `${schema}.wallet_outbox` },
    url: `mysql://${user}:${password}@${host}:${port}/${schema}`,
    urlOf: role => `mysql://${role}:secret@${host}:${port}/${schema}`,
    run: statement => pool.query(statement),
    store: createMysqlStore(pool, options),
    migrationSql: mysqlMigrationSql({ schema, outbox: true }),
    relayGrants: mysqlGrants({ schema, outbox: true }, 'relay', relay),
    async as(role, work) {
      const own = mysql.createPool({ host, port, user: role, password: 'secret' })
      try {
        return await work({ store: createMysqlStore(own, options), outbox: mysqlOutbox(own, schema) })
      } finally {
        await own.end()
      }
    },
    async drop() {
      for (const role of roles) await pool.query(`DROP USER ${role}`)
      await drop()
    },
  }
}

/** Each right of the printed statements: `UPDATE ON bet_wallet.outbox`. */
const rightsIn = (printed: string) =>
  [...printed.matchAll(/^GRANT (.+) ON (.+) TO .+;$/gm)].flatMap(([, privileges = '', objects = '']) => {
    const [, kind = '', names = ''] = /^(SCHEMA |SEQUENCE |)(.+)$/.exec(objects) ?? []
    return names
      .split(', ')
      .flatMap(name => privileges.split(/, (?![^(]*\))/).map(privilege => `${privilege} ON ${kind}${name}`))
  })

describe.each([
  { name: 'PostgreSQL', skipped: null, open: openPostgres },
  { name: 'MySQL and MariaDB', skipped: noServer, open: openMysql },
])('on $name', ({ name, skipped, open }) => {
  describe.skipIf(skipped !== null)(skipped === null ? name : `${name} (skipped: ${skipped})`, () => {
    let database: Opened
    beforeAll(async () => {
      database = await open()
    })
    afterAll(() => database?.drop())

    const run = (words: string[], url = database.url) =>
      runCommand([...words, '--schema', database.schema], { environment: { BET_WALLET_DATABASE_URL: url } })

    let bets = 0
    /** Everything that a relay asks of its database. */
    async function useRelay({ outbox }: { outbox: OutboxTable }): Promise<void> {
      bets += 1
      await database.run(`DELETE FROM ${database.outboxTable}`)
      const bet = placeBet({ betId: `b-${bets}`, transactionId: `t-${bets}`, amount: '1' })
      expect(await handlePlaceBet(database.store, bet)).toMatchObject({ ok: true })
      const { claimed } = await outbox.claim(10, 60_000)
      await outbox.postpone(claimed.map(each => ({ ...each, failures: 1, pauseMs: null, problem: 'no' })))
      expect(await outbox.stats()).toMatchObject({ queued: 0, dead: 1 })
      expect(await outbox.retryDeadLetters()).toBe(1)
      await outbox.remove((await outbox.claim(10, 60_000)).claimed)
      expect(await outbox.stats()).toEqual({ queued: 0, oldestMs: null, dead: 0 })
    }

    test('migrate --outbox: prints its SQL, creates it, and remembers it', async () => {
      const words = ['migrate', '--own-players', '--outbox']
      expect((await run([...words, '--print'])).out).toBe(database.migrationSql)
      expect((await run(words)).code).toBe(0)
      // The schema knows its options by now.
      expect((await run(['migrate'])).code).toBe(0)
      await database.run(
        `INSERT INTO ${database.schema}.${name === 'PostgreSQL' ? 'players' : 'wallet_players'} VALUES ('alice', 'EUR', 100)`,
      )
    })

    test('grants: the wallet needs INSERT on it, also where no server is asked', async () => {
      const insert = /INSERT ON .*outbox/
      expect((await run(['grants', wallet])).out).toMatch(insert)
      expect((await run(['grants', wallet, '--own-players', '--outbox'])).out).toMatch(insert)
      expect((await run(['grants', wallet, '--own-players'])).out).not.toMatch(insert)
    })

    test('check: finds that the wallet lacks the right, and none when it has it', async () => {
      const grants = (await run(['grants', wallet])).out.match(/^GRANT .*$/gm) ?? []
      for (const statement of grants) await database.run(statement)
      const words = ['check', '--no-lookup-indexes', '--allow-not-durable']
      expect(lineOf((await run(words, database.urlOf(wallet))).out, 'privileges')).toMatch(/^ *ok/)
      await database.run(`REVOKE INSERT ON ${database.outboxTable} FROM ${wallet}`)
      const { code, out } = await run(words, database.urlOf(wallet))
      expect(lineOf(out, 'privileges')).toMatch(/PROBLEM/)
      expect(out).toMatch(/GRANT INSERT ON .*outbox/)
      expect(code).toBe(1)
      await database.run(`GRANT INSERT ON ${database.outboxTable} TO ${wallet}`)
    })

    test('grants --for relay: exactly what a relay needs', async () => {
      const printed = database.relayGrants.map(statement => `${statement};`)
      expect((await run(['grants', relay, '--for', 'relay'])).out.trim().split('\n')).toEqual(printed)
      const rights = rightsIn(printed.join('\n'))
      expect(rights.length).toBeGreaterThanOrEqual(4)
      for (const right of rights) await database.run(`GRANT ${right} TO ${relay}`)
      await database.as(relay, useRelay)
      for (const right of rights) {
        await database.run(`REVOKE ${right} FROM ${relay}`)
        await expect(database.as(relay, useRelay), right).rejects.toMatchObject({
          code: 'INSUFFICIENT_PRIVILEGE',
        })
        await database.run(`GRANT ${right} TO ${relay}`)
      }
      await database.as(relay, useRelay)
    })

    test('without the outbox: the relay says what to do, and so does check', async () => {
      await database.run(`DROP TABLE ${database.outboxTable}`)
      await expect(database.as(relay, ({ outbox }) => outbox.stats())).rejects.toMatchObject({
        message: expect.stringMatching(/no outbox: migrate with outbox: true|lacks privileges/),
      })
      const { code, out } = await run(['check', '--no-lookup-indexes', '--allow-not-durable'])
      expect(out).toMatch(/PROBLEM .*(outbox|migrate|migration)/)
      expect(code).toBe(1)
    })
  })
})
