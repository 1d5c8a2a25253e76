/** AU-9xx: connections that are slow or break, at any moment. */

import { subtract } from '../../platform/decimal.js'
import { write } from '../../platform/json.js'
import { withoutSuccess } from '../answer.js'
import type { AuditCase } from '../audit-case.js'
import { type Answer, type Bet, describeAnswer, type Stage } from '../stage.js'

/** After the caller has disconnected, the call may still be in flight: time for its effect to show. */
const pauseMs = 30

async function disconnecting(
  stage: Stage,
  call: (delivery: { as: 'disconnect'; afterMs: number }) => Promise<unknown>,
  round: number,
) {
  await call({ as: 'disconnect', afterMs: round === 1 ? 0 : stage.random.between(0, 4) })
}

async function placeAndDisconnect(stage: Stage, round: number): Promise<Bet> {
  const bet = stage.bet(stage.units(stage.random.between(20, 60)))
  const label = `placebet, then the caller disconnects (round ${round})`
  await disconnecting(stage, delivery => stage.place(bet, { delivery, label }), round)
  return bet
}

async function placeInPieces(stage: Stage, chunked: boolean): Promise<void> {
  const bet = stage.bet()
  const cuts = Array.from({ length: 16 }, (_, index) => 16 * (index + 1))
  const delivery = { as: 'pieces', cuts, pauseMs: 2, chunked } as const
  const label = `placebet in pieces${chunked ? ', without a Content-Length' : ''}`
  stage.expectSuccess(await stage.place(bet, { delivery, label }), subtract(stage.opening, bet.amount))
}

