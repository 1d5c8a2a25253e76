/** What the consumer of the PAM's queue of settlements does: docs/your-own-code.md#from-a-queue */
import type { Database } from '../database.js'
import { type PamSettlement, settle } from './pam.js'

/** As long as the platform may still send the placebet: its retries overtake nothing that is older. */
const placebetRetriesMs = 3_600_000

/** This player has no such bet: by the foreign key of the settlements, or by `credit_bet_v1`. */
const unknownBet = ['23503', 'P0002']
/** Connection lost, shut down, deadlock, lock timeout: the database may answer the next try. */
const passing = /^(08|53|57|40|55P03)/

/**
 * Pays one settlement. The caller removes it from the queue (`paid`), puts it back with a delay (`later`), or
 * keeps it where a person sees it, and alerts (`parked`). The same settlementId is paid once, however often
 * it comes.
 *
 * @param ageMs since the settlement was first taken from the queue
 */
export async function consumeSettlement(
  database: Database,
  settlement: PamSettlement,
  ageMs: number,
): Promise<'paid' | 'later' | 'parked'> {
  try {
    await settle(database, settlement)
    return 'paid'
  } catch (error) {
    const { code } = error as { code?: unknown }
    // A settlement may overtake its bet, but a bet of another player will never be this player's.
    if (unknownBet.includes(String(code)))
      return ageMs < placebetRetriesMs && !(await isOfAnother(database, settlement)) ? 'later' : 'parked'
    // Without a code it is no answer of the database: its connection failed.
    return code === undefined || passing.test(String(code)) ? 'later' : 'parked'
  }
}

/** `false` also if the database does not answer: the next try asks again. */
async function isOfAnother({ client }: Database, { betId, accountNo }: PamSettlement): Promise<boolean> {
  const ofAnother = `SELECT 1 FROM pam.bets JOIN pam.accounts USING (account_id)
    WHERE bet_id = $1 AND account_no <> $2`
  return await client.query(ofAnother, [betId, accountNo]).then(
    ({ rows }) => rows.length > 0,
    () => false,
  )
}
