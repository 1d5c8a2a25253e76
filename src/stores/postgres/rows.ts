/** Between the contract's records and the rows of `bets` and `transactions`. */
import type { Bet, Credit, SettlementType, Transaction } from '../../store.js'

const settlementTypes = ['BET_PAID', 'VOIDED', 'CASHOUT'] as const satisfies SettlementType[]

/** The columns of credits; of a type never credited there are none. */
export function creditsToRow(credits: Bet['credits']): Record<string, string | null> {
  const row: Record<string, string | null> = {}
  for (const type of settlementTypes) {
    const credit = credits[type]
    if (credit === undefined) continue
    const column = type.toLowerCase()
    row[`${column}_live`] = credit.live
    row[`${column}_reversed`] = credit.reversed
    row[`${column}_owed`] = credit.owed
  }
  return row
}

/** A row as JSON: every value is text or null. */
export type Row = Readonly<Record<string, string | null | undefined>>

export function betFromRow(betId: string, row: Row): Bet {
  const credits: Bet['credits'] = {}
  for (const type of settlementTypes) {
    const column = type.toLowerCase()
    const reversed = row[`${column}_reversed`] ?? null
    if (reversed === null) continue
    credits[type] = {
      live: row[`${column}_live`] ?? null,
      reversed,
      owed: row[`${column}_owed`] ?? '0',
    } satisfies Credit
  }
  return {
    betId,
    playerId: text(row.player_id),
    currency: text(row.currency),
    stake: text(row.stake),
    status: text(row.status) as Bet['status'],
    credits,
    revision: Number(row.revision),
  }
}

export function transactionFromRow(
  { operation, transactionId }: Pick<Transaction, 'operation' | 'transactionId'>,
  row: Row,
): Transaction {
  const { error_code: errorCode = null, description = null } = row
  return {
    operation,
    transactionId,
    playerId: text(row.player_id),
    betId: text(row.bet_id),
    amount: row.amount ?? null,
    currency: row.currency ?? null,
    type: row.type ?? null,
    delta: text(row.delta),
    refusal: errorCode === null ? null : { errorCode, description: text(description) },
    transactionDate: new Date(Number(row.date_ms)).toISOString(),
    walletTransactionId: row.wallet_transaction_id ?? null,
  }
}

/** Of columns that are NOT NULL. What is missing all the same, the core takes for a broken contract. */
function text(value: string | null | undefined): string {
  return value ?? ''
}
