/** The outbox of a database, for the relay: claims and ends of events. One poisoned item fails alone. */

import { bisect } from '../../batches/index.js'
import { textOf } from '../../foreign-values.js'
import type { RecordedTransaction } from '../../lookups/records.js'
import { QueryFailed } from './deadline.js'
import type { MakeError } from './errors.js'
import { recordedTransactionOf } from './lookups.js'
import type { Row } from './rows.js'

export interface OutboxStats {
  /** Events that are not delivered yet, without dead letters. */
  queued: number
  /** The age of the oldest event that is not delivered, dead letters included; `null`: there is none. */
  oldestMs: number | null
  /** Dead letters. Each blocks the later events of its bet. */
  dead: number
}

/** A row that this relay may work on until its lease ends. */
export interface Leased {
  betId: string
  /** Of the row, as text. */
  eventNumber: string
  /** Claims, with this one. Another relay that claims the event later has a higher number. */
  attempts: number
  /** Failed attempts before. */
  failures: number
}

/** An event that this relay may deliver. */
export interface Claimed extends Leased {
  event: RecordedTransaction
}

/** A row of which no event can be made. */
export interface Unreadable extends Leased {
  error: unknown
  /** Its transaction is missing. */
  isGone: boolean
}

/** A failed attempt. */
export interface Failed extends Leased {
  /** Until the next attempt; `null`: the event is a dead letter. */
  pauseMs: number | null
  problem: string
}

/** The outbox of a database. */
export interface OutboxTable {
  /** @throws {StoreError} the problem: no table, no privilege, transactions that this role cannot see */
  check(): Promise<void>
  /**
   * Leases events that are due: of each bet at most the first one that is not delivered.
   *
   * @returns them, and whether there may be more than `limit`
   */
  claim(
    limit: number,
    leaseMs: number,
  ): Promise<{ claimed: Claimed[]; unreadable: Unreadable[]; more: boolean }>
  /**
   * Deletes these events, even after the lease: the consumer has them. The next of their bets are due.
   *
   * @returns the errors of those that the database rejects even alone: they stay until their lease ends
   */
  remove(delivered: readonly Leased[]): Promise<unknown[]>
  /**
   * Records failed attempts, unless another relay has claimed the event since.
   *
   * @returns as `remove`
   */
  postpone(failed: readonly Failed[]): Promise<unknown[]>
  stats(): Promise<OutboxStats>
  retryDeadLetters(): Promise<number>
}

/** What an error of the database means for a relay. */
export interface OutboxErrors {
  /** For the message. */
  schemaName: string
  makeError: MakeError
  /** Whether the server rejects the statement, as it would one more time. */
  isRejected(error: QueryFailed): boolean
  startError(cause: unknown): unknown
  lacksPrivilege(cause: unknown): boolean
  hasNoOutbox(cause: unknown): boolean
}

/** A row of the claim. */
export interface DueRow extends Leased {
  /** An earlier event of its bet is not delivered. */
  isBlocked: boolean
  isGone: boolean
}

/** What a database does differently: statements, each called with events as JSON. @throws {QueryFailed} */
export interface OutboxParts<Due extends DueRow = DueRow> {
  errors: OutboxErrors
  /** @throws {StoreError} this role cannot see the transactions, so that one may look gone */
  mustSeeTransactions(): Promise<void>
  lease(limit: number, leaseMs: number): Promise<Due[]>
  /** The transactions of these events, each with the number of its event. */
  contents(due: readonly Due[]): Promise<(readonly [eventNumber: string, row: Row])[]>
  remove(events: string): Promise<unknown>
  postpone(events: string): Promise<unknown>
  stats(): Promise<OutboxStats>
  retry(): Promise<number>
}

/** Calls the database for the relay. @throws {StoreError} */
async function asked<T>(work: Promise<T>, errors: OutboxErrors): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw storeErrorOf(error, errors)
  }
}

function storeErrorOf(error: unknown, errors: OutboxErrors): unknown {
  if (!(error instanceof QueryFailed)) return error
  const { cause } = error
  if (errors.lacksPrivilege(cause))
    return errors.makeError('INSUFFICIENT_PRIVILEGE', `The relay lacks privileges (${textOf(cause)})`, {
      cause,
    })
  if (errors.hasNoOutbox(cause))
    return errors.makeError(
      'SCHEMA_MISSING',
      `The schema ${errors.schemaName} has no outbox: migrate with outbox: true`,
      { cause },
    )
  return errors.startError(cause)
}

