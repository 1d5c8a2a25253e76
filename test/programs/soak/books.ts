/**
 * The check of the books at the end: the database against itself, by SQL and by replaying every transaction,
 * and against the answers that the platform received. It implements the rules of the interface independently
 * of the library.
 */
import type pg from 'pg'
import type { Accounts } from './accounts.js'
import { settlementTypes } from './ledger.js'
import { type Call, type PlatformBet, reverses, type SettlementType } from './platform.js'
import type { ServerState } from './reconciliation.js'
import { type BalanceState, type BetState, judgeRefusals } from './refusals.js'

export interface Books {
  /** All bets; of them, the rolled back ones, the tombstones, and the ones with a live credit. */
  bets: number
  rolledBack: number
  tombstones: number
  settled: number
  transactions: number
  recordedRefusals: number
  /** The transactions that were imported at the cut-over. */
  imported: number
  movements: number
  balanceChanges: number
  /** The uncollected clawbacks, in cents. */
  owedCents: number
}

interface TransactionRow {
  operation: Call['operation']
  transaction_id: string
  player_id: string
  bet_id: string
  cents: string | null
  type: string | null
  delta: string
  error_code: string | null
  reference: string
  /** Whether it was imported from the legacy integration. */
  legacy: boolean
}

interface BetRow {
  bet_id: string
  player_id: string
  currency: string
  stake: string
  status: string
  revision: number
  credits: Record<SettlementType, CreditRow>
}

interface CreditRow {
  live: string | null
  reversed: string | null
  owed: string | null
}

export interface Credit {
  live: number | null
  reversed: number
  owed: number
}

/** A bet as it follows from its transactions. */
interface ExpectedBet {
  playerId: string
  stake: number
  status: 'PLACED' | 'ROLLED_BACK'
  credits: Map<SettlementType, Credit>
  revision: number
  /** The sum of the deltas of its transactions. */
  net: number
}

export interface DifferenceListener {
  /** Called with every difference, and its bet if there is one. */
  reportDifference(difference: string, betId?: string): void
}

/** What was answered and lost by servers that may lose it. */
export interface AllowedLoss {
  bets: ReadonlySet<string>
  movements: ReadonlySet<string>
  oldStates: readonly ServerState[]
}

/**
 * @param bets the calls and answers of the platform; `null`: it has its own books, which are compared
 *   elsewhere
 * @param legacy whether the bets of a legacy integration were taken over
 */
