/** Errors of the store, and the class of an error of the driver. */

import { fieldOf, textOf } from '../../foreign-values.js'
import { type OptionChecks, optionChecks } from '../../option-checks.js'
import { CallbackFailed, QueryFailed } from '../database/deadline.js'
import { type ErrorClass, type Failure, type MakeError, StoreError, storeErrors } from '../database/errors.js'
import { describeError, type ServerError, serverErrorOf } from './driver-errors.js'

export const storeError: MakeError = (code, problem, options) =>
  new StoreError('postgres', code, problem, options)

/** The shared checks of options, with this store's error: `INVALID_OPTIONS`. */
export const check: OptionChecks = optionChecks(message => {
  throw storeError('INVALID_OPTIONS', message)
})

/** The errors of requests. */
export const errors = storeErrors(storeError)

/** @returns the error of the check at start, with what the driver or the server has reported */
export function startError(cause: unknown): StoreError {
  if (cause instanceof StoreError && cause.code === 'UNSUPPORTED_CLIENT') return cause
  const answer = serverErrorOf(cause)
  const isRejected = answer === null ? isConfigurationError(cause) : !isTransient.test(answer.code)
  return errors.start(cause, describeError(cause), isRejected)
}

/** @see StatementErrors */
export const statementErrors = {
  make: storeError,
  start: startError,
  describe: describeError,
  lacksPrivilege: (cause: unknown) => hasCode(cause, '42501'),
}

/**
 * Errors of drivers and of TLS that no retry fixes: no password, a server without TLS, a certificate that is
 * not trusted. Other errors without an answer of the server are of the network.
 */
function isConfigurationError(error: unknown): boolean {
  return (
    /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/.test(textOf(fieldOf(error, 'code'))) ||
    /^SASL|does not support SSL/.test(textOf(fieldOf(error, 'message')))
  )
}

/**
 * Classes of errors that may pass by themselves: the connection, a rollback, resources, locks, a shutdown,
 * the server itself.
 */
const isTransient = /^(?:08|25|40|53|55|57|58|F0|XX)/

const conflicts = new Set(['40001', '40P01'])
/**
 * Of a connection that cannot be used: 25006 a standby, 25000 an encoding that other code has set, 25P02 a
 * failed transaction block of other code, 2D000 an open one: a procedure cannot commit in it.
 */
const ofConnection = ['25006', '25000', '25P02', '2D000']
/** 55P03 lock_timeout, 57014 statement_timeout. */
const temporary = new Set(['55P03', '57014', ...ofConnection])

/** Errors of procedures that commit: an interrupt during their COMMIT is reported when it is done. */
const ofProcedures = new WeakSet<object>()

/** 57014 query_canceled, also by statement_timeout; 53 insufficient resources. @throws the error itself */
export function mayComeAfterCommit(error: unknown): never {
  const answer = serverErrorOf(error)
  if (answer !== null && /^(?:57014|53)/.test(answer.code)) ofProcedures.add(error as object)
  throw error
}

const isAfterCommit = (error: unknown) =>
  typeof error === 'object' && error !== null && ofProcedures.has(error)

/**
 * @param sent whether anything was sent that may have been committed
 * @param ownSchema the name of the library's schema; without it, of any
 */
export function classifyError(error: unknown, sent: boolean, ownSchema?: string): ErrorClass {
  const answer = serverErrorOf(error)
  if (answer === null) return sent ? 'unknown' : 'unavailable'
  const { code, severity } = answer
  if (isAfterCommit(error)) return 'unknown'
  // An ERROR rolls back its statement. An error that closes the connection too (FATAL, 57P01 and the like,
  // 08) may come between a commit and its answer. 40003 is statement_completion_unknown.
  if (severity === 'FATAL' || severity === 'PANIC' || /^(?:08|25P0[34]|40003|57P|58|XX|F0)/.test(code))
    return sent ? 'unknown' : 'unavailable'
  // A full disk can stop the server in the middle of COMMIT. A translated severity is neither word: unknown.
  if (code.startsWith('53')) return sent && severity !== 'ERROR' ? 'unknown' : 'unavailable'
  if (conflicts.has(code) || isDuplicate(answer, ownSchema)) return 'conflict'
  return temporary.has(code) ? 'unavailable' : 'rejected'
}

/**
 * A duplicate in one of the library's own tables: 23505 unique_violation. One in another table comes from the
 * operator's own trigger or hook, and is a fault. Prisma does not say which table it is.
 */
function isDuplicate({ code, schema, table, message }: ServerError, ownSchema = schema): boolean {
  if (code !== '23505') return false
  if (table === undefined) return ownIndex.test(message)
  return ownTables.includes(table) && (schema === undefined || schema === ownSchema)
}

const ownTables = ['transactions', 'bets']
const ownIndex = /"(?:transactions|bets)_/

/**
 * What the server's answer says of a batch that failed. An ERROR rolls back its statement. Those of class 08
 * and 08P01 may also come from a pooler, which has lost the server.
 */
export function answerOf(error: unknown): Failure['answer'] {
  const answer = serverErrorOf(error)
  if (answer?.severity !== 'ERROR' || answer.code === '08P01' || isOfReadOnlyServer(answer)) return null
  return /^(?:08|40003)/.test(answer.code) || isAfterCommit(error) ? 'unclear' : 'rolled-back'
}

/** Raised by our functions: every request of this server fails so. */
const isOfReadOnlyServer = ({ code, message }: ServerError) =>
  code === '25006' && message.includes('bet-wallet: ')

/** Whether the connection that the error came from must be closed. */
export function isConnectionLost(error: unknown): boolean {
  return classifyError(error, true) === 'unknown' || hasCode(error, ...ofConnection)
}

/** The server has ended the session: by its code, as the severity may be translated. */
export function isSessionEnded(error: unknown): boolean {
  const { severity = '', code = '' } = serverErrorOf(error) ?? {}
  return ['FATAL', 'PANIC'].includes(severity) || /^(?:08|25P0[34]|57P)/.test(code)
}

/** Whether the server has answered with one of these SQLSTATEs. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(serverErrorOf(error)?.code ?? '')
}

/**
 * @param error of a call to the database
 * @param schemaName of the library's tables
 */
export function classify(error: unknown, schemaName: string): Failure {
  if (!(error instanceof QueryFailed))
    return { kind: 'rejected', cause: error, timedOut: false, lost: isConnectionLost(error), answer: null }
  const { cause, sent, timedOut } = error
  const kind = cause instanceof CallbackFailed ? 'rejected' : classifyError(cause, sent, schemaName)
  return { kind, cause, timedOut, lost: isConnectionLost(cause), answer: timedOut ? null : answerOf(cause) }
}

/** 23514: a CHECK; P0001: RAISE EXCEPTION of a trigger. */
export const ruleProblem = (error: unknown): string | null =>
  hasCode(error, '23514', 'P0001') ? describeError(error) : null
