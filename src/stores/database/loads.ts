/** `load` and `loadConfirmed`: many keys in one statement. */
import {
  answerEach,
  type Batches,
  bisect,
  createBatches,
  type Entry,
  type QueueSettings,
} from '../../batches/index.js'
import type { Account, WalletKeys, WalletSnapshot } from '../../store.js'
import type { Columns } from './columns.js'
import type { Failure, StoreErrors } from './errors.js'
import { nextOf, noRetries, type Retries, retriesWithin } from './retries.js'
import { betFromRow, type LoadRow, transactionFromRow } from './rows.js'
import type { Players } from './tables.js'

export interface SnapshotSettings {
  /** Known before the first key is submitted. */
  columns(): Columns
  errors: StoreErrors
  players: Pick<Players, 'tableName' | 'columnNames' | 'accountPerCurrency'>
}

export interface LoadSettings extends SnapshotSettings {
  kind: 'load' | 'load-confirmed'
  queue: QueueSettings
  read(keys: readonly WalletKeys[]): Promise<readonly LoadRow[]>
  classify(error: unknown): Failure
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
    answerEach(entries, rowsOfKeys(rows), {
      indexOf: ([{ key_index }]) => key_index,
      answer: (entry, ofKey) => entry.resolve(snapshotOf(entry.item, ofKey, settings)),
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

/** The rows of a key: they differ in the account only. */
export type RowsOfKey = [LoadRow, ...LoadRow[]]

export function rowsOfKeys(rows: readonly LoadRow[]): RowsOfKey[] {
  const ofKeys = new Map<number, RowsOfKey>()
  for (const row of rows) {
    const known = ofKeys.get(row.key_index)
    if (known === undefined) ofKeys.set(row.key_index, [row])
    else known.push(row)
  }
  return [...ofKeys.values()]
}

/** @throws `INVALID_PLAYERS_TABLE` */
export function snapshotOf(keys: WalletKeys, rows: RowsOfKey, settings: SnapshotSettings): WalletSnapshot {
  const [{ bet, transaction }] = rows
  return {
    accounts: accountsOf(keys.playerId, rows, settings),
    bet: bet === null ? null : betFromRow(keys.betId, bet),
    transaction: transaction === null ? null : transactionFromRow(keys, transaction),
  }
}

/** @throws `INVALID_PLAYERS_TABLE` for two rows of one account */
function accountsOf(playerId: string, rows: RowsOfKey, settings: SnapshotSettings): Account[] {
  if (rows[0].currency === null) return []
  const { errors, players } = settings
  const accounts = rows.map(row => accountOf(playerId, row, settings))
  const isSecond = ({ currency }: Account, index: number) =>
    index > 0 &&
    (!players.accountPerCurrency || accounts.findIndex(each => each.currency === currency) < index)
  if (!accounts.some(isSecond)) return accounts
  throw errors.make(
    'INVALID_PLAYERS_TABLE',
    `${players.tableName.join('.')} has several rows for the player ${JSON.stringify(playerId)}${
      players.accountPerCurrency ? ' in one currency' : '. One for each currency: option accountPerCurrency'
    }`,
  )
}

/** @throws `INVALID_PLAYERS_TABLE` for a NULL: of a view whose CASE lacks the brand of the player, say */
function accountOf(
  playerId: string,
  row: LoadRow,
  { columns, errors, players: { tableName, columnNames } }: SnapshotSettings,
): Account {
  const currency = row.currency ?? ''
  const missing =
    currency === ''
      ? 'currency'
      : row.balance === null
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
