/** What the balance column can hold is known at start: a debit beyond is refused, without an error of the server. */
import mysql from 'mysql2/promise'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createHttpHandler } from '../../src/http/index.js'
import { createFaultLog } from '../../src/http/log.js'
import { handlePlaceBet, recordSettlement } from '../../src/index.js'
import type { CommitResult, WalletChanges, WalletStore } from '../../src/store.js'
import { faultOf, placeBet, rollbackBet, settlement } from '../fixtures.js'
import { placeBetRequest } from '../http/calls.js'
import { sharedMariadb } from '../mariadb/fresh-database.js'
import { noMariadb } from '../mariadb/installation.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { type Wallet as MysqlWallet, openWallet as openMysql } from './mysql/wallet.js'
import { endOf, openWallet, type Wallet as PostgresWallet, placing } from './postgres/wallet.js'

const players = { table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'balance' }
const inText = { ...players, balanceType: 'text' as const }
const refused = {
  ...{ status: 'refused', errorCode: 'INVALID_AMOUNT' },
  description: 'amount: not representable in the balance column',
}

/** Without a floor, as a credit account of the PAM has none. */
const debiting = (n: number, amount: string, playerId = 'alice'): WalletChanges => ({
  ...placing({ n, amount, playerId }),
  account: { currency: 'EUR', delta: `-${amount}`, floor: null },
})

/** Alone, and in a batch with another player. */
async function expectRefused(store: WalletStore, amount: string): Promise<void> {
  expect(await endOf<CommitResult>(store.commit(debiting(1, amount)))).toEqual(refused)
  const batch = [debiting(2, amount), debiting(3, '1', 'bob')].map(each =>
    endOf<CommitResult>(store.commit(each)),
  )
  expect(await Promise.all(batch)).toMatchObject([refused, { status: 'committed' }])
}

type TestWallet = Pick<PostgresWallet & MysqlWallet, 'recorded' | 'balanceOf'> & { store: WalletStore }

/**
 * Of 70 EUR in a column that ends at 999.99: beyond its range, which the server finds, and with too many
 * decimals, for which no statement is sent.
 */
async function expectNoChanges({ store, recorded, balanceOf }: TestWallet): Promise<void> {
  await handlePlaceBet(store, placeBet({ amount: '30' }))
  for (const amount of ['990', '0.125']) {
    const settled = recordSettlement(store, settlement({ amount }), { minorUnits: () => 3 })
    expect(await faultOf(settled)).toMatchObject({
      ...{ code: 'AMOUNT_NOT_REPRESENTABLE', retryable: false },
      message: 'The store cannot hold this amount; no changes were made',
      cause: { name: 'StoreError', problem: `${amount}: not representable in the balance column` },
    })
  }
  expect((await recorded()).map(each => each.split(' ')[0])).toEqual(['placebet'])
  expect(Number(await balanceOf('alice'))).toBe(70)
}

/** The player has won at the casino, so that the column cannot hold the stake any more. */
async function expectLoggedRollback({ store, recorded }: TestWallet): Promise<void> {
  const lines: string[] = []
  const onError = createFaultLog(line => lines.push(line))
  const handle = createHttpHandler(store, { authenticate: () => true, onError })
  const body = JSON.stringify(rollbackBet())
  expect(await handle(placeBetRequest({ path: '/rollbackbet', body }))).toMatchObject({
    status: 500,
    body: '{"errorCode":"INTERNAL_ERROR","description":"The wallet cannot hold this amount; no changes were made"}',
  })
  expect(lines.join()).toMatch(
    /AMOUNT_NOT_REPRESENTABLE: The .* no changes were made; cause: AMOUNT_NOT_REPRESENTABLE: 30[.0]*: not/,
  )
  expect((await recorded()).map(each => each.split(' ')[0])).toEqual(['placebet'])
}

const { pool: admin, url, drop } = await freshDatabase()
afterAll(drop)

