/**
 * A match day over HTTP: `npx tsx examples/match-day/demo.ts` prints every call with its answer, then the
 * books, and then plays a season of random calls over an unreliable network. Exit code 1 if the books do not
 * balance. Every run starts with new data, in the place that DATABASE_URL or DATA_FOLDER sets (see
 * examples/database.ts).
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Account, recordSettlement } from 'bet-wallet'
import { simulateSportsbook } from 'bet-wallet/audit'
import { basicAuth, createNodeListener } from 'bet-wallet/http'
import { createPostgresStore, migratePostgres } from 'bet-wallet/postgres'
import { openDatabase } from '../database.js'
import { balanceSheet } from './books.js'

const credentials = { username: 'platform', password: 'demo-secret' }
const anna = { playerId: 'anna', currency: 'EUR', balance: '100.00' }
const kenji = { playerId: 'kenji', currency: 'JPY', balance: '5000' }
const players = [anna, kenji]
const decimals: Record<string, number> = { EUR: 2, JPY: 0 }

interface Call {
  operation: 'placebet' | 'settlement' | 'unsettlement' | 'rollbackbet'
  body: { transactionId: string; playerId: string } & Record<string, unknown>
}

const common = ({ playerId }: Account, transactionId: string, betId: string) => ({
  transactionId,
  betId,
  playerId,
  transactionDate: '2026-11-21T18:00:00Z',
})
/** Bet number 4 is `b-4`, placed by `t-4`. */
const bet = (player: Account, number: number, amount: number): Call => ({
  operation: 'placebet',
  body: {
    ...common(player, `t-${number}`, `b-${number}`),
    sessionId: 'session-1',
    amount,
    currency: player.currency,
    odds: 1.85,
    betType: 'SINGLE',
  },
})
const rollback = (player: Account, transactionId: string, betId: string): Call => ({
  operation: 'rollbackbet',
  body: { ...common(player, transactionId, betId), type: 'TECHNICAL_ERROR' },
})
const settle = (
  player: Account,
  transactionId: string,
  betId: string,
  type: string,
  amount: number,
): Call => ({
  operation: 'settlement',
  body: { ...common(player, transactionId, betId), type, amount, currency: player.currency },
})
const unsettle = (player: Account, transactionId: string, betId: string, type: string): Call => ({
  operation: 'unsettlement',
  body: { ...common(player, transactionId, betId), type },
})

/** A step of the match day: a call, a delayed call, a movement by the PAM, or a restart of the wallet. */
type Step = { event: string; player: Account } & (
  | { call: Call; password?: string }
  | { delayed: Call }
  | { cashier: string }
  | { restart: true }
)

