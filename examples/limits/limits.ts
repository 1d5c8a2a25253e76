/**
 * Limits that hold in a race: stakes per day, losses per week, a cool-off and an exclusion. For
 * `withinTransaction` of PostgreSQL, MySQL and MariaDB: schema.sql and schema-mysql.sql have its tables.
 *
 * A limit counts a bet at the day on which it was placed. What happens to the bet later changes that day's
 * sums: a rollback or void of tomorrow makes no room tomorrow.
 *
 * | | Staked | Lost |
 * |---|---|---|
 * | placebet | + stake | + stake |
 * | rollback, void | − what is credited | − what is credited |
 * | win, cash-out | unchanged | − what is credited |
 * | clawback of a void | + what is debited | + what is debited |
 * | clawback of a win | unchanged | + what is debited |
 * | refusal, uncollected clawback, tombstone, replay | unchanged | unchanged |
 */
import type { PendingCommit, Query } from 'bet-wallet/postgres'

export interface LimitSettings {
  /** Where a day begins at midnight: `Europe/Berlin`. */
  timeZone: string
  /** @default the clock of this process */
  now?: () => Date
}

/** Returns the function to call in `withinTransaction`. Its statements have `?` as on MySQL. */
export function createLimits({ timeZone, now = () => new Date() }: LimitSettings) {
  return async (query: Query, pending: readonly PendingCommit[]): Promise<void> => {
    const time = now()
    // What has returned makes room for the bets, and what was clawed back takes it.
    for (const { changes } of pending) await countMovement(query, changes)
    const bets = pending.filter(isNewBet)
    if (bets.length > 0) await admitBets(query, bets, { time, day: dayOf(time, timeZone) })
  }
}

/** For the store of PostgreSQL: its parameters are `$1`, `$2`. */
export function numbered(query: Query): Query {
  return (text, values) => {
    let count = 0
    return query(
      text.replace(/\?/g, () => `$${++count}`),
      values,
    )
  }
}

/** The recorded refusal of a bet is a pending commit too. It is not a bet, and counts nowhere. */
const isNewBet = ({ changes: { transaction } }: PendingCommit) =>
  transaction.operation === 'placebet' && transaction.refusal === null

/** Refuses the bets that do not fit, and records the others: one of each player. */
async function admitBets(
  query: Query,
  bets: readonly PendingCommit[],
  { time, day }: { time: Date; day: string },
): Promise<void> {
  const playerIds = bets.map(({ changes }) => changes.transaction.playerId)
  const players = await readRoom(query, { playerIds, time, day })
  const rows: unknown[] = []
  for (const commit of bets) {
    const { playerId, betId, amount } = commit.changes.transaction
    const room = players.get(playerId)
    if (room === undefined) throw new Error('The account of a locked player is missing')
    const stake = exact(amount)
    if (room.closed) commit.refuse('PLAYER_EXCLUDED', 'playerId: may not bet now')
    else if (exceeds(stake, room.stake))
      commit.refuse('STAKE_LIMIT', 'amount: above the daily stake limit of the player')
    else if (exceeds(stake, room.loss))
      commit.refuse('LOSS_LIMIT', 'amount: above the weekly loss limit of the player')
    else rows.push(betId, playerId, day, amount, amount)
  }
  if (rows.length === 0) return
  const places = Array.from({ length: rows.length / 5 }, () => '(?, ?, ?, ?, ?)')
  await query(
    `INSERT INTO limited_bets (bet_id, player_id, day, staked, lost) VALUES ${places.join(', ')}`,
    rows,
  )
}

/** What a player may still stake and lose, in units of 10^-18; `null`: there is no limit. */
interface Room {
  closed: boolean
  stake: bigint | null
  loss: bigint | null
}

/** A free bet (stake 0) never does. */
const exceeds = (stake: bigint, room: bigint | null) => room !== null && stake > 0n && stake > room

/**
 * Two statements for all players. Their rows are locked: no other bet of theirs is being committed. Both
 * look for the ids of the calls: a join would compare columns, whose character sets may differ on MySQL.
 */
async function readRoom(
  query: Query,
  { playerIds, time, day }: { playerIds: readonly string[]; time: Date; day: string },
): Promise<Map<string, Room>> {
  const places = playerIds.map(() => '?').join(', ')
  const limits = await query(
    `SELECT account.player_id, account.no_bets_until > ? AS closed, account.stake_per_day AS stake, account.loss_per_week AS loss
      FROM accounts account WHERE account.player_id IN (${places})`,
    [time.toISOString().slice(0, 19), ...playerIds],
  )
  const sums = await query(
    `SELECT bet.player_id, SUM(CASE WHEN bet.day >= ? THEN bet.staked ELSE 0 END) AS stake, SUM(bet.lost) AS loss
      FROM limited_bets bet WHERE bet.day >= ? AND bet.player_id IN (${places})
      GROUP BY bet.player_id`,
    [day, mondayOf(day), ...playerIds],
  )
  type Row = Record<'player_id' | 'closed' | 'stake' | 'loss', unknown>
  const used = new Map((sums.rows as Row[]).map(row => [String(row.player_id), row]))
  const room = (limit: unknown, sum: unknown) => (limit === null ? null : exact(limit) - exact(sum ?? 0))
  return new Map(
    (limits.rows as Row[]).map(({ player_id, closed, stake, loss }) => {
      const sum = used.get(String(player_id))
      return [
        String(player_id),
        { closed: Boolean(closed), stake: room(stake, sum?.stake), loss: room(loss, sum?.loss) },
      ]
    }),
  )
}

/** Money of a bet that has returned, or was clawed back. A bet from before the limits has no row. */
async function countMovement(
  query: Query,
  { transaction, account }: PendingCommit['changes'],
): Promise<void> {
  const { operation, type, betId } = transaction
  if (operation === 'placebet' || account.delta === '0') return
  const isOfStake = operation === 'rollbackbet' || type === 'VOIDED' || type === 'UNVOIDED'
  // CAST: MySQL subtracts a text as a float.
  await query(
    `UPDATE limited_bets
      SET staked = staked - CAST(? AS decimal(38, 18)), lost = lost - CAST(? AS decimal(38, 18))
      WHERE bet_id = ?`,
    [isOfStake ? account.delta : '0', account.delta, betId],
  )
}

/** A decimal in units of 10^-18: the sums are exact in every currency. */
function exact(amount: unknown): bigint {
  const [whole = '', fraction = ''] = String(amount).split('.')
  return BigInt(whole + fraction.padEnd(18, '0'))
}

/** `2026-11-24` */
const dayOf = (time: Date, timeZone: string) => time.toLocaleDateString('sv-SE', { timeZone })

function mondayOf(day: string): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  return date.toISOString().slice(0, 10)
}
