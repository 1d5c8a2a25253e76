/** The relay: delivers the events of the outbox, at least once, and those of a bet in order. */

import { notify } from '../../hooks.js'
import type { RecordedTransaction } from '../../lookups/records.js'
import type { OptionChecks } from '../../option-checks.js'
import { withTimeout } from '../../timeout.js'
import { QueryFailed } from './deadline.js'
import type { MakeError } from './errors.js'

export interface RelayOptions {
  /**
   * Delivers an event, which is the recorded transaction: resolves when the consumer has it; a rejection is a
   * failed attempt. The same event, by its `walletTransactionId`, may be delivered again.
   */
  deliver(event: RecordedTransaction, delivery: Delivery): Promise<unknown>
  /**
   * Maximum number of events that this relay delivers at once, each of another bet.
   * @default 32
   */
  inFlightMax?: number
  /**
   * Time limit of a delivery in milliseconds; then its signal is aborted, and the attempt has failed.
   * @default 15_000
   */
  timeoutMs?: number
  /**
   * After so many failed attempts an event is a dead letter: 100 are about a day, as the pauses between them
   * grow from 1 second to 15 minutes.
   * @default 100
   */
  attemptsMax?: number
  /**
   * Pause in milliseconds before the relay looks again when nothing is due.
   * @default 500
   */
  pollMs?: number
  /**
   * Called with the error of each failed attempt and its event, and with errors of the database (`null`),
   * after which the relay tries again.
   */
  onError?(error: unknown, event: RecordedTransaction | null): void
}

/** One attempt. */
export interface Delivery {
  /** From 1. */
  readonly attempt: number
  /** Aborted after `timeoutMs`. */
  readonly signal: Signal
}

/** `AbortSignal`, where the types of the runtime are installed. */
type Signal = typeof globalThis extends { AbortSignal: { prototype: infer S } } ? S : unknown

export interface Relay {
  /**
   * Starts to deliver. Any number of relays may run, in any number of processes.
   *
   * @throws {StoreError} the problem of the database: no table, no privilege, not reachable
   */
  start(): Promise<void>
  /** Claims no more events, and resolves when those in delivery have ended. */
  stop(): Promise<void>
  /** Metrics of the table, for all relays. */
  stats(): Promise<OutboxStats>
  /** Makes all dead letters due again, with new attempts. Returns how many. */
  retryDeadLetters(): Promise<number>
}

export interface OutboxStats {
  /** Events that are not delivered yet, without dead letters. */
  queued: number
  /** The age of the oldest event that is not delivered, dead letters included; `null`: there is none. */
  oldestMs: number | null
  /** Dead letters. Each blocks the later events of its bet. */
  dead: number
}

/** An event that this relay may deliver until its lease ends. */
export interface Claimed {
  event: RecordedTransaction
  /** Of the row, as text. */
  eventNumber: string
  /** With this one. Another relay that claims the event later has a higher number. */
  attempts: number
}

/** A failed attempt. */
export interface Failed extends Claimed {
  /** Until the next attempt; `null`: the event is a dead letter. */
  pauseMs: number | null
  problem: string
}

/** The outbox of a database. */
export interface OutboxTable {
  /**
   * Leases events that are due: of each bet at most the first one that is not delivered.
   *
   * @returns them, and whether there may be more than `limit`
   */
  claim(limit: number, leaseMs: number): Promise<{ claimed: Claimed[]; more: boolean }>
  /** Deletes these events, even after the lease: the consumer has them. The next of their bets are due. */
  remove(delivered: readonly Claimed[]): Promise<void>
  /** Records failed attempts, unless another relay has claimed the event since. */
  postpone(failed: readonly Failed[]): Promise<void>
  stats(): Promise<OutboxStats>
  retryDeadLetters(): Promise<number>
}

/** What the database calls an event. */
const keyOf = ({ event, eventNumber }: Claimed) => ({ event_number: eventNumber, bet_id: event.betId })

/** Delivered events, as the statements take them. */
export const deliveredJson = (delivered: readonly Claimed[]) => JSON.stringify(delivered.map(keyOf))

/** Failed attempts, as the statements take them. */
export const failedJson = (failed: readonly Failed[]) =>
  JSON.stringify(
    failed.map(each => ({
      ...keyOf(each),
      attempts: each.attempts,
      pause_ms: each.pauseMs,
      problem: each.problem,
    })),
  )

/** What an error of the database means for a relay. */
export interface OutboxErrors {
  /** For the message. */
  schemaName: string
  makeError: MakeError
  startError(cause: unknown): unknown
  lacksPrivilege(cause: unknown): boolean
  hasNoOutbox(cause: unknown): boolean
}

/** Calls the database for the relay. @throws {StoreError} */
export async function asked<T>(work: Promise<T>, errors: OutboxErrors): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof QueryFailed)) throw error
    const { cause } = error
    if (errors.lacksPrivilege(cause))
      throw errors.makeError(
        'INSUFFICIENT_PRIVILEGE',
        `The relay lacks privileges (${(cause as Error).message})`,
        { cause },
      )
    if (errors.hasNoOutbox(cause))
      throw errors.makeError(
        'SCHEMA_MISSING',
        `The schema ${errors.schemaName} has no outbox: migrate with outbox: true`,
        { cause },
      )
    throw errors.startError(cause)
  }
}