const matchDay: Step[] = [
  { event: 'Anna bets 30 EUR on the home side', player: anna, call: bet(anna, 1, 30) },
  { event: 'The platform retries it: no change', player: anna, call: bet(anna, 1, 30) },
  { event: 'Kenji bets 2000 JPY on the away side', player: kenji, call: bet(kenji, 2, 2000) },
  { event: 'Kenji bets more than his balance', player: kenji, call: bet(kenji, 3, 3001) },
  { event: 'Anna bets 20 EUR, but the call is delayed', player: anna, delayed: bet(anna, 4, 20) },
  {
    event: 'The platform gives up: its rollback arrives first',
    player: anna,
    call: rollback(anna, 'r-4', 'b-4'),
  },
  { event: 'Now the late bet arrives: it debits nothing', player: anna, call: bet(anna, 4, 20) },
  { event: 'The wallet is restarted', player: anna, restart: true },
  { event: 'The late bet is retried: its refusal is replayed', player: anna, call: bet(anna, 4, 20) },
  {
    event: 'A bet with a wrong password',
    player: anna,
    call: bet(anna, 5, 20),
    password: 'guessed',
  },
  {
    event: 'Full time: the home side wins, Anna gets 55.50',
    player: anna,
    call: settle(anna, 's-1', 'b-1', 'BET_PAID', 55.5),
  },
  {
    event: 'The goal did not count: the win is reversed',
    player: anna,
    call: unsettle(anna, 'u-1', 'b-1', 'UNSCORED'),
  },
  {
    event: 'It was a draw: the bet is lost and pays 0',
    player: anna,
    call: settle(anna, 's-2', 'b-1', 'BET_PAID', 0),
  },
  {
    event: "Kenji's bet is settled as won, by mistake",
    player: kenji,
    call: settle(kenji, 's-3', 'b-2', 'BET_PAID', 9000),
  },
  { event: 'Kenji withdraws 11500 JPY at the cashier', player: kenji, cashier: '-11500' },
  {
    event: 'Insufficient funds: the clawback is uncollected',
    player: kenji,
    call: unsettle(kenji, 'u-2', 'b-2', 'UNSCORED'),
  },
  { event: 'Kenji deposits 20000 JPY', player: kenji, cashier: '20000' },
  {
    event: 'The clawback is retried: its refusal is final',
    player: kenji,
    call: unsettle(kenji, 'u-2', 'b-2', 'UNSCORED'),
  },
  { event: 'Anna bets 25 EUR on the evening match', player: anna, call: bet(anna, 6, 25) },
  {
    event: 'The match is abandoned: the stake is returned',
    player: anna,
    call: settle(anna, 's-6', 'b-6', 'VOIDED', 25),
  },
  {
    event: 'It is played after all: the void is reversed',
    player: anna,
    call: unsettle(anna, 'u-6', 'b-6', 'UNVOIDED'),
  },
  { event: 'Anna wins 47.25 EUR', player: anna, call: settle(anna, 's-7', 'b-6', 'BET_PAID', 47.25) },
]

const schema = 'bet_wallet_match_day'
let wallet = await startWallet(true).catch(({ message }: Error) => {
  console.error(message)
  process.exit(1)
})
try {
  row(' #', 'Event', 'Call', 'Answer', 'Balance')
  row('──', '─'.repeat(49), '─'.repeat(16), '─'.repeat(25), '─'.repeat(10))
  for (const [index, step] of matchDay.entries()) {
    const [call, answer] = await play(step)
    row(
      `${index + 1}`,
      step.event,
      call,
      answer,
      displayed(await balanceOf(step.player.playerId), step.player),
    )
  }
} catch (error) {
  await wallet.stop()
  throw error
}

console.log('\nThe books: opening balance + every recorded movement = closing balance')
const sheets: ReturnType<typeof balanceSheet>[] = []
for (const { playerId, currency, balance } of players) {
  const sheet = balanceSheet({
    title: `${playerId}, ${currency}`,
    decimals: decimals[currency] ?? 0,
    openingBalance: balance,
    movements: [
      ...(await query<{ label: string; delta: string; remark: string }>(
        `SELECT operation || ' ' || transaction_id AS label, delta::text, coalesce(error_code, '') AS remark
          FROM ${schema}.transactions WHERE player_id = $1 ORDER BY wallet_transaction_id::bigint`,
        [playerId],
      )),
      ...matchDay.flatMap(step =>
        'cashier' in step && step.player.playerId === playerId
          ? [{ label: 'cashier of the PAM', delta: step.cashier, remark: '' }]
          : [],
      ),
    ],
    closingBalance: await balanceOf(playerId),
    owed: await owedBy(playerId),
  })
  console.log(`\n${sheet.text}`)
  sheets.push(sheet)
}
const balanced = sheets.every(sheet => sheet.balanced)
console.log(balanced ? '\nThe books balance.' : '\nTHE BOOKS DO NOT BALANCE.')

console.log('\nThe season: random calls, which are lost, delayed, duplicated and reordered')
const season = await playSeason()
await wallet.stop()
const { counts, faultsInjected, differencesCount, passed } = season
console.log(`
  ${counts.bets} bets and ${counts.settlements} settlements: ${counts.betsAccepted} accepted, ${counts.betsRefused} refused, ${counts.betsRolledBack} rolled back
  ${faultsInjected.requestLost} requests and ${faultsInjected.answerLost} answers lost, ${faultsInjected.deliveredLate + faultsInjected.delayed} late or delayed, ${faultsInjected.duplicated} duplicated
  ${counts.replaysAbsorbed} retries changed nothing, ${counts.lateBetsRefused} bets arrived after their rollback and debited nothing
  ${differencesCount} differences between the books of the sportsbook and the balances of the wallet`)