export async function checkBooks(
  pool: pg.Pool,
  accounts: Accounts,
  bets: readonly PlatformBet[] | null,
  legacy: boolean,
  { reportDifference }: DifferenceListener,
  lost: AllowedLoss | null = null,
): Promise<Books> {
  const changes = await pool.query<{ account: string; before: string; after: string; at: Date }>(
    'SELECT account, before_cents::text AS before, after_cents::text AS after, at FROM pam.changes ORDER BY number',
  )
  const transactions = await transactionRows(pool, legacy)
  const betRows = await betRowsOf(pool)
  const movements = await pool.query<{ id: string; account: string; cents: string }>(
    'SELECT id, account, cents::text AS cents FROM pam.movements',
  )
  const balances = await pool.query<{ account: string; cents: string }>(
    `SELECT account, trim_scale(cents)::text AS cents FROM (${accounts.balancesSql}) b`,
  )

  // 1. By SQL alone.
  for (const { what, text } of sqlChecks(legacy)) {
    const { rows } = await pool.query<{ it: string }>(text)
    for (const { it } of rows.slice(0, 5)) reportDifference(`${what}: ${it}`)
  }

  // 2. Every change of a balance: from the initial balance, without a gap, never below zero.
  const balancesEver = new Map([...accounts.initialBalances].map(([id, cents]) => [id, new Set([cents])]))
  const latest = new Map(accounts.initialBalances)
  const balanceStates = new Map<string, BalanceState[]>(
    [...latest].map(([id, cents]) => [id, [{ cents, since: 0 }]]),
  )
  for (const { account, before, after, at } of changes.rows) {
    if (latest.get(account) !== centsOf(before)) {
      reportDifference(
        `${account}: a change from ${before} cents follows a balance of ${latest.get(account)} cents`,
      )
    }
    if (centsOf(after) < 0) reportDifference(`${account}: the balance fell to ${after} cents`)
    latest.set(account, centsOf(after))
    balancesEver.get(account)?.add(centsOf(after))
    balanceStates.get(account)?.push({ cents: centsOf(after), since: at.getTime() })
  }

  // 3. Every balance = initial balance + the PAM's own movements + the deltas of all transactions.
  const sums = new Map(accounts.initialBalances)
  const addTo = (account: string, cents: number) => sums.set(account, (sums.get(account) ?? 0) + cents)
  for (const { account, cents } of movements.rows) addTo(account, centsOf(cents))
  for (const { player_id, delta } of transactions) addTo(player_id, centsOf(delta))
  for (const { account, cents } of balances.rows) {
    if (latest.get(account) !== centsOf(cents))
      reportDifference(`${account}: ${cents} cents, without a recorded change`)
    if (sums.get(account) !== centsOf(cents)) {
      reportDifference(
        `${account} has ${cents} cents; initial balance, movements and transactions sum up to ${sums.get(account)}`,
      )
    }
  }
  const known = new Set(movements.rows.map(({ id }) => id))
  for (const id of accounts.acknowledged)
    if (!known.has(id) && !lost?.movements.has(id))
      reportDifference(`${id} of the PAM was acknowledged, but is lost`)

  // 4. Every transaction, replayed in the order of the commits: allowed by the rules, and leading to the
  //    stored bets.
  const expectedBets = new Map<string, ExpectedBet>()
  const states = new Map<string, BetState[]>()
  for (const row of transactions) {
    replay(expectedBets, row, reportDifference)
    const bet = expectedBets.get(row.bet_id)
    if (bet !== undefined) states.set(row.bet_id, [...(states.get(row.bet_id) ?? []), stateOf(row, bet)])
  }
  const stored = new Map(betRows.map(row => [row.bet_id, row]))
  for (const [betId, bet] of expectedBets) {
    const row = stored.get(betId)
    const problems = row === undefined ? ['it is missing'] : problemsOf(bet, row)
    for (const problem of problems) reportDifference(`${betId}: ${problem}`, betId)
  }
  for (const betId of stored.keys())
    if (!expectedBets.has(betId)) reportDifference(`${betId}: no transaction created it`, betId)

  // 5. Every balance from the bets: minus the open stakes, plus the credits that were not reversed.
  const byBets = new Map(accounts.initialBalances)
  for (const { account, cents } of movements.rows)
    byBets.set(account, (byBets.get(account) ?? 0) + centsOf(cents))
  for (const row of betRows) {
    const credited = settlementTypes.map(type => row.credits[type])
    const sum = credited.reduce(
      (total, { live, owed }) => total + centsOf(live ?? '0') + centsOf(owed ?? '0'),
      0,
    )
    const stake = row.status === 'PLACED' ? centsOf(row.stake) : 0
    byBets.set(row.player_id, (byBets.get(row.player_id) ?? 0) - stake + sum)
  }
  for (const { account, cents } of balances.rows) {
    if (byBets.get(account) !== centsOf(cents))
      reportDifference(
        `${account} has ${cents} cents; initial balance, movements and bets sum up to ${byBets.get(account)}`,
      )
  }

  // 6. The answers to the platform.
  if (bets !== null) {
    // Answers of an old primary, of calls that are not lost: its balances existed.
    for (const [id, balances] of lost?.oldStates.flatMap(old => [...old.balances]) ?? [])
      for (const { cents } of balances) balancesEver.get(id)?.add(cents)
    compareWithAnswers(bets, transactions, expectedBets, balancesEver, reportDifference)
    const timelines = [balanceStates, ...(lost?.oldStates.map(({ balances }) => balances) ?? [])]
    if (!legacy) judgeRefusals(bets, { states, timelines }, reportDifference)
  }

  const live = (row: BetRow) => settlementTypes.some(type => row.credits[type].live !== null)
  const owed = betRows.flatMap(row => settlementTypes.map(type => centsOf(row.credits[type].owed ?? '0')))
  return {
    bets: betRows.length,
    rolledBack: betRows.filter(({ status }) => status === 'ROLLED_BACK').length,
    tombstones: betRows.filter(({ status, stake }) => status === 'ROLLED_BACK' && centsOf(stake) === 0)
      .length,
    settled: betRows.filter(live).length,
    transactions: transactions.length,
    recordedRefusals: transactions.filter(({ error_code }) => error_code !== null).length,
    imported: transactions.filter(row => row.legacy).length,
    movements: movements.rows.length,
    balanceChanges: changes.rows.length,
    owedCents: owed.reduce((sum, cents) => sum + cents, 0),
  }
}

