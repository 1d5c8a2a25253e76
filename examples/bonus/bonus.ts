/**
 * Bonus money and free bets, for `withinTransaction` of PostgreSQL, MySQL and MariaDB: schema.sql and
 * schema-mysql.sql have its tables. No bonus engine: when a bonus is granted, converted or expires is yours.
 *
 * - A stake is paid from the cash first, then from the bonus.
 * - What a bet returns (win, void, cash-out, rollback) goes to both in the proportion of its stake. The bonus
 *   has its share of all that the bet has returned so far, rounded down to the minor unit: the odd cent is
 *   cash, and parts add up to the whole.
 * - A clawback takes from each what the bet gave to it. If one of the two has been spent, the other pays, and
 *   the next credit of the bet evens it out.
 * - A bet with a stake of 0 uses a free bet. A rollback or void returns it. What it wins is cash.
 */
import type { PendingCommit, Query } from 'bet-wallet/postgres'

/** Amounts are in units of 10^-18: exact in every currency. */
interface Funds {
  bonus: bigint
  freeBets: number
}

interface BetFunds {
  isStored: boolean
  /** The bonus' part of the stake. */
  bonusStake: bigint
  /** What the bet has returned and was not clawed back; of that, to the bonus. */
  returned: bigint
  bonusReturned: bigint
  /** 1: it has used a free bet. */
  freeBets: number
}

/** What one call of the hook has read, and changes. */
interface Books {
  players: Map<string, Funds>
  bets: Map<string, BetFunds>
}

type Changes = PendingCommit['changes']

/**
 * Returns the function to call in `withinTransaction`. Its statements have `?` as on MySQL.
 *
 * @param decimals of each currency: `{ EUR: 2, JPY: 0 }`
 */
export function createBonus(decimals: Readonly<Record<string, number>>) {
  return async (query: Query, pending: readonly PendingCommit[]): Promise<void> => {
    // A recorded refusal moves nothing.
    const decided = pending.filter(({ changes }) => changes.transaction.refusal === null)
    if (decided.length === 0) return
    const books = await readBooks(query, decided)
    for (const commit of decided) await apply(query, books, commit, decimals)
  }
}

/** Two statements for the whole list. The players' rows are locked. */
async function readBooks(query: Query, pending: readonly PendingCommit[]): Promise<Books> {
  const idsOf = (name: 'playerId' | 'betId') => [
    ...new Set(pending.map(({ changes: { transaction } }) => transaction[name])),
  ]
  const places = (ids: readonly string[]) => ids.map(() => '?').join(', ')
  const [playerIds, betIds] = [idsOf('playerId'), idsOf('betId')]
  const players = await query(
    `SELECT player_id, bonus, free_bets FROM accounts WHERE player_id IN (${places(playerIds)})`,
    playerIds,
  )
  const bets = await query(
    `SELECT bet_id, bonus_stake, returned, bonus_returned, free_bets
      FROM bet_funds WHERE bet_id IN (${places(betIds)})`,
    betIds,
  )
  return {
    players: new Map(
      (players.rows as Record<string, unknown>[]).map(row => [
        String(row.player_id),
        { bonus: exact(row.bonus), freeBets: Number(row.free_bets) },
      ]),
    ),
    bets: new Map(
      (bets.rows as Record<string, unknown>[]).map(row => [
        String(row.bet_id),
        {
          isStored: true,
          bonusStake: exact(row.bonus_stake),
          returned: exact(row.returned),
          bonusReturned: exact(row.bonus_returned),
          freeBets: Number(row.free_bets),
        },
      ]),
    ),
  }
}

/** Splits one transaction, and writes what changes. */
async function apply(
  query: Query,
  { players, bets }: Books,
  commit: PendingCommit,
  decimals: Readonly<Record<string, number>>,
): Promise<void> {
  const { transaction, bet: betAfter, account } = commit.changes
  const { operation, playerId, betId } = transaction
  const player = players.get(playerId)
  if (player === undefined) throw new Error('The account of a locked player is missing')
  if (betAfter === null) return // a second rollback: nothing moves
  const delta = exact(account.delta)
  // A bet without a row was paid in cash, and has returned cash.
  const returned = operation === 'placebet' ? 0n : liveOf(betAfter) - delta
  const none = { isStored: false, bonusStake: 0n, returned, bonusReturned: 0n, freeBets: 0 }
  const bet = bets.get(betId) ?? none
  const stake = exact(betAfter.stake)
  const freeBets = stake === 0n ? freeBetsOf(commit.changes, bet) : 0
  if (operation === 'placebet' && player.freeBets < freeBets) {
    commit.refuse('NO_FREE_BET', 'amount: the player has no free bet')
    return
  }
  const cash = exact(commit.balance) - delta - player.bonus
  const unit = account.delta === '0' ? 1n : unitOf(account.currency, decimals)
  const bonus =
    operation === 'placebet'
      ? -least(stake, most(stake - cash, 0n))
      : toBonus(delta, { player, bet, stake, cash, unit })
  if (bonus === 0n && freeBets === 0 && !bet.isStored) return

  bet.freeBets += freeBets
  if (operation === 'placebet') bet.bonusStake = -bonus
  else {
    bet.returned += delta
    bet.bonusReturned += bonus
  }
  player.bonus += bonus
  player.freeBets -= freeBets
  await writeBet(query, betId, bet)
  await writePlayer(query, commit, { bonus, freeBets })
}