describe('on PostgreSQL', () => {
  it.each([
    ['numeric(5,2)', players, '2000'],
    ['varchar(6)', inText, '0.0001'],
    ['varchar(4)', inText, '10000.25'],
    ['SCHEMA.six', inText, '0.0001'],
  ])('%s', async (type, table, amount) => {
    const wallet = await openWallet({
      admin,
      url,
      ddl: `CREATE DOMAIN SCHEMA.six AS varchar(6);
        CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance ${type});
        INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', '100'), ('bob', 'EUR', '100')`,
      options: { players: table, connectionsMax: 1 },
    })
    try {
      await expectRefused(wallet.store, amount)
    } finally {
      await wallet.close()
    }
  })

  it('a credit that numeric(5,2) cannot hold is a fault that says so', async () => {
    const wallet = await openWallet({
      admin,
      url,
      ddl: `CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance numeric(5,2));
        INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', '100')`,
      options: { players },
    })
    onTestFinished(() => wallet.close())
    await expectNoChanges(wallet)
    await wallet.rows('UPDATE SCHEMA.accounts SET balance = 999')
    await expectLoggedRollback(wallet)
  })
})

it('numeric(3,5) on PostgreSQL, which holds at most 0.00999', async ({ skip }) => {
  const { rows } = await admin.query("SELECT current_setting('server_version_num')::integer AS version")
  if (rows[0]?.version < 150_000) skip('before PostgreSQL 15, a scale is at most the precision')
  const wallet = await openWallet({
    admin,
    url,
    ddl: `CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance numeric(3,5));
      INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', 0.001)`,
    options: { players },
  })
  onTestFinished(() => wallet.close())
  expect(await endOf<CommitResult>(wallet.store.commit(debiting(1, '0.012')))).toEqual(refused)
  expect(await wallet.store.commit(debiting(2, '0.0109'))).toMatchObject({
    status: 'committed',
    balance: '-0.00990',
  })
})

const reason = noMariadb === null ? '' : ` (skipped: ${noMariadb})`
describe.skipIf(noMariadb !== null)(`on MariaDB${reason}`, () => {
  it.each([
    ['decimal(5,2)', players, '2000'],
    ['decimal(5,2) unsigned', players, '100.5'],
    ['varchar(6)', inText, '0.0001'],
    ['char(4)', inText, '10000.25'],
    // More digits than a load can read: below 0, too.
    ['decimal(65,20)', players, '0.00000000000000000001', `-${'9'.repeat(20)}.${'9'.repeat(20)}`],
    ['decimal(60,2)', players, '1', `-${'9'.repeat(38)}`],
  ])('%s', async (type, table, amount, balance = '100') => {
    const { config } = await sharedMariadb()
    const pool = mysql.createPool(config)
    const wallet = await openMysql({
      admin: pool,
      config,
      ddl: [
        `CREATE TABLE SCHEMA.accounts (id varchar(64) PRIMARY KEY, currency char(3), balance ${type})
          ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
        `INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', '${balance}'), ('bob', 'EUR', '100')`,
      ],
      options: { players: { ...table, idCollation: 'utf8mb4_general_ci' }, connectionsMax: 1 },
    })
    try {
      await expectRefused(wallet.store, amount)
    } finally {
      await wallet.close()
      await pool.end()
    }
  })

  it('a credit that decimal(5,2) cannot hold is a fault that says so', async () => {
    const { config } = await sharedMariadb()
    const pool = mysql.createPool(config)
    const wallet = await openMysql({
      admin: pool,
      config,
      ddl: [
        `CREATE TABLE SCHEMA.accounts (id varchar(64) PRIMARY KEY, currency char(3), balance decimal(5,2))
          ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
        "INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', '100')",
      ],
      options: { players: { ...players, idCollation: 'utf8mb4_general_ci' } },
    })
    onTestFinished(async () => {
      await wallet.close()
      await pool.end()
    })
    await expectNoChanges(wallet)
    await wallet.run('UPDATE SCHEMA.accounts SET balance = 999')
    await expectLoggedRollback(wallet)
  })
})
