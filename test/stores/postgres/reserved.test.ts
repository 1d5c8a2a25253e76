/** Reserved funds (D29), and what only PostgreSQL has. */
import { createPostgresLookups } from 'bet-wallet/postgres'
import { expect, it } from 'vitest'
import { postgresOutbox } from '../../../src/stores/postgres/relay.js'
import { type OpenReserved, reservedFunds } from '../reserved-funds.js'
import { databaseOfFile } from './wallet.js'

const database = await databaseOfFile()
const columns = { id: 'id', currency: 'currency', balance: 'balance', reserved: 'locked' }

const open: OpenReserved = async ({ ddl, options, withinTransaction }) => {
  const players = { table: 'SCHEMA.accounts', ...columns, ...options }
  const made = await database.open({
    ddl: ddl.join(';'),
    options: { players, outbox: true, connectionsMax: 1, ...(withinTransaction && { withinTransaction }) },
  })
  return {
    ...made,
    lookups: createPostgresLookups(made.pool, { schema: made.schema, allowScan: true }),
    outbox: postgresOutbox(made.pool, made.schema),
  }
}

reservedFunds(open)

it('a column of another type is refused at start', async () => {
  const { rows, store } = await open({
    options: {},
    ddl: [
      'CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance numeric(20,2), locked numeric)',
    ],
  })
  await rows('ALTER TABLE SCHEMA.accounts ALTER locked TYPE text')
  await expect(store.ready()).rejects.toMatchObject({
    code: 'INVALID_PLAYERS_TABLE',
    message: expect.stringMatching(/the column locked is text; it must be numeric/),
  })
})
