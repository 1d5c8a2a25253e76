/** The limits and the bonus of the examples in `withinTransaction` of the MySQL store. */
import { readFileSync } from 'node:fs'
import { createMysqlStore, migrateMysql } from 'bet-wallet/mysql'
import type { RowDataPacket } from 'mysql2'
import { exactCollation } from '../../../mysql/engine.js'
import { type AccountsStore, compareHooks, examples, type Hook } from '../hooks.js'
import type { PartResult } from '../report.js'
import { anyPlayer, playersCount } from '../requests.js'
import { type BenchDatabase, type Ground, library, numbers, opening, withDatabase } from './ground.js'

export function hooksPart(ground: Ground): Promise<PartResult> {
  return compareHooks(ground.options, (hook, work) =>
    withDatabase(ground, plain =>
      withDatabase(ground, async database =>
        work([await onAccounts(database, hook), await onAccounts(plain, null)]),
      ),
    ),
  )
}

async function onAccounts(database: BenchDatabase, hook: Hook | null): Promise<AccountsStore> {
  const { pool, schema, options } = database
  await pool.query(
    `CREATE TABLE accounts (player_id varchar(255) CHARACTER SET utf8mb4 COLLATE ${exactCollation} PRIMARY KEY,
      currency varchar(16) NOT NULL, balance decimal(38, 18) NOT NULL)`,
  )
  await pool.query(`INSERT INTO accounts SELECT seq, 'EUR', ${opening} FROM ${numbers(1, playersCount)}`)
  for (const example of examples) {
    const file = new URL(`../../../../examples/${example}/schema-mysql.sql`, import.meta.url)
    for (const statement of readFileSync(file, 'utf8').split(/;$/m))
      if (statement.trim() !== '') await pool.query(statement)
  }
  await pool.query('UPDATE accounts SET stake_per_day = balance, loss_per_week = balance')
  const columns = { id: 'player_id', idCollation: exactCollation, currency: 'currency', balance: 'balance' }
  const tables = { schema, players: { table: `${schema}.accounts`, ...columns } }
  await migrateMysql(pool, tables, { allowOtherOptions: true })
  const store = createMysqlStore(pool, {
    ...{ ...options.store, ...tables },
    ...(hook && { withinTransaction: hook }),
  })
  await store.ready()
  return {
    placing: (answers, name) =>
      library({ ...database, store }, { callers: 64, player: anyPlayer }, answers, name),
    async books() {
      const [rows] = await pool.query<RowDataPacket[]>(
        `SELECT (SELECT SUM(${opening} - balance) FROM accounts) AS debited,
          (SELECT COUNT(*) FROM limited_bets) AS counted`,
      )
      return rows[0] as { debited: string; counted: number }
    },
  }
}
