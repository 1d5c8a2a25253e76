/**
 * Calls of the store's functions, as prepared statements of pg: the server parses and plans each once per
 * connection. Behind a pooler that gives every database transaction another connection, a name may be
 * unknown, or taken: then the statement was not executed, and names are not used any more.
 */
import { nameHash } from '../database/name-hash.js'
import { hasCode } from './errors.js'
import { functionName } from './sql/fragments.js'
import type { Tables } from './tables.js'

/** A statement that calls a function or a procedure of the store. */
export interface Call {
  text: string
  /**
   * The same text has the same name in every process: behind a pooler it finds their prepared statements.
   * Without one, it is not prepared.
   */
  name?: string
  /** A procedure returns rows as JSON. It is its own database transaction, or an error (2D000). */
  isProcedure?: boolean
}

const callOf = (tables: Tables, name: string, values: number, textOf: (called: string) => string): Call => {
  const called = functionName(tables, name)
  const parameters = Array.from({ length: values }, (_, index) => `$${index + 1}`).join(', ')
  const text = textOf(`${tables.schema}.${called}(${parameters}`)
  return { text, name: `bet_wallet.${called}.${nameHash(text)}` }
}

/** @param values the number of the function's parameters */
export const functionCall = (tables: Tables, name: string, columns: string, values: number): Call =>
  callOf(tables, name, values, called => `SELECT ${columns} FROM ${called})`)

/** @param values the number of the procedure's parameters, without its result */
export const procedureCall = (tables: Tables, name: string, values: number): Call => ({
  ...callOf(tables, name, values, called => `CALL ${called}, NULL)`),
  isProcedure: true,
})

/** @param rows of a procedure: one, with JSON */
export function rowsOfProcedure(rows: readonly unknown[]): unknown[] {
  const [row] = rows as readonly { result?: unknown }[]
  return typeof row?.result === 'string' ? (JSON.parse(row.result) as unknown[]) : []
}

/** As pg takes it. */
export interface PreparedStatement extends Call {
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
export function createPreparing() {
  let isSupported = true
  return async ({ connection }: CanPrepare, send: Send, call: PreparedStatement) => {
    if (call.name === undefined || !isSupported || typeof connection?.parsedStatements !== 'object')
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
