/** What several incidents do to a player's account. */
import type { Incident } from './incident.js'

/** @throws Error if the player has another balance */
export async function hasBalance(
  { run }: { run(statement: string): Promise<readonly object[]> },
  playerId: string,
  balance: number,
): Promise<void> {
  const rows = (await run(`SELECT balance FROM PLAYERS WHERE player_id = '${playerId}'`)) as {
    balance: string
  }[]
  if (Number(rows[0]?.balance) !== balance)
    throw new Error(`${playerId} has ${rows[0]?.balance}, not ${balance}`)
}

/** A clawback of 75 EUR from anna, who has bet the money away. */
export async function uncollected(
  { platform, database }: Pick<Parameters<Incident['arise']>[0], 'platform' | 'database'>,
  id: string,
): Promise<void> {
  const bet = { betId: `b-${id}` }
  await platform.placebet({ transactionId: `t-${id}`, ...bet })
  await platform.settle({ transactionId: `s-${id}`, ...bet, amount: '75' })
  await database.run("UPDATE PLAYERS SET balance = 5 WHERE player_id = 'anna'")
  await platform.unsettle({ transactionId: `u-${id}`, ...bet }, 402)
}
