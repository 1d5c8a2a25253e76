/** The limits of examples/limits pass every case of `limitCases`; each broken rule fails the case about it. */
import { handlePlaceBet, handleUnsettlement, recordSettlement, type WalletStore } from 'bet-wallet'
import { checkLimits, type LimitHarness, limitCases } from 'bet-wallet/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Accounts, engines } from './accounts.js'
import { brokenRules, correct, type Operator } from './broken-limits.js'

const transactionDate = '2026-11-21T18:00:00Z'

interface Opened {
  store: WalletStore
  ends: (() => Promise<unknown>)[]
  /** How far the clock is ahead. */
  ahead: { ms: number }
}

/** @param operatorOf makes the rule; its clock is moved by the kit. Called once per connection */
function harnessOf(accounts: Accounts, operatorOf: (now: () => Date) => Operator): LimitHarness<Opened> {
  const connect = ({ ahead, ends }: Omit<Opened, 'store'>) => {
    const { rule, wrap } = operatorOf(() => new Date(Date.now() + ahead.ms))
    const { store, end } = accounts.connect(rule)
    ends.push(end)
    return wrap?.(store, accounts) ?? store
  }
  const { walletOptions, settled } = operatorOf(() => new Date())
  return {
    async open(players) {
      await accounts.reset(players)
      const opened = { ahead: { ms: 0 }, ends: [] }
      return { ...opened, store: connect(opened) }
    },
    async close({ ends }) {
      await settled?.()
      for (const end of ends) await end()
    },
    reopen: connect,
    ...(walletOptions && { walletOptions: () => walletOptions(accounts) }),
    async limitStakes(_, playerId, amount) {
      await accounts.query('UPDATE accounts SET stake_per_day = ? WHERE player_id = ?', [amount, playerId])
    },
    async limitLosses(_, playerId, amount) {
      await accounts.query('UPDATE accounts SET loss_per_week = ? WHERE player_id = ?', [amount, playerId])
    },
    async exclude({ ahead }, playerId, milliseconds) {
      const until = milliseconds === null ? null : new Date(Date.now() + ahead.ms + milliseconds)
      await accounts.query('UPDATE accounts SET no_bets_until = ? WHERE player_id = ?', [
        until?.toISOString().slice(0, 19) ?? '9999-12-31T00:00:00',
        playerId,
      ])
    },
    advanceClock({ ahead }, milliseconds) {
      ahead.ms += milliseconds
    },
  }
}

for (const { name, skipped, start } of engines) {
  describe.skipIf(skipped !== null)(`on ${name}${skipped === null ? '' : ` (skipped: ${skipped})`}`, () => {
    let accounts: Accounts
    beforeAll(async () => {
      accounts = await start('limits', ['limited_bets'])
    })
    afterAll(() => accounts.drop())

    const lazily: LimitHarness<Opened> = new Proxy({} as LimitHarness<Opened>, {
      get: (_, hook) => Reflect.get(harnessOf(accounts, correct), hook),
    })
    describe('the limits of the example', () => {
      for (const { title, run } of limitCases(lazily, { runs: 40 })) test(title, run)
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
      test.each(brokenRules)('a rule that $fault fails $foundBy', async ({ foundBy, says, make }) => {
        const { results } = await checkLimits(harnessOf(accounts, make), { only: [foundBy], print: null })
        expect(results).toMatchObject([{ result: 'failed', detail: expect.stringMatching(says) }])
      })
  })
}
