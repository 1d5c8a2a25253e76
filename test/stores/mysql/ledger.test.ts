/** A ledger of the operator: `PendingCommit.balance` is the balance after that commit, also in a batch. */
import fc from 'fast-check'
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { runs, timeoutMs } from '../../properties/runs.js'
import {
  commitAll,
  expectRunningBalances,
  type LedgerStore,
  movements,
  writeEntries,
} from '../hook-ledger.js'
import { openWallet, placeBet, type Wallet } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

describe.skipIf(noServer !== null)(`a ledger of withinTransaction${reason}`, () => {
  let admin: Pool
  let config: mysql.PoolOptions
  let wallet: Wallet
  beforeAll(async () => {
    config = (await sharedMariadb()).config
    admin = mysql.createPool(config)
  })
  afterEach(() => wallet.close())
  afterAll(() => admin.end())

  async function open(): Promise<LedgerStore> {
    wallet = await openWallet({
      admin,
      config,
      ddl: [
        `CREATE TABLE SCHEMA.ledger (n bigint AUTO_INCREMENT PRIMARY KEY, reference varchar(64),
          player_id varchar(64), delta decimal(38,18), balance decimal(38,18)) ENGINE = InnoDB`,
      ],
      options: {
        withinTransaction: (query, commits) =>
          writeEntries(
            query,
            commits,
            `INSERT INTO ${wallet.schema}.ledger (reference, player_id, delta, balance) VALUES (?, ?, ?, ?)`,
          ),
      },
    })
    await wallet.store.ready()
    return {
      store: wallet.store,
      players: ['alice', 'bob', 'carol'],
      ledger: () => wallet.rows('SELECT reference, player_id, delta, balance FROM SCHEMA.ledger ORDER BY n'),
      recorded: () => wallet.rows('SELECT CAST(id AS char), balance_after FROM SCHEMA.wallet_transactions'),
    }
  }

  it('four debits of one player in one batch: 90, 80, 70, 60', async () => {
    const books = await open()
    await Promise.all([1, 2, 3, 4].map(n => books.store.commit(placeBet(n, 'alice', '10'))))
    expect((await books.ledger()).map(([, , , balance]) => Number(balance))).toEqual([90, 80, 70, 60])
    await expectRunningBalances(books)
  })

  it('under load, with refusals and conflicts between: every balance is the running sum', {
    timeout: timeoutMs,
  }, async () => {
    const books = await open()
    await fc.assert(
      fc.asyncProperty(movements, async lists => {
        await commitAll(books, lists)
        await expectRunningBalances(books)
      }),
      { ...runs<[never]>(40), endOnFailure: true } as object,
    )
    expect((await books.ledger()).length).toBeGreaterThan(100)
  })
})
