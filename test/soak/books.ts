/**
 * The reckoning, when everything has come to its end: the database's books against themselves, by SQL and by going
 * through every transaction again, and against what the platform has heard. It knows the interface's rules from their
 * text, and nothing of the library.
 */
import type pg from 'pg'
import type { Accounts } from './accounts.js'
import { type Call, type PlatformBet, reverses, type SettlementType } from './platform.js'

export interface Books {
  /** How many bets there are, and of them: rolled back, of these without a stake, settled now. */
  bets: number
  rolledBack: number
  tombstones: number
  settled: number
  transactions: number
  recordedRefusals: number
  /** Of all transactions, those that were brought in at the cut-over. */
  imported: number
  movements: number
  balanceChanges: number
  /** In cents, of all unsettlements that funds did not cover. */
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
  /** Whether the earlier integration did it. */
  earlier: boolean
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

interface Credit {
  live: number | null
  reversed: number
  owed: number
}

/** A bet as its transactions say that it must be. */
interface Told {
  playerId: string
  stake: number
  status: 'PLACED' | 'ROLLED_BACK'
  credits: Map<SettlementType, Credit>
  revision: number
  /** Of all its transactions. */
  moved: number
}

const settlementTypes = ['BET_PAID', 'VOIDED', 'CASHOUT'] as const

export interface Found {
  /** What is wrong, in words, and the bet in question where there is one. */
  differs(what: string, betId?: string): void
}

/**
 * @param bets what the platform has sent and heard; `null`: it has books of its own, and they are compared elsewhere
 * @param cutOver how the bets of an earlier integration were taken over
 */
export async function reckon(
  pool: pg.Pool,
  accounts: Accounts,
  bets: readonly PlatformBet[] | null,
  cutOver: 'import' | 'view' | null,
  { differs }: Found,
): Promise<Books> {
  const earlier = cutOver !== null
  const changes = await pool.query<{ account: string; before: string; after: string }>(
    'SELECT account, before_cents::text AS before, after_cents::text AS after FROM pam.changes ORDER BY number',
  )
  const transactions = await transactionRows(pool, earlier)
  const betRows = await betRowsOf(pool, cutOver)
  const movements = await pool.query<{ id: string; account: string; cents: string }>(
    'SELECT id, account, cents::text AS cents FROM pam.movements',
  )
  const balances = await pool.query<{ account: string; cents: string }>(
    `SELECT account, trim_scale(cents)::text AS cents FROM (${accounts.balancesSql}) b`,
  )

  // 1. By SQL alone.
  for (const { what, text } of sqlChecks(earlier)) {
    const { rows } = await pool.query<{ it: string }>(text)
    for (const { it } of rows.slice(0, 5)) differs(`${what}: ${it}`)
  }

  // 2. Every balance ever: from the opening, without a gap, never below zero.
  const balancesEver = new Map([...accounts.openings].map(([id, cents]) => [id, new Set([cents])]))
  const latest = new Map(accounts.openings)
  for (const { account, before, after } of changes.rows) {
    if (latest.get(account) !== centsOf(before)) {
      differs(`${account}: a balance of ${before} cents follows one of ${latest.get(account)} cents`)
    }
    if (centsOf(after) < 0) differs(`${account}: the balance fell to ${after} cents`)
    latest.set(account, centsOf(after))
    balancesEver.get(account)?.add(centsOf(after))
  }

  // 3. Every balance = opening + the PAM's own movements + the deltas of all transactions.
  const sums = new Map(accounts.openings)
  const addTo = (account: string, cents: number) => sums.set(account, (sums.get(account) ?? 0) + cents)
  for (const { account, cents } of movements.rows) addTo(account, centsOf(cents))
  for (const { player_id, delta } of transactions) addTo(player_id, centsOf(delta))
  for (const { account, cents } of balances.rows) {
    if (latest.get(account) !== centsOf(cents)) differs(`${account}: ${cents} cents, not noted as a change`)
    if (sums.get(account) !== centsOf(cents)) {
      differs(`${account} has ${cents} cents; opening, movements and transactions make ${sums.get(account)}`)
    }
  }
  const known = new Set(movements.rows.map(({ id }) => id))
  for (const id of accounts.acknowledged) if (!known.has(id)) differs(`${id} of the PAM's own is lost`)

  // 4. Every transaction again, in the order of their commits: lawful, and leading to the bets that are there.
  const told = new Map<string, Told>()
  for (const row of transactions) follow(told, row, differs)
  const kept = new Map(betRows.map(row => [row.bet_id, row]))
  for (const [betId, bet] of told) {
    const row = kept.get(betId)
    const flaws = row === undefined ? ['it is not there'] : flawsOf(bet, row)
    for (const flaw of flaws) differs(`${betId}: ${flaw}`, betId)
  }
  for (const betId of kept.keys()) if (!told.has(betId)) differs(`${betId}: no transaction made it`, betId)

  // 5. The same by bets: what is staked and not rolled back, and what was credited and not taken back.
  const byBets = new Map(accounts.openings)
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
      differs(`${account} has ${cents} cents; opening, movements and bets make ${byBets.get(account)}`)
  }

