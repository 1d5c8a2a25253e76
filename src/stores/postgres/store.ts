/** `createPostgresStore`: the contract over PostgreSQL, with many requests in one statement. */
import { type Decimal, isNegative } from '../../money.js'
import type { CommitResult, WalletChanges, WalletKeys, WalletSnapshot, WalletStore } from '../../store.js'
import { createBatches, type Entry, type QueueStats } from './batches.js'
import { checkDatabase } from './check.js'
import { CallbackFailed, connectionsFrom, type PostgresClient, type Query, QueryFailed } from './client.js'
import { type Columns, columnsOf } from './columns.js'
import {
  classifyError,
  type ErrorClass,
  isCheckOf,
  isConnectionLost,
  isOutOfRange,
  PostgresStoreError,
} from './errors.js'
import { betFromRow, creditsToRow, type Row, transactionFromRow } from './rows.js'
import { schemaVersion } from './sql.js'
import { invalid, type PostgresTables, type Tables, tablesOf, wholeNumber } from './tables.js'

export interface PostgresStoreOptions extends PostgresTables {
  /**
   * Writes rows of your own in the same commit: a ledger entry, an event, the bet with its odds from
   * `changes.request`. Called inside an open commit, with `query` on its connection, for all requests that share it;
   * refusals that are recorded are among them (`changes.transaction.refusal`). When it throws, nothing is committed, and
   * each request is tried without its neighbours. It may be called again for the same request: do nothing in it but to
   * query. It needs a client with connections to borrow: a `Pool` of pg, or PGlite.
   */
  withinTransaction?(query: Query, commits: readonly PendingCommit[]): Promise<void>
  /** How long a batch may take, from connections a connection to the answer. In milliseconds; default 10,000. */
  timeoutMs?: number
  /** How long a commit waits for a player whose row another writer holds. In milliseconds; default 2,000. */
  lockTimeoutMs?: number
  /** How many requests share a statement at most. Default 128. */
  batchMax?: number
  /**
   * How many requests may wait in this process, for `load` and for `commit` each; more are answered 503 at once. Half of it
   * is open to placebets: the rest is kept for what must not be shed. Default 2,000.
   */
  queueMax?: number
  /**
   * How many connections `load` and `commit` each use at most. Default 2. A commit whose player is locked by another writer
   * waits on a third kind, as many again: let the pool have three times this number, beside what your own code needs.
   */
  connectionsMax?: number
}

/** One request inside an open commit. */
export interface PendingCommit {
  readonly changes: WalletChanges
  /** What the platform will be told. */
  readonly walletTransactionId: string
  /** The player's balance once the commit is through. */
  readonly balance: Decimal
  /**
   * Refuses it by a rule of your own, for the platform with this code and text; it is recorded and sticks (D6, D7).
   * Only where money is taken. @throws {TypeError} elsewhere
   */
  refuse(errorCode: string, description: string): void
}

export interface PostgresStore extends WalletStore {
  /**
   * Checks schema, options and players' table: call it at start. Without, the first request does it, and fails with what
   * is wrong.
   *
   * @throws {PostgresStoreError} by its `code`: what is wrong, and what to do
   */
  ready(): Promise<void>
  /** For your metrics: what waits, what is under way, and how much was turned away. `lockWaits`: waits for a locked player. */
  readonly stats: { loads: QueueStats; commits: QueueStats; lockWaits: QueueStats }
}

const optionNames = [
  'withinTransaction',
  'timeoutMs',
  'lockTimeoutMs',
  'batchMax',
  'queueMax',
  'connectionsMax',
]

/** What both directions need to know, found at start. */
interface Ready {
  columns: Columns
  balanceMax: Decimal | null
}

type CommitEntry = Entry<WalletChanges, CommitResult>
type LoadEntry = Entry<WalletKeys, WalletSnapshot>

interface Verdict {
  i: number
  verdict: 'committed' | 'conflict' | 'busy' | 'out of range'
  currency: string | null
  balance: string | null
  reference: string | null
}

/** What the operator's hook throws, apart from what the database does. */
class HookFailed extends CallbackFailed {
  override readonly name = 'HookFailed'
}