/** The credits of a bet that were not clawed back. */
const liveOf = ({ credits }: NonNullable<Changes['bet']>) =>
  Object.values(credits).reduce((sum, { live }) => sum + exact(live ?? '0'), 0n)

interface Split {
  player: Funds
  bet: BetFunds
  stake: bigint
  /** Before this transaction. */
  cash: bigint
  /** The minor unit of the currency. */
  unit: bigint
}

/** The bonus' part of a credit, or with a negative delta of a clawback. */
function toBonus(delta: bigint, { player, bet, stake, cash, unit }: Split): bigint {
  const { bonusStake, returned, bonusReturned } = bet
  const share = stake === 0n ? 0n : (((returned + delta) * bonusStake) / stake / unit) * unit
  const due = share - bonusReturned
  if (delta >= 0n) return least(delta, most(due, 0n))
  // What is there: the bonus may be spent, or the cash.
  const part = least(-delta, player.bonus, most(-due, 0n))
  return -most(part, -delta - cash)
}

/** How many free bets a transaction of a bet with a stake of 0 uses: 1, 0, or -1 if it returns one. */
function freeBetsOf({ transaction, bet }: Changes, { isStored, freeBets }: BetFunds): number {
  const { operation, type } = transaction
  if (operation === 'placebet') return 1
  if (!isStored) return 0
  if (type === 'UNVOIDED') return 1 - freeBets
  return type === 'VOIDED' || bet?.status === 'ROLLED_BACK' ? -freeBets : 0
}

async function writeBet(query: Query, betId: string, bet: BetFunds): Promise<void> {
  const { isStored, bonusStake, returned, bonusReturned, freeBets } = bet
  const values = [text(bonusStake), text(returned), text(bonusReturned), freeBets, betId]
  const statement = isStored
    ? 'UPDATE bet_funds SET bonus_stake = ?, returned = ?, bonus_returned = ?, free_bets = ? WHERE bet_id = ?'
    : 'INSERT INTO bet_funds (bonus_stake, returned, bonus_returned, free_bets, bet_id) VALUES (?, ?, ?, ?, ?)'
  await query(statement, values)
}

async function writePlayer(
  query: Query,
  { walletTransactionId, changes }: PendingCommit,
  { bonus, freeBets }: { bonus: bigint; freeBets: number },
): Promise<void> {
  const { playerId, betId } = changes.transaction
  if (bonus === 0n && freeBets === 0) return
  await query(
    `UPDATE accounts SET bonus = bonus + CAST(? AS decimal(38, 18)), free_bets = free_bets - CAST(? AS decimal(9))
      WHERE player_id = ?`,
    [text(bonus), freeBets, playerId],
  )
  if (bonus !== 0n) await writeEntry(query, [`wallet-${walletTransactionId}`, playerId, betId, text(bonus)])
}

const writeEntry = (query: Query, values: [reference: string, ...unknown[]]) =>
  query('INSERT INTO bonus_entries (reference, player_id, bet_id, amount) VALUES (?, ?, ?, ?)', values)

/**
 * PAM code, in its own database transaction: a deposit (`cash: '50'`), a withdrawal (`cash: '-50'`), a grant
 * (`bonus: '10'`), an expiry (`bonus: '-10'`), or a conversion (`cash: '10', bonus: '-10'`). The account is
 * locked first, as the wallet does.
 *
 * @param reference once per change: a second one with the same reference fails
 * @returns whether there was enough of both
 */
export async function changeFunds(
  query: Query,
  playerId: string,
  {
    cash = '0',
    bonus = '0',
    freeBets = 0,
    reference,
  }: { cash?: string; bonus?: string; freeBets?: number; reference: string },
): Promise<boolean> {
  const amount = 'CAST(? AS decimal(38, 18))'
  const enough = `bonus + ${amount} >= 0 AND balance - bonus + ${amount} >= 0`
  const { rows } = await query(`SELECT 1 FROM accounts WHERE player_id = ? AND ${enough} FOR UPDATE`, [
    playerId,
    bonus,
    cash,
  ])
  if (rows.length === 0) return false
  await query(
    `UPDATE accounts SET balance = balance + ${amount} + ${amount}, bonus = bonus + ${amount},
        free_bets = free_bets + CAST(? AS decimal(9)) WHERE player_id = ?`,
    [cash, bonus, bonus, freeBets, playerId],
  )
  await writeEntry(query, [reference, playerId, null, bonus])
  return true
}

/** The minor unit of the currency, below which nothing is split. */
function unitOf(currency: string, { [currency]: digits }: Readonly<Record<string, number>>): bigint {
  if (digits === undefined) throw new Error(`The decimals of ${currency} are missing`)
  return 10n ** BigInt(18 - digits)
}

function exact(amount: unknown): bigint {
  const [whole = '', fraction = ''] = String(amount).split('.')
  return BigInt(whole + fraction.padEnd(18, '0'))
}

function text(units: bigint): string {
  const digits = String(units < 0n ? -units : units).padStart(19, '0')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -18)}.${digits.slice(-18)}`
}

const least = (...amounts: bigint[]) => amounts.reduce((a, b) => (b < a ? b : a))
const most = (...amounts: bigint[]) => amounts.reduce((a, b) => (b > a ? b : a))
