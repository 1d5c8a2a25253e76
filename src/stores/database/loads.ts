/** `load` and `loadConfirmed`: many keys in one statement. */
import {
  answerEach,
  type Batches,
  bisect,
  createBatches,
  type Entry,
  type QueueSettings,
} from '../../batches/index.js'
import type { Player, WalletKeys, WalletSnapshot } from '../../store.js'
import type { Columns } from './columns.js'
import type { Failure, StoreErrors } from './errors.js'
import { nextOf, noRetries, type Retries, retriesWithin } from './retries.js'
import { betFromRow, type LoadRow, transactionFromRow } from './rows.js'
import type { Players } from './tables.js'

export interface LoadSettings {
  kind: 'load' | 'load-confirmed'
  queue: QueueSettings
  /** Known before the first key is submitted. */
  columns(): Columns
  read(keys: readonly WalletKeys[]): Promise<readonly LoadRow[]>
  classify(error: unknown): Failure
  errors: StoreErrors
  players: Pick<Players, 'tableName' | 'columnNames'>
}

/** Far longer than a read lasts on a server that is well. */
const batchWaitMsMax = 20

type LoadEntry = Entry<WalletKeys, WalletSnapshot>

export function createLoads(settings: LoadSettings): Batches<WalletKeys, WalletSnapshot> {
  const { kind, queue, read, classify, errors } = settings

  const fresh = () => retriesWithin(queue.queuedMsMax)

  async function perform(entries: readonly LoadEntry[], retries: Retries): Promise<void> {
    let rows: readonly LoadRow[]
    try {
      rows = await read(entries.map(({ item }) => item))
    } catch (error) {
      const { kind, cause, timedOut, lost, answer } = classify(error)
      // A read can be repeated, on another connection.
      const next = nextOf(retries)
      if (next !== null && !timedOut && kind !== 'rejected')
        return await perform(entries, lost ? next : noRetries)
      // One key caused it, as by a broken page of its row. The others must not fail with it.
      if ((kind === 'rejected' || (answer !== null && !timedOut)) && entries.length > 1)
        return await bisect(entries, half => perform(half, kind === 'rejected' ? fresh() : noRetries))
      for (const entry of entries) entry.reject(kind === 'rejected' ? cause : errors.unavailable(cause))
      return
    }
    answerEach(entries, rows, {
      indexOf: row => row.key_index,
      answer: (entry, row) => entry.resolve(snapshotOf(entry.item, row, settings)),
      missing: errors.noRow,
    })
  }

  return createBatches<WalletKeys, WalletSnapshot>({
    ...queue,
    kind,
    batchWaitMsMax,
    sheddable: keys => keys.operation === 'placebet',
    perform: entries => perform(entries, fresh()),
    onShed: entry => entry.reject(errors.unavailable(null)),
  })
}

function snapshotOf(keys: WalletKeys, row: LoadRow, settings: LoadSettings): WalletSnapshot {
  const { bet, transaction } = row
  return {
    player: playerOf(keys.playerId, row, settings),
    bet: bet === null ? null : betFromRow(keys.betId, bet),
    transaction: transaction === null ? null : transactionFromRow(keys, transaction),
  }
}

/** @throws `INVALID_PLAYERS_TABLE` for a NULL: of a view whose CASE lacks the brand of the player, say */
function playerOf(
  playerId: string,
  row: LoadRow,
  { columns, errors, players: { tableName, columnNames } }: LoadSettings,
): Player | null {
  const { currency, balance } = row
  if (currency === null) return null
  const missing =
    currency === ''
      ? 'currency'
      : balance === null
        ? 'balance'
        : columnNames.reserved !== null && row.reserved == null
          ? 'reserved'
          : null
  if (missing === null) return { playerId, currency, balance: columns().available(row, currency) }
  const column = [...tableName, columnNames[missing]].join('.')
  const value = missing === 'currency' ? 'NULL, or empty,' : 'NULL'
  throw errors.make(
    'INVALID_PLAYERS_TABLE',
    `${column} is ${value} for the player ${JSON.stringify(playerId)}`,
  )
}
