/** AU-9xx: connections that are slow or break. The network does not ask whether it is a good moment. */
import type { AuditCase } from '../case.js'
import { subtract } from '../decimal.js'
import { write } from '../json.js'
import type { Bet, Stage } from '../stage.js'

/** Once nobody waits for the answer, the call may still be under way: until what it does is seen, or certainly nothing is. */
const pauseMs = 30

async function hungUp(
  stage: Stage,
  call: (line: { as: 'hang up'; afterMs: number }) => Promise<unknown>,
  round: number,
) {
  await call({ as: 'hang up', afterMs: round === 1 ? 0 : stage.random.between(0, 4) })
}

async function hangUpOnPlacebet(stage: Stage, round: number): Promise<Bet> {
  const bet = stage.bet(stage.units(stage.random.between(20, 60)))
  const label = `placebet, and the caller hangs up (round ${round})`
  await hungUp(stage, line => stage.place(bet, { line, label }), round)
  return bet
}

export const lines: readonly AuditCase[] = [
  {
    id: 'AU-901',
    level: 'MUST',
    title: 'A caller who hangs up after a placebet and rolls it back at once finds that nothing was taken',
    source: 'spec 4.1, 4.3',
    impact: 'That is how the platform treats every time-out: what is not undone is lost to the player.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = await hangUpOnPlacebet(stage, round)
        stage.accepted(await stage.rollback(bet))
        await stage.holds(stage.opening, 'after a placebet whose caller hung up, and its rollback')
        await stage.wait(pauseMs)
        await stage.holds(stage.opening, 'a moment later')
      }
    },
  },
  {
    id: 'AU-902',
    level: 'MUST',
    title: 'A caller who hangs up after a placebet and sends it again finds one stake taken',
    source: 'spec 1.5, D2',
    impact: 'The first copy was taken and forgotten, and the second one takes again.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = await hangUpOnPlacebet(stage, round)
        const after = subtract(stage.opening, bet.amount)
        stage.accepted(await stage.place(bet, { label: 'the same placebet again' }))
        await stage.wait(pauseMs)
        await stage.holds(after, 'after a placebet whose caller hung up, and its repetition')
        stage.accepted(await stage.rollback(bet), stage.opening)
      }
    },
  },
  {
    id: 'AU-903',
    level: 'MUST',
    title: 'A caller who hangs up after a rollbackbet and sends it again finds the stake given back once',
    source: 'spec 1.5, 4.3',
    impact: 'Rollbacks are repeated until they are heard: each copy pays again, or none does.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        stage.accepted(await stage.place(bet))
        const transactionId = stage.id()
        const label = `rollbackbet, and the caller hangs up (round ${round})`
        await hungUp(stage, line => stage.rollback(bet, transactionId, { line, label }), round)
        stage.accepted(await stage.rollback(bet, transactionId, { label: 'the same rollbackbet again' }))
        await stage.wait(pauseMs)
        await stage.holds(stage.opening, 'after a rollback whose caller hung up, and its repetition')
      }
    },
  },
  {
    id: 'AU-904',
    level: 'MUST',
    title: 'A caller who hangs up after an unsettlement and sends it again finds the payout taken once',
    source: 'spec 1.5, 4.2',
    needs: ['settle', 'clawbacks'],
    impact: 'The payout is taken by the first copy and by the second.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(50))
        const staked = await stage.placed(bet, stage.opening)
        await stage.settle(bet, 'BET_PAID', stage.units(20))
        const transactionId = stage.id()
        const label = `unsettlement, and the caller hangs up (round ${round})`
        await hungUp(stage, line => stage.unsettle(bet, 'UNSCORED', transactionId, { line, label }), round)
        const again = { label: 'the same unsettlement again' }
        stage.accepted(await stage.unsettle(bet, 'UNSCORED', transactionId, again))
        await stage.wait(pauseMs)
        await stage.holds(staked, 'after an unsettlement whose caller hung up, and its repetition')
        stage.accepted(await stage.rollback(bet), stage.opening)
      }
    },
  },
  {
    id: 'AU-905',
    level: 'MUST',
    title: 'Half a placebet moves nothing and leaves no trace: the whole one is decided as new',
    source: 'spec 4.1, D8',
    impact: 'A call that broke on the way is taken by what had arrived of it.',
    async play(stage) {
      const bet = stage.bet()
      const body = write(stage.placement(bet))
      for (const share of [0.3, 0.9]) {
        const line = { as: 'half', bytes: Math.floor(body.length * share) } as const
        const label = `${share * 100} % of a placebet, and the connection is closed`
        await stage.call({ label, path: '/placebet', body, line })
      }
      await stage.call({
        label: 'a placebet that breaks off before the length that it declared',
        path: '/placebet',
        body: `${body}${' '.repeat(100)}`,
        line: { as: 'half', bytes: body.length },
      })
      await stage.wait(pauseMs)
      await stage.holds(stage.opening, 'after parts of a placebet')
      await stage.placed(bet, stage.opening)
    },
  },
  {
    id: 'AU-906',
    level: 'MUST',
    title: 'A placebet that arrives byte by byte is taken like any other, also without a Content-Length',
    source: 'spec 1.3',
    impact: 'A slow line, or a proxy that sends in chunks, and bets are refused or misread.',
    async play(stage) {
      let balance = stage.opening
      for (const chunked of [false, true]) {
        const bet = stage.bet()
        balance = subtract(balance, bet.amount)
        const cuts = Array.from({ length: 16 }, (_, index) => 16 * (index + 1))
        const line = { as: 'pieces', cuts, pauseMs: 2, chunked } as const
        const label = `placebet in pieces${chunked ? ', without a Content-Length' : ''}`
        stage.accepted(await stage.place(bet, { line, label }), balance)
      }
    },
  },
  {
    id: 'AU-907',
    level: 'MUST',
    title: 'A character that is cut in two by the network is the same character',
    source: 'spec 1.5, D24',
    impact: 'An id with an accent is another id at each retry: the stake is taken again.',
    async play(stage) {
      const id = `${stage.id()}-é球😀`
      const bet = { ...stage.bet(), transactionId: id, betId: id }
      const fields = stage.placement(bet)
      // Every byte that goes on with a character that began before it.
      const cuts = [...Buffer.from(write(fields), 'utf8').entries()]
        .filter(([, byte]) => byte >= 0x80 && byte < 0xc0)
        .map(([index]) => index)
      const line = { as: 'pieces', cuts, pauseMs: 3, chunked: false } as const
      const first = await stage.place(bet, { line, label: 'placebet whose id is cut within a character' })
      if (first.success === null) {
        stage.definite(first)
        return
      }
      const after = subtract(stage.opening, bet.amount)
      stage.accepted(await stage.place(bet, { label: 'the same placebet in one piece' }), after)
      stage.accepted(await stage.rollback(bet), stage.opening)
      await stage.holds(stage.opening, 'after the bet was rolled back')
    },
  },
  {
    id: 'AU-908',
    level: 'MUST',
    title: 'Callers who are slow or have gone do not block the others',
    source: 'spec 1.5, scenario A02',
    impact: 'Sixteen broken phones, and nobody can bet any more.',
    async play(stage) {
      const body = write(stage.placement(stage.bet()))
      let answered = (): void => {}
      const until = new Promise<void>(resolve => {
        answered = resolve
      })
      const heads: Promise<void>[] = []
      // They stay until the others are answered; a wallet that waits for them answers too late.
      const stayMs = stage.settings.timeoutMs * 3
      const slow = stage.together(stage.settings.concurrency, index => {
        let sent = (): void => {}
        heads.push(
          new Promise(resolve => {
            sent = resolve
          }),
        )
        return stage.call({
          label: `slow caller ${index + 1}: a placebet whose body does not come`,
          path: '/placebet',
          body,
          bodyCommand: 'sleep 2',
          line: { as: 'head only', until, sent },
          timeoutMs: stayMs,
        })
      })
      try {
        await Promise.race([Promise.all(heads), slow])
        const bet = stage.bet()
        const label = 'placebet beside slow callers'
        const after = subtract(stage.opening, bet.amount)
        stage.accepted(await stage.place(bet, { label, line: { as: 'alone' } }), after)
        await stage.holds(after, 'beside slow callers')
      } finally {
        answered()
        await slow
      }
    },
  },
]
