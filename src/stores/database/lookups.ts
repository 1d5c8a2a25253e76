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
import type { Account, Operation } from '../../store.js'
import { type Amounts, type Columns, columnsOf } from './columns.js'
import type { MakeError } from './errors.js'
import {
  hasIndex,
  type LookedUp,
  type LookupIndex,
  lookupIndexes,
  type TransactionsTable,
} from './lookup-indexes.js'
import { type Right, rightsText } from './rights.js'
import { betFromRow, type Row, transactionFromRow } from './rows.js'
import { type StatementErrors, type StatementUser, storeErrorOf } from './statement-errors.js'
import type { Tables } from './tables.js'

/**
 * Where a page ended: the time of its last transaction, in microseconds, and what orders those of the same
 * time.
 */
export type Position = readonly [at: string, ...tie: string[]]

type Statement = readonly [text: string, values: unknown[]]

/** The newest transactions of a player first: recorded in [from, to), and before the position. */
export interface PlayerPage {
  playerId: string
  /** As the id column holds it; `null`: it cannot hold such an id. */
  playerKey: string | null
  from: string
  to: string
  before: Position
  limit: number
}

/** The oldest transactions first: recorded after the position, and before `to`. */
export interface TimePage {
  to: string
  after: Position
  limit: number
}

/** What is read, and with which values. Times are UTC, `"2026-11-22T10:00:00.123456"`. */
export interface LookupStatements {
  bet(betId: string): Statement
  transaction(transactionId: string): Statement
  /** Bets of which something is owed, each beside its refused unsettlements. */
  owed(): Statement
  player(page: PlayerPage): Statement
  time(page: TimePage): Statement
}

/** A row of the result: account, bet, transaction; each `null` where there is none or none was asked for. */
export interface LookupRow {
  account: (Amounts & { currency: string }) | null
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
  statementsOf(tables: Own): LookupStatements
  read(...statement: Statement): Promise<LookupRow[]>
  /** The table of transactions, for people. */
  transactionsName: string
  createIndex(index: LookupIndex): string
  /** The columns that order the transactions of one time, and what comes before all their values. */
  tieBreaker: readonly (readonly [column: string, lowest: string])[]
}

interface OpenTables {
  transactions: TransactionsTable
  columns: Columns
  statements: LookupStatements
}

type Ask<Rows> = (text: string, values: unknown[]) => Promise<Rows>

/** Lookups run their statements by this: its errors are those of the store. */
export function askForLookups<Rows>(
  ask: Ask<Rows>,
  errors: StatementErrors,
  rights: readonly Right[],
): Ask<Rows> {
  const ofOwnTables = rightsText(rights.filter(({ column }) => column === null))
  const user: StatementUser = {
    name: 'The user of lookups',
    rights: `${ofOwnTables}; and SELECT on the columns of the players' table`,
    missing: ['INVALID_PLAYERS_TABLE', "The players' table does not exist as the options name it"],
  }
  return (text, values) =>
    ask(text, values).catch((error: unknown) => {
      throw storeErrorOf(error, errors, user)
    })
}

/** Rows of a page of a stream. */
const streamedRows = 2_000
const earliest = '0001-01-01T00:00:00.000000'
const latest = '9999-12-31T23:59:59.999999'

export function createDatabaseLookups<Own extends Tables>(parts: LookupParts<Own>): WalletLookups {
  const { check, read } = parts
  const tablesFor = createOpening(parts)
  return {
    async bet(betId) {
      const { statements } = await tablesFor('bet')
      return betHistoryOf(betId, await read(...statements.bet(idOf(check, 'betId', betId))))
    },

    async transaction(transactionId) {
      const { statements } = await tablesFor(null)
      const id = idOf(check, 'transactionId', transactionId)
      return inOrder(transactionsOf(await read(...statements.transaction(id))))
    },

    async owed() {
      const { statements } = await tablesFor('bet')
      return owedBetsOf(await read(...statements.owed()))
    },

    async player(id, page = {}) {
      const { from, to, before, limit } = pageOf(parts, page)
      const { statements, columns } = await tablesFor('player')
      const playerId = idOf(check, 'playerId', id)
      const playerKey = columns.idOf(playerId)
      const rows = await read(
        ...statements.player({ playerId, playerKey, from, to, before, limit: limit + 1 }),
      )
      return playerHistoryOf(playerId, rows, { limit, parts, columns })
    },

    transactions: range => streamOf(parts, range, () => tablesFor('time')),
  }
}

/** Opens the tables once; again while the index of a lookup is missing, for another process may create it. */
function createOpening<Own extends Tables>(parts: LookupParts<Own>) {
  const { check, makeError, options, transactionsName, createIndex } = parts
  const allowScan = check.boolean('allowScan', options.allowScan ?? false)
  const namesTables = options.players !== undefined
  const open = async (): Promise<OpenTables> => {
    const transactions = await parts.transactionsTable()
    const tables = namesTables ? parts.tables : await parts.registeredTables()
    const columns = columnsOf(tables.players, { scale: null }, check)
    return { transactions, columns, statements: parts.statementsOf(tables) }
  }
  let opened: OpenTables | null = null
  return async (of: LookedUp | null): Promise<OpenTables> => {
    const index = of && lookupIndexes[of]
    const isUsable = ({ transactions }: OpenTables) =>
      index === null || allowScan || hasIndex(transactions, index)
    const known = opened !== null && isUsable(opened) ? opened : await open()
    opened = known
    if (index === null || isUsable(known)) return known
    const { rows } = known.transactions
    const size = rows === null ? 'the whole table' : `all of its rows (about ${rows.toLocaleString('en')})`
    throw makeError(
      'LOOKUP_INDEX_MISSING',
      `${transactionsName} has no index on (${index.columns.join(', ')}): this lookup would read ${size}. Create it, while the ` +
        `wallet runs: ${createIndex(index)}. The migration creates it with lookupIndexes: true. Or read the whole table: option allowScan`,
    )
  }
}

