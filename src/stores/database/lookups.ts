/** Lookups over a database: pages, streams, and records from rows. Read only. */
import type {
  BetHistory,
  OwedBet,
  Page,
  PlayerHistory,
  RecordedBet,
  RecordedTransaction,
  TimeRange,
  WalletLookups,
} from '../../lookups/records.js'
import { microsecondsOf, millisecondsOf } from '../../lookups/times.js'
import { type Decimal, parseDecimal } from '../../money.js'
import type { OptionChecks } from '../../option-checks.js'
import type { Operation, Player } from '../../store.js'
import { type Amounts, type Columns, columnsOf } from './columns.js'
import type { MakeError } from './errors.js'
import {
  hasIndex,
  indexMissing,
  type LookedUp,
  type LookupIndex,
  lookupIndexes,
  type TransactionsTable,
} from './lookup-indexes.js'
import { betFromRow, type Row, transactionFromRow } from './rows.js'
import type { Tables } from './tables.js'

/**
 * Where a page ended: the time of its last transaction, in microseconds, and what orders those of the same
 * time.
 */
export type Position = readonly [at: string, ...tie: string[]]

/** What a store reads. Times are UTC, `"2026-11-22T10:00:00.123456"`. */
export type LookupQuery =
  | { of: 'bet'; betId: string }
  | { of: 'transaction'; transactionId: string }
  /** Bets of which something is owed, each beside its refused unsettlements. */
  | { of: 'owed' }
  /** The newest first: recorded in [from, to), and before the position. */
  | {
      of: 'player'
      playerId: string
      /** As the id column holds it; `null`: it cannot hold such an id. */
      playerKey: string | null
      from: string
      to: string
      before: Position
      limit: number
    }
  /** The oldest first: recorded after the position, and before `to`. */
  | { of: 'time'; to: string; after: Position; limit: number }

/** A row of the result: player, bet, transaction; each `null` where there is none or none was asked for. */
export interface LookupRow {
  player: (Amounts & { currency: string }) | null
  /** With `bet_id` and `recorded_at`. */
  bet: Row | null
  /** With `operation`, `transaction_id`, `recorded_at` and `balance_after`. */
  transaction: Row | null
}

export interface LookupOptions {
  /**
   * Whether a lookup without its index reads the whole table. `false`: it is an error,
   * `LOOKUP_INDEX_MISSING`.
   * @default false
   */
  allowScan?: boolean
}

export const lookupOptionNames = ['allowScan']

/** What a database does differently. */
export interface LookupParts<Own extends Tables = Tables> {
  check: OptionChecks
  makeError: MakeError
  options: LookupOptions & { players?: unknown }
  /** The tables as the options name them. */
  tables: Own
  /** Finds the table of transactions. Called until it succeeds, and again while an index is missing. */
  transactionsTable(): Promise<TransactionsTable>
  /** The tables of the options that the schema was migrated with. */
  registeredTables(): Promise<Own>
  readerOf(tables: Own): OpenTables['read']
  /** The table of transactions, for people, and the statement that creates an index of it. */
  describeIndex(index: LookupIndex): { table: string; statement: string }
  /** Orders the transactions of one time. */
  tieBreakerOf(transaction: Row): readonly string[]
  /** Comes before every tie. */
  lowestTieBreaker: readonly string[]
}

interface OpenTables {
  transactions: TransactionsTable
  columns: Columns
  read(query: LookupQuery): Promise<LookupRow[]>
}

/** Rows of a page of a stream. */
const streamedRows = 2_000
const earliest = '0001-01-01T00:00:00.000000'
const latest = '9999-12-31T23:59:59.999999'

export function createDatabaseLookups<Own extends Tables>(parts: LookupParts<Own>): WalletLookups {
  const tablesFor = createOpening(parts)
  return {
    async bet(betId) {
      const { read } = await tablesFor('bet')
      return betHistoryOf(betId, await read({ of: 'bet', betId: idOf(parts, 'betId', betId) }))
    },

    async transaction(transactionId) {
      const { read } = await tablesFor(null)
      const rows = await read({
        of: 'transaction',
        transactionId: idOf(parts, 'transactionId', transactionId),
      })
      return inOrder(transactionsOf(rows))
    },

    async owed() {
      const { read } = await tablesFor('bet')
      return owedBetsOf(await read({ of: 'owed' }))
    },

    async player(playerId, page = {}) {
      const { from, to, cursor, limit } = pageOf(parts, page)
      const { read, columns } = await tablesFor('player')
      const rows = await read({
        of: 'player',
        playerId: idOf(parts, 'playerId', playerId),
        playerKey: columns.idOf(playerId),
        from,
        to,
        limit: limit + 1,
        before: cursor ?? [to, ...parts.lowestTieBreaker],
      })
      return playerHistoryOf(playerId, rows, { limit, parts, columns })
    },

    transactions: range => streamOf(parts, range, () => tablesFor('time')),
  }
}

