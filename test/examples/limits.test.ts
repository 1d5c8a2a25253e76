import { handlePlaceBet, handleUnsettlement, recordSettlement } from 'bet-wallet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Accounts, engines } from './accounts.js'
import { brokenRules, correct, type Operator } from './broken-limits.js'
import { exclusionCases, lossCases, stakeCases } from './limit-cases.js'
import type { OpenLimited } from './limited-player.js'

const transactionDate = '2026-11-21T18:00:00Z'

/** How the wallets of one case are opened, and what releases them. */
interface Opening {
  open: OpenLimited
  close(): Promise<void>
}

/** @param operatorOf makes the rule; the case moves its clock. Called once per connection */
function openingOf(accounts: Accounts, operatorOf: (now: () => Date) => Operator): Opening {
  const ends: (() => Promise<unknown>)[] = []
  let aheadMs = 0
  const now = () => new Date(Date.now() + aheadMs)
  const { walletOptions, settled } = operatorOf(now)
  const connect = () => {
    const { rule, wrap } = operatorOf(now)
    const { store, end } = accounts.connect(rule)
    ends.push(end)
    return wrap?.(store, accounts) ?? store
  }
  const set = (column: string, playerId: string, value: string) =>
    accounts.query(`UPDATE accounts SET ${column} = ? WHERE player_id = ?`, [value, playerId])
  const close = async () => {
    await settled?.()
    for (const end of ends.splice(0)) await end()
  }
  return {
    async open(players) {
      await close()
      await accounts.reset(players)
      return {
        store: connect(),
        connect,
        ...(walletOptions && { options: walletOptions(accounts) }),
        limit: (kind, playerId, amount) =>
          set(kind === 'stakes' ? 'stake_per_day' : 'loss_per_week', playerId, amount),
        exclude: (playerId, milliseconds) => {
          const until = milliseconds === null ? '9999-12-31' : now().getTime() + milliseconds
          return set('no_bets_until', playerId, new Date(until).toISOString().slice(0, 19))
        },
        async advanceClock(milliseconds) {
          aheadMs += milliseconds
        },
      }
    },
    close,
  }
}

/** Plays a case, and closes what it has opened. */
async function play(run: (open: OpenLimited) => Promise<void>, { open, close }: Opening): Promise<void> {
  try {
    await run(open)
  } finally {
    await close()
  }
}

const suites = [
  ['stakes per day', stakeCases],
  ['losses per week', lossCases],
  ['exclusion', exclusionCases],
] as const

for (const { name, skipped, start } of engines) {
  describe.skipIf(skipped !== null)(`on ${name}${skipped === null ? '' : ` (skipped: ${skipped})`}`, () => {
    let accounts: Accounts
    beforeAll(async () => {
      accounts = await start('limits', ['limited_bets'])
    })
    afterAll(() => accounts.drop())

    describe.each(suites)('the limits of the example: %s', (_, cases) => {
      test.each(Object.entries(cases))('%s', (_, run) => play(run, openingOf(accounts, correct)))
    })

    test('given stakes above the limit after a clawback, then a free bet is accepted, and a bet is not', async () => {
      await accounts.reset([{ playerId: 'anna', currency: 'EUR', balance: '100' }])
      await accounts.query('UPDATE accounts SET stake_per_day = 10')
      const { store, end } = accounts.connect(correct(() => new Date()).rule)
      const ids = (n: number) => ({
        transactionId: `t-${n}`,
        betId: `b-${n}`,
        playerId: 'anna',
        transactionDate,
      })
      const bet = (n: number, amount: string) =>
        handlePlaceBet(store, { ...ids(n), amount, currency: 'EUR', sessionId: 's-1', betType: 'SINGLE' })
      await bet(1, '10')
      await recordSettlement(store, { ...ids(1), amount: '10', currency: 'EUR', type: 'VOIDED' })
      await bet(2, '10')
      await handleUnsettlement(store, { ...ids(1), type: 'UNVOIDED' })
      const free = await bet(3, '0')
      expect(free.ok && Number(free.balance)).toBe(80)
      expect(await bet(4, '0.01')).toMatchObject({ ok: false, errorCode: 'STAKE_LIMIT' })
      await end()
    })

    test.skipIf(name === 'PostgreSQL')(
      `a player whose id has other bytes in the players' table has the limit too${name === 'PostgreSQL' ? ' (skipped: all texts of a database have one encoding)' : ''}`,
      async () => {
        const inLatin1 = await start('limits', ['limited_bets'], 'latin1_swedish_ci')
        await inLatin1.reset([{ playerId: 'jörg', currency: 'EUR', balance: '1000' }])
        await inLatin1.query('UPDATE accounts SET stake_per_day = 100, loss_per_week = 150')
        const { store, end } = inLatin1.connect(correct(() => new Date()).rule)
        const bet = (n: number) => {
          const ids = { transactionId: `t-${n}`, betId: `b-${n}`, playerId: 'jörg', sessionId: 's-1' }
          return handlePlaceBet(store, {
            ...ids,
            amount: '40',
            currency: 'EUR',
            betType: 'SINGLE',
            transactionDate,
          })
        }
        const codes = [await bet(1), await bet(2), await bet(3)].map(each => each.ok || each.errorCode)
        expect(codes).toEqual([true, true, 'STAKE_LIMIT'])
        await inLatin1.query('UPDATE accounts SET stake_per_day = NULL')
        expect([await bet(4), await bet(5)].map(each => each.ok || each.errorCode)).toEqual([
          true,
          'LOSS_LIMIT',
        ])
        await end()
        await inLatin1.drop()
      },
    )

    // What a rule forgets is the same on every engine.
    if (name === 'PostgreSQL')
      test.each(brokenRules)('a rule that $fault fails: $foundBy', async ({ foundBy, cases, says, make }) => {
        const run = cases[foundBy]
        if (run === undefined) throw new Error(`no case: ${foundBy}`)
        await expect(play(run, openingOf(accounts, make))).rejects.toThrow(says)
      })
  })
}
