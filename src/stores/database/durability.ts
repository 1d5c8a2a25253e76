/** Whether an answered commit survives the loss of its server, as the server itself reports it. */

import { sharing } from '../../sharing.js'
import { QueryFailed } from './deadline.js'
import type { MakeError } from './errors.js'

/**
 * - `alone`: an answered commit is on one server, as far as the store can see.
 * - `asynchronous`: other servers receive a commit after its answer, or it is not proven that they receive it
 *   before.
 * - `synchronous`: at least one other server has received a commit before it is answered.
 */
export type DurabilityLevel = 'alone' | 'asynchronous' | 'synchronous'

export interface Durability {
  readonly level: DurabilityLevel
  /** The setting or the status that decides, and its value: `synchronous_standby_names is empty`. */
  readonly reason: string
}

const consequences: Readonly<Record<DurabilityLevel, string>> = {
  alone: 'The loss of this server loses answered transactions',
  asynchronous: 'A failover may lose the last answered transactions',
  synchronous: 'An answered transaction is on another server too',
}

export interface GaugeSettings {
  /** Asks the server now. @throws `UNAVAILABLE` */
  ask(): Promise<Durability>
  /** Whether decisions are unavailable unless the level is `synchronous`. */
  isRequired: boolean
  makeError: MakeError
  /** Milliseconds that never go back. */
  now?(): number
}

/** For how long a reading counts while the level is required, in milliseconds. */
const ageMsMax = 1_000

/** The last reading of the durability, and the requirement that it is `synchronous`. */
export class DurabilityGauge {
  readonly #settings: Required<GaugeSettings>
  #last: Durability | null = null
  /** When the last reading began. */
  #readAt = Number.NEGATIVE_INFINITY
  /** Batches at the same time share a reading. */
  readonly #readShared = sharing(() => this.read())

  constructor(settings: GaugeSettings) {
    this.#settings = { now: () => performance.now(), ...settings }
  }

  /** `null`: it was not read yet. */
  get last(): Durability | null {
    return this.#last
  }

  /** Asks the server now. @throws `UNAVAILABLE` */
  async read(): Promise<Durability> {
    const startedAt = this.#settings.now()
    const durability = await this.#settings.ask()
    // A slow answer does not replace a newer one.
    if (startedAt >= this.#readAt) {
      this.#readAt = startedAt
      this.#report(durability)
      this.#last = durability
    }
    return durability
  }

  /** @throws `UNAVAILABLE`: the level is required, and the last reading has another */
  mustHold(): void {
    if (!this.#settings.isRequired || this.#last?.level === 'synchronous') return
    const found = this.#last === null ? 'not known yet' : `${this.#last.level}: ${this.#last.reason}`
    throw this.#settings.makeError(
      'UNAVAILABLE',
      `requireDurability is 'synchronous', and the durability is ${found}`,
    )
  }

  /**
   * What `work` does, only while the required level holds. It is proven again after `work`, if the reading is
   * too old by then: when a server falls back, it answers the commits that have waited for a replica.
   *
   * @param commits whether `work` commits: its outcome is unknown if the level is lost meanwhile
   * @returns `work` itself if nothing is required
   */
  guarded<Arguments extends unknown[], Result>(
    work: (...args: Arguments) => Promise<Result>,
    commits: boolean,
  ): (...args: Arguments) => Promise<Result> {
    if (!this.#settings.isRequired) return work
    return async (...args) => {
      await this.#prove(false)
      const result = await work(...args)
      await this.#prove(commits)
      return result
    }
  }

  /** @throws {QueryFailed} */
  async #prove(sent: boolean): Promise<void> {
    try {
      if (this.#settings.now() - this.#readAt > ageMsMax) await this.#readShared()
      this.mustHold()
    } catch (error) {
      throw new QueryFailed(error, sent)
    }
  }

  /** Warns once per change of the level; at start, only of a level that its operator may not expect. */
  #report({ level, reason }: Durability): void {
    const { isRequired } = this.#settings
    const before = this.#last?.level ?? (isRequired ? 'synchronous' : 'alone')
    if (level === before || (this.#last === null && level === 'synchronous')) return
    const consequence =
      isRequired && level !== 'synchronous'
        ? 'Calls are answered 503 until it is synchronous (requireDurability)'
        : consequences[level]
    process.emitWarning(
      `Durability is ${level}${this.#last === null ? '' : `, and was ${before}`}: ${reason}. ${consequence}. ` +
        'See bet-wallet/docs/operations.md#durability',
      'BetWalletWarning',
    )
  }
}
