/**
 * A transaction as it is compared: the same record for a row of the platform's report and for a transaction
 * of the wallet, and its form as a line of text.
 */

import type { Operation } from '../../store.js'
import { type DecimalText, isZero, negate } from './amounts.js'

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

/** What the wallet must not write, since the platform's report cannot say it. */
export interface NotCompared {
  playerId: boolean
  type: boolean
  day: boolean
}

const letters: Record<Operation, string> = {
  placebet: 'P',
  settlement: 'S',
  unsettlement: 'U',
  rollbackbet: 'R',
}
const operations: Record<string, Operation> = {
  P: 'placebet',
  S: 'settlement',
  U: 'unsettlement',
  R: 'rollbackbet',
}

/** As the life of a bet goes. */
export const operationOrder: readonly string[] = Object.values(operations)

const anyId = /^[^\p{Cc}\p{Cs}]{1,255}$/u

/** 1 to 255 characters without control characters (D24), which separate the values of a line. */
export function isId(text: string): boolean {
  // Nearly every id is short and ASCII: no regular expression for millions of them.
  if (text.length === 0 || text.length > 255) return anyId.test(text)
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code < 32 || code > 126) return anyId.test(text)
  }
  return true
}

/** Between what is compared and what is only shown. No value has control characters (D24). */
const afterCompared = '\u001e'

/** `P`, the transactionId, a tab: the key (D1). Then all that is compared. Equal lines are equal rows. */
function comparedOf(entry: Entry, notCompared: NotCompared): string {
  const { operation, transactionId, betId, playerId, type, currency, amount, day, accepted, inRange } = entry
  return `${letters[operation]}${transactionId}\t${betId}\t${notCompared.playerId ? '' : (playerId ?? '')}\t${
    notCompared.type ? '' : (type ?? '')
  }\t${accepted ? (currency ?? '') : ''}\t${amount ?? ''}\t${notCompared.day ? '' : day}\t${accepted ? 'A' : 'R'}${inRange ? 'I' : 'O'}${afterCompared}`
}

export function lineOfRow(row: ReportRow, notCompared: NotCompared): string {
  const { line, transactionDate, file } = row
  return `${comparedOf(row, notCompared)}${line}\t${transactionDate ?? ''}${file === null ? '' : `\t${file}`}`
}

export function lineOfRecord(record: WalletRecord, notCompared: NotCompared): string {
  const { recordedAt, transactionDate, errorCode, walletTransactionId, playerId, type, why } = record
  return `${comparedOf(record, notCompared)}${recordedAt}\t${transactionDate}\t${errorCode ?? ''}\t${walletTransactionId}\t${playerId}\t${type ?? ''}\t${why}`
}

/** The part of a line that both sides write alike. */
export const comparedPart = (line: string) => line.slice(0, line.indexOf(afterCompared))
/** The key of a line: operation and transactionId. */
export const keyOfLine = (line: string) => line.slice(0, line.indexOf('\t'))

export const keyOf = ({ operation, transactionId }: Pick<Entry, 'operation' | 'transactionId'>) =>
  letters[operation] + transactionId

function read(line: string): { entry: Entry; more: string[] } {
  const [compared = '', shown = ''] = line.split(afterCompared)
  const [key = '', betId = '', playerId, type, currency, amount, day = '', flags] = compared.split('\t')
  const entry: Entry = {
    operation: operations[key.charAt(0)] as Operation,
    transactionId: key.slice(1),
    betId,
    playerId: playerId || null,
    type: type || null,
    accepted: flags?.charAt(0) === 'A',
    amount: amount || null,
    currency: currency || null,
    day,
    inRange: flags?.charAt(1) === 'I',
  }
  return { entry, more: shown.split('\t') }
}

export function rowOfLine(line: string): ReportRow {
  const { entry, more } = read(line)
  return { ...entry, line: Number(more[0]), transactionDate: more[1] || null, file: more[2] || null }
}

export function recordOfLine(line: string): WalletRecord {
  const { entry, more } = read(line)
  const [
    recordedAt = '',
    transactionDate = '',
    errorCode,
    walletTransactionId = '',
    playerId = '',
    type,
    why = '',
  ] = more
  return {
    ...entry,
    recordedAt,
    transactionDate,
    walletTransactionId,
    playerId,
    errorCode: errorCode || null,
    why,
    type: type || null,
  }
}

/** Where a person finds the row: `line 7`, `line 7 of friday.csv`. */
export const placeOf = ({ line, file }: ReportRow) =>
  file === null ? `line ${line}` : `line ${line} of ${file}`

const debits: readonly Operation[] = ['placebet', 'unsettlement']
export const isDebit = (operation: Operation) => debits.includes(operation)

/** What this side counts for the player's balance within the range: `"-30"` for a stake of 30. */
export function countedOf(entry: Entry | null): DecimalText {
  if (entry === null || !entry.inRange || !entry.accepted || entry.amount === null || isZero(entry.amount))
    return '0'
  return isDebit(entry.operation) ? negate(entry.amount) : entry.amount
}