/** Each query returns one row per problem, with its text in `it`. */
function sqlChecks(legacy: boolean): { what: string; text: string }[] {
  const own = legacy
    ? 'NOT EXISTS (SELECT FROM legacy.calls c WHERE c.operation = t.operation AND c.call_id = t.transaction_id)'
    : 'true'
  return [
    {
      what: 'a transaction is recorded twice',
      text: `SELECT operation || ' ' || transaction_id AS it FROM bet_wallet.transactions
        GROUP BY operation, transaction_id HAVING count(*) > 1`,
    },
    {
      what: 'a walletTransactionId was assigned twice',
      text: `SELECT wallet_transaction_id::text AS it FROM bet_wallet.transactions
        GROUP BY wallet_transaction_id HAVING count(*) > 1`,
    },
    {
      // xmin is the database transaction that wrote a row: balance and record must have the same.
      what: 'a commit changed a balance by another amount than it recorded (commit, account, changed, recorded)',
      text: `WITH changed AS (
          SELECT xmin::text AS commit_id, account, sum(after_cents - before_cents) AS cents FROM pam.changes GROUP BY 1, 2
        ), recorded AS (
          SELECT commit_id, account, sum(cents) AS cents FROM (
            SELECT xmin::text AS commit_id, account, cents FROM pam.movements
            UNION ALL
            SELECT t.xmin::text, t.player_id, t.delta * 100 FROM bet_wallet.transactions t WHERE ${own}
            ${legacy ? 'UNION ALL SELECT xmin::text, account, delta_cents FROM legacy.calls' : ''}
          ) r GROUP BY 1, 2
        )
        SELECT concat_ws(' ', coalesce(m.commit_id, r.commit_id), coalesce(m.account, r.account),
          coalesce(m.cents, 0), coalesce(r.cents, 0)) AS it
        FROM changed m FULL JOIN recorded r ON r.commit_id = m.commit_id AND r.account = m.account
        WHERE coalesce(m.cents, 0) <> coalesce(r.cents, 0)`,
    },
    ...(legacy
      ? [
          {
            what: 'a call of the legacy integration is missing or different among the transactions',
            text: `SELECT c.operation || ' ' || c.call_id AS it FROM legacy.calls c
              LEFT JOIN bet_wallet.transactions t ON t.operation = c.operation AND t.transaction_id = c.call_id
              WHERE t.transaction_id IS NULL OR t.delta <> c.delta_cents / 100.0
                OR t.error_code IS DISTINCT FROM c.refusal OR t.wallet_transaction_id <> c.reference::text
                OR t.player_id <> c.account OR t.bet_id <> c.ticket`,
          },
        ]
      : []),
  ]
}

async function transactionRows(pool: pg.Pool, legacy: boolean): Promise<TransactionRow[]> {
  const isLegacy = legacy
    ? 'EXISTS (SELECT FROM legacy.calls c WHERE c.operation = t.operation AND c.call_id = t.transaction_id)'
    : 'false'
  // References of one player are assigned under the lock of the player: their order is that of the commits.
  const { rows } = await pool.query<TransactionRow>(
    `SELECT t.operation, t.transaction_id, t.player_id, t.bet_id, (t.amount * 100)::text AS cents, t.type,
      (t.delta * 100)::text AS delta, t.error_code, t.wallet_transaction_id::text AS reference, ${isLegacy} AS legacy
    FROM bet_wallet.transactions t ORDER BY legacy DESC, t.wallet_transaction_id::bigint`,
  )
  return rows
}

async function betRowsOf(pool: pg.Pool): Promise<BetRow[]> {
  const credits = settlementTypes.map(type => {
    const parts = ['live', 'reversed', 'owed'].map(
      part => `'${part}', (${type.toLowerCase()}_${part} * 100)::text`,
    )
    return `'${type}', json_build_object(${parts.join(', ')})`
  })
  const { rows } = await pool.query<BetRow>(
    `SELECT bet_id, player_id, currency, (stake * 100)::text AS stake, status, revision,
      json_build_object(${credits.join(', ')}) AS credits FROM bet_wallet.bets`,
  )
  return rows
}

