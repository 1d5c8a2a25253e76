/** On PostgreSQL the numbers of events come from a sequence: one that draws them in another order is refused. */
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPostgresStore, migratePostgres } from '../../src/stores/postgres/index.js'

let client: PGlite
beforeAll(async () => {
  client = await PGlite.create()
  await migratePostgres(client, { outbox: true })
  await migratePostgres(client, {}, { allowOtherOptions: true })
})
afterAll(() => client.close())

const ready = (outbox: boolean) => createPostgresStore(client, { outbox, allowNotDurable: true }).ready()

it.each(['CACHE 2', 'INCREMENT BY -1', 'CYCLE'])(
  'given a sequence with %s, then a store with the outbox is refused until the advice is followed',
  async change => {
    await ready(true)
    await client.query(`ALTER SEQUENCE bet_wallet.wallet_transaction_ids ${change}`)
    await ready(false)
    const error = await ready(true).catch((thrown: Error & { code?: string }) => thrown)
    expect(error).toMatchObject({ code: 'SCHEMA_VERSION' })
    const [advice = ''] = /ALTER SEQUENCE .* NO CYCLE/.exec(error?.message ?? '') ?? []
    await client.query(advice)
    await ready(true)
  },
)
