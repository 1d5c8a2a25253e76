/** Errors that prevent a reconciliation. Differences are in the report. */
import { ToolError } from '../wire/errors.js'
import { JsonNumber } from '../wire/json.js'

/**
 * - `INVALID_OPTIONS`: an option is invalid; the message names it.
 * - `INVALID_MAPPING`: the mapping of the columns is invalid, or does not fit the platform's report.
 * - `INVALID_REPORT`: the platform's report cannot be read; the message names line and column.
 * - `INVALID_RECORDS`: a lookup returned a record that is none of the wallet's.
 * - `TEMPORARY_FILE`: the temporary file cannot be written: the disk is full, say.
 */
export type ReconcileErrorCode =
  | 'INVALID_OPTIONS'
  | 'INVALID_MAPPING'
  | 'INVALID_REPORT'
  | 'INVALID_RECORDS'
  | 'TEMPORARY_FILE'

/** Nothing was compared. */
export class ReconcileError extends ToolError<ReconcileErrorCode> {
  override readonly name = 'ReconcileError'
}

/** @throws {ReconcileError} `INVALID_REPORT`, naming the line, and the column if there is one */
export function invalidRow(line: number, column: string | null, problem: string): never {
  const place = column === null ? `line ${line}` : `line ${line}, column ${JSON.stringify(column)}`
  throw new ReconcileError('INVALID_REPORT', `The platform's report, ${place}: ${problem}`)
}

/** An error about one of several reports: with its name. */
export function ofReport(file: string | null, error: unknown): unknown {
  if (file === null || !(error instanceof ReconcileError)) return error
  const message = error.message.replace(/^The platform's report/, report => `${report} ${file}`)
  return new ReconcileError(error.code, message, { cause: error.cause })
}

/** A value in a message: quoted, and cut. */
export function shown(value: unknown): string {
  const text =
    typeof value === 'string'
      ? JSON.stringify(value)
      : value instanceof JsonNumber
        ? value.text
        : typeof value === 'object' && value !== null
          ? 'a list or an object'
          : String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