/** Replays one transaction: checks its delta, and applies it to its bet. */
function replay(
  expectedBets: Map<string, ExpectedBet>,
  row: TransactionRow,
  reportDifference: DifferenceListener['reportDifference'],
): void {
  const { operation, transaction_id: id, bet_id: betId, player_id: playerId, error_code: code, legacy } = row
  const delta = centsOf(row.delta)
  const cents = centsOf(row.cents ?? '0')
  const bet = expectedBets.get(betId)
  const invalid = (why: string) =>
    reportDifference(`${operation} ${id} ${code ?? 'succeeded'}, delta ${delta} cents: ${why}`, betId)
  if (bet !== undefined && bet.playerId !== playerId) invalid(`${betId} belongs to ${bet.playerId}`)
  /** Imported bets have revision 1, whatever their history. */
  const changed = (of: ExpectedBet) => {
    if (!legacy) of.revision += 1
  }
  const expectDelta = (expected: number) => {
    if (delta !== expected) invalid(`the delta must be ${expected}`)
  }

  if (code !== null) {
    expectDelta(0)
    if (operation === 'placebet') {
      if (code === 'INVALID_BET' && bet === undefined) invalid('there was no bet with this id')
      return
    }
    const credit = bet === undefined ? undefined : bet.credits.get(reversedBy(row.type))
    if (operation !== 'unsettlement' || code !== 'INSUFFICIENT_FUNDS' || credit === undefined) {
      invalid('it must not be recorded')
      return
    }
    if (credit.live === null || credit.live === 0) invalid('there was no amount to debit')
    credit.owed += credit.live ?? 0
    credit.live = null
    changed(bet as ExpectedBet)
    return
  }

  switch (operation) {
    case 'placebet':
      if (bet !== undefined) invalid(`${betId} existed already, ${bet.status}`)
      expectDelta(-cents)
      expectedBets.set(betId, {
        ...{ playerId, stake: cents, status: 'PLACED', credits: new Map(), revision: 1, net: 0 },
      })
      break
    case 'rollbackbet':
      if (bet === undefined) {
        expectDelta(0)
        expectedBets.set(betId, {
          ...{ playerId, stake: 0, status: 'ROLLED_BACK', credits: new Map(), revision: 1, net: 0 },
        })
      } else if (bet.status === 'ROLLED_BACK') expectDelta(0)
      else {
        const credits = [...bet.credits.values()]
        if (credits.some(({ live, owed }) => live !== null || owed !== 0)) invalid(`${betId} was settled`)
        expectDelta(bet.stake)
        bet.status = 'ROLLED_BACK'
        changed(bet)
      }
      break
    case 'settlement': {
      if (bet?.status !== 'PLACED') {
        invalid(`${betId} was ${bet?.status ?? 'unknown'}`)
        return
      }
      expectDelta(cents)
      const type = row.type as SettlementType
      const credit = bet.credits.get(type) ?? { live: null, reversed: 0, owed: 0 }
      bet.credits.set(type, { ...credit, live: (credit.live ?? 0) + cents })
      changed(bet)
      break
    }
    case 'unsettlement': {
      const credit = bet?.credits.get(reversedBy(row.type))
      if (bet?.status !== 'PLACED' || credit === undefined || credit.live === null) {
        invalid('there was no credit to reverse')
        return
      }
      expectDelta(-credit.live)
      credit.reversed += credit.live
      credit.live = null
      changed(bet)
    }
  }
  const now = expectedBets.get(betId)
  if (now !== undefined) now.net += delta
}

/** A copy: the bet changes with its next transaction. */
function stateOf({ operation, transaction_id }: TransactionRow, { status, credits }: ExpectedBet): BetState {
  return {
    by: `${operation} ${transaction_id}`,
    status,
    credits: new Map([...credits].map(([type, credit]) => [type, { ...credit }])),
  }
}

const reversedBy = (type: string | null) => reverses[type as keyof typeof reverses]