/** Opens the tables once; again while the index of a lookup is missing, for another process may create it. */
function createOpening<Own extends Tables>(parts: LookupParts<Own>) {
  const { check, makeError, options, describeIndex } = parts
  const allowScan = check.boolean('allowScan', options.allowScan ?? false)
  const namesTables = options.players !== undefined
  const open = async (): Promise<OpenTables> => {
    const transactions = await parts.transactionsTable()
    const tables = namesTables ? parts.tables : await parts.registeredTables()
    const columns = columnsOf(tables.players, { scale: null }, check)
    return { transactions, columns, read: parts.readerOf(tables) }
  }
  let opened: Promise<OpenTables> | null = null
  const reopen = () => {
    const opening = open()
    opened = opening
    opening.catch(() => {
      if (opened === opening) opened = null
    })
    return opening
  }
  return async (of: LookedUp | null): Promise<OpenTables> => {
    const known = await (opened ?? reopen())
    const index = of && lookupIndexes[of]
    if (index === null || allowScan || hasIndex(known.transactions, index)) return known
    const now = await reopen()
    if (hasIndex(now.transactions, index)) return now
    throw indexMissing(makeError, now.transactions, { ...describeIndex(index), index })
  }
}

function idOf({ check }: LookupParts, name: string, value: unknown): string {
  // A NUL cannot be sent to PostgreSQL, and no record has one (D24).
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return value
  return check.invalid(`${name} must be an id`)
}

function pageOf({ check, lowestTieBreaker }: LookupParts, page: Page) {
  check.names(page, ['from', 'to', 'cursor', 'limit'])
  const cursor = page.cursor === undefined ? null : positionOf(page.cursor, lowestTieBreaker.length)
  if (page.cursor !== undefined && cursor === null)
    check.invalid('cursor must be the `next` of a page before, unchanged')
  return {
    from: timeOf(check, 'from', page.from ?? earliest),
    to: timeOf(check, 'to', page.to ?? latest),
    cursor,
    limit: check.whole('limit', page.limit ?? 50, 1, 1_000),
  }
}

function timeOf(check: OptionChecks, name: string, value: unknown): string {
  const time = microsecondsOf(value)
  return time ?? check.invalid(`${name} must be a time, as in "2026-11-22T10:00:00Z"`)
}

const cursorOf = (position: Position): string => btoa(encodeURIComponent(JSON.stringify(position)))

function positionOf(cursor: string, ties: number): Position | null {
  try {
    const position: unknown = JSON.parse(decodeURIComponent(atob(cursor)))
    const isPosition =
      Array.isArray(position) &&
      position.length === 1 + ties &&
      position.every(part => typeof part === 'string') &&
      microsecondsOf(position[0]) === position[0]
    return isPosition ? (position as unknown as Position) : null
  } catch {
    return null
  }
}

const positionAfter = (parts: LookupParts, row: Row): Position => [
  row.recorded_at ?? '',
  ...parts.tieBreakerOf(row),
]

async function* streamOf(
  parts: LookupParts,
  range: TimeRange,
  open: () => Promise<OpenTables>,
): AsyncGenerator<RecordedTransaction> {
  parts.check.names(range, ['from', 'to'])
  const from = timeOf(parts.check, 'from', range.from)
  const to = timeOf(parts.check, 'to', range.to)
  const { read } = await open()
  const pageAfter = (after: Position) => {
    const page = read({ of: 'time', to, after, limit: streamedRows })
    // Its error is thrown when the page is needed.
    page.catch(() => {})
    return page
  }
  // The next page is read while this one is used.
  let next: Promise<LookupRow[]> | null = pageAfter([from, ...parts.lowestTieBreaker])
  while (next !== null) {
    const page = transactionsOf(await next)
    const last = page.at(-1)
    const isLast: boolean = last === undefined || page.length < streamedRows
    next = isLast ? null : pageAfter(positionAfter(parts, last as Row))
    for (const row of page) yield recordedTransactionOf(row)
  }
}

const transactionsOf = (rows: readonly LookupRow[]): Row[] =>
  rows.map(({ transaction }) => transaction).filter(row => row !== null)

