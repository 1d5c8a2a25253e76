/** AU-9xx: connections that are slow or break, at any moment. */

import { subtract } from '../../numbers/decimal.js'
import { write } from '../../wire/json.js'
import { type Answer, describeAnswer, withoutSuccess } from '../answer.js'
import { casesOf } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'
import { cutOff, inPieces, leavingAfter, onOwnConnection, type UnusualDelivery } from '../deliveries.js'
import type { Bet } from '../wallet-calls.js'

/** After the caller has disconnected, the call may still be in flight: time for its effect to show. */
const pauseMs = 30

async function disconnecting(
  { random }: CaseContext,
  call: (delivery: UnusualDelivery) => Promise<unknown>,
  round: number,
) {
  await call(leavingAfter(round === 1 ? 0 : random.between(0, 4)))
}

async function placeAndDisconnect(context: CaseContext, round: number): Promise<Bet> {
  const { wallet, units, random } = context
  const bet = wallet.bet(units(random.between(20, 60)))
  const label = `placebet, then the caller disconnects (round ${round})`
  await disconnecting(context, delivery => wallet.place(bet, { delivery, label }), round)
  return bet
}

export const connections = casesOf({
  'AU-902': {
    name: 'A placebet whose caller disconnects and retries debits the stake once',
    source: 'spec 1.5, D2',
    quote: 'one-transaction',
    impact: 'The first copy was debited but not recorded, and the retry debits the stake again.',
    async run(context) {
      const { wallet, expect, opening, settings, wait } = context
      for (let round = 1; round <= settings.raceRounds; round += 1) {
        const bet = await placeAndDisconnect(context, round)
        const after = subtract(opening, bet.amount)
        expect.success(await wallet.place(bet, 'retry of the placebet'))
        await wait(pauseMs)
        await expect.balance(after, 'after a placebet whose caller disconnected, and its retry')
        expect.success(await wallet.rollback(bet), opening)
      }
    },
  },
  'AU-901': {
    name: 'A placebet whose caller disconnects, and its rollback right after, net to zero',
    source: 'spec 4.1, 4.3',
    quote: 'rollback-corrects',
    impact: 'The platform treats every timeout like this: the player loses a stake that is not returned.',
    async run(context) {
      const { wallet, expect, opening, settings, wait } = context
      for (let round = 1; round <= settings.raceRounds; round += 1) {
        const bet = await placeAndDisconnect(context, round)
        expect.success(await wallet.rollback(bet))
        await expect.balance(opening, 'after a placebet whose caller disconnected, and its rollback')
        await wait(pauseMs)
        await expect.balance(opening, 'a moment later')
      }
    },
  },
  'AU-903': {
    name: 'A rollbackbet whose caller disconnects and retries credits the stake once',
    source: 'spec 1.5, 4.3',
    quote: 'one-transaction',
    impact: 'Rollbacks are retried until they are confirmed: every copy credits the stake, or none does.',
    async run(context) {
      const { prepare, wallet, expect, opening, units, settings, random, wait } = context
      for (let round = 1; round <= settings.raceRounds; round += 1) {
        const bet = wallet.bet(units(random.between(20, 60)))
        await prepare.placedAnyhow(bet)
        const transactionId = wallet.id()
        const label = `rollbackbet, then the caller disconnects (round ${round})`
        await disconnecting(
          context,
          delivery => wallet.rollback(bet, transactionId, { delivery, label }),
          round,
        )
        expect.success(await wallet.rollback(bet, transactionId, 'retry of the rollbackbet'))
        await wait(pauseMs)
        await expect.balance(opening, 'after a rollback whose caller disconnected, and its retry')
      }
    },
  },
  'AU-904': {
    name: 'An unsettlement whose caller disconnects and retries debits the payout once',
    source: 'spec 1.5, 4.2',
    quote: 'one-transaction',
    needs: ['settle', 'clawbacks'],
    impact: 'Both the first copy and the retry debit the payout.',
    async run(context) {
      const { prepare, wallet, expect, opening, units, settings, wait } = context
      for (let round = 1; round <= settings.raceRounds; round += 1) {
        const bet = wallet.bet(units(50))
        const staked = await prepare.placed(bet, opening)
        await wallet.settle(bet, 'BET_PAID', units(20))
        const transactionId = wallet.id()
        const label = `unsettlement, then the caller disconnects (round ${round})`
        await disconnecting(
          context,
          delivery => wallet.unsettle(bet, 'UNSCORED', transactionId, { delivery, label }),
          round,
        )
        const retry = { label: 'retry of the unsettlement' }
        expect.success(await wallet.unsettle(bet, 'UNSCORED', transactionId, retry))
        await wait(pauseMs)
        await expect.balance(staked, 'after an unsettlement whose caller disconnected, and its retry')
        expect.success(await wallet.rollback(bet), opening)
      }
    },
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
      const body = write(wallet.placement(bet))
      wallet.openBets.track(bet)
      await wallet.call({
        label: 'placebet that ends before its Content-Length',
        path: '/placebet',
        body: `${body}${' '.repeat(100)}`,
        delivery: cutOff(body.length),
      })
      await wait(pauseMs)
      await expect.balance(opening, 'after the incomplete placebet')
    },
  },
  'AU-906': {
    name: 'A placebet that arrives in small pieces is accepted like any other',
    source: 'spec 1.3',
    quote: 'post-of-json',
    impact: 'Bets over a slow connection are refused or misread.',
    async run({ wallet, expect, opening }) {
      const bet = wallet.bet()
      const cuts = Array.from({ length: 16 }, (_, index) => 16 * (index + 1))
      const delivery = inPieces(cuts, 2)
      const placed = await wallet.place(bet, { delivery, label: 'placebet in pieces' })
      expect.success(placed, subtract(opening, bet.amount))
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
      const fields = wallet.placement(bet)
      // Every continuation byte of a UTF-8 character.
      const cuts = [...Buffer.from(write(fields), 'utf8').entries()]
        .filter(([, byte]) => byte >= 0x80 && byte < 0xc0)
        .map(([index]) => index)
      const delivery = inPieces(cuts, 3)
      const first = await wallet.place(bet, {
        delivery,
        label: 'placebet in pieces, split within a character of its id',
      })
      if (first.success === null) {
        expect.finalRefusal(first)
        return
      }
      const after = subtract(opening, bet.amount)
      expect.success(await wallet.place(bet, 'retry of the placebet in one piece'), after)
      await expect.executed(await wallet.rollback(bet), opening, 'after the bet was rolled back')
    },
  },
  'AU-908': {
    level: 'SHOULD',
    name: 'Slow and disconnected callers do not block the others',
    source: 'spec 1.5, A02',
    impact: 'Sixteen broken connections, and no player can bet any more.',
    async run({ wallet, expect, opening, settings, concurrently }) {
      const body = write(wallet.placement(wallet.bet()))
      let answered = (): void => {}
      const until = new Promise<void>(resolve => {
        answered = resolve
      })
      const heads: Promise<void>[] = []
      // Longer than the timeout of the placebet: a wallet that waits for the slow callers answers too late.
      const stayMs = settings.timeoutMs * 3
      const slow = concurrently(settings.concurrency, index => {
        let sent = (): void => {}
        heads.push(
          new Promise(resolve => {
            sent = resolve
          }),
        )
        const stay = () => {
          sent()
          return until
        }
        return wallet.call({
          label: `slow caller ${index + 1}: placebet without its body`,
          path: '/placebet',
          body,
          bodyCommand: 'sleep 2',
          delivery: cutOff(0, stay),
          timeoutMs: stayMs,
        })
      })
      try {
        await Promise.race([Promise.all(heads), slow])
        const bet = wallet.bet()
        const label = 'placebet during slow calls'
        const change = { label, delivery: onOwnConnection, attempts: 1 }
        let placed = await wallet.place(bet, change)
        // A fault is an answer: the wallet is not blocked. No answer is not sent again: the wallet is.
        for (let again = 1; again < 10 && (placed.status ?? 0) >= 500; again += 1)
          placed = await wallet.place(bet, change)
        const after = subtract(opening, bet.amount)
        expect.success(placed, after)
        await expect.balance(after, 'during slow calls')
      } finally {
        answered()
        await slow
      }
    },
  },
  'AU-909': {
    level: 'SHOULD',
    name: 'Concurrent calls of every kind for one bet are answered in time, and not with a fault (5xx, except 503)',
    source: 'spec 4, docs/errors.md',
    impact: 'A deadlock: bet and player are locked in opposite orders, and concurrent calls get no answer.',
    async run(context) {
      const { prepare, wallet, units, settings, random, concurrently } = context
      const canSettle = settings.settle !== 'unsupported'
      for (let round = 1; round <= settings.raceRounds; round += 1) {
        const bet = wallet.bet(units(random.between(20, 60)))
        await prepare.placedAnyhow(bet)
        if (canSettle) await wallet.trySettle(bet, 'BET_PAID', units(20))
        const once = (operation: string) => ({
          label: `concurrent ${operation} (round ${round})`,
          attempts: 1,
          mayFail: true,
        })
        const calls: ((turn: number) => Promise<Answer | null>)[] = [
          () => wallet.place(bet, once('retry of the placebet')),
          () => wallet.unsettle(bet, 'UNSCORED', undefined, once('unsettlement')),
          // The first calls of a round are not refused for a bet that is already rolled back.
          turn =>
            turn === 0 && canSettle
              ? settleOnce(context, bet)
              : wallet.rollback(bet, undefined, once('rollbackbet')),
          () => (canSettle ? settleOnce(context, bet) : wallet.place(bet, once('retry of the placebet'))),
        ]
        const answers = await concurrently(4 * Math.ceil(settings.concurrency / 4), index =>
          (calls[(index + round) % 4] as (typeof calls)[0])(Math.floor(index / 4)),
        )
        for (const answer of answers) if (answer !== null) expectNoFault(context, answer)
      }
    },
  },
})

async function settleOnce({ wallet, units }: CaseContext, bet: Bet): Promise<null> {
  await wallet.trySettle(bet, 'BET_PAID', units(20))
  return null
}

/** A 503 is certain: nothing was done, and the caller may retry. Any other fault is an unknown outcome. */
function expectNoFault({ expect }: CaseContext, answer: Answer): void {
  if (answer.status !== null && (answer.status < 500 || answer.status === 503)) return
  expect.fail('a definite answer, or 503', describeAnswer(answer), answer, withoutSuccess(answer))
}