/** The hook has refused some of the requests: nothing of the commit stays. */
class RefusedInCommit extends CallbackFailed {
  override readonly name = 'RefusedInCommit'
  readonly refusals: ReadonlyMap<CommitEntry, CommitResult & { status: 'refused' }>
  constructor(refusals: RefusedInCommit['refusals']) {
    super('refused by withinTransaction')
    this.refusals = refusals
  }
}

/**
 * Makes a store over PostgreSQL. Run {@link migratePostgres} with the same options before.
 *
 * @param client a `Pool` of pg, a PGlite, or anything else with `query(text, values)`
 * @throws {PostgresStoreError} `INVALID_OPTIONS` or `UNSUPPORTED_CLIENT`, at once; what is wrong with the database, `ready` says
 */
export function createPostgresStore(
  client: PostgresClient,
  options: PostgresStoreOptions = {},
): PostgresStore {
  const tables = tablesOf(options, optionNames)
  const { withinTransaction } = options
  if (withinTransaction !== undefined && typeof withinTransaction !== 'function')
    invalid('withinTransaction must be a function')
  const timeoutMs = wholeNumber('timeoutMs', options.timeoutMs ?? 10_000, 1, 3_600_000)
  const lockTimeoutMs = wholeNumber('lockTimeoutMs', options.lockTimeoutMs ?? 2_000, 1, 3_600_000)
  const batchMax = wholeNumber('batchMax', options.batchMax ?? 128, 1, 10_000)
  const queueMax = wholeNumber('queueMax', options.queueMax ?? 2_000, 2, 1_000_000)
  const slotsMax = wholeNumber('connectionsMax', options.connectionsMax ?? 2, 1, 1_000)
  const connections = connectionsFrom(client, timeoutMs, withinTransaction !== undefined)
  const loadText = `SELECT i, currency, balance, bet::text AS bet, transaction::text AS transaction FROM ${tables.schema}.load_v${schemaVersion}($1)`
  const commitOneText = `SELECT i, verdict, currency, balance, reference FROM ${tables.schema}.commit_one_v${schemaVersion}($1, $2, $3, $4)`
  const commitText = `SELECT i, verdict, currency, balance, reference FROM ${tables.schema}.commit_v${schemaVersion}($1, $2, $3, $4, $5)`

  let found: Ready | null = null
  let finding: Promise<Ready> | null = null

  /** Once. A failure is not kept: what was wrong may have been put right. */
  function ready(): Promise<Ready> {
    finding ??= checkDatabase((text, values) => connections.statement(text, values), tables)
      .then(column => {
        found = { columns: columnsOf(tables.players, column), balanceMax: column.max }
        return found
      })
      .catch((error: unknown) => {
        finding = null
        if (error instanceof QueryFailed) throw unavailable(error.cause)
        throw error
      })
    return finding
  }

  const shared = { slotsMax, batchMax, queueMax, queuedMsMax: timeoutMs }

  const loads = createBatches<WalletKeys, WalletSnapshot>({
    ...shared,
    sheddable: keys => keys.operation === 'placebet',
    perform: entries => performLoads(entries),
    onShed: entry => entry.reject(unavailable(null)),
  })

  const commitBatches = {
    ...shared,
    sheddable: ({ transaction }: WalletChanges) => transaction.operation === 'placebet',
    partitionKeyOf: ({ transaction }: WalletChanges) => transaction.playerId,
    uniqueKeysOf: ({ transaction, bet }: WalletChanges) => [
      `${transaction.operation} ${transaction.transactionId}`,
      ...(bet === null ? [] : [`bet ${bet.betId}`]),
    ],
    onShed: (entry: CommitEntry) => entry.resolve({ status: 'unavailable' }),
    // The other one has most likely taken the id; if not, looking again finds that too.
    onDuplicateKey: (entry: CommitEntry) => entry.resolve({ status: 'conflict' }),
  }
  const commits = createBatches<WalletChanges, CommitResult>({
    ...commitBatches,
    perform: entries => performCommits(entries, false),
  })
  /** For players whose row another writer holds: each player alone, so that nobody waits for a stranger. */
  const lockWaits = createBatches<WalletChanges, CommitResult>({
    ...commitBatches,
    onePartitionPerBatch: true,
    perform: entries => performCommits(entries, true),
  })

  async function performLoads(entries: readonly LoadEntry[], again = true): Promise<void> {
    const { columns } = found as Ready
    const keys = entries.map(({ item }, i) => ({
      i,
      o: item.operation,
      t: item.transactionId,
      p: columns.idOf(item.playerId),
      b: item.betId,
    }))
    let rows: LoadedRow[]
    try {
      rows = (await connections.statement(loadText, [JSON.stringify(keys)])) as LoadedRow[]
    } catch (error) {
      const { fate, cause, timedOut } = classify(error)
      // Looking is harmless: once more, on another connection.
      if (again && !timedOut && fate !== 'rejected') return await performLoads(entries, false)
      if (fate === 'rejected' && entries.length > 1) return await bisect(entries, half => performLoads(half))
      for (const entry of entries) entry.reject(fate === 'rejected' ? cause : unavailable(cause))
      return
    }
    answerEach(entries, rows, (entry, row) => entry.resolve(snapshotOf(entry.item, row, columns)))
  }

  async function performCommits(
    entries: readonly CommitEntry[],
    patiently: boolean,
    again = true,
  ): Promise<void> {
    let verdicts: Verdict[]
    try {
      verdicts = await commitTogether(entries, patiently)
    } catch (error) {
      const { fate, cause, timedOut } = classify(error)
      if (cause instanceof RefusedInCommit) {
        for (const [entry, refused] of cause.refusals) entry.resolve(refused)
        const others = entries.filter(entry => !cause.refusals.has(entry))
        return others.length === 0 ? undefined : await performCommits(others, patiently)
      }
      const lost = isConnectionLost(cause)
      // Nothing was done, and it was the connection's fault: once more, on another one.
      if (again && lost && !timedOut && fate === 'unavailable')
        return await performCommits(entries, patiently, false)
      if (entries.length > 1) {
        // One of them is to blame; the others shall not wait for it, nor fail with it.
        if (fate === 'conflict' || fate === 'rejected') {
          return await bisect(entries, half => performCommits(half, patiently))
        }
        if (fate === 'unavailable' && !patiently && !timedOut && !lost) return beginAgainPatiently(entries)
      }
      for (const entry of entries) answerFailed(entry, fate, cause, tables)
      return
    }
    const alone: CommitEntry[] = []
    answerEach(entries, verdicts, (entry, { verdict, currency, balance, reference }) => {
      if (verdict === 'busy') {
        // Whoever has waited for the row and has it not, need not wait again: it came meanwhile, or this role may not lock it.
        return patiently ? entry.resolve({ status: 'conflict' }) : beginAgainPatiently([entry])
      }
      if (verdict === 'conflict') return entry.resolve({ status: 'conflict' })
      if (verdict === 'out of range') {
        // Judged after its neighbours: perhaps it is they who fill the column.
        if (entries.length > 1) alone.push(entry)
        else answerNotRepresentable(entry, null)
        return
      }
      const { columns } = found as Ready
      const now = columns.fromColumn(balance ?? '', currency ?? '')
      entry.resolve({ status: 'committed', balance: now, walletTransactionId: reference })
    })
    for (const entry of alone) await performCommits([entry], patiently)
  }

  async function commitTogether(entries: readonly CommitEntry[], patiently: boolean): Promise<Verdict[]> {
    const { columns, balanceMax } = found as Ready
    const items = entries.map(({ item }, i) => itemOf(item, i, columns))
    const players = [...new Set(items.map(({ p }) => p))].sort()
    const [text, what] =
      items.length === 1
        ? [commitOneText, [JSON.stringify(items[0])]]
        : [commitText, [JSON.stringify(items), JSON.stringify(players)]]
    const values = [...what, patiently, balanceMax, lockTimeoutMs]
    if (withinTransaction === undefined) return (await connections.statement(text, values)) as Verdict[]
    return await connections.commit(async query => {
      const verdicts = (await query(text, values)).rows as Verdict[]
      await callInCommit(query, entries, verdicts, columns)
      return verdicts
    })
  }

  async function callInCommit(
    query: Query,
    entries: readonly CommitEntry[],
    verdicts: readonly Verdict[],
    columns: Columns,
  ): Promise<void> {
    const refusals = new Map<CommitEntry, CommitResult & { status: 'refused' }>()
    const batch: PendingCommit[] = []
    let over = false
    for (const { i, verdict, currency, balance, reference } of verdicts) {
      const entry = entries[i]
      if (verdict !== 'committed' || entry === undefined) continue
      batch.push({
        changes: entry.item,
        walletTransactionId: reference ?? '',
        balance: columns.fromColumn(balance ?? '', currency ?? ''),
        refuse(errorCode, description) {
          if (over) throw new TypeError('refuse: withinTransaction has ended')
          if (!isDebit(entry.item)) throw new TypeError('refuse: only where money is taken')
          refusals.set(entry, { status: 'refused', errorCode, description })
        },
      })
    }
    if (batch.length === 0) return
    const said = new Set<unknown>()
    const queryInside: Query = async (text, values) => {
      // The connection is somebody else's by then.
      if (over) throw new TypeError('query: withinTransaction has ended')
      try {
        return await query(text, values)
      } catch (error) {
        said.add(error)
        throw error
      }
    }
    try {
      await (withinTransaction as NonNullable<typeof withinTransaction>)(queryInside, batch)
    } catch (error) {
      // What the database says is judged as if it came from a statement of ours.
      if (said.has(error)) throw error
      throw new HookFailed('withinTransaction threw; nothing was committed', { cause: error })
    } finally {
      over = true
    }
    if (refusals.size > 0) throw new RefusedInCommit(refusals)
  }

  function beginAgainPatiently(entries: readonly CommitEntry[]): void {
    for (const entry of entries) lockWaits.submit(entry.item).then(entry.resolve, entry.reject)
  }

  return {
    contractVersion: 1,

    async ready() {
      await ready()
    },

    load: keys => (found === null ? ready().then(() => loads.submit(keys)) : loads.submit(keys)),

    async commit(changes) {
      let known: Ready
      try {
        known = found ?? (await ready())
      } catch (error) {
        if (isUnavailable(error)) return { status: 'unavailable' }
        throw error
      }
      const { columns } = known
      const { balance } = changes
      if (balance !== null && columns.toColumn(balance.delta, balance.currency) === null)
        return notRepresentable(changes, null)
      // No player of this table has such an id.
      if (columns.idOf(changes.transaction.playerId) === null) return { status: 'conflict' }
      return await commits.submit(changes)
    },

    get stats() {
      return { loads: loads.stats, commits: commits.stats, lockWaits: lockWaits.stats }
    },
  }
}