function betHistoryOf(betId: string, rows: readonly LookupRow[]): BetHistory | null {
  const row = rows[0]?.bet ?? null
  const transactions = inOrder(transactionsOf(rows))
  if (row === null && transactions.length === 0) return null
  return { betId, bet: row === null ? null : recordedBetOf(row), transactions }
}

function owedBetsOf(rows: readonly LookupRow[]): OwedBet[] {
  const rowsOfBet = new Map<string, LookupRow[]>()
  for (const row of rows) {
    const betId = row.bet?.bet_id ?? ''
    rowsOfBet.set(betId, [...(rowsOfBet.get(betId) ?? []), row])
  }
  const bets = [...rowsOfBet.values()].flatMap(ofBet => {
    const bet = ofBet[0]?.bet ?? null
    return bet === null ? [] : [{ bet: recordedBetOf(bet), refused: inOrder(transactionsOf(ofBet)) }]
  })
  const lastOf = ({ refused }: OwedBet) => refused.at(-1)?.recordedAt ?? ''
  return bets.sort(
    (one, other) => comparedText(lastOf(one), lastOf(other)) || comparedText(one.bet.betId, other.bet.betId),
  )
}

function playerHistoryOf(
  playerId: string,
  rows: readonly LookupRow[],
  { limit, parts, columns }: { limit: number; parts: LookupParts; columns: Columns },
): PlayerHistory | null {
  const player = rows[0]?.player ?? null
  const found = transactionsOf(rows)
  if (player === null && found.length === 0) return null
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const bets = new Map<string, RecordedBet>()
  for (const { bet } of rows.slice(0, limit)) {
    if (bet !== null && !bets.has(bet.bet_id ?? '')) bets.set(bet.bet_id ?? '', recordedBetOf(bet))
  }
  return {
    playerId,
    player: player === null ? null : playerOf(playerId, player, columns),
    transactions: page.map(recordedTransactionOf),
    bets: [...bets.values()],
    next: found.length > limit && last !== undefined ? cursorOf(positionAfter(parts, last)) : null,
  }
}

function playerOf(playerId: string, player: NonNullable<LookupRow['player']>, columns: Columns): Player {
  const { currency } = player
  const balance = columns.available(player, currency)
  return { playerId, currency, balance: amountOf(balance) ?? balance }
}

/** Databases print a scale: `30.000000000000000000`. Lookups show the same amount on each: `30`. */
const amountOf = (text: string | null | undefined): Decimal | null => parseDecimal(text ?? null)

function recordedBetOf(row: Row): RecordedBet {
  const bet = betFromRow(row.bet_id ?? '', row)
  const credits: RecordedBet['credits'] = {}
  for (const [type, credit] of Object.entries(bet.credits))
    credits[type as keyof RecordedBet['credits']] = {
      live: amountOf(credit.live),
      reversed: amountOf(credit.reversed) ?? credit.reversed,
      owed: amountOf(credit.owed) ?? credit.owed,
    }
  const recordedAt = row.recorded_at == null ? null : millisecondsOf(row.recorded_at)
  return { ...bet, stake: amountOf(bet.stake) ?? bet.stake, credits, recordedAt }
}

export function recordedTransactionOf(row: Row): RecordedTransaction {
  const { operation, transaction_id: transactionId } = row
  const transaction = transactionFromRow(
    { operation: operation as Operation, transactionId: transactionId ?? '' },
    row,
  )
  return {
    ...transaction,
    amount: amountOf(transaction.amount),
    delta: amountOf(transaction.delta) ?? transaction.delta,
    walletTransactionId: transaction.walletTransactionId ?? '',
    recordedAt: millisecondsOf(row.recorded_at ?? ''),
    balanceAfter: amountOf(row.balance_after),
    betCurrency: row.bet_currency ?? null,
  }
}

const operations: readonly string[] = ['placebet', 'settlement', 'unsettlement', 'rollbackbet']

/** By time. Imported together: by the platform's date, then as the life of a bet goes. */
function inOrder(rows: readonly Row[]): RecordedTransaction[] {
  const ranked = rows.map(row => ({
    at: row.recorded_at ?? '',
    rank: operations.indexOf(row.operation ?? ''),
    transaction: recordedTransactionOf(row),
  }))
  return ranked
    .sort(
      (a, b) =>
        comparedText(a.at, b.at) ||
        comparedText(a.transaction.transactionDate, b.transaction.transactionDate) ||
        a.rank - b.rank ||
        comparedText(a.transaction.transactionId, b.transaction.transactionId),
    )
    .map(({ transaction }) => transaction)
}

const comparedText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
