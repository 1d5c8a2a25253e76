/** The limits of examples/limits pass every case of `limitCases`; each broken rule fails the case about it. */
import { handlePlaceBet, type WalletOptions, WalletRefusal, type WalletStore } from 'bet-wallet'
import { checkLimits, type LimitHarness, limitCases } from 'bet-wallet/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLimits } from '../../examples/limits/limits.js'
import { type Accounts, engines, type Rule } from './accounts.js'

const timeZone = 'Europe/Berlin'

interface Opened {
  store: WalletStore
  ends: (() => Promise<unknown>)[]
  /** How far the clock is ahead. */
  ahead: { ms: number }
}

/** What the operator's code consists of. */
interface Operator {
  rule: Rule
  /** The store as the handlers are given it. */
  wrap?(store: WalletStore, accounts: Accounts): WalletStore
  walletOptions?(accounts: Accounts): WalletOptions
}

/** @param operatorOf makes the rule; its clock is moved by the kit. Called once per connection */
function harnessOf(accounts: Accounts, operatorOf: (now: () => Date) => Operator): LimitHarness<Opened> {
  const connect = ({ ahead, ends }: Omit<Opened, 'store'>) => {
    const { rule, wrap } = operatorOf(() => new Date(Date.now() + ahead.ms))
    const { store, end } = accounts.connect(rule)
    ends.push(end)
    return wrap?.(store, accounts) ?? store
  }
  const { walletOptions } = operatorOf(() => new Date())
  return {
    async open(players) {
      await accounts.reset(players)
      const opened = { ahead: { ms: 0 }, ends: [] }
      return { ...opened, store: connect(opened) }
    },
    async close({ ends }) {
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

const correct = (now: () => Date): Operator => ({ rule: createLimits({ timeZone, now }) })

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
  })
}
