/** What `check` says of columns that no option names: another id of the player, an optimistic lock. */
import { afterAll, describe, expect, test } from 'vitest'
import { columnFindings } from '../../../src/tools/check/columns.js'
import { mysqlRows } from '../../../src/tools/check/mysql.js'
import { postgresRows } from '../../../src/tools/check/postgres.js'
import { readSchema } from '../../../src/tools/init/schema.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'

const ends: (() => Promise<unknown>)[] = []
afterAll(() => Promise.all(ends.map(end => end())))

async function onPostgres() {
  const { pool, drop } = await freshDatabase()
  ends.push(drop)
  const ask = async (text: string) => (await pool.query(text)).rows
  return {
    ...{ schema: 'public', run: (sql: string) => pool.query(sql), rows: postgresRows(ask) },
    read: () => readSchema({ engine: 'postgres', ask }),
  }
}

async function onMysql() {
  const { pool, config, drop } = await freshMariadb()
  ends.push(drop)
  const ask = async (sql: string) => (await pool.query({ sql, rowsAsArray: true }))[0] as never
  return {
    ...{ schema: config.database, run: (sql: string) => pool.query(sql), rows: mysqlRows(ask) },
    read: () => readSchema({ engine: 'mysql', ask, schemas: [config.database] }),
  }
}

describe.each([
  { name: 'PostgreSQL', skipped: null, open: onPostgres },
  { name: 'MySQL and MariaDB', skipped: noServer, open: onMysql },
])('on $name', ({ name, skipped, open }) => {
  describe.skipIf(skipped !== null)(skipped === null ? name : `${name} (skipped: ${skipped})`, () => {
    /** @param rows numbers of wallets, and of their users */
    async function foundWith(
      rows: string,
      {
        id = 'id' as string | null,
        version = null as string | null,
        type = 'int',
        more = '',
        denied = /^$/,
      } = {},
    ) {
      const { schema, run, rows: reader, read } = await open()
      await run(
        `CREATE TABLE ${schema}.wallets (id ${type} PRIMARY KEY, user_id int NOT NULL, currency char(3), balance int, lock_version int, number int${more})`,
      )
      await run(
        `INSERT INTO ${schema}.wallets (id, user_id, currency, balance) VALUES ${rows.replaceAll(')', ", 'EUR', 5)")}`,
      )
      await run(`UPDATE ${schema}.wallets SET number = id`)
      const ask = (text: string) =>
        denied.test(text) ? Promise.reject(new Error('permission denied')) : reader.ask(text)
      const behind = [{ schema, table: 'wallets', column: id }]
      const findings = await columnFindings(await read(), behind, version, { ...reader, ask })
      return findings.map(({ subject, state, text }) => [subject, state, text.replaceAll(schema, 'pam')])
    }

    test('given numbers of rows that are numbers of other players: a warning with an example', async () => {
      expect(await foundWith('(1, 2), (2, 1), (3, 3)', { version: 'lock_version' })).toEqual([
        [
          'player ids',
          'warning',
          "id numbers the rows of pam.wallets, and user_id is the player's: a bet of the player 1 debits the row 1, " +
            'which is of the player 2. Map user_id (--id), unless the platform sends id',
        ],
      ])
    })

    test('given numbers in another type of integer: the warning too', async () => {
      expect(await foundWith('(1, 2), (2, 1)', { version: 'lock_version', type: 'bigint' })).toEqual([
        ['player ids', 'warning', expect.stringMatching(/^id numbers the rows of pam\.wallets/)],
      ])
    })

    test('given rows that this user may not read: the warning of the version column is there', async () => {
      expect(await foundWith('(1, 2), (2, 1)', { denied: /numbered/ })).toEqual([
        ['player ids', 'skipped', 'could not be checked: permission denied'],
        ['version column', 'warning', expect.any(String)],
      ])
    })

    test.each([
      ['the same numbers', '(1, 1), (2, 2)', 'id'],
      ['numbers of no other player', '(1, 101), (2, 102)', 'id'],
      ["the player's own column", '(1, 2), (2, 1)', 'user_id'],
      ['a number that is not the key of the rows', '(1, 2), (2, 1)', 'number'],
      ['a computed id', '(1, 2), (2, 1)', null],
    ])('given %s: nothing', async (_, rows, id) => {
      expect(await foundWith(rows, { id, version: 'lock_version' })).toEqual([])
    })

    test('given a version column that no option names: a warning', async () => {
      expect(await foundWith('(1, 1)')).toEqual([
        ['version column', 'warning', expect.stringMatching(/^pam\.wallets\.lock_version: .*--version/)],
      ])
    })
  })
})
