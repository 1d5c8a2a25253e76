/** Errors of the store, and the class of an error of the driver. */

import { fieldOf, textOf } from '../../foreign-values.js'
import { type OptionChecks, optionChecks } from '../../option-checks.js'
import { CallbackFailed, QueryFailed } from '../database/deadline.js'
import { type ErrorClass, type Failure, type MakeError, StoreError, storeErrors } from '../database/errors.js'
import { isErrorOfHook } from '../database/within-transaction.js'
import { isRecentTransactionId } from './transaction-ids.js'

export const storeError: MakeError = (code, problem, options) =>
  new StoreError('mysql', code, problem, options)

/** The shared checks of options, with this store's error: `INVALID_OPTIONS`. */
export const check: OptionChecks = optionChecks(message => {
  throw storeError('INVALID_OPTIONS', message)
})

/** The errors of requests. */
export const errors = storeErrors(storeError)

/** What the server has answered instead of a result. */
export interface ServerError {
  /** MySQL's number of the error: 1213. */
  readonly number: number
  readonly message: string
}

/** A hook may wrap an error once or twice. */
const causesMax = 6

/**
 * @returns the server's error in it, or `null`: the error came from the driver, or from the network, whose
 *   numbers are negative
 */
export function serverErrorOf(error: unknown): ServerError | null {
  let next = error
  for (let depth = 0; typeof next === 'object' && next !== null && depth < causesMax; depth += 1) {
    const errno = fieldOf(next, 'errno')
    if (typeof errno === 'number' && errno > 0 && typeof fieldOf(next, 'sqlState') === 'string')
      return { number: errno, message: textOf(fieldOf(next, 'sqlMessage') ?? fieldOf(next, 'message')) }
    next = fieldOf(next, 'cause')
  }
  return null
}

/** The error in words, for people. */
export function describeError(error: unknown): string {
  const answer = serverErrorOf(error)
  if (answer !== null) return `${answer.message} (error ${answer.number})`
  return textOf(fieldOf(error, 'message') || fieldOf(error, 'code') || error)
}

/** Whether the server has answered with one of these errors. */
export function hasNumber(error: unknown, ...numbers: readonly number[]): boolean {
  return numbers.includes(serverErrorOf(error)?.number ?? 0)
}

/**
 * 1213 deadlock, and on a cluster the conflict with a commit of another node; 1020 the same for a changed
 * row.
 */
export const conflictNumbers = [1213, 1020]

/** The end of the message, behind the value. MySQL writes the table before the key. */
const keyOfDuplicate = /' for key '(?:wallet_(?:bets|transactions)[.])?(\w+)'$/
const ownKeys = ['wallet_bets_bet_id', 'wallet_transactions_transaction_id']

/**
 * A duplicate key in the library's own tables, which another writer has inserted first. Any other comes from
 * the operator's own trigger or hook, and is a fault: every primary key has the same name, but not the value
 * of ours.
 */
function isOwnDuplicate({ number, message }: ServerError): boolean {
  if (number !== 1062 && number !== 1586) return false
  const found = keyOfDuplicate.exec(message)
  if (found === null) return false
  const [, key = ''] = found
  const value = message.slice(message.indexOf("'") + 1, found.index)
  return ownKeys.includes(key) || (key === 'PRIMARY' && isRecentTransactionId(value))
}

/**
 * Before COMMIT: 1205 lock_wait_timeout; 1290 and 1836 a read-only server; 1792 a read-only database
 * transaction; 1021, 1114 a full disk or table; 1206, 1637 no room for locks or database transactions.
 */
const temporaryNumbers = [1205, 1290, 1836, 1792, 1021, 1114, 1206, 1637]

/**
 * Nothing was begun, and another server may do it: 1040, 1203, 1226 too many connections; 3032, 6400, 6401
 * offline mode; 3781 to 3783, 3796 to 3799, 4094 a node of a group that is not ready for database
 * transactions, as while its primary is replaced.
 */
const serverNumbers = [1040, 1203, 1226, 3032, 6400, 6401, 3781, 3782, 3783, 3796, 3797, 3798, 3799, 4094]

/**
 * The commit may be recorded: 1180 the error of a COMMIT (the procedures give every error of a COMMIT this
 * number, except a conflict); 1181 of a ROLLBACK; 1047 a node without a majority, where a COMMIT may have
 * come before; 1317, 1969, 3024, 1053, 1927, 4031 an interrupted statement or connection, for which no
 * handler runs; 1152 to 1161 broken packets; 3100 a hook of Group Replication; 3101 its conflict, but also
 * how a node that leaves the group ends the commits that wait, which the others may have; 1105 an error
 * without a number of its own.
 */