const firstPauseMs = 1_000
const pauseMsMax = 900_000
/** Between attempts to reach the database. */
const databasePauseMsMax = 10_000
/** Beside the time limit of a delivery: enough for what the relay does before and after. */
const leaseMarginMs = 30_000
/** Of a statement of the relay. */
export const relayStatementMs = 30_000

const pauseAfter = (failures: number) => Math.min(firstPauseMs * 2 ** (failures - 1), pauseMsMax)

const optionNames = ['deliver', 'inFlightMax', 'timeoutMs', 'attemptsMax', 'pollMs', 'onError']

/**
 * @param open opens the outbox of the schema
 * @throws `INVALID_OPTIONS`, naming the option; and what `open` throws
 */
export function createRelay(
  check: OptionChecks,
  options: RelayOptions & { schema?: string },
  open: (schema: string | undefined) => OutboxTable,
): Relay {
  check.names(options, ['schema', ...optionNames])
  if (options.deliver === undefined) check.invalid('deliver must be a function')
  for (const name of ['deliver', 'onError'] as const) check.func(name, options[name])
  const table = open(options.schema)
  const relay = new DatabaseRelay(table, {
    deliver: options.deliver,
    onError: options.onError,
    inFlightMax: check.whole('inFlightMax', options.inFlightMax ?? 32, 1, 1_000),
    timeoutMs: check.whole('timeoutMs', options.timeoutMs ?? 15_000, 1, 3_600_000),
    attemptsMax: check.whole('attemptsMax', options.attemptsMax ?? 100, 1, 1_000_000),
    pollMs: check.whole('pollMs', options.pollMs ?? 500, 1, 3_600_000),
  })
  return {
    start: () => relay.start(),
    stop: () => relay.stop(),
    stats: () => table.stats(),
    retryDeadLetters: () => table.retryDeadLetters(),
  }
}

type Settings = Required<Omit<RelayOptions, 'onError'>> & { onError: RelayOptions['onError'] | undefined }

class DatabaseRelay {
  readonly #table: OutboxTable
  readonly #settings: Settings
  /** Events that occupy a slot: until their end is recorded. */
  #inFlight = 0
  #delivered: Claimed[] = []
  #failed: Failed[] = []
  #running: Promise<void> | null = null
  #stopping = false
  #wake = () => {}

  constructor(table: OutboxTable, settings: Settings) {
    this.#table = table
    this.#settings = settings
  }

  async start(): Promise<void> {
    await this.#table.stats()
    if (this.#running !== null) return
    this.#stopping = false
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    this.#wake()
    await this.#running
    this.#running = null
  }

  async #run(): Promise<void> {
    let failures = 0
    while (!this.#stopping || this.#inFlight > 0) {
      try {
        const more = await this.#turn()
        failures = 0
        if (!more && !this.#hasEnded()) await this.#pause(this.#settings.pollMs)
      } catch (error) {
        failures += 1
        notify('onError', () => this.#settings.onError?.(error, null))
        // What is not recorded is delivered again, after its lease.
        if (this.#stopping) return
        await this.#pause(Math.min(pauseAfter(failures), databasePauseMsMax))
      }
    }
  }

  #hasEnded(): boolean {
    return this.#delivered.length > 0 || this.#failed.length > 0
  }

  /** Records what has ended, and claims as many events as slots are free. Returns whether more may be due. */
  async #turn(): Promise<boolean> {
    await this.#record()
    const free = this.#settings.inFlightMax - this.#inFlight
    if (this.#stopping || free === 0) return false
    const { claimed, more } = await this.#table.claim(free, this.#settings.timeoutMs + leaseMarginMs)
    this.#inFlight += claimed.length
    for (const each of claimed) void this.#deliver(each)
    return more && claimed.length < free
  }

  async #record(): Promise<void> {
    const [delivered, failed] = [[...this.#delivered], [...this.#failed]]
    if (delivered.length > 0) await this.#table.remove(delivered)
    this.#delivered = this.#delivered.slice(delivered.length)
    this.#inFlight -= delivered.length
    if (failed.length > 0) await this.#table.postpone(failed)
    this.#failed = this.#failed.slice(failed.length)
    this.#inFlight -= failed.length
  }

  /** Never rejects. */
  async #deliver(claimed: Claimed): Promise<void> {
    const { deliver, timeoutMs, attemptsMax, onError } = this.#settings
    const { event, attempts } = claimed
    const abort = new AbortController()
    const attempt = async () => deliver(event, { attempt: attempts, signal: abort.signal })
    try {
      await withTimeout(attempt(), timeoutMs, () => {
        const error = new Error(`No answer within ${timeoutMs} ms`)
        abort.abort(error)
        throw error
      })
      this.#delivered.push(claimed)
    } catch (error) {
      notify('onError', () => onError?.(error, event))
      const pauseMs = attempts >= attemptsMax ? null : pauseAfter(attempts)
      this.#failed.push({ ...claimed, pauseMs, problem: problemOf(error) })
    }
    this.#wake()
  }

  /** Until a delivery ends, `stop` is called, or the time is over. */
  async #pause(ms: number): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = () => {}
  }
}

/** For the column: PostgreSQL stores no NUL. */
const problemOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').slice(0, 500)
