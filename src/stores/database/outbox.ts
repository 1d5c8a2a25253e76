/** The outbox of a database, for the relay: claims and ends of events. One poisoned item fails alone. */

import { bisect } from '../../batches/index.js'
import { textOf } from '../../foreign-values.js'
import type { RecordedTransaction } from '../../lookups/records.js'
import { QueryFailed } from './deadline.js'
import { recordedTransactionOf } from './lookups.js'
import { type Right, rightsText } from './rights.js'
import type { Row } from './rows.js'
import { type StatementErrors, storeErrorOf } from './statement-errors.js'

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
export interface OutboxErrors extends StatementErrors {
  /** Whether the server rejects the statement, as it would one more time. */
  isRejected(error: QueryFailed): boolean
}

/** A row of the claim. */
export interface DueRow extends Leased {
  /** Of its transaction. */
  walletTransactionId: string
  /** An earlier event of its bet is not delivered. */
  isBlocked: boolean
  isGone: boolean
}

/** What a database does differently: statements, each called with events as JSON. @throws {QueryFailed} */
export interface OutboxParts {
  errors: OutboxErrors
  /** The name, for people. */
  schemaName: string
  rights: readonly Right[]
  /** @throws {StoreError} this role cannot see the transactions, so that one may look gone */
  mustSeeTransactions(): Promise<void>
  lease(limit: number, leaseMs: number): Promise<DueRow[]>
  /** The transactions with these references. */
  contents(walletTransactionIds: readonly string[]): Promise<readonly Row[]>
  remove(events: string): Promise<unknown>
  /** The next events of the bets of removed ones are due. */
  release(events: string): Promise<unknown>
  postpone(events: string): Promise<unknown>
  stats(): Promise<OutboxStats>
  retry(): Promise<number>
}

const inWords = (error: unknown, { errors, schemaName, rights }: OutboxParts): unknown =>
  storeErrorOf(error, errors, {
    name: 'The relay',
    rights: rightsText(rights),
    missing: ['SCHEMA_MISSING', `The schema ${schemaName} has no outbox: migrate with outbox: true`],
  })

/** Calls the database for the relay. @throws {StoreError} */
const asked = <T>(parts: OutboxParts, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw inWords(error, parts)
  })

/** Whether the database rejects what was sent, and not this relay: another item may be valid. */
function isOfItems(error: unknown, errors: OutboxErrors): boolean {
  if (!(error instanceof QueryFailed)) return false
  if (errors.lacksPrivilege(error.cause) || errors.isMissing(error.cause)) return false
  return errors.isRejected(error)
}

/**
 * Works on all items at once, and on smaller parts of those that the database rejects.
 *
 * @returns the items that it rejects even alone
 * @throws {StoreError} another problem than that of an item
 */
async function inParts<T>(
  parts: OutboxParts,
  items: readonly T[],
  work: (items: readonly T[]) => Promise<unknown>,
): Promise<{ item: T; error: unknown }[]> {
  const rejected: { item: T; error: unknown }[] = []
  const perform = async (part: readonly T[]): Promise<void> => {
    const [item] = part
    if (item === undefined) return
    try {
      await work(part)
    } catch (error) {
      if (!isOfItems(error, parts.errors)) throw inWords(error, parts)
      if (part.length > 1) await bisect(part, perform)
      else rejected.push({ item, error: inWords(error, parts) })
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

export function createOutbox(parts: OutboxParts): OutboxTable {
  return {
    async check() {
      await asked(parts, parts.mustSeeTransactions())
      await asked(parts, parts.stats())
    },
    async claim(limit, leaseMs) {
      const due = await asked(parts, parts.lease(limit, leaseMs))
      const events = await readEvents(
        parts,
        due.filter(({ isBlocked }) => !isBlocked),
      )
      return { ...events, more: due.length === limit }
    },
    async remove(delivered) {
      const rejected = await inParts(parts, delivered, async part => {
        const events = JSON.stringify(part.map(keyOf))
        await parts.remove(events)
        // A statement of its own: it sees what was committed before the first, on each node of a cluster.
        await parts.release(events)
      })
      return rejected.map(({ error }) => error)
    },
    async postpone(failed) {
      const record = (part: readonly Failed[]) => parts.postpone(failedJson(part))
      const rejected = await inParts(parts, failed, record)
      // A database that is not in UTF-8 cannot store every character.
      const escaped = rejected.map(({ item }) => ({ ...item, problem: asciiOf(item.problem) }))
      return (await inParts(parts, escaped, record)).map(({ error }) => error)
    },
    stats: () => asked(parts, parts.stats()),
    retryDeadLetters: () => asked(parts, parts.retry()),
  }
}

/** The events of leased rows. Only a role that sees every transaction knows that one is gone. */
async function readEvents(
  parts: OutboxParts,
  leased: readonly DueRow[],
): Promise<{ claimed: Claimed[]; unreadable: Unreadable[] }> {
  if (leased.some(({ isGone }) => isGone)) await asked(parts, parts.mustSeeTransactions())
  const rows = new Map<string | null | undefined, Row>()
  const present = leased.filter(({ isGone }) => !isGone)
  const rejected = await inParts(parts, present, async part => {
    const found = await parts.contents(part.map(({ walletTransactionId }) => walletTransactionId))
    for (const row of found) rows.set(row.wallet_transaction_id, row)
  })
  const claimed: Claimed[] = []
  const unreadable: Unreadable[] = []
  for (const { betId, eventNumber, attempts, failures, isGone, walletTransactionId } of leased) {
    const lease = { betId, eventNumber, attempts, failures }
    try {
      const found = rejected.find(({ item }) => item.eventNumber === eventNumber)
      if (found !== undefined) throw found.error
      const row = rows.get(walletTransactionId)
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
