/**
 * The kit on PGlite: PostgreSQL in this process. It has one connection and no server: no second store can be
 * opened, no connection can be terminated, and no commit can be held.
 */
import { PGlite } from '@electric-sql/pglite'
import { createPostgresStore, migratePostgres, type PostgresStoreOptions } from 'bet-wallet/postgres'
import { type StoreHarness, walletStoreCases } from 'bet-wallet/testing'
import { afterAll, describe, test } from 'vitest'
import type { PostgresStore } from '../../../src/stores/postgres/index.js'

const client = await PGlite.create()
afterAll(() => client.close())

let schemas = 0

const harnessWith = (
  options: PostgresStoreOptions,
): StoreHarness<{ store: PostgresStore; schema: string }> => ({
  async open(players) {
    schemas += 1
    const schema = `kit_${schemas}`
    await migratePostgres(client, { schema })
    await client.query(
      `INSERT INTO ${schema}.players SELECT id, currency, balance FROM json_to_recordset($1)
        AS p(id text, currency text, balance numeric)`,
      [JSON.stringify(players.map(({ playerId: id, currency, balance }) => ({ id, currency, balance })))],
    )
    return { store: createPostgresStore(client, { ...options, schema }), schema }
  },

  async close({ schema }) {
    await client.query(`DROP SCHEMA ${schema} CASCADE`)
  },

  async depositExternally({ schema }, playerId, amount) {
    await client.query(`UPDATE ${schema}.players SET balance = balance + $2 WHERE player_id = $1`, [
      playerId,
      amount,
    ])
  },

  async settleExternally({ schema }, { playerId, betId, type, amount }) {
    await client.transaction(async ({ query }) => {
      await query(`UPDATE ${schema}.players SET balance = balance + $2 WHERE player_id = $1`, [
        playerId,
        amount,
      ])
      await query(`SELECT ${schema}.credit_bet_v1($1, $2, $3)`, [betId, type, amount])
    })
  },
})

const variants: [name: string, options: PostgresStoreOptions][] = [
  ['without a hook', {}],
  [
    'with withinTransaction',
    {
      async withinTransaction(query, pending) {
        for (const { changes } of pending) await query('SELECT $1::text', [changes.transaction.transactionId])
      },
    },
  ],
]

describe.each(variants)('on PGlite, %s', (_, options) => {
  for (const { id, name, skip, run } of walletStoreCases(harnessWith(options), { runs: 10 })) {
    test.skipIf(skip !== null)(`${id} ${name}${skip === null ? '' : ` (${skip})`}`, run)
  }
})
