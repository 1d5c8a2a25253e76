/**
 * What a publication sees of a batch (docs/shapes.md): many calls that the store commits together reach a subscriber as
 * single changes, one of a player per database transaction, in the order of the wallet.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { handlePlaceBet } from '../../src/index.js'
import { createPostgresStore, migratePostgres } from '../../src/stores/postgres/index.js'
import { placeBet } from '../fixtures.js'
import { noServerOfOurOwn, type PostgresServer, startPostgres } from '../postgres/server.js'

/** A change of a row, as the output plugin of PostgreSQL sends it to subscribers. */
interface Change {
  /** Of the database transaction. */
  commit: number
  values: string[]
}

/** The messages of pgoutput, version 1: Begin, and Update with its new values. */
function changesIn(messages: readonly Buffer[]): Change[] {
  const changes: Change[] = []
  let commit = 0
  for (const message of messages) {
    const kind = message.toString('latin1', 0, 1)
    if (kind === 'B') commit = message.readUInt32BE(17)
    if (kind !== 'U') continue
    // The relation, 'N', and for each column 't', its length and its text.
    expect(message.toString('latin1', 5, 6)).toBe('N')
    const values: string[] = []
    let at = 8
    for (let left = message.readUInt16BE(6); left > 0; left -= 1) {
      expect(message.toString('latin1', at, at + 1)).toBe('t')
      const length = message.readUInt32BE(at + 1)
      values.push(message.toString('utf8', at + 5, at + 5 + length))
      at += 5 + length
    }
    changes.push({ commit, values })
  }
  return changes
}

describe.skipIf(noServerOfOurOwn !== null)(
  `a publication${noServerOfOurOwn === null ? '' : ` (skipped: ${noServerOfOurOwn})`}`,
  () => {
    let server: PostgresServer
    let pool: pg.Pool
    beforeAll(async () => {
      server = await startPostgres({ settings: { wal_level: 'logical' } })
      pool = new pg.Pool({ connectionString: server.url })
    })
    afterAll(async () => {
      await pool?.end()
      await server?.stop()
    })

    test('sees each change of a player by itself, in the order of the wallet', async () => {
      await pool.query(`CREATE SCHEMA pam;
        CREATE TABLE pam.accounts (id text PRIMARY KEY, currency char(3) NOT NULL, balance decimal(18,2) NOT NULL);
        INSERT INTO pam.accounts VALUES ('anna', 'EUR', 100), ('ben', 'EUR', 100);
        CREATE PUBLICATION balances FOR TABLE pam.accounts`)
      const players = { table: 'pam.accounts', id: 'id', currency: 'currency', balance: 'balance' }
      await migratePostgres(pool, { players })
      await pool.query("SELECT pg_create_logical_replication_slot('balances', 'pgoutput')")
      // One statement at a time, so that the calls share them.
      const store = createPostgresStore(pool, { players, connectionsMax: 1, timeoutMs: 120_000 })
      await store.ready()
      const bets = ['30', '20', '60'].flatMap((amount, index) =>
        ['anna', 'ben'].map(playerId =>
          handlePlaceBet(
            store,
            placeBet({
              transactionId: `${playerId}-${index}`,
              betId: `${playerId}-${index}`,
              playerId,
              amount,
            }),
          ),
        ),
      )
      const accepted = (await Promise.all(bets)).filter(({ ok }) => ok)
      const { rows } = await pool.query<{ data: Buffer }>(
        "SELECT data FROM pg_logical_slot_get_binary_changes('balances', NULL, NULL, 'proto_version', '1', 'publication_names', 'balances')",
      )
      const changes = changesIn(rows.map(({ data }) => data))
      expect(changes).toHaveLength(accepted.length)
      const recorded = await pool.query<{ player_id: string; balance: string }>(
        'SELECT player_id, balance_after::text AS balance FROM bet_wallet.transactions WHERE delta <> 0 ORDER BY wallet_transaction_id::bigint',
      )
      for (const player of ['anna', 'ben']) {
        const ofPlayer = changes.filter(({ values }) => values[0] === player)
        // A database transaction changes a player at most once.
        expect(new Set(ofPlayer.map(({ commit }) => commit)).size).toBe(ofPlayer.length)
        expect(ofPlayer.map(({ values }) => Number(values[2]))).toEqual(
          recorded.rows.filter(row => row.player_id === player).map(row => Number(row.balance)),
        )
      }
      // The calls did share database transactions: otherwise this shows nothing.
      expect(new Set(changes.map(({ commit }) => commit)).size).toBeLessThan(changes.length)
    })
  },
)
