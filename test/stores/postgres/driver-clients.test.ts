/** The clients over other drivers, without a driver: test/libraries/drivers runs the real ones. */
import { EventEmitter } from 'node:events'
import { fromKnex, fromPostgresJs, fromSlonik, fromTypeOrm } from 'bet-wallet/postgres'
import { describe, expect, test, vi } from 'vitest'

const text = 'SELECT $1, $2'
const rows = [{ one: 1 }]

describe('fromPostgresJs', () => {
  const unsafe = vi.fn(async (_text: string, _values?: unknown[]) => rows)
  const sql = { unsafe, begin: async (work: (sql: unknown) => Promise<unknown>) => work({ unsafe }) }

  test('runs a statement, alone and in a database transaction; undefined is NULL, as with pg', async () => {
    const { query, transaction } = fromPostgresJs(sql)
    expect(await query(text, ['a', undefined])).toEqual({ rows })
    await transaction?.(async connection => {
      expect(await connection.query(text, [undefined, 'b'])).toEqual({ rows })
    })
    expect(unsafe.mock.calls).toEqual([
      [text, ['a', null]],
      [text, [null, 'b']],
    ])
  })

  test('in a database transaction: several statements as one message, without values', async () => {
    unsafe.mockClear()
    await fromPostgresJs(sql).transaction?.(async connection => connection.simpleQuery?.('COMMIT; BEGIN'))
    expect(unsafe.mock.calls).toEqual([['COMMIT; BEGIN']])
  })

  test('passes notices on, if there are any', () => {
    expect(fromPostgresJs(sql).onNotice).toBeUndefined()
    const notices = new EventEmitter()
    const listener = vi.fn()
    fromPostgresJs(sql, notices).onNotice?.(listener)
    notices.emit('notice', { routine: 'SyncRepWaitForLSN' })
    expect(listener).toHaveBeenCalledWith({ routine: 'SyncRepWaitForLSN' })
  })
})

describe('fromSlonik', () => {
  const query = vi.fn(async (_query: object) => ({ rows: Object.freeze(rows) }))
  const pool = { query, transaction: async (work: (pool: unknown) => Promise<unknown>) => work({ query }) }
  const sql = {
    unsafe: ({ raw }: TemplateStringsArray) => Object.freeze({ type: 'QUERY', sql: raw[0], values: [] }),
  }

  test('runs a statement, alone and in a database transaction; undefined is NULL, as with pg', async () => {
    const client = fromSlonik(pool, sql)
    expect(await client.query(text, ['a', undefined])).toEqual({ rows })
    await client.transaction?.(async connection => {
      expect(await connection.query(text, [undefined, 'b'])).toEqual({ rows })
    })
    expect(query.mock.calls).toEqual([
      [{ type: 'QUERY', sql: text, values: ['a', null] }],
      [{ type: 'QUERY', sql: text, values: [null, 'b'] }],
    ])
  })
})

describe('fromKnex', () => {
  function open() {
    const connection = { query: vi.fn(async () => ({ rows })), end: vi.fn(async () => {}) }
    const client = {
      driverName: 'pg',
      acquireConnection: vi.fn(async () => connection),
      releaseConnection: vi.fn(async () => {}),
      pool: { numUsed: () => 1, numFree: () => 2 },
    }
    return { connection, client, knex: Object.assign(() => {}, { client }) }
  }

  test('lends connections, and takes them back after a statement and after an error', async () => {
    const { client, connection, knex } = open()
    const pool = fromKnex(knex)
    expect(pool.totalCount).toBe(3)
    expect(await pool.query(text, ['a'])).toEqual({ rows })
    connection.query.mockRejectedValueOnce(new Error('no'))
    await expect(pool.query(text)).rejects.toThrow('no')
    expect(client.releaseConnection.mock.calls).toEqual([[connection], [connection]])
    expect(connection.end).not.toHaveBeenCalled()
  })

  test('a connection that is released as broken is closed, and Knex does not lend it again', async () => {
    const { connection, client, knex } = open()
    const lent = (await fromKnex(knex).connect?.()) as { release(error?: boolean): void }
    lent.release(true)
    expect(connection.end).toHaveBeenCalled()
    expect(connection).toMatchObject({ __knex__disposed: 'closed by the wallet store' })
    expect(client.releaseConnection).toHaveBeenCalledWith(connection)
  })

  test.each([
    [{}],
    [{ client: null }],
    [{ client: { driverName: 'mysql2' } }],
    [{ client: { driverName: 'pg' } }],
  ])('UNSUPPORTED_CLIENT: %j', knex => {
    const create = () => fromKnex(knex as never)
    expect(create).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_CLIENT' }))
    expect(create).toThrow(/client: 'pg'/)
  })
})

describe('fromTypeOrm', () => {
  test('returns the pool of the master', () => {
    const master = { query: async () => ({ rows }) }
    expect(fromTypeOrm({ driver: { master } })).toBe(master)
  })

  test.each([[{}], [{ master: undefined }], [{ pool: {} }]])('UNSUPPORTED_CLIENT: driver %j', driver => {
    const create = () => fromTypeOrm({ driver })
    expect(create).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_CLIENT' }))
    expect(create).toThrow(/await dataSource\.initialize\(\)/)
  })
})
