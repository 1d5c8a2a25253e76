/** The values that are compared: of a row of the platform's report, and of a transaction of the wallet. */

import type { Operation } from '../../store.js'
import { type DecimalText, negate } from './amounts.js'

export interface Entry {
  operation: Operation
  transactionId: string
  betId: string
  /** `null`: the platform's report does not say. */
  playerId: string | null
  /** Of a settlement or unsettlement; `null`: none, or the platform's report does not say. */
  type: string | null
  /** Whether this side counts it: `false` for a refusal. */
  accepted: boolean
  /** What moved, at least 0. `null`: a refusal, or the platform's report does not say. */
  amount: DecimalText | null
  /** `null`: unknown. */
  currency: string | null
  /** The day on which this side counts it, `2026-11-22`; empty if the platform's report has no dates. */
  day: string
  /** Whether this side counts it within the range of the reconciliation. */
  inRange: boolean
}

export interface ReportRow extends Entry {
  /** Of several reports, the one that has it: its path, or `report 2`. `null`: there is only one. */
  file: string | null
  /** In the file, from 1. */
  line: number
  transactionDate: string | null
}

export interface WalletRecord extends Entry {
  playerId: string
  recordedAt: string
  /** The platform's own date of it. */
  transactionDate: string
  /** Of a final refusal. */
  errorCode: string | null
  /** Which rule refused it, in one sentence; empty: accepted, or not known. */
  why: string
  walletTransactionId: string
}

/** As the life of a bet goes. */
export const operationOrder: readonly Operation[] = ['placebet', 'settlement', 'unsettlement', 'rollbackbet']

/** Nearly every id is short and ASCII. */
const plainId = /^[ -~]{1,255}$/
const anyId = /^[^\p{Cc}\p{Cs}]{1,255}$/u

/** 1 to 255 characters without control characters (D24). */
export const isId = (text: string) => plainId.test(text) || anyId.test(text)

/** Where a person finds the row: `line 7`, `line 7 of friday.csv`. */
export const placeOf = ({ line, file }: ReportRow) =>
  file === null ? `line ${line}` : `line ${line} of ${file}`

export const isDebit = (operation: Operation) => operation === 'placebet' || operation === 'unsettlement'

/** What this side counts for the player's balance within the range: `"-30"` for a stake of 30. */
export function countedOf(entry: Entry | null): DecimalText {
  if (!entry?.inRange || !entry.accepted || entry.amount === null) return '0'
  return isDebit(entry.operation) ? negate(entry.amount) : entry.amount
}
