/** Settings that the sessions of a server begin with: none of them cuts or stops what the store does. */
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMysqlLookups } from '../../../src/stores/mysql/index.js'
import type { MariadbServer } from '../../mariadb/server.js'
import { isMysql, noServer, startServer } from '../../mysql/engine.js'
import { keysOf, openWallet, placeBet, settle } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

const idOf = (number: number) => `player-${number}`
const numbers = Array.from({ length: 30 }, (_, index) => index + 1)

describe.skipIf(noServer !== null)(`settings of the server${reason}`, () => {
  let server: MariadbServer
  let admin: Pool
  beforeAll(async () => {
    server = await startServer()
    admin = mysql.createPool(server.config)
  })
  afterAll(async () => {
    await admin.end()
    await server.stop()
  })

  test.each([
    ['sql_select_limit', '20'],
    ['sql_select_limit', '1'],
    ['sql_select_limit', '3'],
    ['sql_safe_updates', 'ON'],
    ['completion_type', '1'],
    ['completion_type', '2'],
    ['autocommit', 'OFF'],
    ['innodb_lock_wait_timeout', '1'],
    ['lock_wait_timeout', '1'],
    [isMysql ? 'max_execution_time' : 'max_statement_time', '10000'],
    ...(isMysql
      ? [
          ['sql_require_primary_key', 'ON'],
          ['sql_generate_invisible_primary_key', 'ON'],
        ]
      : [['enforce_storage_engine', 'InnoDB']]),
    // Less than the batch of this test, and more than one of its calls.
    ['max_allowed_packet', '16384'],
    ['max_heap_table_size', '16384'],
  ])('%s = %s', async (name, value) => {
    const wallet = await opened()
    await admin.query(`SET GLOBAL ${name} = ${value}`)
    try {
      await wallet.store.ready()
      // In a batch with several items of each player.
      const placed = await Promise.all(
        [...numbers, ...numbers].map((player, index) =>
          wallet.store.commit(placeBet(index, idOf(player), '10')),
        ),
      )
      expect(placed.filter(({ status }) => status !== 'committed')).toEqual([])
      for (const player of numbers) expect(await wallet.balanceOf(idOf(player))).toBe('80')

      // More transactions of one bet, and of one player, than the limit.
      await wallet.store.commit(placeBet('many', 'alice', '10'))
      for (const number of numbers) {
        const changes = settle('many', 'alice', '1')
        changes.transaction.transactionId = `s-${number}`
        if (changes.bet !== null) changes.bet.revision = number + 1
        expect(await wallet.store.commit(changes)).toMatchObject({ status: 'committed' })
      }
      const lookups = createMysqlLookups(wallet.pool, { schema: wallet.schema, allowScan: true })
      expect((await lookups.bet('b-many'))?.transactions).toHaveLength(31)
      expect((await lookups.player('alice', { limit: 25 }))?.transactions).toHaveLength(25)
      expect((await wallet.store.loadConfirmed(keysOf(placeBet(1, idOf(2))))).accounts[0]?.balance).toMatch(
        /^80/,
      )
    } finally {
      await admin.query(`SET GLOBAL ${name} = DEFAULT`)
      await wallet.close()
    }
  })

  test.each(['placebets', 'loads'])(
    '%s with the longest ids fit into the least max_allowed_packet',
    async kind => {
      const wallet = await opened()
      await admin.query('SET GLOBAL max_allowed_packet = 16384')
      try {
        await wallet.store.ready()
        const longest = numbers.map(number => {
          const changes = placeBet(number, 'alice', '1')
          const id = `${String(number).padStart(3, '0')}${'🎲'.repeat(252)}`
          const ids = { transactionId: id, betId: id }
          Object.assign(changes.transaction, ids)
          Object.assign(changes.bet ?? {}, { betId: ids.betId })
          return changes
        })
        if (kind === 'placebets') {
          const results = await Promise.all(longest.map(changes => wallet.store.commit(changes)))
          expect(results.filter(({ status }) => status !== 'committed')).toEqual([])
          expect(await wallet.balanceOf('alice')).toBe('70')
        } else {
          const results = await Promise.all(longest.map(changes => wallet.store.load(keysOf(changes))))
          expect(results.filter(({ accounts }) => accounts.length === 0)).toEqual([])
        }
      } finally {
        await admin.query('SET GLOBAL max_allowed_packet = DEFAULT')
        await wallet.close()
      }
    },
  )

  test('a max_allowed_packet that the longest call does not fit into: refused', async () => {
    const wallet = await opened()
    await admin.query('SET GLOBAL max_allowed_packet = 15360')
    try {
      await expect(wallet.store.ready()).rejects.toMatchObject({
        code: 'DATABASE_REJECTED',
        message: expect.stringContaining('max_allowed_packet is 15360'),
      })
    } finally {
      await admin.query('SET GLOBAL max_allowed_packet = DEFAULT')
      await wallet.close()
    }
  })

  async function opened() {
    const wallet = await openWallet({ admin, config: server.config, options: { connectionsMax: 1 } })
    await admin.query(`INSERT INTO ${wallet.schema}.wallet_players VALUES ?`, [
      numbers.map(number => [idOf(number), 'EUR', 100]),
    ])
    return wallet
  }
})
