/**
 * The server's time per placebet, compared with a floor: one prepared statement that only writes the same rows of
 * many placebets, without guards, refusals or constraints. No wallet can do with less on this server.
 */

import { type Contestant, drive, forSeconds, inTurn, ratioOf } from '../measure.js'
import type { PartResult } from '../report.js'
import { anyPlayer, type PlaceBet, placeBetOf } from '../requests.js'
import { type Tally, tally } from '../tally.js'
import { type BenchDatabase, checkBooks, type Ground, library, quieten, withDatabase } from './ground.js'

const callers = 64
/** As many as the store uses for commits: each sends its share of the callers' placebets. */
const connections = 2
const perStatement = callers / connections

const statement = `
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::text[], $6::timestamptz[])
    AS item (transaction_id, bet_id, player_id, amount, currency, transaction_date)
), bet AS (
  INSERT INTO hand_written.bets (bet_id, player_id, currency, stake, status)
  SELECT bet_id, player_id, currency, amount, 'PLACED' FROM item
), transaction AS (
  INSERT INTO hand_written.transactions
    (operation, transaction_id, player_id, bet_id, amount, currency, delta, transaction_date)
  SELECT 'placebet', transaction_id, player_id, bet_id, amount, currency, -amount, transaction_date FROM item
  RETURNING transaction_id, wallet_transaction_id
), player AS (
  UPDATE hand_written.players p SET balance = p.balance - change.amount
  FROM (SELECT player_id, sum(amount) AS amount FROM item GROUP BY player_id) change
  WHERE p.player_id = change.player_id
  RETURNING p.player_id, p.balance
)
SELECT item.transaction_id, transaction.wallet_transaction_id, player.balance
FROM item
JOIN transaction USING (transaction_id)
JOIN player USING (player_id)`

/** Writes all of the placebets; the players of two statements at a time must differ, or it may deadlock. */
async function writeAll({ pool }: BenchDatabase, bets: readonly PlaceBet[]): Promise<void> {
  const column = (name: keyof PlaceBet) => bets.map(bet => bet[name])
  const values = (
    ['transactionId', 'betId', 'playerId', 'amount', 'currency', 'transactionDate'] as const
  ).map(column)
  const { rowCount } = await pool.query({ name: 'floor', text: statement, values })
  if (rowCount !== bets.length) throw new Error(`${rowCount} rows for ${bets.length} placebets`)
}

function bare(database: BenchDatabase, answers: Tally): Contestant {
  const { serverTime, options } = database
  return {
    name: 'bare statement',
    prepare: () => quieten(database, 'hand_written'),
    async run(seconds) {
      let last = 0
      const perConnection = await drive(
        { callers: connections, goesOn: forSeconds(seconds), serverTime },
        async () => {
          // Odd players on one connection, even ones on the other.
          last = 1 - last
          const parity = last
          const player = () => String(2 * Math.ceil(Number(anyPlayer()) / 2) - parity)
          const bets = Array.from({ length: perStatement }, () => placeBetOf(player(), options.ids))
          await writeAll(database, bets)
          answers.accepted += bets.length
        },
      )
      const each = (value: number | null) => (value === null ? null : value / perStatement)
      return {
        ...perConnection,
        perSecond: perConnection.perSecond * perStatement,
        nodeUs: each(perConnection.nodeUs),
        serverUs: each(perConnection.serverUs),
      }
    },
  }
}

export function floor(ground: Ground): Promise<PartResult> {
  return withDatabase(ground, async database => {
    const [ours, theirs] = [tally(), tally()]
    const measured = await inTurn(
      [library(database, { callers, player: anyPlayer }, ours), bare(database, theirs)],
      ground.options,
    )
    await checkBooks(database, 'bet_wallet', ours.accepted)
    await checkBooks(database, 'hand_written', theirs.accepted)
    const title = `The floor: ${callers} concurrent callers, and a bare statement that writes ${perStatement} placebets`
    if (database.serverTime === null)
      return {
        title,
        measured,
        ratios: [],
        notes: ['Not compared: the processes of the server are not visible.'],
      }
    return {
      title,
      measured,
      ratios: [
        {
          name: "of the server's time per placebet",
          value: ratioOf(measured, s => s.serverUs),
          limit: { most: 1.7 },
        },
      ],
      notes: ['The latency of the bare statement is that of all of its placebets.'],
    }
  })
}
