/** Errors of the server, as drivers and ORMs hand them on: with other names, or wrapped. */
import { fieldOf, textOf } from '../../foreign-values.js'

/** What the server has answered instead of a result. */
export interface ServerError {
  /** The SQLSTATE: `23505`. */
  readonly code: string
  /** `ERROR`, `FATAL` or `PANIC`; with pg in the language of the server, and some drivers leave it out. */
  readonly severity: string | undefined
  readonly message: string
  /** The table that the error is about, where the server says it. */
  readonly schema: string | undefined
  readonly table: string | undefined
}

/** Drizzle, Slonik and Prisma wrap an error once or twice; a wrapper of the operator may do it again. */
const causesMax = 6

/** The error and its causes, the innermost last. */
function chainOf(error: unknown): object[] {
  const chain: object[] = []
  let next = error
  while (typeof next === 'object' && next !== null && chain.length < causesMax) {
    chain.push(next)
    // `cause`: Drizzle, Slonik. `original`: Sequelize 6. `meta`: Prisma. `errors`: the AggregateError of
    // Node.js for a host with several addresses.
    next =
      fieldOf(next, 'cause') ??
      fieldOf(next, 'original') ??
      fieldOf(fieldOf(next, 'meta'), 'driverAdapterError') ??
      fieldOf(fieldOf(next, 'errors'), '0')
  }
  return chain
}

/** @returns the server's error in it, or `null`: the error came from the driver, or from the network */
export function serverErrorOf(error: unknown): ServerError | null {
  for (const each of chainOf(error)) {
    const text = (name: string) => textFieldOf(each, name)
    const severity = text('severity')
    const code = text('code') ?? text('originalCode')
    if (code === undefined || !isState(code, severity)) continue
    return {
      code,
      severity,
      message: text('originalMessage') ?? text('message') ?? '',
      schema: text('schema') ?? text('schema_name'),
      table: text('table') ?? text('table_name'),
    }
  }
  return null
}

/**
 * With a severity, any five characters: an operator may raise codes of their own. Without one, only the
 * classes of PostgreSQL: EPIPE is an error of a socket, P2010 is one of Prisma.
 */
function isState(code: string, severity: string | undefined): boolean {
  return severity === undefined
    ? /^(?:[0-9][0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/.test(code)
    : /^[0-9A-Z]{5}$/.test(code)
}

function textFieldOf(error: unknown, name: string): string | undefined {
  const value = fieldOf(error, name)
  return typeof value === 'string' ? value : undefined
}

/** The error in words, for people: the server's message with its SQLSTATE, or the innermost message. */
export function describeError(error: unknown): string {
  const answer = serverErrorOf(error)
  if (answer !== null) return `${answer.message} (SQLSTATE ${answer.code})`
  const messages = chainOf(error).map(each => textFieldOf(each, 'message') || textFieldOf(each, 'code') || '')
  return messages.findLast(message => message !== '') ?? textOf(error)
}