console.log(passed ? '\nThe season is reconciled to the cent.' : '\nTHE SEASON IS NOT RECONCILED.')
process.exitCode = balanced && passed ? 0 : 1

async function playSeason() {
  const fans = Array.from({ length: 8 }, (_, n) => `fan-${n + 1}`)
  for (const fan of fans) await query(`INSERT INTO ${schema}.players VALUES ($1, 'EUR', 500)`, [fan])
  return await simulateSportsbook({
    baseUrl: wallet.url,
    credentials,
    players: fans,
    bets: 120,
    chaos: {
      requestLost: 0.05,
      answerLost: 0.05,
      deliveredLate: 0.1,
      delayed: 0.1,
      duplicated: 0.2,
      reordered: 0.1,
    },
    // These three make every run identical.
    seed: 1,
    runId: 'season',
    concurrency: 1,
  })
}

async function startWallet(fresh: boolean) {
  const database = await openDatabase(schema)
  const { client } = database
  if (fresh) await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await migratePostgres(client, { schema })
  if (fresh) {
    for (const player of players)
      await client.query(`INSERT INTO ${schema}.players VALUES ($1, $2, $3)`, Object.values(player))
  }
  const store = createPostgresStore(client, { schema })
  const listener = createNodeListener(store, {
    authenticate: basicAuth(credentials),
    onAuthenticationFailed() {}, // the audit calls with wrong credentials too
    routes: { '/settlement': body => recordSettlement(store, body) },
  })
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    client,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close()
      server.closeAllConnections()
      await database.close()
    },
  }
}

/** Plays a step. Returns its call and the answer. */
async function play(step: Step): Promise<[call: string, answer: string]> {
  if ('cashier' in step) {
    const { player, cashier: amount } = step
    await query(`UPDATE ${schema}.players SET balance = balance + $2 WHERE player_id = $1`, [
      player.playerId,
      amount,
    ])
    return ['by the PAM', '']
  }
  if ('restart' in step) {
    await wallet.stop()
    wallet = await startWallet(false)
    return ['', '']
  }
  // Delayed on the network: it has not reached the wallet, and the platform receives no answer.
  if ('delayed' in step) return [labelOf(step.delayed), 'timeout']

  const { call, password = credentials.password } = step
  const response = await fetch(`${wallet.url}/${call.operation}`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${credentials.username}:${password}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(call.body),
  })
  const { errorCode = '' } = (await response.json()) as { errorCode?: string }
  return [labelOf(call), `${response.status} ${errorCode}`]
}

function labelOf({ operation, body }: Call): string {
  return `${operation} ${body.transactionId}`
}

async function query<Row>(text: string, values: unknown[]): Promise<Row[]> {
  return (await wallet.client.query(text, values)).rows as Row[]
}

async function balanceOf(playerId: string): Promise<string> {
  const rows = await query<{ balance: string }>(
    `SELECT balance::text FROM ${schema}.players WHERE player_id = $1`,
    [playerId],
  )
  return rows[0]?.balance ?? '0'
}

async function owedBy(playerId: string): Promise<string> {
  const rows = await query<{ owed: string }>(
    `SELECT coalesce(sum(bet_paid_owed), 0)::text AS owed FROM ${schema}.bets WHERE player_id = $1`,
    [playerId],
  )
  return rows[0]?.owed ?? '0'
}

function displayed(balance: string, { currency }: Account): string {
  const [whole = '', fraction = ''] = balance.split('.')
  const places = decimals[currency] ?? 0
  return `${places === 0 ? whole : `${whole}.${fraction.padEnd(places, '0')}`} ${currency}`
}

function row(number: string, event: string, call: string, answer: string, balance: string): void {
  const columns = [
    number.padStart(2),
    event.padEnd(49),
    call.padEnd(16),
    answer.padEnd(25),
    balance.padStart(10),
  ]
  console.log(columns.join('  '))
}
