/**
 * The newest records that this process was answered as committed. A server that lacks one is behind: a former
 * primary, a replica that is writable by mistake, or one that was promoted without them.
 */
import type { WalletChanges } from '../../store.js'
import { StoreError } from '../database/errors.js'
import type { CommitAnswer } from '../database/rows.js'
import { sql } from '../database/sql-text.js'
import { checkWritable } from './server-state.js'
import type { Session } from './session.js'
import type { Tables } from './tables.js'

/** Of a server that answers, and must not be asked. */
export class NotAsked extends StoreError {
  /** The record that it lacks: `placebet t-1`. */
  readonly record: string | null
  constructor(problem: string, record: string | null = null) {
    super('mysql', 'UNAVAILABLE', `The database is unavailable: ${problem}`)
    this.record = record
  }
}

interface ConfirmedRecord {
  key: readonly [operation: string, transactionId: string, id: string]
  /** Those that have confirmed it, or were found to have it. */
  servers: Set<string>
}

/** A commit that was sent: to which server, and what this one had then. */
interface Sent {
  server: string
  before: readonly ConfirmedRecord[]
}

/**
 * Kept is one record for each commit that no later one has followed: at most as many as there are commits at
 * once. One record alone is not enough, since two servers may each confirm one at the same time.
 */
export class ConfirmedRecords {
  readonly #records = new Set<ConfirmedRecord>()
  readonly #sent = new WeakMap<object, Sent>()
  readonly #statement: string
  #missing: string | null = null

  constructor({ schema }: Tables) {
    this.#statement = sql`
      SELECT 1 FROM ${schema}.wallet_transactions recorded
      WHERE recorded.operation = ? AND recorded.transaction_id = ? AND recorded.id = CAST(? AS unsigned)`
  }

  /** The record that every server lacks that answers, as of the last call; `null`: there is none. */
  get missing(): string | null {
    return this.#missing
  }

  /** Asks nothing of the server that has confirmed all of them. @throws {NotAsked} */
  async admit(session: Session): Promise<void> {
    const { server } = session
    // What other servers confirm meanwhile is of concurrent calls, and may come without end.
    const lacks = [...this.#records].filter(({ servers }) => !servers.has(server))
    if (lacks.length === 0) return
    // A replica may be behind. It is one that can be written to, and is, that must not be asked.
    await checkWritable(session)
    for (const { key, servers } of lacks) {
      if ((await session.rows(this.#statement, [...key])).length === 0) throw behind(key)
      servers.add(server)
    }
  }

  /** Runs `commit`, whose result {@link confirm} is called with when the outcome is known. */
  async sending<Result>({ server }: Session, commit: () => Promise<Result>): Promise<Result> {
    const before = [...this.#records].filter(({ servers }) => servers.has(server))
    const result = await commit()
    if (typeof result === 'object' && result !== null) this.#sent.set(result, { server, before })
    return result
  }

  /** A server that has the new record has those that its server had when the commit was sent. */
  confirm(changes: readonly WalletChanges[], answer: CommitAnswer): void {
    const sent = this.#sent.get(answer)
    const row = answer.rows.find(({ verdict }) => verdict === 'committed')
    const transaction = row && changes[row.item_index]?.transaction
    if (sent === undefined || transaction === undefined) return
    for (const record of sent.before) this.#records.delete(record)
    const { operation, transactionId } = transaction
    this.#records.add({
      key: [operation, transactionId, row?.wallet_transaction_id ?? ''],
      servers: new Set([sent.server]),
    })
  }

  /** After a call: that it was answered, or what no server has. Warns once per record. */
  report(record: string | null, problem = ''): void {
    if (record !== null && record !== this.#missing) warn(problem)
    this.#missing = record
  }

  /** Their loss is accepted: the next server that answers is right. */
  acceptLoss(): void {
    this.#records.clear()
    this.#missing = null
  }
}

function behind([operation, transactionId, id]: ConfirmedRecord['key']): NotAsked {
  const record = `${operation} ${transactionId}`
  return new NotAsked(
    `this server is writable and lacks ${record} (walletTransactionId ${id}), which was answered ok. It is a former ` +
      'primary, or a failover has lost commits. If they are lost for good, restart the process or call ' +
      'store.acceptLoss(), as after tests that empty the tables',
    record,
  )
}

export function warn(problem: string): void {
  process.emitWarning(`${problem}. See bet-wallet/docs/mysql.md#former-primary`, 'BetWalletWarning')
}
