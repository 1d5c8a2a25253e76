/** A ledger of the operator: `PendingCommit.balance` is the balance after that commit, also in a batch. */
import fc from 'fast-check'
import mysql from 'mysql2/promise'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { WalletChanges } from '../../src/store.js'
import { sharedMariadb } from '../mariadb/fresh-database.js'
import { exactCollation, noServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { runs, timeoutMs } from '../properties/runs.js'
import { commitAll, expectRunningBalances, type LedgerStore, movements, writeEntries } from './hook-ledger.js'
import { openWallet as openMysqlWallet } from './mysql/wallet.js'
import { openWallet, placing } from './postgres/wallet.js'

const players = ['alice', 'bob', 'carol']
const entries = 'SELECT reference, player_id, delta, balance FROM SCHEMA.ledger ORDER BY n'

const inMinorUnits = {
  players: {
    ...{ table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'cents' },
    ...{ balanceType: 'minor-units' as const, minorUnits: 2 },
  },
}

const perCurrency = { accountPerCurrency: true, minorUnits: { EUR: 2, JPY: 0 } }
const twoAccounts = {
  players: {
    ...{ table: 'SCHEMA.wallets', id: 'id', currency: 'currency', balance: 'units' },
    ...{ balanceType: 'minor-units' as const, ...perCurrency },
  },
}
const fillWallets = "INSERT INTO SCHEMA.wallets VALUES ('alice', 'EUR', 10000), ('alice', 'JPY', 5000)"

async function onPostgres(table: 'own' | 'minor units' | 'two accounts'): Promise<LedgerStore> {
  const { pool: admin, url, drop } = await freshDatabase()
  onTestFinished(drop)
  let schema = ''
  const wallet = await openWallet({
    admin,
    url,
    ddl: `CREATE TABLE SCHEMA.ledger (n bigserial, reference text, player_id text, delta numeric, balance numeric);
      CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, cents bigint);
      INSERT INTO SCHEMA.accounts SELECT unnest('{alice,bob,carol}'::text[]), 'EUR', 10000;
      CREATE TABLE SCHEMA.wallets (id text, currency text, units bigint NOT NULL, PRIMARY KEY (id, currency));
      ${fillWallets}`,
    options: {
      ...{ own: {}, 'minor units': inMinorUnits, 'two accounts': twoAccounts }[table],
      withinTransaction: (query, commits) =>
        writeEntries(
          query,
          commits,
          `INSERT INTO ${schema}.ledger (reference, player_id, delta, balance) VALUES ($1, $2, $3, $4)`,
        ),
    },
  })
  onTestFinished(() => wallet.close())
  schema = wallet.schema
  return {
    store: wallet.store,
    players,
    ledger: () => wallet.rows(entries),
    recorded: () => wallet.rows('SELECT wallet_transaction_id, balance_after FROM SCHEMA.transactions'),
  }
}

async function onMariadb(table: 'own' | 'two accounts'): Promise<LedgerStore> {
  const { config } = await sharedMariadb()
  const admin = mysql.createPool(config)
  onTestFinished(() => admin.end())
  let schema = ''
  const wallet = await openMysqlWallet({
    admin,
    config,
    ddl: [
      `CREATE TABLE SCHEMA.ledger (n bigint AUTO_INCREMENT PRIMARY KEY, reference varchar(64),
        player_id varchar(64), delta decimal(38,18), balance decimal(38,18)) ENGINE = InnoDB`,
      `CREATE TABLE SCHEMA.wallets (id varchar(64) COLLATE ${exactCollation}, currency varchar(16), units bigint NOT NULL,
        PRIMARY KEY (id, currency)) ENGINE = InnoDB CHARACTER SET utf8mb4`,
      fillWallets,
    ],
    options: {
      ...(table === 'own' ? {} : { players: { ...twoAccounts.players, idCollation: exactCollation } }),
      withinTransaction: (query, commits) =>
        writeEntries(
          query,
          commits,
          `INSERT INTO ${schema}.ledger (reference, player_id, delta, balance) VALUES (?, ?, ?, ?)`,
        ),
    },
  })
  onTestFinished(() => wallet.close())
  schema = wallet.schema
  await wallet.store.ready()
  return {
    store: wallet.store,
    players,
    ledger: () => wallet.rows(entries),
    recorded: () => wallet.rows('SELECT CAST(id AS char), balance_after FROM SCHEMA.wallet_transactions'),
  }
}

const databases: {
  on: string
  skipped: string | null
  open(table?: 'two accounts'): Promise<LedgerStore>
}[] = [
  { on: 'PostgreSQL', skipped: null, open: (table = 'own' as never) => onPostgres(table) },
  { on: 'PostgreSQL in minor units', skipped: null, open: () => onPostgres('minor units') },
  {
    on: `MariaDB${noServer === null ? '' : ` (skipped: ${noServer})`}`,
    ...{ skipped: noServer, open: (table = 'own' as never) => onMariadb(table) },
  },
]

describe.each(databases)('a ledger of withinTransaction on $on', ({ skipped, open }) => {
  it.skipIf(skipped !== null)('four debits of one player in one batch: 90, 80, 70, 60', async () => {
    const books = await open()
    await Promise.all([1, 2, 3, 4].map(n => books.store.commit(placing({ n, amount: '10' }))))
    expect((await books.ledger()).map(([, , , balance]) => Number(balance))).toEqual([90, 80, 70, 60])
    await expectRunningBalances(books)
  })

  it.skipIf(skipped !== null)(
    'under load, with refusals and conflicts between: every balance is the running sum',
    { timeout: timeoutMs },
    async () => {
      const books = await open()
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
})

/** The same of an account in JPY. */
function inYen(changes: WalletChanges): WalletChanges {
  const { transaction, bet, account } = changes
  const currency = 'JPY'
  return {
    ...changes,
    transaction: { ...transaction, currency, accountCurrency: currency },
    bet: bet && { ...bet, currency },
    account: { ...account, currency },
  }
}

describe.each(databases.filter(({ on }) => !on.includes('minor units')))(
  'two accounts of a player, in minor units of different size, on $on',
  ({ skipped, open }) => {
    it.skipIf(skipped !== null)('the hook gets the balance of the account of the commit', async () => {
      const { store, ledger, recorded } = await open('two accounts')
      const commits = [1, 2, 3, 4].map(n =>
        n % 2 === 0 ? inYen(placing({ n, amount: '500' })) : placing({ n, amount: '10' }),
      )
      const results = await Promise.all(commits.map(changes => store.commit(changes)))
      const answered = new Map(
        results.map(result => {
          if (result.status !== 'committed') throw new Error(result.status)
          return [result.walletTransactionId, Number(result.balance)]
        }),
      )
      const after = new Map((await recorded()).map(([reference, balance]) => [reference, Number(balance)]))
      const entries = (await ledger()).map(([reference, , delta, balance]) => ({
        reference: String(reference),
        delta: Number(delta),
        balance: Number(balance),
      }))
      const balancesOf = (change: number) =>
        entries.filter(({ delta }) => delta === change).map(({ balance }) => balance)
      expect([balancesOf(-10), balancesOf(-500)]).toEqual([
        [90, 80],
        [4500, 4000],
      ])
      for (const { reference, balance } of entries)
        expect([after.get(reference), answered.get(reference)]).toEqual([balance, balance])
    })
  },
)