export const connections: readonly AuditCase[] = [
  {
    id: 'AU-901',
    level: 'MUST',
    title: 'A placebet whose caller disconnects, and its rollback right after, net to zero',
    source: 'spec 4.1, 4.3',
    quote: 'If it fails or times out, the platform sends a rollback to correct the balance.',
    impact: 'The platform treats every timeout like this: the player loses a stake that is not returned.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = await placeAndDisconnect(stage, round)
        stage.expectSuccess(await stage.rollback(bet))
        await stage.expectBalance(
          stage.opening,
          'after a placebet whose caller disconnected, and its rollback',
        )
        await stage.wait(pauseMs)
        await stage.expectBalance(stage.opening, 'a moment later')
      }
    },
  },
  {
    id: 'AU-902',
    level: 'MUST',
    title: 'A placebet whose caller disconnects and retries debits the stake once',
    source: 'spec 1.5, D2',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact: 'The first copy was debited but not recorded, and the retry debits the stake again.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = await placeAndDisconnect(stage, round)
        const after = subtract(stage.opening, bet.amount)
        stage.expectSuccess(await stage.place(bet, { label: 'retry of the placebet' }))
        await stage.wait(pauseMs)
        await stage.expectBalance(after, 'after a placebet whose caller disconnected, and its retry')
        stage.expectSuccess(await stage.rollback(bet), stage.opening)
      }
    },
  },
  {
    id: 'AU-903',
    level: 'MUST',
    title: 'A rollbackbet whose caller disconnects and retries credits the stake once',
    source: 'spec 1.5, 4.3',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact: 'Rollbacks are retried until they are confirmed: every copy credits the stake, or none does.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        await stage.placePrepared(bet)
        const transactionId = stage.id()
        const label = `rollbackbet, then the caller disconnects (round ${round})`
        await disconnecting(stage, delivery => stage.rollback(bet, transactionId, { delivery, label }), round)
        stage.expectSuccess(await stage.rollback(bet, transactionId, { label: 'retry of the rollbackbet' }))
        await stage.wait(pauseMs)
        await stage.expectBalance(stage.opening, 'after a rollback whose caller disconnected, and its retry')
      }
    },
  },
  {
    id: 'AU-904',
    level: 'MUST',
    title: 'An unsettlement whose caller disconnects and retries debits the payout once',
    source: 'spec 1.5, 4.2',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    needs: ['settle', 'clawbacks'],
    impact: 'Both the first copy and the retry debit the payout.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(50))
        const staked = await stage.placeSuccessfully(bet, stage.opening)
        await stage.settle(bet, 'BET_PAID', stage.units(20))
        const transactionId = stage.id()
        const label = `unsettlement, then the caller disconnects (round ${round})`
        await disconnecting(
          stage,
          delivery => stage.unsettle(bet, 'UNSCORED', transactionId, { delivery, label }),
          round,
        )
        const retry = { label: 'retry of the unsettlement' }
        stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED', transactionId, retry))
        await stage.wait(pauseMs)
        await stage.expectBalance(staked, 'after an unsettlement whose caller disconnected, and its retry')
        stage.expectSuccess(await stage.rollback(bet), stage.opening)
      }
    },
  },
  {
    id: 'AU-905',
    level: 'MUST',
    title:
      'An incomplete placebet changes no balance and leaves no record: the complete one is decided as new',
    source: 'spec 4.1, D8',
    impact: 'A request that was cut off is executed with the part that arrived.',
    async play(stage) {
      const bet = stage.bet()
      const body = write(stage.placement(bet))
      for (const share of [0.3, 0.9]) {
        const delivery = { as: 'part', bytes: Math.floor(body.length * share) } as const
        const label = `${share * 100} % of a placebet, then the connection is closed`
        await stage.call({ label, path: '/placebet', body, delivery })
      }
      await stage.wait(pauseMs)
      await stage.expectBalance(stage.opening, 'after incomplete placebets')
      await stage.expectDebit(bet, stage.opening)
    },
  },
  {
    id: 'AU-911',
    level: 'MAY',
    title: 'A placebet whose body is shorter than its Content-Length changes no balance',
    source: 'spec 4.1',
    impact: 'A bet is placed although its request was never completed, until the sportsbook rolls it back.',
    async play(stage) {
      const bet = stage.bet()
      const body = write(stage.placement(bet))
      stage.track(bet)
      await stage.call({
        label: 'placebet that ends before its Content-Length',
        path: '/placebet',
        body: `${body}${' '.repeat(100)}`,
        delivery: { as: 'part', bytes: body.length },
      })
      await stage.wait(pauseMs)
      await stage.expectBalance(stage.opening, 'after the incomplete placebet')
    },
  },
  {
    id: 'AU-906',
    level: 'MUST',
    title: 'A placebet that arrives in small pieces is accepted like any other',
    source: 'spec 1.3',
    quote: 'Every call is a POST with Content-Type: application/json.',
    impact: 'Bets over a slow connection are refused or misread.',
    play: stage => placeInPieces(stage, false),
  },
  {
    id: 'AU-910',
    level: 'MAY',
    title: 'A placebet without a Content-Length, in chunks, is accepted like any other',
    source: 'spec 1.3',
    impact:
      'Bets through a proxy that sends chunks are refused. Many application servers of Python cannot read them.',
    play: stage => placeInPieces(stage, true),
  },
  {
    id: 'AU-907',
    level: 'MUST',
    title: 'A character that is split by the network is read correctly',
    source: 'spec 1.5, D24',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact: 'An id with an accent becomes a different id with each retry: the stake is debited again.',
    async play(stage) {
      const id = `${stage.id()}-é球😀`
      const bet = { ...stage.bet(), transactionId: id, betId: id }
      const fields = stage.placement(bet)
      // Every continuation byte of a UTF-8 character.
      const cuts = [...Buffer.from(write(fields), 'utf8').entries()]
        .filter(([, byte]) => byte >= 0x80 && byte < 0xc0)
        .map(([index]) => index)
      const delivery = { as: 'pieces', cuts, pauseMs: 3, chunked: false } as const
      const first = await stage.place(bet, {
        delivery,
        label: 'placebet in pieces, split within a character of its id',
      })
      if (first.success === null) {
        stage.expectFinalRefusal(first)
        return
      }
      const after = subtract(stage.opening, bet.amount)
      stage.expectSuccess(await stage.place(bet, { label: 'retry of the placebet in one piece' }), after)
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
      await stage.expectBalance(stage.opening, 'after the bet was rolled back')
    },
  },
  {
    id: 'AU-908',
    level: 'SHOULD',
    title: 'Slow and disconnected callers do not block the others',
    source: 'spec 1.5, A02',
    impact: 'Sixteen broken connections, and no player can bet any more.',
    async play(stage) {
      const body = write(stage.placement(stage.bet()))
      let answered = (): void => {}
      const until = new Promise<void>(resolve => {
        answered = resolve
      })
      const heads: Promise<void>[] = []
      // Longer than the timeout of the placebet: a wallet that waits for the slow callers answers too late.
      const stayMs = stage.settings.timeoutMs * 3
      const slow = stage.concurrently(stage.settings.concurrency, index => {
        let sent = (): void => {}
        heads.push(
          new Promise(resolve => {
            sent = resolve
          }),
        )
        return stage.call({
          label: `slow caller ${index + 1}: placebet without its body`,
          path: '/placebet',
          body,
          bodyCommand: 'sleep 2',
          delivery: { as: 'headers', until, sent },
          timeoutMs: stayMs,
        })
      })
      try {
        await Promise.race([Promise.all(heads), slow])
        const bet = stage.bet()
        const label = 'placebet during slow calls'
        const change = { label, delivery: { as: 'own connection' }, attempts: 1 } as const
        let placed = await stage.place(bet, change)
        // A fault is an answer: the wallet is not blocked. No answer is not sent again: the wallet is.
        for (let again = 1; again < 10 && (placed.status ?? 0) >= 500; again += 1)
          placed = await stage.place(bet, change)
        const after = subtract(stage.opening, bet.amount)
        stage.expectSuccess(placed, after)
        await stage.expectBalance(after, 'during slow calls')
      } finally {
        answered()
        await slow
      }
    },
  },
  {
    id: 'AU-909',
    level: 'SHOULD',
    title:
      'Concurrent calls of every kind for one bet are answered in time, and not with a fault (5xx, except 503)',
    source: 'spec 4, docs/errors.md',
    impact:
      'Likely a deadlock, since concurrent calls got no answer: bet and player may be locked in opposite orders.',
    describes: ['no answer'],
    async play(stage) {
      const canSettle = stage.settings.settle !== 'unsupported'
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        await stage.placePrepared(bet)
        if (canSettle) await stage.trySettle(bet, 'BET_PAID', stage.units(20))
        const once = (operation: string) => ({
          label: `concurrent ${operation} (round ${round})`,
          attempts: 1,
          mayFail: true,
        })
        const calls: ((turn: number) => Promise<Answer | null>)[] = [
          () => stage.place(bet, once('retry of the placebet')),
          () => stage.unsettle(bet, 'UNSCORED', undefined, once('unsettlement')),
          // The first calls of a round are not refused for a bet that is already rolled back.
          turn =>
            turn === 0 && canSettle
              ? settleOnce(stage, bet)
              : stage.rollback(bet, undefined, once('rollbackbet')),
          () => (canSettle ? settleOnce(stage, bet) : stage.place(bet, once('retry of the placebet'))),
        ]
        const answers = await stage.concurrently(4 * Math.ceil(stage.settings.concurrency / 4), index =>
          (calls[(index + round) % 4] as (typeof calls)[0])(Math.floor(index / 4)),
        )
        for (const answer of answers) if (answer !== null) expectNoFault(stage, answer)
      }
    },
  },
]

async function settleOnce(stage: Stage, bet: Bet): Promise<null> {
  await stage.trySettle(bet, 'BET_PAID', stage.units(20))
  return null
}

/** A 503 is certain: nothing was done, and the caller may retry. Any other fault is an unknown outcome. */
function expectNoFault(stage: Stage, answer: Answer): void {
  if (answer.status !== null && (answer.status < 500 || answer.status === 503)) return
  stage.fail('a definite answer, or 503', describeAnswer(answer), answer, withoutSuccess(answer))
}