  // 6. What the platform has heard.
  if (bets !== null) compareWithAnswers(bets, transactions, told, balancesEver, differs)

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
    imported: transactions.filter(row => row.earlier).length,
    movements: movements.rows.length,
    balanceChanges: changes.rows.length,
    owedCents: owed.reduce((sum, cents) => sum + cents, 0),
  }
}

/** Each gives one row, with a text `it`, for everything that is wrong. */
function sqlChecks(earlier: boolean): { what: string; text: string }[] {
  const own = earlier
    ? 'NOT EXISTS (SELECT FROM earlier.calls c WHERE c.operation = t.operation AND c.call_id = t.transaction_id)'
    : 'true'
  return [
    {
      what: 'a transaction is there twice',
      text: `SELECT operation || ' ' || transaction_id AS it FROM bet_wallet.transactions
        GROUP BY operation, transaction_id HAVING count(*) > 1`,
    },
    {
      what: 'a walletTransactionId was given twice',
      text: `SELECT wallet_transaction_id::text AS it FROM bet_wallet.transactions
        GROUP BY wallet_transaction_id HAVING count(*) > 1`,
    },
    {
      // xmin names the commit that wrote a row: money and record must be of the same one.
      what: 'a commit moved other money than it recorded (commit, account, moved, recorded)',
      text: `WITH moved AS (
          SELECT xmin::text AS commit_id, account, sum(after_cents - before_cents) AS cents FROM pam.changes GROUP BY 1, 2
        ), recorded AS (
          SELECT commit_id, account, sum(cents) AS cents FROM (
            SELECT xmin::text AS commit_id, account, cents FROM pam.movements
            UNION ALL
            SELECT t.xmin::text, t.player_id, t.delta * 100 FROM bet_wallet.transactions t WHERE ${own}
            ${earlier ? 'UNION ALL SELECT xmin::text, account, moved_cents FROM earlier.calls' : ''}
          ) r GROUP BY 1, 2
        )
        SELECT concat_ws(' ', coalesce(m.commit_id, r.commit_id), coalesce(m.account, r.account),
          coalesce(m.cents, 0), coalesce(r.cents, 0)) AS it
        FROM moved m FULL JOIN recorded r ON r.commit_id = m.commit_id AND r.account = m.account
        WHERE coalesce(m.cents, 0) <> coalesce(r.cents, 0)`,
    },
    ...(earlier
      ? [
          {
            what: 'a call of the earlier integration is no transaction, or another one',
            text: `SELECT c.operation || ' ' || c.call_id AS it FROM earlier.calls c
              LEFT JOIN bet_wallet.transactions t ON t.operation = c.operation AND t.transaction_id = c.call_id
              WHERE t.transaction_id IS NULL OR t.delta <> c.moved_cents / 100.0
                OR t.error_code IS DISTINCT FROM c.refusal OR t.wallet_transaction_id <> c.reference::text
                OR t.player_id <> c.account OR t.bet_id <> c.ticket`,
          },
        ]
      : []),
  ]
}

async function transactionRows(pool: pg.Pool, earlier: boolean): Promise<TransactionRow[]> {
  const isEarlier = earlier
    ? 'EXISTS (SELECT FROM earlier.calls c WHERE c.operation = t.operation AND c.call_id = t.transaction_id)'
    : 'false'
  // Of one player, references are given under the lock on the player: their order is that of the commits.
  const { rows } = await pool.query<TransactionRow>(
    `SELECT t.operation, t.transaction_id, t.player_id, t.bet_id, (t.amount * 100)::text AS cents, t.type,
      (t.delta * 100)::text AS delta, t.error_code, t.wallet_transaction_id::text AS reference, ${isEarlier} AS earlier
    FROM bet_wallet.transactions t ORDER BY earlier DESC, t.wallet_transaction_id::bigint`,
  )
  return rows
}

