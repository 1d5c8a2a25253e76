/** Reserved funds (D29): available is balance − reserved, in rules, answers, records and lookups. */
import { handlePlaceBet, handleUnsettlement, recordSettlement } from 'bet-wallet'
import { createPostgresLookups, createPostgresStore } from 'bet-wallet/postgres'
import { describe, expect, it } from 'vitest'
import { placeBet, settlement, unsettlement } from '../../fixtures.js'
import { databaseOfFile, endOf } from './wallet.js'

const { open } = await databaseOfFile()
const players = {
  ...{ table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'balance', reserved: 'locked' },
}
const wallet = (type: string, reserved: string, more = {}) =>
  open({
    ddl: `CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance ${type}, locked ${type});
      INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', '100', ${reserved}), ('bob', 'EUR', '100', '0')`,
    options: { players: { ...players, ...more } },
  })
const refused = { ok: false, errorCode: 'INSUFFICIENT_FUNDS' }

describe.each([
  ['numeric(20,2)', {}],
  ['text', { balanceType: 'text' }],
  ['bigint', { balanceType: 'minor-units', minorUnits: 0 }],
] as const)('reserved funds of %s', (type, more) => {
  it('cannot be used by a bet, and are not in the answer, the record and the lookups', async () => {
    const made = await wallet(type, "'40'", more)
    // Two at once: one item, and a batch.
    const other = placeBet({ playerId: 'bob', transactionId: 'p-2', betId: 'b-2', amount: '61' })
    const [one, two] = await Promise.all([
      handlePlaceBet(made.store, placeBet({ amount: '61' })),
      handlePlaceBet(made.store, other),
    ])
    expect(one).toMatchObject(refused)
    expect(two).toMatchObject({ ok: true, balance: '39' })
    const bet = placeBet({ transactionId: 'p-3', betId: 'b-3', amount: '60' })
    expect(await handlePlaceBet(made.store, bet)).toMatchObject({ ok: true, balance: '0' })
    expect(await made.balanceOf('alice')).toMatch(/^40(?:[.]00)?$/)
    const lookups = createPostgresLookups(made.pool, { schema: made.schema, allowScan: true })
    const found = await lookups.player('alice')
    expect(found?.player?.balance).toBe('0')
    expect(found?.transactions.map(({ balanceAfter }) => balanceAfter)).toEqual(['0', '60'])
  })

  it('may be negative: a credit line, for a bet and for a clawback', async () => {
    const made = await wallet(type, "'-50'", more)
    await handlePlaceBet(made.store, placeBet())
    await recordSettlement(made.store, settlement({ amount: '15' }))
    const bet = placeBet({ transactionId: 'p-2', betId: 'b-2', amount: '90' })
    expect(await handlePlaceBet(made.store, bet)).toMatchObject({ ok: true, balance: '45' })
    expect(await handleUnsettlement(made.store, unsettlement())).toMatchObject({ ok: true, balance: '30' })
    expect(await made.balanceOf('alice')).toMatch(/^-20/)
  })

  it('that are NULL are a fault, in one item and in a batch', async () => {
    const made = await wallet(type, 'NULL', more)
    const [one, two] = await Promise.all([
      endOf(handlePlaceBet(made.store, placeBet())),
      endOf(handlePlaceBet(made.store, placeBet({ playerId: 'bob', transactionId: 'p-2', betId: 'b-2' }))),
    ])
    expect(one).toMatchObject({ cause: { message: expect.stringContaining('locked is NULL') } })
    expect(two).toMatchObject({ ok: true })
    expect(await endOf(handlePlaceBet(made.store, placeBet()))).toBeInstanceOf(Error)
    expect(await made.recorded()).toEqual([`placebet p-2 -30`])
  })
})

it('withinTransaction is called with the column of the balance', async () => {
  const made = await wallet('numeric(20,2)', "'40'")
  const balances: string[] = []
  const store = createPostgresStore(made.pool, {
    ...{ schema: made.schema, players: { ...players, table: `${made.schema}.accounts` } },
    withinTransaction: async (_, commits) => {
      balances.push(...commits.map(({ balance }) => balance))
    },
  })
  expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true, balance: '30' })
  expect(balances).toEqual(['70.00'])
})

it('a column of another type is refused at start', async () => {
  const made = await wallet('numeric(20,2)', "'0'")
  await made.rows('ALTER TABLE SCHEMA.accounts ALTER locked TYPE text')
  await expect(made.store.ready()).rejects.toMatchObject({ code: 'INVALID_PLAYERS_TABLE' })
})
