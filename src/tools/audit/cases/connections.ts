/** AU-9xx: connections that are slow or break, at any moment. */

import { subtract } from '../../numbers/decimal.js'
import { write } from '../../wire/json.js'
import { type Answer, describeAnswer, withoutSuccess } from '../answer.js'
import { casesOf } from '../audit-case.js'
import { type CaseContext, eachRound } from '../case-context.js'
import { cutOff, inPieces, leavingAfter, onOwnConnection } from '../deliveries.js'

/** After the caller has disconnected, the call may still be in flight: time for its effect to show. */
const pauseMs = 30

const disconnecting = ({ random }: CaseContext, operation: string, round: number) => ({
  delivery: leavingAfter(round === 1 ? 0 : random.between(0, 4)),
  label: `${operation}, then the caller disconnects`,
})

async function placeAndDisconnect(context: CaseContext, round: number) {
  const bet = context.wallet.bet(context.between(20, 60))
  await context.wallet.place(bet, disconnecting(context, 'placebet', round))
  return bet
}

/** A promise, and the function that resolves it. */
function latch(): [Promise<void>, () => void] {
  let open = (): void => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return [opened, open]
}

export const connections = casesOf({
  'AU-902': {
    name: 'A placebet whose caller disconnects and retries debits the stake once',
    source: 'spec 1.5, D2',
    quote: 'one-transaction',
    impact: 'The first copy was debited but not recorded, and the retry debits the stake again.',
    run: eachRound(async (context, round) => {
      const { wallet, expect, opening, wait } = context
      const bet = await placeAndDisconnect(context, round)
      expect.success(await wallet.place(bet, 'retry of the placebet'))
      await wait(pauseMs)
      const after = subtract(opening, bet.amount)
      await expect.balance(after, 'after a placebet whose caller disconnected, and its retry')
      await expect.undone(bet, opening)
    }),
  },
  'AU-901': {
    name: 'A placebet whose caller disconnects, and its rollback right after, net to zero',
    source: 'spec 4.1, 4.3',
    quote: 'rollback-corrects',
    impact: 'The platform treats every timeout like this: the player loses a stake that is not returned.',
    run: eachRound(async (context, round) => {
      const { wallet, expect, opening, wait } = context
      const bet = await placeAndDisconnect(context, round)
      const answer = await wallet.rollback(bet)
      expect.success(answer)
      await expect.balanceAfter(answer, opening)
      await wait(pauseMs)
      await expect.balance(opening, 'a moment later')
    }),
  },
  'AU-903': {
    name: 'A rollbackbet whose caller disconnects and retries credits the stake once',
    source: 'spec 1.5, 4.3',
    quote: 'one-transaction',
    impact: 'Rollbacks are retried until they are confirmed: every copy credits the stake, or none does.',
    run: eachRound(async (context, round) => {
      const { prepare, wallet, expect, opening, between, wait } = context
      const bet = wallet.bet(between(20, 60))
      const transactionId = wallet.id()
      await prepare.placedAnyhow(bet)
      await wallet.rollback(bet, transactionId, disconnecting(context, 'rollbackbet', round))
      expect.success(await wallet.rollback(bet, transactionId, 'retry of the rollbackbet'))
      await wait(pauseMs)
      await expect.balance(opening, 'after a rollback whose caller disconnected, and its retry')
    }),
  },
  'AU-904': {
    name: 'An unsettlement whose caller disconnects and retries debits the payout once',
    source: 'spec 1.5, 4.2',
    quote: 'one-transaction',
    needs: ['settle', 'clawbacks'],
    impact: 'Both the first copy and the retry debit the payout.',
    run: eachRound(async (context, round) => {
      const { prepare, wallet, expect, opening, units, wait } = context
      const { bet, staked } = await prepare.settledBet('BET_PAID', units(20))
      const transactionId = wallet.id()
      await wallet.unsettle(bet, 'UNSCORED', transactionId, disconnecting(context, 'unsettlement', round))
      expect.success(await wallet.unsettle(bet, 'UNSCORED', transactionId, 'retry of the unsettlement'))
      await wait(pauseMs)
      await expect.balance(staked, 'after an unsettlement whose caller disconnected, and its retry')
      await expect.undone(bet, opening)
    }),
  },
  'AU-905': {
    name: 'An incomplete placebet changes no balance and leaves no record: the complete one is decided as new',
    source: 'spec 4.1, D8',
    impact: 'A request that was cut off is executed with the part that arrived.',
    async run({ wallet, expect, opening, wait }) {
      const bet = wallet.bet()
      const body = write(wallet.placement(bet))
      for (const share of [0.3, 0.9]) {
        const delivery = cutOff(Math.floor(body.length * share))
        const label = `${share * 100} % of a placebet, then the connection is closed`
        await wallet.call({ label, path: '/placebet', body, delivery })
      }
      await wait(pauseMs)
      await expect.balance(opening, 'after incomplete placebets')
      await expect.debit(bet, opening)
    },
  },
  'AU-911': {
    level: 'SHOULD',
    name: 'A placebet whose body is shorter than its Content-Length changes no balance',
    source: 'spec 4.1',
    impact: 'A bet is placed although its request was never completed, until the sportsbook rolls it back.',
    async run({ wallet, expect, opening, wait }) {
      const bet = wallet.bet()
      wallet.openBets.track(bet)
      const body = write(wallet.placement(bet))
      const answer = await wallet.call({
        label: 'placebet that ends before its Content-Length',
        path: '/placebet',
        body: `${body}${' '.repeat(100)}`,
        delivery: cutOff(body.length),
      })
      await wait(pauseMs)
      await expect.balanceAfter(answer, opening)
    },
  },
  'AU-906': {
    name: 'A placebet that arrives in small pieces is accepted like any other',
    source: 'spec 1.3',
    quote: 'post-of-json',
    impact: 'Bets over a slow connection are refused or misread.',
    async run({ wallet, expect, opening }) {
      const cuts = Array.from({ length: 16 }, (_, index) => 16 * (index + 1))
      const change = { delivery: inPieces(cuts, 2), label: 'placebet in pieces' }
      await expect.debit(wallet.bet(), opening, change)
    },
  },
  'AU-907': {
    name: 'A character that is split by the network is read correctly',
    source: 'spec 1.5, D24',
    quote: 'one-transaction',
    impact: 'An id with an accent becomes a different id with each retry: the stake is debited again.',
    async run({ wallet, expect, opening }) {
      const id = `${wallet.id()}-é球😀`
      const bet = { ...wallet.bet(), transactionId: id, betId: id }
      // Every continuation byte of a UTF-8 character.
      const cuts = [...Buffer.from(write(wallet.placement(bet)), 'utf8').entries()]
        .filter(([, byte]) => byte >= 0x80 && byte < 0xc0)
        .map(([index]) => index)
      const label = 'placebet in pieces, split within a character of its id'
      const first = await wallet.place(bet, { delivery: inPieces(cuts, 3), label })
      if (first.success === null) return expect.finalRefusal(first)
      const retry = await wallet.place(bet, 'retry of the placebet in one piece')
      expect.success(retry, subtract(opening, bet.amount))
      await expect.executed(wallet.rollback(bet), opening)
    },
  },
  'AU-908': {
    level: 'SHOULD',
    name: 'Slow and disconnected callers do not block the others',
    source: 'spec 1.5, A02',
    impact: 'Sixteen broken connections, and no player can bet any more.',
    async run({ wallet, expect, settings, opening, concurrently }) {
      const body = write(wallet.placement(wallet.bet()))
      const [answered, end] = latch()
      const heads: Promise<void>[] = []
      const slow = concurrently(index => {
        const [sent, isSent] = latch()
        heads.push(sent)
        const stay = () => {
          isSent()
          return answered
        }
        return wallet.call({
          label: `slow caller ${index + 1}: placebet without its body`,
          path: '/placebet',
          body,
          bodyCommand: 'sleep 2',
          delivery: cutOff(0, stay),
          // Longer than that of the placebet: a wallet that waits for the slow callers answers too late.
          timeoutMs: settings.timeoutMs * 3,
        })
      })
      try {
        await Promise.race([Promise.all(heads), slow])
        const bet = wallet.bet()
        const change = { label: 'placebet during slow calls', delivery: onOwnConnection, attempts: 1 }
        let placed = await wallet.place(bet, change)
        // A fault is an answer: the wallet is not blocked. No answer is not sent again: the wallet is.
        for (let again = 1; again < 10 && (placed.status ?? 0) >= 500; again += 1)
          placed = await wallet.place(bet, change)
        const after = subtract(opening, bet.amount)
        expect.success(placed, after)
        await expect.balance(after, 'during slow calls')
      } finally {
        end()
        await slow
      }
    },
  },
  'AU-909': {
    level: 'SHOULD',
    name: 'Concurrent calls of every kind for one bet are answered in time, and not with a fault (5xx, except 503)',
    source: 'spec 4, docs/errors.md',
    impact: 'A deadlock: bet and player are locked in opposite orders, and concurrent calls get no answer.',
    run: eachRound(async (context, round) => {
      const { prepare, wallet, units, settings, between, concurrently } = context
      const canSettle = settings.settle !== 'unsupported'
      const bet = wallet.bet(between(20, 60))
      await prepare.placedAnyhow(bet)
      const settle = async () => {
        await wallet.trySettle(bet, 'BET_PAID', units(20))
        return null
      }
      if (canSettle) await settle()
      const once = (operation: string) => ({ label: `concurrent ${operation}`, attempts: 1, mayFail: true })
      const place = () => wallet.place(bet, once('retry of the placebet'))
      const calls: ((turn: number) => Promise<Answer | null>)[] = [
        place,
        () => wallet.unsettle(bet, 'UNSCORED', undefined, once('unsettlement')),
        // The first calls of a round are not refused for a bet that is already rolled back.
        turn => (turn === 0 && canSettle ? settle() : wallet.rollback(bet, undefined, once('rollbackbet'))),
        () => (canSettle ? settle() : place()),
      ]
      const answers = await concurrently(
        index => (calls[(index + round) % 4] as (typeof calls)[0])(Math.floor(index / 4)),
        4 * Math.ceil(settings.concurrency / 4),
      )
      for (const answer of answers) if (answer !== null) expectNoFault(context, answer)
    }),
  },
})

/** A 503 is certain: nothing was done, and the caller may retry. Any other fault is an unknown outcome. */
function expectNoFault({ expect }: CaseContext, answer: Answer): void {
  if (answer.status !== null && (answer.status < 500 || answer.status === 503)) return
  expect.fail('a definite answer, or 503', describeAnswer(answer), answer, withoutSuccess(answer))
}