async function betRowsOf(pool: pg.Pool, cutOver: 'import' | 'view' | null): Promise<BetRow[]> {
  const credits = (alias: string) =>
    `json_build_object(${settlementTypes
      .map(type => {
        const name = type.toLowerCase()
        const parts = ['live', 'reversed', 'owed'].map(
          part => `'${part}', (${alias}.${name}_${part} * 100)::text`,
        )
        return `'${type}', json_build_object(${parts.join(', ')})`
      })
      .join(', ')}) AS credits`
  const columns = (alias: string) =>
    `${alias}.bet_id, ${alias}.player_id, ${alias}.currency, (${alias}.stake * 100)::text AS stake, ${alias}.status`
  const { rows } = await pool.query<BetRow>(
    `SELECT ${columns('b')}, b.revision, ${credits('b')} FROM bet_wallet.bets b
    ${
      cutOver === 'view'
        ? `UNION ALL SELECT ${columns('e')}, 1, ${credits('e')} FROM earlier.bets_for_wallet e
          WHERE NOT EXISTS (SELECT FROM bet_wallet.bets b WHERE b.bet_id = e.bet_id)`
        : ''
    }`,
  )
  return rows
}

/** One transaction more: what it must have moved, and what it does to its bet. */
function follow(told: Map<string, Told>, row: TransactionRow, differs: Found['differs']): void {
  const { operation, transaction_id: id, bet_id: betId, player_id: playerId, error_code: code, earlier } = row
  const delta = centsOf(row.delta)
  const cents = centsOf(row.cents ?? '0')
  const bet = told.get(betId)
  const unlawful = (why: string) =>
    differs(`${operation} ${id} ${code ?? 'succeeded'}, moved ${delta} cents: ${why}`, betId)
  if (bet !== undefined && bet.playerId !== playerId) unlawful(`${betId} is of ${bet.playerId}`)
  /** Imported bets come with revision 1, however far they had come. */
  const changed = (of: Told) => {
    if (!earlier) of.revision += 1
  }
  const expect = (moved: number) => {
    if (delta !== moved) unlawful(`it must have moved ${moved}`)
  }

  if (code !== null) {
    expect(0)
    if (operation === 'placebet') {
      if (code === 'INVALID_BET' && bet === undefined) unlawful('there was no such bet')
      return
    }
    const credit = bet === undefined ? undefined : bet.credits.get(reversedBy(row.type))
    if (operation !== 'unsettlement' || code !== 'INSUFFICIENT_FUNDS' || credit === undefined) {
      unlawful('it must not be recorded')
      return
    }
    if (credit.live === null || credit.live === 0) unlawful('there was nothing to be short of')
    credit.owed += credit.live ?? 0
    credit.live = null
    changed(bet as Told)
    return
  }

  switch (operation) {
    case 'placebet':
      if (bet !== undefined) unlawful(`${betId} was there, ${bet.status}`)
      expect(-cents)
      told.set(betId, {
        ...{ playerId, stake: cents, status: 'PLACED', credits: new Map(), revision: 1, moved: 0 },
      })
      break
    case 'rollbackbet':
      if (bet === undefined) {
        expect(0)
        told.set(betId, {
          ...{ playerId, stake: 0, status: 'ROLLED_BACK', credits: new Map(), revision: 1, moved: 0 },
        })
      } else if (bet.status === 'ROLLED_BACK') expect(0)
      else {
        const credits = [...bet.credits.values()]
        if (credits.some(({ live, owed }) => live !== null || owed !== 0)) unlawful(`${betId} was settled`)
        expect(bet.stake)
        bet.status = 'ROLLED_BACK'
        changed(bet)
      }
      break
    case 'settlement': {
      if (bet?.status !== 'PLACED') {
        unlawful(`${betId} was ${bet?.status ?? 'not there'}`)
        return
      }
      expect(cents)
      const type = row.type as SettlementType
      const credit = bet.credits.get(type) ?? { live: null, reversed: 0, owed: 0 }
      bet.credits.set(type, { ...credit, live: (credit.live ?? 0) + cents })
      changed(bet)
      break
    }
    case 'unsettlement': {
      const credit = bet?.credits.get(reversedBy(row.type))
      if (bet?.status !== 'PLACED' || credit === undefined || credit.live === null) {
        unlawful('there was nothing to take back')
        return
      }
      expect(-credit.live)
      credit.reversed += credit.live
      credit.live = null
      changed(bet)
    }
  }
  const now = told.get(betId)
  if (now !== undefined) now.moved += delta
}

