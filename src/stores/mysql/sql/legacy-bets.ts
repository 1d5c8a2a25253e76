/** Bets of a legacy integration (D27): looked up in the operator's view where `wallet_bets` has none. */
import { creditColumns } from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'

/** For `commit_one`: a legacy bet has revision 1. */
export function legacyRevision({ legacyBets }: Tables): string {
  if (legacyBets === null) return '-- There is no view of legacy bets.'
  return sql`
    IF stored_revision IS NULL THEN
      SELECT 1 INTO legacy_revision FROM ${legacyBets} legacy WHERE legacy.bet_id = item_bet_id;
    END IF;`
}

/** For a batch: joins the legacy bet of an item whose bet is not stored. */
export function joinLegacyBet({ legacyBets }: Tables, betId: string): string {
  if (legacyBets === null) return ''
  return `LEFT JOIN ${legacyBets} legacy ON bet.bet_id IS NULL AND legacy.bet_id = ${betId}`
}

/** The revision that guard 2 compares. */
export const storedRevision = ({ legacyBets }: Tables) =>
  legacyBets === null
    ? 'COALESCE(bet.revision, 0)'
    : 'COALESCE(bet.revision, IF(legacy.bet_id IS NULL, 0, 1))'

/** The columns of a bet that a load returns, after bet_id. */
export const loadedBetColumns = ['player_id', 'currency', 'stake', 'status', ...creditColumns, 'revision']

/** A column of the bet that is stored, or of the legacy bet. */
export function betColumn({ legacyBets }: Tables, column: string): string {
  if (legacyBets === null) return `bet.${column}`
  return `IF(legacy.bet_id IS NULL, bet.${column}, ${legacyColumn(column)})`
}

/** A view that fills only `_live` of a credit means that none of it was reversed or is owed. */
export function legacyColumn(column: string): string {
  if (column === 'revision') return '1'
  const [, type, part] = /^(.*)_(live|reversed|owed)$/.exec(column) ?? []
  if (type === undefined || part === 'live') return `legacy.${column}`
  const others = [`${type}_live`, `${type}_${part === 'owed' ? 'reversed' : 'owed'}`]
  return `COALESCE(legacy.${column}, IF(COALESCE(${others.map(other => `legacy.${other}`).join(', ')}) IS NULL, NULL, 0))`
}

/** The columns of `wallet_bets`, from the view. Their ids are beyond those of the store's processes. */
export const legacyBetColumns = lines([
  'UUID_SHORT() | (1 << 63)',
  ...['bet_id', 'player_id', 'currency', 'stake', 'status', 'revision'].map(legacyColumn),
  'UTC_TIMESTAMP(6)',
  ...creditColumns.map(legacyColumn),
])
