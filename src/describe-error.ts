/** An error with all of its causes in one line, for logs. */
import { WalletError } from './errors.js'
import { fieldOf, isA, itemsOf } from './foreign-values.js'
import { logged } from './visible-text.js'

const causesMax = 4

/**
 * Describes an error for a logger that writes only message and stack: of a 503 the reason is in the causes.
 *
 * @param error anything that was thrown
 * @returns one line: operation and ids of a {@link WalletError}, then code and message of the error and of
 *   each cause, at most four; where the last one has no code, also where it was thrown
 */
export function describeError(error: unknown): string {
  const [first, ...others] = causesOf(error)
  const causes = others.map(cause => `; cause: ${textOf(cause)}`).join('')
  return `${subjectOf(error)}${textOf(first)}${causes}${locationOf(others.at(-1) ?? first)}`
}

function subjectOf(error: unknown): string {
  if (!isA(error, WalletError) || error.call === null) return ''
  const { operation, transactionId, betId, playerId } = error.call
  if (transactionId === null) return `${operation}: `
  const ids = { transactionId, betId, playerId }
  return `${operation} ${Object.entries(ids)
    .map(([name, id]) => `${name}=${logged(JSON.stringify(id))}`)
    .join(' ')}: `
}

export function causesOf(error: unknown): unknown[] {
  const causes = [error]
  for (const cause of causes) {
    const next = [...itemsOf(fieldOf(cause, 'errors')), fieldOf(cause, 'cause')]
    causes.push(...next.filter(item => item !== undefined && item !== null && !causes.includes(item)))
    if (causes.length >= causesMax) return causes.slice(0, causesMax)
  }
  return causes
}

function textOf(error: unknown): string {
  const text = logged(fieldOf(error, 'message') ?? (typeof error === 'object' ? '' : error))
  return [labelOf(error), text].filter(part => part !== '').join(': ') || 'an error without text'
}

export const labelOf = (error: unknown) => logged(fieldOf(error, 'code') ?? fieldOf(error, 'name'))

/** Where an error was thrown that has no code: a bug, in a hook say. */
export function locationOf(error: unknown): string {
  const stack = fieldOf(error, 'stack')
  if (fieldOf(error, 'code') !== undefined || typeof stack !== 'string') return ''
  const line = stack.split('\n').find(text => /^\s+at .*(?:\/|\\)/.test(text) && !text.includes('node:'))
  return line === undefined ? '' : ` (${logged(line.trim())})`
}