function idOf(check: OptionChecks, name: string, value: unknown): string {
  // A NUL cannot be sent to PostgreSQL, and no record has one (D24).
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return value
  return check.invalid(`${name} must be an id`)
}

const startOf = ({ tieBreaker }: LookupParts, time: string): Position => [
  time,
  ...tieBreaker.map(([, lowest]) => lowest),
]

function pageOf(parts: LookupParts, page: Page) {
  const { check, tieBreaker } = parts
  check.names(page, ['from', 'to', 'cursor', 'limit'])
  const cursor = page.cursor === undefined ? null : positionOf(page.cursor, tieBreaker.length)
  if (page.cursor !== undefined && cursor === null)
    check.invalid('cursor must be the `next` of a page before, unchanged')
  const to = timeOf(check, 'to', page.to ?? latest)
  return {
    from: timeOf(check, 'from', page.from ?? earliest),
    to,
    before: cursor ?? startOf(parts, to),
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
  ...parts.tieBreaker.map(([column]) => row[column] ?? ''),
]

async function* streamOf(
  parts: LookupParts,
  range: TimeRange,
  open: () => Promise<OpenTables>,
): AsyncGenerator<RecordedTransaction> {
  parts.check.names(range, ['from', 'to'])
  const from = timeOf(parts.check, 'from', range.from)
  const to = timeOf(parts.check, 'to', range.to)
  const { statements } = await open()
  const pageAfter = (after: Position) => {
    const page = parts.read(...statements.time({ to, after, limit: streamedRows }))
    // Its error is thrown when the page is needed.
    page.catch(() => {})
    return page
  }
  // The next page is read while this one is used.
  let next: Promise<LookupRow[]> | null = pageAfter(startOf(parts, from))
  while (next !== null) {
    const page = transactionsOf(await next)
    const last = page.at(-1)
    const isLast: boolean = last === undefined || page.length < streamedRows
    next = isLast ? null : pageAfter(positionAfter(parts, last as Row))
    for (const row of page) yield recordedTransactionOf(row)
  }
}

export const transactionsOf = (rows: readonly LookupRow[]): Row[] =>
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
  const lastOf = ({ refused }: OwedBet) => refused.at(-1)?.recordedAt
  return bets.sort(
    (one, other) => comparedText(lastOf(one), lastOf(other)) || comparedText(one.bet.betId, other.bet.betId),
  )
}

function playerHistoryOf(
  playerId: string,
  rows: readonly LookupRow[],
  { limit, parts, columns }: { limit: number; parts: LookupParts; columns: Columns },
): PlayerHistory | null {
  // The rows are pairs of an account and a transaction.
  const accounts = new Map(
    rows.flatMap(({ account }) => (account === null ? [] : [[account.currency, account]])),
  )
  const found = [
    ...new Map(transactionsOf(rows).map(row => [`${row.operation} ${row.transaction_id}`, row])).values(),
  ]
  if (accounts.size === 0 && found.length === 0) return null
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const bets = new Map<string, RecordedBet>()
  for (const { bet } of rows.slice(0, limit * Math.max(accounts.size, 1))) {
    if (bet !== null && !bets.has(bet.bet_id ?? '')) bets.set(bet.bet_id ?? '', recordedBetOf(bet))
  }
  return {
    playerId,
    accounts: [...accounts.values()]
      .map(account => accountOf(playerId, account, columns))
      .sort((one, other) => comparedText(one.currency, other.currency)),
    transactions: page.map(recordedTransactionOf),
    bets: [...bets.values()],
    next: found.length > limit && last !== undefined ? cursorOf(positionAfter(parts, last)) : null,
  }
}

function accountOf(playerId: string, account: NonNullable<LookupRow['account']>, columns: Columns): Account {
  const { currency } = account
  const balance = columns.available(account, currency)
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
  }
}

const operations: readonly string[] = ['placebet', 'settlement', 'unsettlement', 'rollbackbet']

const rankOf = ({ operation }: Row) => operations.indexOf(operation ?? '')

/** By time. Imported together: by the platform's date, then as the life of a bet goes. */
const inOrder = (rows: readonly Row[]): RecordedTransaction[] =>
  rows
    .toSorted(
      (a, b) =>
        comparedText(a.recorded_at, b.recorded_at) ||
        Number(a.transaction_date_ms) - Number(b.transaction_date_ms) ||
        rankOf(a) - rankOf(b) ||
        comparedText(a.transaction_id, b.transaction_id),
    )
    .map(recordedTransactionOf)

type Text = string | null | undefined

const comparedText = (a: Text, b: Text): number => (a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1)
