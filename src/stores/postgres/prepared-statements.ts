/**
 * Calls of the store's functions, as prepared statements of pg: the server parses and plans each once per
 * connection. Behind a pooler that gives every database transaction another connection, a name may be
 * unknown, or taken: then the statement was not executed, and names are not used any more.
 */
import { nameHash } from '../database/name-hash.js'
import { hasCode } from './errors.js'
import { functionName } from './sql/fragments.js'
import type { Tables } from './tables.js'

/** A statement that calls a function of the store. */
export interface FunctionCall {
  text: string
  /** The same text has the same name in every process: behind a pooler it finds their prepared statements. */
  name: string
}

/** A call of a procedure that returns rows as JSON: its own database transaction, or an error (2D000). */
export interface ProcedureCall extends FunctionCall {
  isProcedure: true
}

/** @param values the number of the procedure's parameters, without its result */
export function procedureCall(tables: Tables, name: string, values: number): ProcedureCall {
  const called = functionName(tables, name)
  const parameters = Array.from({ length: values }, (_, index) => `$${index + 1}`)
  const text = `CALL ${tables.schema}.${called}(${[...parameters, 'NULL'].join(', ')})`
  return { text, name: `bet_wallet.${called}.${nameHash(text)}`, isProcedure: true }
}

/** @param rows of a {@link ProcedureCall}: one, with JSON */
export function rowsOfProcedure(rows: readonly unknown[]): unknown[] {
  const [row] = rows as readonly { result?: unknown }[]
  return typeof row?.result === 'string' ? (JSON.parse(row.result) as unknown[]) : []
}

/** @param values the number of the function's parameters */
export function functionCall(
  tables: Tables,
  { name, columns, values }: { name: string; columns: string; values: number },
): FunctionCall {
  const called = functionName(tables, name)
  const parameters = Array.from({ length: values }, (_, index) => `$${index + 1}`).join(', ')
  const text = `SELECT ${columns} FROM ${tables.schema}.${called}(${parameters})`
  return { text, name: `bet_wallet.${called}.${nameHash(text)}` }
}

/** As pg takes it. */
export interface PreparedStatement extends FunctionCall {
  values: unknown[]
}

export type Send = (statement: string | PreparedStatement, values?: unknown[]) => Promise<{ rows: unknown[] }>

/** Of pg: it prepares statements that have a name. */
export interface CanPrepare {
  connection?: { parsedStatements?: unknown }
}

/** 26000 invalid_sql_statement_name; 42P05 duplicate_prepared_statement. Both come before the execution. */
const nameProblems = ['26000', '42P05']

/** @returns a function that runs a call by its name, where the connection can do that */
export function createPreparing(): (
  connection: CanPrepare,
  send: Send,
  call: PreparedStatement,
) => Promise<{ rows: unknown[] }> {
  let isSupported = true
  return async ({ connection }, send, call) => {
    if (!isSupported || typeof connection?.parsedStatements !== 'object')
      return await send(call.text, call.values)
    try {
      return await send(call)
    } catch (error) {
      if (!hasCode(error, ...nameProblems)) throw error
      isSupported = false
      return await send(call.text, call.values)
    }
  }
}