interface LoadedRow {
  i: number
  currency: string | null
  balance: string | null
  bet: string | null
  transaction: string | null
}

function snapshotOf(keys: WalletKeys, row: LoadedRow, columns: Columns): WalletSnapshot {
  const { currency, balance, bet, transaction } = row
  return {
    player:
      currency === null
        ? null
        : { playerId: keys.playerId, currency, balance: columns.fromColumn(balance ?? '', currency) },
    bet: bet === null ? null : betFromRow(keys.betId, JSON.parse(bet) as Row),
    transaction: transaction === null ? null : transactionFromRow(keys, JSON.parse(transaction) as Row),
  }
}

/** What `commit_v1` reads of one request. What is absent is NULL there, and costs nothing. */
function itemOf({ transaction, bet, balance }: WalletChanges, i: number, columns: Columns) {
  return {
    i,
    o: transaction.operation,
    t: transaction.transactionId,
    p: transaction.playerId,
    b: transaction.betId,
    amount: transaction.amount ?? undefined,
    c: transaction.currency ?? undefined,
    type: transaction.type ?? undefined,
    delta: transaction.delta,
    error_code: transaction.refusal?.errorCode,
    description: transaction.refusal?.description,
    date_ms: Date.parse(transaction.transactionDate),
    ...(balance !== null && {
      move: columns.toColumn(balance.delta, balance.currency),
      move_currency: balance.currency,
      move_floor: balance.floor === null ? undefined : columns.floorToColumn(balance.floor, balance.currency),
    }),
    ...(bet !== null && {
      bet_player_id: bet.playerId,
      bet_currency: bet.currency,
      stake: bet.stake,
      status: bet.status,
      revision: bet.revision,
      ...creditsToRow(bet.credits),
    }),
  }
}

