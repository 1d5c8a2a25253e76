/**
 * `ownRows` of the kit, on each engine: a hook that keeps its contract passes, and one that writes over another
 * connection fails where a commit is refused or crashes after the hook.
 */
import { type StoreHarness, walletStoreCases } from 'bet-wallet/testing'
import mysql from 'mysql2/promise'
import { afterAll, describe, expect, test } from 'vitest'
import type { WalletStore } from '../../src/store.js'
import type { Query, WithinTransaction } from '../../src/stores/database/within-transaction.js'
import { closedGate, type Gate, passGate } from '../examples/held-commit.js'
import { sharedMariadb } from '../mariadb/fresh-database.js'
import { exactCollation, isMysql, noServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { judge } from './kit-on-stores.js'
import { mysqlHarness, ownTable as ownMysqlTable } from './mysql/harness.js'
import { ownTable, postgresHarness } from './postgres/harness.js'

type Hooks = { withinTransaction: WithinTransaction }

/** A database with a table `ledger`, as SCHEMA.ledger. */
interface Host<Opened extends { store: WalletStore }> {
  insert: string
  /** Over another connection than that of the store. */
  host: Query
  select: string
  harness(options: Hooks): StoreHarness<Opened>
}

type Write = (own: Query, insert: (query: Query) => Promise<void>) => Promise<void>

/** The harness with a hook that writes a row per movement, and refuses and stops as the kit wants. */
function withOwnRows<Opened extends { store: WalletStore }>(
  { insert, host, select, harness }: Host<Opened>,
  write: Write,
): StoreHarness<Opened> {
  const refused = new Set<string>()
  const opened: { gate: Gate | null } = { gate: null }
  const base = harness({
    async withinTransaction(own, pending) {
      await write(own, async query => {
        for (const { changes, walletTransactionId } of pending)
          if (changes.account.delta !== '0')
            await query(insert, [walletTransactionId, changes.transaction.playerId, changes.account.delta])
      })
      for (const { changes, refuse } of pending) {
        const { operation, refusal, playerId } = changes.transaction
        if (operation === 'placebet' && refusal === null && refused.has(playerId)) refuse('LIMIT', 'a limit')
      }
      await passGate(opened)
    },
  })
  return {
    ...base,
    async open(players) {
      refused.clear()
      await host('DELETE FROM own_rows.ledger')
      return await base.open(players)
    },
    refuseBets: (_, playerId) => void refused.add(playerId),
    holdCommit() {
      const { gate, held } = closedGate()
      opened.gate = gate
      return held
    },
    async ownRows(_, playerId) {
      const [row] = (await host(select, [playerId])).rows as { count: unknown; sum: string }[]
      return { count: Number(row?.count), sum: String(row?.sum) }
    },
  }
}

const byQuery: Write = (own, insert) => insert(own)

function kitOn<Opened extends { store: WalletStore }>(host: Host<Opened>): void {
  // Refusals, and own rows. The histories too: they compare the rows after each.
  judge(withOwnRows(host, byQuery), 10, id => /^WS-(?:5[89]|9[1-8])$/.test(id))

  const broken: [name: string, write: Write, killedBy: string[]][] = [
    ['writes over another connection', (_, insert) => insert(host.host), ['WS-92', 'WS-94']],
    [
      'writes a row twice',
      async (own, insert) => {
        await insert(own)
        await insert(own)
      },
      ['WS-91', 'WS-95'],
    ],
    ['writes no row', async () => {}, ['WS-91', 'WS-98']],
  ]
  test.each(broken)('a hook that %s fails', async (_, write, killedBy) => {
    const harness = withOwnRows(host, write)
    for (const { run } of walletStoreCases(harness, { only: killedBy, runs: 10 }))
      await expect(run()).rejects.toThrow(/expected: ownRows of .* to be those of the recorded movements/)
  })
}

describe('on PostgreSQL', async () => {
  const { url, pool, drop } = await freshDatabase()
  afterAll(drop)
  await pool.query(`CREATE SCHEMA own_rows;
    CREATE TABLE own_rows.ledger (reference text, player_id text, amount numeric)`)
  kitOn({
    insert: 'INSERT INTO own_rows.ledger VALUES ($1, $2, $3)',
    select: `SELECT count(*), coalesce(sum(amount), 0)::text AS sum FROM own_rows.ledger WHERE player_id = $1`,
    host: (text, values) => pool.query(text, values),
    harness: options => postgresHarness({ pool, url, accounts: ownTable, options }),
  })
})

const engine = isMysql ? 'MySQL' : 'MariaDB'
const reason = noServer === null ? '' : ` (skipped: ${noServer})`
describe.skipIf(noServer !== null)(`on ${engine}${reason}`, async () => {
  if (noServer !== null) return
  const { config } = await sharedMariadb()
  const pool = mysql.createPool({ ...config, connectionLimit: 20 })
  afterAll(async () => {
    await pool.query('DROP DATABASE own_rows')
    await pool.end()
  })
  await pool.query('CREATE DATABASE own_rows')
  await pool.query(`CREATE TABLE own_rows.ledger (reference varchar(64), amount decimal(38,18),
    player_id varchar(255) CHARACTER SET utf8mb4 COLLATE ${exactCollation}) ENGINE = InnoDB`)
  kitOn({
    insert: 'INSERT INTO own_rows.ledger (reference, player_id, amount) VALUES (?, ?, ?)',
    select:
      'SELECT COUNT(*) AS count, CAST(COALESCE(SUM(amount), 0) AS char) AS sum FROM own_rows.ledger WHERE player_id = ?',
    host: async (text, values) => ({ rows: (await pool.query(text, values))[0] as unknown[] }),
    harness: options => mysqlHarness({ pool, configOf: () => config, accounts: ownMysqlTable, options }),
  })
})
