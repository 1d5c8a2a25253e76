/** The recipe of docs/operations.md that forgets a player, executed as the page has it. */
import type { PGlite } from '@electric-sql/pglite'
import type { Pool, ResultSetHeader } from 'mysql2/promise'
import type { PostgresClient } from '../../src/stores/postgres/index.js'
import { codeBlocksOf, readPage, sectionOf } from '../docs/pages.js'

export interface Forgetting {
  playerId: string
  schema?: string
  /** The page leaves its statement out where there is none. @default false */
  outbox?: boolean
}

export interface Forgotten {
  pseudonym: string
  bets: number
  transactions: number
}

const blocks = codeBlocksOf(sectionOf(readPage('docs/operations.md'), 'Forget a player'))

/** Its statements, without their semicolons. */
export const recipeFor = (
  engine: 'postgres' | 'mysql',
  { playerId, schema = 'bet_wallet', outbox = false }: Forgetting,
): string[] =>
  (blocks[engine === 'postgres' ? 0 : 1]?.code ?? '')
    .replaceAll("'anna'", `'${playerId}'`)
    .replaceAll('bet_wallet.', `${schema}.`)
    .split(/;\n/)
    .filter(statement => statement !== '' && (outbox || !/outbox/.test(statement)))

interface Result {
  rows: object[]
  changed: number
}

function forgottenBy(statements: readonly string[], results: readonly Result[]): Forgotten {
  const changed = (table: RegExp) => results[statements.findIndex(each => table.test(each))]?.changed ?? -1
  const { pseudonym } = Object.assign({}, ...results.flatMap(({ rows }) => rows))
  return { pseudonym, bets: changed(/UPDATE \S+bets/), transactions: changed(/UPDATE \S+transactions/) }
}

export async function forgetOnPostgres(client: PostgresClient, forgetting: Forgetting): Promise<Forgotten> {
  const statements = recipeFor('postgres', forgetting)
  const text = statements.join(';')
  const results = (await ('exec' in client
    ? (client as unknown as PGlite).exec(text)
    : client.query(text))) as {
    rows: object[]
    rowCount?: number | null
    affectedRows?: number
  }[]
  return forgottenBy(
    statements,
    results.map(({ rows, rowCount, affectedRows }) => ({ rows, changed: rowCount ?? affectedRows ?? 0 })),
  )
}

/** @param beforeCommit called when every row is replaced and nothing is durable */
export async function forgetOnMysql(
  pool: Pool,
  forgetting: Forgetting,
  beforeCommit = async (): Promise<unknown> => undefined,
): Promise<Forgotten> {
  const statements = recipeFor('mysql', forgetting)
  const session = await pool.getConnection()
  const results: Result[] = []
  try {
    for (const statement of statements) {
      if (statement === 'COMMIT') await beforeCommit()
      const [result] = await session.query(statement)
      results.push({
        rows: Array.isArray(result) ? result : [],
        changed: (result as ResultSetHeader).affectedRows,
      })
    }
  } finally {
    session.destroy()
  }
  return forgottenBy(statements, results)
}
