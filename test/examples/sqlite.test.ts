/** The SQLite store of examples/stores passes the whole kit, on node:sqlite, with files that several connections open. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Big from 'big.js'
import { expect, test } from 'vitest'
import { createSqliteStore, type SqliteDatabase, schema } from '../../examples/stores/sqlite.js'
import { handlePlaceBet, type WalletStore } from '../../src/index.js'
import { type StoreHarness, walletStoreCases } from '../../src/testing/index.js'

type Database = SqliteDatabase & { close(): void }

/** Node.js has it since 22.13; until 24 its import prints a warning. */
const sqlite = process.getBuiltinModule?.('node:sqlite') as
  | { DatabaseSync: new (path: string) => Database }
  | undefined

interface Opened {
  store: WalletStore
  folder: string
  connections: Database[]
}

function connect(opened: Pick<Opened, 'folder' | 'connections'>): Database {
  if (sqlite === undefined) throw new Error('node:sqlite is missing')
  const database = new sqlite.DatabaseSync(join(opened.folder, 'wallet.db'))
  opened.connections.push(database)
  return database
}

/** PAM code: another connection. */
function run(opened: Opened, sql: string, values: Parameters<ReturnType<Database['prepare']>['run']>[0]) {
  const database = connect(opened)
  database.exec('PRAGMA busy_timeout = 5000')
  database.prepare(sql).run(values)
}

const hundredths = (amount: string) => BigInt(new Big(amount).times(100).toFixed(0))

const harness: StoreHarness<Opened> = {
  open(players) {
    const opened = { folder: mkdtempSync(join(tmpdir(), 'bet-wallet-sqlite-')), connections: [] }
    const database = connect(opened)
    database.exec(schema)
    const insert = database.prepare('INSERT INTO players VALUES (:playerId, :currency, :balance)')
    for (const { playerId, currency, balance } of players)
      insert.run({ playerId, currency, balance: hundredths(balance) })
    return { ...opened, store: createSqliteStore(database) }
  },
  close({ folder, connections }) {
    for (const connection of connections) connection.close()
    rmSync(folder, { recursive: true })
  },
  reopen: opened => createSqliteStore(connect(opened)),
  crash(opened) {
    for (const connection of opened.connections.splice(0)) connection.close()
    return createSqliteStore(connect(opened))
  },
  depositExternally: (opened, playerId, amount) =>
    run(opened, 'UPDATE players SET balance = balance + :amount WHERE player_id = :playerId', {
      playerId,
      amount: hundredths(amount),
    }),
  changeCurrency: (opened, playerId, currency) =>
    run(opened, 'UPDATE players SET currency = :currency WHERE player_id = :playerId', {
      playerId,
      currency,
    }),
  holdPlayer(opened) {
    const database = connect(opened)
    database.exec('BEGIN IMMEDIATE')
    return { release: () => void database.exec('ROLLBACK') }
  },
  // No code beside the store settles bets or closes accounts, no rule refuses, no hook writes rows, and one file has no replicas.
  settleExternally: null,
  closePlayer: null,
  refuseBets: null,
  stopReplication: null,
  ownRows: null,
  accountPerCurrency: null,
  advanceClock: null,
  // The driver is synchronous.
  holdCommit: null,
  limits: { digits: 17, scale: 2 },
}

if (sqlite === undefined) {
  test.skip('the SQLite store (skipped: this Node.js has no node:sqlite; 22.13 and newer have it)', () => {})
} else {
  const cases = walletStoreCases(harness, { runs: 100 })
  for (const { title, skip, run } of cases) test.skipIf(skip)(title, run)

  test('given a COMMIT that fails, then its error is thrown, and the next commit succeeds', async () => {
    const opened = { folder: mkdtempSync(join(tmpdir(), 'bet-wallet-sqlite-')), connections: [] }
    const database = connect(opened)
    database.exec(schema)
    database.exec("INSERT INTO players VALUES ('anna', 'EUR', 10000)")
    // SQLite checks a deferred foreign key at COMMIT, and leaves the database transaction open.
    database.exec(`PRAGMA foreign_keys = ON; CREATE TABLE missing (id integer PRIMARY KEY);
      CREATE TABLE broken (id integer REFERENCES missing DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER break AFTER INSERT ON bets WHEN NEW.bet_id = 'b-1' BEGIN INSERT INTO broken VALUES (1); END`)
    const store = createSqliteStore(database)
    const place = (id: string) =>
      handlePlaceBet(store, {
        ...{ transactionId: `t-${id}`, betId: `b-${id}`, playerId: 'anna', sessionId: 's', amount: 30 },
        ...{ currency: 'EUR', odds: 2, betType: 'SINGLE', transactionDate: '2026-11-21T18:00:00Z' },
      })
    try {
      await expect(place('1')).rejects.toMatchObject({
        ...{ code: 'COMMIT_UNKNOWN', cause: { message: expect.stringContaining('FOREIGN KEY') } },
      })
      expect(await place('2')).toMatchObject({ ok: true, balance: '70.00' })
    } finally {
      harness.close?.({ ...opened, store })
    }
  })

  test('the report is complete: no hook is missing', () => {
    const missing = cases.flatMap(({ skip }) => (skip === null || /^does not apply/.test(skip) ? [] : [skip]))
    expect(missing).toEqual([])
  })
}
