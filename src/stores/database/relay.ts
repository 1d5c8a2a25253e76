/** The relay: delivers the events of the outbox, at least once, and those of a bet in order. */

import { textOf } from '../../foreign-values.js'
import { notify } from '../../hooks.js'
import type { RecordedTransaction } from '../../lookups/records.js'
import type { OptionChecks } from '../../option-checks.js'
import { withTimeout } from '../../timeout.js'
import {
  type Claimed,
  type Failed,
  type Leased,
  type OutboxStats,
  type OutboxTable,
  problemLengthMax,
} from './outbox.js'

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
   * Time limit of a delivery in milliseconds, at most 14 minutes; then its signal is aborted, and the attempt
   * has failed.
   * @default 15_000
   */
  timeoutMs?: number
  /**
   * After so many failed attempts an event is a dead letter: 100 are about a day, as the pauses grow from 1
   * second to 14 minutes.
   * @default 100
   */
  attemptsMax?: number
  /**
   * Pause in milliseconds before the relay looks again when nothing is due.
   * @default 500
   */
  pollMs?: number
  /**
   * Called with the error of each failed attempt and its event; with `null` for errors of the database, after
   * which the relay tries again, and for rows that cannot be read.
   */
  onError?(error: unknown, event: RecordedTransaction | null): void
}

/** One attempt. */
export interface Delivery {
  /** From 1. Counts attempts of relays that were killed too. */
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
   * @throws {StoreError} the problem of the database: no table, no privilege, not reachable, or transactions
   *   that its role cannot see
   */
  readonly start: () => Promise<void>
  /** Claims no more events, and resolves when those in delivery have ended. */
  readonly stop: () => Promise<void>
  /** Metrics of the table, for all relays. */
  readonly stats: () => Promise<OutboxStats>
  /** Makes all dead letters due again, as if none had failed. Returns how many. */
  readonly retryDeadLetters: () => Promise<number>
}

const firstPauseMs = 1_000
/**
 * Of a pause and of a time limit. What is due later than `dueMinutesMax` was written by another clock, so a
 * lease, or a pause by the clock of another node, must be shorter.
 */
const waitMsMax = 840_000
/** Between attempts to reach the database. */
const databasePauseMsMax = 10_000
/** Beside the time limit of a delivery: enough for what the relay does before and after. */
const leaseMarginMs = 30_000
/** Of a statement of the relay. */
export const relayStatementMs = 30_000

const pauseAfter = (failures: number) => Math.min(firstPauseMs * 2 ** (failures - 1), waitMsMax)

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
    timeoutMs: check.whole('timeoutMs', options.timeoutMs ?? 15_000, 1, waitMsMax),
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
  #delivered: Leased[] = []
  #failed: Failed[] = []
  #running: Promise<void> | null = null
  #stopping = false
  #wake = () => {}

  constructor(table: OutboxTable, settings: Settings) {
    this.#table = table
    this.#settings = settings
  }

  async start(): Promise<void> {
    await this.#table.check()
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
    const { claimed, unreadable, more } = await this.#table.claim(
      free,
      this.#settings.timeoutMs + leaseMarginMs,
    )
    this.#inFlight += claimed.length + unreadable.length
    for (const { error, isGone, ...lease } of unreadable) this.#fail(lease, error, null, isGone)
    for (const each of claimed) notify('A delivery', () => this.#deliver(each))
    return more && claimed.length + unreadable.length < free
  }

  /** What the database rejects leaves the memory too: its lease decides when it is claimed again. */
  async #record(): Promise<void> {
    const report = (errors: readonly unknown[]) => {
      for (const error of errors) notify('onError', () => this.#settings.onError?.(error, null))
    }
    const [delivered, failed] = [[...this.#delivered], [...this.#failed]]
    report(await this.#table.remove(delivered))
    this.#delivered = this.#delivered.slice(delivered.length)
    this.#inFlight -= delivered.length
    report(await this.#table.postpone(failed))
    this.#failed = this.#failed.slice(failed.length)
    this.#inFlight -= failed.length
  }

  /** Never rejects. */
  async #deliver({ event, ...lease }: Claimed): Promise<void> {
    const { deliver, timeoutMs } = this.#settings
    const abort = new AbortController()
    const attempt = async () => deliver(event, { attempt: lease.attempts, signal: abort.signal })
    try {
      await withTimeout(attempt(), timeoutMs, () => {
        const error = new Error(`No answer within ${timeoutMs} ms`)
        abort.abort(error)
        throw error
      })
      this.#delivered.push(lease)
    } catch (error) {
      this.#fail(lease, error, event, false)
    }
    this.#wake()
  }

  /** @param isLast whether no later attempt can succeed */
  #fail(lease: Leased, error: unknown, event: RecordedTransaction | null, isLast: boolean): void {
    const { attemptsMax, onError } = this.#settings
    notify('onError', () => onError?.(error, event))
    const failures = lease.failures + 1
    const pauseMs = isLast || failures >= attemptsMax ? null : pauseAfter(failures)
    this.#failed.push({ ...lease, failures, pauseMs, problem: problemOf(error) })
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

/** For the column. PostgreSQL stores no NUL, and no database half of a surrogate pair. */
const problemOf = (error: unknown): string =>
  Buffer.from(textOf(error).replaceAll('\0', '').slice(0, problemLengthMax)).toString()