const reversedBy = (type: string | null) => reverses[type as keyof typeof reverses]

/** How a stored bet differs from what its transactions have made of it. */
function flawsOf(bet: Told, row: BetRow): string[] {
  const flaws: string[] = []
  const same = (name: string, stored: unknown, expected: unknown) => {
    if (stored !== expected) flaws.push(`${name} is ${stored}, and its transactions make ${expected}`)
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
  return flaws
}

function compareWithAnswers(
  bets: readonly PlatformBet[],
  transactions: readonly TransactionRow[],
  told: ReadonlyMap<string, Told>,
  balancesEver: ReadonlyMap<string, ReadonlySet<number>>,
  differs: Found['differs'],
): void {
  const recorded = new Map(transactions.map(row => [`${row.operation} ${row.transaction_id}`, row]))
  const asked = new Set<string>()

  for (const bet of bets) {
    const { betId, playerId } = bet
    let placed = false
    let rolledBack = false
    for (const call of bet.calls) {
      const name = `${call.operation} ${call.transactionId}`
      asked.add(name)
      const row = recorded.get(name)
      const wrong = (what: string) => differs(`${name}: ${what}`, betId)
      if (row !== undefined) {
        const same = row.player_id === playerId && row.bet_id === betId && row.type === call.type
        if (!same || (row.cents === null ? null : centsOf(row.cents)) !== call.cents)
          wrong('it is recorded with another meaning')
      }
      for (const { status, errorCode, cents, walletTransactionId } of call.answers) {
        if (status >= 500) continue
        const sticks = errorCode === null || call.operation === 'placebet' || status === 402
        if (!sticks) continue
        if (row === undefined) wrong(`it was answered ${errorCode ?? 'with success'}, and is not recorded`)
        else if (row.error_code !== errorCode)
          wrong(
            `it was answered ${errorCode ?? 'with success'}, and is recorded as ${row.error_code ?? 'a success'}`,
          )
        else if (errorCode === null && row.reference !== walletTransactionId)
          wrong(`it was answered as ${walletTransactionId}, and is recorded as ${row.reference}`)
        if (cents !== null && !balancesEver.get(playerId)?.has(cents))
          wrong(`it was answered with a balance of ${cents} cents, which there never was`)
        if (errorCode === null && call.operation === 'placebet') placed = true
        if (errorCode === null && call.operation === 'rollbackbet') rolledBack = true
      }
      // 503 UNAVAILABLE says that nothing was done, and nothing will be.
      const certain = call.answers.length > 0 && call.unanswered === 0
      if (certain && call.answers.every(answer => answer.errorCode === 'UNAVAILABLE') && row !== undefined)
        wrong('it was answered 503 UNAVAILABLE only, and is recorded')
    }
    const found = told.get(betId)
    if (rolledBack && found?.moved !== 0)
      differs(`${betId}: its rollback was answered with success, and ${found?.moved} cents remain`, betId)
    if (placed && !rolledBack && (found?.status !== 'PLACED' || found.stake !== bet.cents))
      differs(`${betId}: it was accepted, and is not placed`, betId)
    if (!placed && !rolledBack && found !== undefined)
      differs(`${betId}: it was neither accepted nor rolled back, and is ${found.status}`, betId)
  }
  for (const [name, { bet_id }] of recorded) {
    if (!asked.has(name)) differs(`${name}: the platform never sent it`, bet_id)
  }
}

/** Exactly, or not at all: an amount that is no whole number of cents makes every sum NaN, which equals nothing. */
function centsOf(text: string): number {
  const [whole = '', fraction = ''] = text.split('.')
  const cents = Number(whole)
  return /^0*$/.test(fraction) && Number.isSafeInteger(cents) ? cents : Number.NaN
}
