/** Reserved funds (D29): available is balance − reserved, in rules, answers, records and lookups. */
import { handlePlaceBet, handleUnsettlement, recordSettlement } from 'bet-wallet'
import { createMysqlLookups } from 'bet-wallet/mysql'
import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { placeBet, settlement, unsettlement } from '../../fixtures.js'
import type { MariadbServer } from '../../mariadb/server.js'
import { noServer, startServer } from '../../mysql/engine.js'
import { openWallet } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`
const players = {
  ...{ table: 'SCHEMA.accounts', id: 'id', idCollation: 'utf8mb4_general_ci', currency: 'currency' },
  ...{ balance: 'balance', reserved: 'locked' },
}
const refused = { ok: false, errorCode: 'INSUFFICIENT_FUNDS' }

describe.skipIf(noServer !== null).each([
  ['decimal(20,2)', {}],
  ['varchar(40)', { balanceType: 'text' }],
  ['bigint', { balanceType: 'minor-units', minorUnits: 0 }],
] as const)(`reserved funds of %s${reason}`, (type, more) => {
  let server: MariadbServer
  let admin: mysql.Pool
  beforeAll(async () => {
    server = await startServer()
    admin = mysql.createPool({ ...server.config, connectionLimit: 2 })
  })
  afterAll(async () => {
    await admin.end()
    await server.stop()
  })

  async function wallet(reserved: string) {
    const made = await openWallet({
      ...{ admin, config: server.config, options: { players: { ...players, ...more } } },
      ddl: [
        `CREATE TABLE SCHEMA.accounts (id varchar(64) PRIMARY KEY, currency char(3), balance ${type}, locked ${type})
          ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
        `INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', '100', ${reserved}), ('bob', 'EUR', '100', '0')`,
      ],
    })
    onTestFinished(() => made.close())
    return made
  }

  it('cannot be used by a bet, and are not in the answer, the record and the lookups', async () => {
    const made = await wallet("'40'")
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
    const lookups = createMysqlLookups(admin, { schema: made.schema, allowScan: true })
    const found = await lookups.player('alice')
    expect(found?.player?.balance).toBe('0')
    expect(found?.transactions.map(({ balanceAfter }) => balanceAfter)).toEqual(['0', '60'])
  })

  it('may be negative: a credit line, for a bet and for a clawback', async () => {
    const made = await wallet("'-50'")
    await handlePlaceBet(made.store, placeBet())
    await recordSettlement(made.store, settlement({ amount: '15' }))
    const bet = placeBet({ transactionId: 'p-2', betId: 'b-2', amount: '90' })
    expect(await handlePlaceBet(made.store, bet)).toMatchObject({ ok: true, balance: '45' })
    expect(await handleUnsettlement(made.store, unsettlement())).toMatchObject({ ok: true, balance: '30' })
  })

  it('that are NULL are a fault, and nothing is recorded', async () => {
    const made = await wallet('NULL')
    await expect(handlePlaceBet(made.store, placeBet())).rejects.toMatchObject({
      cause: { message: expect.stringContaining('locked is NULL') },
    })
    expect(await made.rows('SELECT transaction_id FROM SCHEMA.wallet_transactions')).toEqual([])
  })
})