/** Whether the database rejects what was sent, and not this relay: another item may be valid. */
function isOfItems(error: unknown, errors: OutboxErrors): boolean {
  if (!(error instanceof QueryFailed)) return false
  if (errors.lacksPrivilege(error.cause) || errors.hasNoOutbox(error.cause)) return false
  return errors.isRejected(error)
}

/**
 * Works on all items at once, and on smaller parts of those that the database rejects.
 *
 * @returns the items that it rejects even alone
 * @throws {StoreError} another problem than that of an item
 */
async function inParts<T>(
  items: readonly T[],
  errors: OutboxErrors,
  work: (items: readonly T[]) => Promise<unknown>,
): Promise<{ item: T; error: unknown }[]> {
  const rejected: { item: T; error: unknown }[] = []
  const perform = async (part: readonly T[]): Promise<void> => {
    const [item] = part
    if (item === undefined) return
    try {
      await work(part)
    } catch (error) {
      if (!isOfItems(error, errors)) throw storeErrorOf(error, errors)
      if (part.length > 1) await bisect(part, perform)
      else rejected.push({ item, error: storeErrorOf(error, errors) })
    }
  }
  await perform(items)
  return rejected
}

const keyOf = ({ betId, eventNumber }: Leased) => ({ event_number: eventNumber, bet_id: betId })

const failedJson = (failed: readonly Failed[]) =>
  JSON.stringify(
    failed.map(each => ({
      ...keyOf(each),
      attempts: each.attempts,
      failures: each.failures,
      pause_ms: each.pauseMs,
      problem: each.problem,
    })),
  )

/** In minutes: an event that is due later than that was written by a clock that was ahead, and is due now. */
export const dueMinutesMax = 15

/** As long as the column of MySQL. */
export const problemLengthMax = 500

const asciiOf = (text: string) =>
  text
    .replaceAll(/\P{ASCII}/gu, character => `\\u{${character.codePointAt(0)?.toString(16)}}`)
    .slice(0, problemLengthMax)

export function createOutbox<Due extends DueRow>(parts: OutboxParts<Due>): OutboxTable {
  const { errors } = parts
  return {
    async check() {
      await asked(parts.mustSeeTransactions(), errors)
      await asked(parts.stats(), errors)
    },
    async claim(limit, leaseMs) {
      const due = await asked(parts.lease(limit, leaseMs), errors)
      return {
        ...(await readEvents(
          due.filter(({ isBlocked }) => !isBlocked),
          parts,
        )),
        more: due.length === limit,
      }
    },
    async remove(delivered) {
      const rejected = await inParts(delivered, errors, part => parts.remove(JSON.stringify(part.map(keyOf))))
      return rejected.map(({ error }) => error)
    },
    async postpone(failed) {
      const record = (part: readonly Failed[]) => parts.postpone(failedJson(part))
      const rejected = await inParts(failed, errors, record)
      // A database that is not in UTF-8 cannot store every character.
      const escaped = rejected.map(({ item }) => ({ ...item, problem: asciiOf(item.problem) }))
      return (await inParts(escaped, errors, record)).map(({ error }) => error)
    },
    stats: () => asked(parts.stats(), errors),
    retryDeadLetters: () => asked(parts.retry(), errors),
  }
}

/** The events of leased rows. Only a role that sees every transaction knows that one is gone. */
async function readEvents<Due extends DueRow>(
  leased: readonly Due[],
  { errors, contents, mustSeeTransactions }: OutboxParts<Due>,
): Promise<{ claimed: Claimed[]; unreadable: Unreadable[] }> {
  if (leased.some(({ isGone }) => isGone)) await asked(mustSeeTransactions(), errors)
  const rows = new Map<string, Row>()
  const rejected = await inParts(
    leased.filter(({ isGone }) => !isGone),
    errors,
    async part => {
      for (const [eventNumber, row] of await contents(part)) rows.set(eventNumber, row)
    },
  )
  const claimed: Claimed[] = []
  const unreadable: Unreadable[] = []
  for (const { betId, eventNumber, attempts, failures, isGone } of leased) {
    const lease = { betId, eventNumber, attempts, failures }
    try {
      const found = rejected.find(({ item }) => item.eventNumber === eventNumber)
      if (found !== undefined) throw found.error
      const row = rows.get(eventNumber)
      if (row === undefined) throw new Error('the transaction of the event is missing')
      const event = recordedTransactionOf(row)
      if (Number.isNaN(Date.parse(event.recordedAt))) throw new Error('its time is invalid')
      claimed.push({ ...lease, event })
    } catch (cause) {
      const problem = `Event ${eventNumber} of the bet ${betId} cannot be read: ${textOf(cause)}`
      unreadable.push({ ...lease, isGone, error: new Error(problem, { cause }) })
    }
  }
  return { claimed, unreadable }
}
