/** The life of a bet: the library against a wallet written by hand. */
import { deepStrictEqual } from 'node:assert'
import { compareLives } from '../lives.js'
import type { PartResult } from '../report.js'
import { checkBalances, type Ground, quieten, type Schema, withDatabase } from './ground.js'
import { sendByHand } from './hand-written.js'

const schemas = { library: 'bet_wallet', 'by hand': 'hand_written' } as const

/** What the player of a bet got back, in the columns of each schema. */
const returned = {
  bet_wallet: 'coalesce(bet.bet_paid_live, 0) + coalesce(bet.bet_paid_owed, 0)',
  hand_written: 'coalesce(bet.credit, 0) + coalesce(bet.owed, 0)',
}

export function life(ground: Ground): Promise<PartResult> {
  return withDatabase(ground, database => {
    const { pool, store, options, serverTime } = database
    return compareLives({
      options,
      store,
      serverTime,
      byHand: (operation, request) => sendByHand(pool, operation, request),
      prepare: whose => quieten(database, schemas[whose]),
      async checkBooks(whose, books) {
        const schema = schemas[whose]
        await checkBalances(database, schema)
        const recorded = await pool.query<{ name: string; count: number }>(
          `SELECT operation || ' ' || coalesce(error_code, 'ACCEPTED') AS name, count(*)::integer
            FROM ${schema}.transactions GROUP BY 1`,
        )
        deepStrictEqual(Object.fromEntries(recorded.rows.map(({ name, count }) => [name, count])), {
          ...books,
        })
        const wrong = await pool.query(wrongBets(schema))
        deepStrictEqual(wrong.rows, [])
      },
      leastTimes: 5,
    })
  })
}

/** Bets whose stake and credits are not what their transactions moved. */
const wrongBets = (schema: Schema) => `
  SELECT bet.bet_id
  FROM ${schema}.bets bet
  JOIN (SELECT bet_id, sum(delta) AS delta FROM ${schema}.transactions GROUP BY bet_id) moved USING (bet_id)
  WHERE moved.delta <> ${returned[schema]} - CASE bet.status WHEN 'PLACED' THEN bet.stake ELSE 0 END
  LIMIT 3`