/** The differences between a stored bet and the expected one. */
function problemsOf(bet: ExpectedBet, row: BetRow): string[] {
  const problems: string[] = []
  const same = (name: string, stored: unknown, expected: unknown) => {
    if (stored !== expected)
      problems.push(`${name} is ${stored}, but must be ${expected} by its transactions`)
  }
  same('player', row.player_id, bet.playerId)
  same('stake', centsOf(row.stake), bet.stake)
  same('status', row.status, bet.status)
  same('revision', row.revision, bet.revision)
  same('currency', row.currency, 'EUR')
  for (const type of settlementTypes) {
    const { live, reversed, owed } = row.credits[type]
    const credit = bet.credits.get(type)
    same(`${type} live`, live === null ? null : centsOf(live), credit?.live ?? null)
    same(`${type} reversed`, reversed === null ? null : centsOf(reversed), credit?.reversed ?? null)
    same(`${type} owed`, owed === null ? null : centsOf(owed), credit?.owed ?? null)
  }
  return problems
}

function compareWithAnswers(
  bets: readonly PlatformBet[],
  transactions: readonly TransactionRow[],
  expectedBets: ReadonlyMap<string, ExpectedBet>,
  balancesEver: ReadonlyMap<string, ReadonlySet<number>>,
  reportDifference: DifferenceListener['reportDifference'],
): void {
  const recorded = new Map(transactions.map(row => [`${row.operation} ${row.transaction_id}`, row]))
  const sent = new Set<string>()

  for (const bet of bets) {
    const { betId, playerId } = bet
    let placed = false
    let rolledBack = false
    for (const call of bet.calls) {
      const name = `${call.operation} ${call.transactionId}`
      sent.add(name)
      const row = recorded.get(name)
      const report = (difference: string) => reportDifference(`${name}: ${difference}`, betId)
      if (row !== undefined) {
        const same = row.player_id === playerId && row.bet_id === betId && row.type === call.type
        if (!same || (row.cents === null ? null : centsOf(row.cents)) !== call.cents)
          report('it is recorded with other content')
      }
      for (const { status, errorCode, cents, walletTransactionId } of call.answers) {
        if (status >= 500) continue
        const isRecorded = errorCode === null || call.operation === 'placebet' || status === 402
        if (!isRecorded) continue
        if (row === undefined) report(`it was answered ${errorCode ?? 'with success'}, but is not recorded`)
        else if (row.error_code !== errorCode)
          report(
            `it was answered ${errorCode ?? 'with success'}, but is recorded as ${row.error_code ?? 'a success'}`,
          )
        else if (errorCode === null && row.reference !== walletTransactionId)
          report(`it was answered as ${walletTransactionId}, but is recorded as ${row.reference}`)
        if (cents !== null && !balancesEver.get(playerId)?.has(cents))
          report(`it was answered with a balance of ${cents} cents, which never existed`)
        if (errorCode === null && call.operation === 'placebet') placed = true
        if (errorCode === null && call.operation === 'rollbackbet') rolledBack = true
      }
      // 503 UNAVAILABLE: no changes were made, and none will be.
      const certain = call.answers.length > 0 && call.unanswered === 0
      if (certain && call.answers.every(answer => answer.errorCode === 'UNAVAILABLE') && row !== undefined)
        report('it was answered only with 503 UNAVAILABLE, but is recorded')
    }
    const expected = expectedBets.get(betId)
    if (rolledBack && expected?.net !== 0)
      reportDifference(
        `${betId}: its rollback was answered with success, but the net change is ${expected?.net} cents`,
        betId,
      )
    if (placed && !rolledBack && (expected?.status !== 'PLACED' || expected.stake !== bet.cents))
      reportDifference(`${betId}: it was accepted, but is not placed`, betId)
    if (!placed && !rolledBack && expected !== undefined)
      reportDifference(`${betId}: it was neither accepted nor rolled back, but is ${expected.status}`, betId)
  }
  for (const [name, { bet_id }] of recorded) {
    if (!sent.has(name)) reportDifference(`${name}: the platform never sent it`, bet_id)
  }
}

/** Exact: an amount that is not a whole number of cents is NaN, which equals no other value. */
function centsOf(text: string): number {
  const [whole = '', fraction = ''] = text.split('.')
  const cents = Number(whole)
  return /^0*$/.test(fraction) && Number.isSafeInteger(cents) ? cents : Number.NaN
}
