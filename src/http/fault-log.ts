/** The default of `onError`: one line for a fault, and a number for its repetitions. */
import { WalletError } from '../errors.js'
import { fieldOf, isA, itemsOf } from '../foreign-values.js'
import { logged, pathOf } from '../visible-text.js'
import { createCountedLog, withoutValues } from './counted-log.js'
import type { HttpRequest } from './message.js'

const causesMax = 4

interface Fault {
  error: unknown
  /** For a fault outside of the handlers, in the operator's own code. */
  call: string
}

/**
 * Logs the first fault of a kind, then for ten seconds at a time how many more there were: a database that is
 * down makes thousands per second, and logging them all would cost more than answering them.
 *
 * @param write is called with one line
 */
export function createFaultLog(
  write?: (line: string) => void,
): (error: unknown, request: HttpRequest) => void {
  const log = createCountedLog(write)
  return (error, request) => {
    const fault = { error, call: `${logged(request?.method)} ${logged(pathOf(request?.path ?? ''))}` }
    log(kindOf(error), () => lineOf(fault))
  }
}

function lineOf({ error, call }: Fault): string {
  const [first, ...others] = causesOf(error)
  const causes = others.map(cause => `; cause: ${textOf(cause)}`).join('')
  return `${subjectOf(error, call)}${textOf(first)}${causes}${locationOf(others.at(-1) ?? first)}`
}

function subjectOf(error: unknown, call: string): string {
  if (!isA(error, WalletError) || error.call === null) return `${call}: `
  const { operation, transactionId, betId, playerId } = error.call
  if (transactionId === null) return `${operation}: `
  const ids = { transactionId, betId, playerId }
  return `${operation} ${Object.entries(ids)
    .map(([name, id]) => `${name}=${logged(JSON.stringify(id))}`)
    .join(' ')}: `
}

/** Repetitions have the same code, the same text apart from values, and the same last cause. */
function kindOf(error: unknown): string {
  const causes = causesOf(error)
  const [first, last] = [causes[0], causes.at(-1)]
  const message = withoutValues(logged(fieldOf(first, 'message')))
  return `${logged(fieldOf(first, 'code'))} ${message} ${labelOf(last)} ${locationOf(last)}`
}

function causesOf(error: unknown): unknown[] {
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

const labelOf = (error: unknown) => logged(fieldOf(error, 'code') ?? fieldOf(error, 'name'))

/** Where an error was thrown that has no code: a bug, in a hook say. */
function locationOf(error: unknown): string {
  const stack = fieldOf(error, 'stack')
  if (fieldOf(error, 'code') !== undefined || typeof stack !== 'string') return ''
  const line = stack.split('\n').find(text => /^\s+at .*(?:\/|\\)/.test(text) && !text.includes('node:'))
  return line === undefined ? '' : ` (${logged(line.trim())})`
}