function isDebit({ balance }: WalletChanges): boolean {
  return balance !== null && isNegative(balance.delta)
}

/** Settles every entry by the row with its number. A row that cannot be read, or is not there, is its own fault only. */
function answerEach<Item, Result, Found extends { i: number }>(
  entries: readonly Entry<Item, Result>[],
  rows: readonly Found[],
  answer: (entry: Entry<Item, Result>, row: Found) => void,
): void {
  const missing: (Entry<Item, Result> | undefined)[] = [...entries]
  for (const row of rows) {
    const entry = missing[row.i]
    if (entry === undefined) continue
    missing[row.i] = undefined
    try {
      answer(entry, row)
    } catch (error) {
      entry.reject(error)
    }
  }
  for (const entry of missing)
    entry?.reject(new PostgresStoreError('COMMIT_UNKNOWN', 'The database gave no row for it'))
}

async function bisect<T>(
  entries: readonly T[],
  perform: (half: readonly T[]) => Promise<void>,
): Promise<void> {
  const middle = Math.ceil(entries.length / 2)
  await perform(entries.slice(0, middle))
  await perform(entries.slice(middle))
}

function classify(error: unknown): { fate: ErrorClass; cause: unknown; timedOut: boolean } {
  if (!(error instanceof QueryFailed)) return { fate: 'rejected', cause: error, timedOut: false }
  const { cause, sent, timedOut } = error
  const fate = cause instanceof CallbackFailed ? 'rejected' : classifyError(cause, sent)
  return { fate, cause, timedOut }
}

