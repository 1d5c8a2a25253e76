/**
 * A match day over real HTTP: `npm run demo`. Prints every call with its answer, and the books at the end; exit code 1
 * if they do not balance.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Player, recordSettlement } from 'bet-wallet'
import { basicAuth, createHttpHandler } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import { walletRoutes } from '../node-http/wallet.js'
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

const common = ({ playerId }: Player, transactionId: string, betId: string) => ({
  transactionId,
  betId,
  playerId,
  transactionDate: '2026-11-21T18:00:00Z',
})
/** Bet number 4 is `b-4`, placed by `t-4`. */
const bet = (player: Player, number: number, amount: number): Call => ({
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
const rollback = (player: Player, transactionId: string, betId: string): Call => ({
  operation: 'rollbackbet',
  body: { ...common(player, transactionId, betId), type: 'TECHNICAL_ERROR' },
})
const settle = (
  player: Player,
  transactionId: string,
  betId: string,
  type: string,
  amount: number,
): Call => ({
  operation: 'settlement',
  body: { ...common(player, transactionId, betId), type, amount, currency: player.currency },
})
const unsettle = (player: Player, transactionId: string, betId: string, type: string): Call => ({
  operation: 'unsettlement',
  body: { ...common(player, transactionId, betId), type },
})

/** What happens: in words, and as a call, a call that hangs on the line, or a movement of the PAM's own. */
type Step = { story: string; player: Player } & (
  | { call: Call; password?: string }
  | { lost: Call }
  | { cashier: string }
)

const matchDay: Step[] = [
  { story: 'Anna bets 30 EUR on the home side', player: anna, call: bet(anna, 1, 30) },
  { story: 'The same call comes twice: nothing moves', player: anna, call: bet(anna, 1, 30) },
  { story: 'Kenji bets 2000 JPY on the away side', player: kenji, call: bet(kenji, 2, 2000) },
  { story: 'Kenji bets more than he has left', player: kenji, call: bet(kenji, 3, 3001) },
  { story: 'Anna bets 20 EUR, and the call hangs on the line', player: anna, lost: bet(anna, 4, 20) },
  {
    story: 'The platform gives up: its rollback comes first',
    player: anna,
    call: rollback(anna, 'r-4', 'b-4'),
  },
  { story: 'Now the late bet arrives: it takes nothing', player: anna, call: bet(anna, 4, 20) },
  {
    story: 'Somebody tries a bet with a wrong password',
    player: anna,
    call: bet(anna, 5, 20),
    password: 'guessed',
  },
  {
    story: 'Full time: the home side wins, Anna gets 55.50',
    player: anna,
    call: settle(anna, 's-1', 'b-1', 'BET_PAID', 55.5),
  },
  {
    story: 'The goal did not count: the win is taken back',
    player: anna,
    call: unsettle(anna, 'u-1', 'b-1', 'UNSCORED'),
  },
  {
    story: 'It was a draw: the bet is lost, which pays 0',
    player: anna,
    call: settle(anna, 's-2', 'b-1', 'BET_PAID', 0),
  },
  {
    story: "Kenji's bet is settled as won, by mistake",
    player: kenji,
    call: settle(kenji, 's-3', 'b-2', 'BET_PAID', 9000),
  },
  { story: 'Kenji withdraws 11500 JPY at the cashier', player: kenji, cashier: '-11500' },
  {
    story: 'The clawback finds no funds: a debt remains',
    player: kenji,
    call: unsettle(kenji, 'u-2', 'b-2', 'UNSCORED'),
  },
  { story: 'Kenji deposits 20000 JPY', player: kenji, cashier: '20000' },
  {
    story: "The clawback again: no, it is the platform's debt",
    player: kenji,
    call: unsettle(kenji, 'u-2', 'b-2', 'UNSCORED'),
  },
  { story: 'Anna bets 25 EUR on the evening match', player: anna, call: bet(anna, 6, 25) },
  {
    story: 'The match is abandoned: the stake comes back',
    player: anna,
    call: settle(anna, 's-6', 'b-6', 'VOIDED', 25),
  },
  {
    story: 'It is played after all: the void is undone',
    player: anna,
    call: unsettle(anna, 'u-6', 'b-6', 'UNVOIDED'),
  },
  { story: 'And Anna wins 47.25 EUR', player: anna, call: settle(anna, 's-7', 'b-6', 'BET_PAID', 47.25) },
]

const store = createMemoryStore(players)
const handle = createHttpHandler(store, {
  authenticate: basicAuth(credentials),
  operations: { '/settlement': body => recordSettlement(store, body) },
})
const server = createServer(walletRoutes(handle))
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
try {
  row(' #', 'What happens', 'Call', 'Answer', 'Balance')
  row('──', '─'.repeat(49), '─'.repeat(16), '─'.repeat(25), '─'.repeat(10))
  for (const [index, step] of matchDay.entries()) {
    const [call, answer] = await play(step)
    row(`${index + 1}`, step.story, call, answer, balanceOf(step.player))
  }
} finally {
  server.close()
  server.closeAllConnections()
}

console.log('\nThe books: opening balance + every recorded movement = closing balance')
const sheets = players.map(({ playerId, currency, balance }) =>
  balanceSheet({
    title: `${playerId}, ${currency}`,
    decimals: decimals[currency] ?? 0,
    opening: balance,
    movements: [
      ...store.transactions(playerId).map(({ operation, transactionId, delta, refusal }) => ({
        label: `${operation} ${transactionId}`,
        delta,
        remark: refusal?.errorCode ?? '',
      })),
      ...matchDay.flatMap(step =>
        'cashier' in step && step.player.playerId === playerId
          ? [{ label: "the PAM's own cashier", delta: step.cashier, remark: '' }]
          : [],
      ),
    ],
    closing: store.player(playerId)?.balance ?? '0',
    owed: store.owed(playerId),
  }),
)
for (const { text } of sheets) console.log(`\n${text}`)
const holds = sheets.every(sheet => sheet.holds)
console.log(holds ? '\nThe books balance.' : '\nTHE BOOKS DO NOT BALANCE.')
process.exitCode = holds ? 0 : 1

/** Lets a step happen. Gives what it was, and what was answered. */
async function play(step: Step): Promise<[call: string, answer: string]> {
  if ('cashier' in step) {
    const { player, cashier: amount } = step
    if (amount.startsWith('-')) store.withdraw(player.playerId, amount.slice(1))
    else store.deposit(player.playerId, amount)
    return ["the PAM's own", '']
  }
  // It hangs somewhere on the line: nothing has reached the wallet, and the platform hears nothing.
  if ('lost' in step) return [inShort(step.lost), 'none in time']

  const { call, password = credentials.password } = step
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/${call.operation}`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${credentials.username}:${password}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(call.body),
  })
  const { errorCode = '' } = (await response.json()) as { errorCode?: string }
  return [inShort(call), `${response.status} ${errorCode}`]
}

function inShort({ operation, body }: Call): string {
  return `${operation} ${body.transactionId}`
}

function balanceOf({ playerId, currency }: Player): string {
  const { balance = '' } = store.player(playerId) ?? {}
  const [whole = '', fraction = ''] = balance.split('.')
  const places = decimals[currency] ?? 0
  return `${places === 0 ? whole : `${whole}.${fraction.padEnd(places, '0')}`} ${currency}`
}

function row(number: string, story: string, call: string, answer: string, balance: string): void {
  const columns = [
    number.padStart(2),
    story.padEnd(49),
    call.padEnd(16),
    answer.padEnd(25),
    balance.padStart(10),
  ]
  console.log(columns.join('  '))
}
