/** What is kept of a release: the SQL of its migration and of its rows, as text. */
import mysql, { type Pool } from 'mysql2/promise'
import type pg from 'pg'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
} from '../../../src/index.js'
import type { WalletStore } from '../../../src/store.js'
import { placeBet, rollbackBet, settlement, unsettlement } from '../../fixtures.js'

/** Of every kept release. */
export const schema = 'kept_release'

/** Calls of one player who began with 1,000.00 EUR, in their order, with the balance after each. */
export const calls: readonly {
  call(store: WalletStore): ReturnType<typeof handlePlaceBet>
  answer: { ok: true; balance: string } | { ok: false; errorCode: string }
}[] = [
  accepted(store => handlePlaceBet(store, placeBet(ids(1, 'place', { amount: '30.00' }))), '970'),
  accepted(store => recordSettlement(store, settlement(ids(1, 'settle', { amount: '55.50' }))), '1025.5'),
  accepted(store => handlePlaceBet(store, placeBet(ids(2, 'place', { amount: '10.25' }))), '1015.25'),
  accepted(store => handleRollbackBet(store, rollbackBet(ids(2, 'rollback'))), '1025.5'),
  accepted(store => handleRollbackBet(store, rollbackBet(ids(3, 'rollback'))), '1025.5'),
  accepted(store => handlePlaceBet(store, placeBet(ids(4, 'place', { amount: '20' }))), '1005.5'),
  accepted(store => recordSettlement(store, settlement(ids(4, 'settle', { amount: '1000' }))), '2005.5'),
  accepted(store => handlePlaceBet(store, placeBet(ids(5, 'place', { amount: '2000' }))), '5.5'),
  refused(
    store => handlePlaceBet(store, placeBet(ids(6, 'place', { amount: '5.51' }))),
    'INSUFFICIENT_FUNDS',
  ),
  refused(store => handleUnsettlement(store, unsettlement(ids(4, 'unsettle'))), 'INSUFFICIENT_FUNDS'),
  accepted(store => handlePlaceBet(store, placeBet(ids(7, 'place', { amount: '1.10' }))), '4.4'),
]

type Call = (typeof calls)[number]['call']

function accepted(call: Call, balance: string) {
  return { call, answer: { ok: true as const, balance } }
}

function refused(call: Call, errorCode: string) {
  return { call, answer: { ok: false as const, errorCode } }
}

function ids<Fields extends object>(bet: number, kind: string, fields?: Fields) {
  return { playerId: 'anna', betId: `bet-${bet}`, transactionId: `${kind}-${bet}`, ...(fields as Fields) }
}

/** With the last value of the sequence. */
export async function rowsOfPostgres(pool: pg.Pool): Promise<string> {
  const inserts: string[] = []
  for (const table of ['players', 'bets', 'transactions']) {
    const { rows } = await pool
      .query({ text: `SELECT * FROM ${schema}.${table} LIMIT 0` })
      .then(({ fields }) =>
        pool
          .query(
            `SELECT concat_ws(', ', ${fields.map(({ name }) => `coalesce(quote_literal(${name}::text), 'NULL')`).join(', ')}) AS row
          FROM ${schema}.${table} ORDER BY 1`,
          )
          .then(({ rows }) => ({
            rows: rows.map(({ row }) => ({ row, names: fields.map(({ name }) => name).join(', ') })),
          })),
      )
    for (const { names, row } of rows)
      inserts.push(`INSERT INTO ${schema}.${table} (${names}) VALUES (${row});`)
  }
  const sequence = `${schema}.wallet_transaction_ids`
  const { rows } = await pool.query<{ last: string }>(`SELECT last_value::text AS last FROM ${sequence}`)
  inserts.push(`SELECT setval('${sequence}', ${rows[0]?.last});`)
  return inserts.join('\n')
}

export async function rowsOfMysql(pool: Pool): Promise<string> {
  const inserts: string[] = []
  for (const table of ['wallet_players', 'wallet_bets', 'wallet_transactions']) {
    const [rows] = await pool.query({ sql: `SELECT * FROM ${schema}.${table} ORDER BY 1`, dateStrings: true })
    for (const row of rows as Record<string, unknown>[])
      inserts.push(
        `INSERT INTO ${schema}.${table} (${Object.keys(row).join(', ')}) VALUES (${Object.values(row)
          .map(value => mysql.escape(value as string))
          .join(', ')});`,
      )
  }
  return inserts.join('\n')
}

/** The printed SQL of MySQL is for clients that know DELIMITER; a connection takes it as one text. */
export const asOneText = (sql: string) => sql.replace(/^DELIMITER .*$/gm, '').replaceAll(' $$', ';')
