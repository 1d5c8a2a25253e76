/** A ledger of the operator: `PendingCommit.balance` is the balance after that commit, also in a batch. */
import fc from 'fast-check'
import { afterAll, afterEach, expect, it } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { runs, timeoutMs } from '../../properties/runs.js'
import {
  commitAll,
  expectRunningBalances,
  type LedgerStore,
  movements,
  writeEntries,
} from '../hook-ledger.js'
import { openWallet, placing, type Wallet } from './wallet.js'

const { pool: admin, url, drop } = await freshDatabase()
afterAll(drop)
const opened: Wallet[] = []
afterEach(async () => {
  for (const wallet of opened.splice(0)) await wallet.close()
})

/** @param players a table of the PAM in minor units, or the library's own */
async function open(players: 'own' | 'minor units'): Promise<LedgerStore> {
  let schema = ''
  const names = ['alice', 'bob', 'carol']
  const inMinorUnits = {
    players: {
      ...{ table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'cents' },
      ...{ balanceType: 'minor-units' as const, minorUnits: 2 },
    },
  }
  const wallet = await openWallet({
    admin,
    url,
    ddl: `CREATE TABLE SCHEMA.ledger (n bigserial, reference text, player_id text, delta numeric, balance numeric);
      CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, cents bigint);
      INSERT INTO SCHEMA.accounts SELECT unnest('{alice,bob,carol}'::text[]), 'EUR', 10000`,
    options: {
      ...(players === 'own' ? {} : inMinorUnits),
      withinTransaction: (query, commits) =>
        writeEntries(
          query,
          commits,
          `INSERT INTO ${schema}.ledger (reference, player_id, delta, balance) VALUES ($1, $2, $3, $4)`,
        ),
    },
  })
  schema = wallet.schema
  opened.push(wallet)
  return {
    store: wallet.store,
    players: names,
    ledger: () => wallet.rows('SELECT reference, player_id, delta, balance FROM SCHEMA.ledger ORDER BY n'),
    recorded: () => wallet.rows('SELECT wallet_transaction_id, balance_after FROM SCHEMA.transactions'),
  }
}

it('four debits of one player in one batch: 90, 80, 70, 60', async () => {
  const books = await open('own')
  await Promise.all([1, 2, 3, 4].map(n => books.store.commit(placing({ n, amount: '10' }))))
  expect((await books.ledger()).map(([, , , balance]) => Number(balance))).toEqual([90, 80, 70, 60])
  await expectRunningBalances(books)
})

it.each(['own', 'minor units'] as const)(
  'under load, with refusals and conflicts between: every balance is the running sum (%s)',
  { timeout: timeoutMs },
  async players => {
    const books = await open(players)
    await fc.assert(
      fc.asyncProperty(movements, async lists => {
        await commitAll(books, lists)
        await expectRunningBalances(books)
      }),
      { ...runs<[never]>(40), endOnFailure: true } as object,
    )
    expect((await books.ledger()).length).toBeGreaterThan(100)
  },
)