const unknownNumbers = [
  1180, 1181, 1047, 1317, 1969, 3024, 1053, 1927, 4031, 1152, 1153, 1154, 1155, 1156, 1157, 1158, 1159, 1160,
  1161, 3100, 3101, 1105,
]

/**
 * 1305 of a procedure of the library, which is gone: nothing was executed. A savepoint that is gone, and what
 * a hook calls, have the same number.
 */
const isOwnProcedureGone = ({ number, message }: ServerError) =>
  number === 1305 &&
  /^PROCEDURE \S{1,200}\.(?:wallet_[a-z_]{1,40}|credit_bet)_v\d{1,9}[0-9a-f_]{0,40} does not exist$/.test(
    message,
  )

/** @param sent whether anything was sent that may have been committed */
export function classifyError(error: unknown, sent: boolean): ErrorClass {
  const answer = serverErrorOf(error)
  if (answer === null || unknownNumbers.includes(answer.number)) return sent ? 'unknown' : 'unavailable'
  if (conflictNumbers.includes(answer.number)) return 'conflict'
  if (isOwnDuplicate(answer) && !isErrorOfHook(error)) return 'conflict'
  if (isOwnProcedureGone(answer) && !isErrorOfHook(error)) return 'unavailable'
  // No full disk: a smaller batch fits into its table in memory, and one item needs none.
  if (answer.number === 1114 && /wallet_batch_/.test(answer.message)) return 'rejected'
  return [...temporaryNumbers, ...serverNumbers].includes(answer.number) ? 'unavailable' : 'rejected'
}

/** 1153: nothing was executed. 1105 and interrupted statements may come from a trigger for one player. */
const unclearNumbers = [1105, 1153, 1317, 1969, 3024]

/** What the server's answer says of a batch that failed. */
export function answerOf(error: unknown): Failure['answer'] {
  return hasNumber(error, ...unclearNumbers) ? 'unclear' : null
}

/** Whether another server may answer: this one is read-only, outside of the majority, or unreachable. */
export function isServerFault(error: unknown): boolean {
  return serverErrorOf(error) === null || hasNumber(error, ...unknownNumbers, ...serverNumbers, 1290, 1836)
}

/** @param error of a call to the database */
export function classify(error: unknown): Failure {
  if (!(error instanceof QueryFailed))
    return { kind: 'rejected', cause: error, timedOut: false, lost: false, answer: null }
  const { cause, sent, timedOut } = error
  const lost = isServerFault(cause)
  // A problem that the check at start has found: another server of the list does not fix it.
  if (cause instanceof StoreError && cause.code !== 'UNAVAILABLE')
    return { kind: 'rejected', cause, timedOut, lost: false, answer: null }
  const kind = cause instanceof CallbackFailed ? 'rejected' : classifyError(cause, sent)
  const answer = timedOut ? null : answerOf(cause)
  return { kind, cause, timedOut, lost: lost && !(cause instanceof CallbackFailed), answer }
}

/** Of a schema, a table, a column, the server, a procedure. */
export const privilegeNumbers = [1044, 1142, 1143, 1227, 1370]

/** 1045, 1049, 1698: wrong password or database. */
const configurationNumbers = [1045, 1049, 1698, ...privilegeNumbers]

/** A server without TLS, or a certificate that is not trusted: no retry fixes it. */
const isTlsError = (error: unknown) => {
  const code = textOf(fieldOf(error, 'code'))
  // mysql2 replaces the code of a certificate's error.
  if (code === 'HANDSHAKE_SSL_ERROR') return /certificate/i.test(textOf(fieldOf(error, 'message')))
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|HANDSHAKE_NO_SSL/.test(code)
}

/** @returns the error of the check at start, with what the driver or the server has reported */
export function startError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  const isRejected =
    hasNumber(cause, ...configurationNumbers) ||
    isTlsError(cause) ||
    (serverErrorOf(cause) !== null && classifyError(cause, false) === 'rejected')
  return errors.start(cause, describeError(cause), isRejected)
}

/** @see StatementErrors */
export const statementErrors = {
  make: storeError,
  start: startError,
  describe: describeError,
  lacksPrivilege: (cause: unknown) => hasNumber(cause, ...privilegeNumbers),
}

/** 4025 (MariaDB), 3819 (MySQL): a CHECK; 1644: a SIGNAL of a trigger, unless it is of our procedures. */
export function ruleProblem(error: unknown): string | null {
  const { number = 0, message = '' } = serverErrorOf(error) ?? {}
  return [4025, 3819, 1644].includes(number) && !message.startsWith('bet-wallet: ')
    ? describeError(error)
    : null
}