function answerFailed(entry: CommitEntry, fate: ErrorClass, cause: unknown, { players }: Tables): void {
  if (fate === 'conflict' || fate === 'unavailable') entry.resolve({ status: fate })
  else if (fate === 'unknown') {
    entry.reject(new PostgresStoreError('COMMIT_UNKNOWN', 'The answer of the commit is lost', { cause }))
  } else if (isOutOfRange(cause)) answerNotRepresentable(entry, cause)
  else if (isDebit(entry.item) && isCheckOf(players.tableName, cause)) {
    // A balance below what the table allows is a rule of the PAM's own.
    const description = 'amount: the balance may not fall so low'
    entry.resolve({ status: 'refused', errorCode: 'INSUFFICIENT_FUNDS', description })
  } else entry.reject(cause)
}

function answerNotRepresentable(entry: CommitEntry, cause: unknown): void {
  try {
    entry.resolve(notRepresentable(entry.item, cause))
  } catch (error) {
    entry.reject(error)
  }
}

/** An amount that the column cannot hold exactly is not taken, and money that must be given is a fault; never rounded. */
function notRepresentable(changes: WalletChanges, cause: unknown): CommitResult {
  const flaw = 'the balance column cannot hold it exactly'
  if (isDebit(changes))
    return { status: 'refused', errorCode: 'INVALID_AMOUNT', description: `amount: ${flaw}` }
  throw new PostgresStoreError(
    'AMOUNT_NOT_REPRESENTABLE',
    `${changes.balance?.delta ?? 'The amount'}: ${flaw}`,
    {
      cause,
    },
  )
}

function isUnavailable(error: unknown): boolean {
  return error instanceof PostgresStoreError && error.code === 'UNAVAILABLE'
}

function unavailable(cause: unknown): PostgresStoreError {
  return new PostgresStoreError('UNAVAILABLE', 'The database cannot be asked now; nothing was done', {
    cause,
  })
}
