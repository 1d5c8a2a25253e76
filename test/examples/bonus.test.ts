/** Bonus money and free bets (examples/bonus): to the cent, on both engines, whatever comes twice. */
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletStore,
} from 'bet-wallet'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { changeFunds, createBonus } from '../../examples/bonus/bonus.js'
import { type Accounts, engines } from './accounts.js'
import { BonusModel, type Movement, movements } from './bonus-model.js'

const transactionDate = '2026-11-21T18:00:00Z'
const rule = createBonus({ EUR: 2 })

for (const { name, skipped, start } of engines) {
  describe.skipIf(skipped !== null)(`on ${name}${skipped === null ? '' : ` (skipped: ${skipped})`}`, () => {
    let accounts: Accounts
    let store: WalletStore
    let end: () => Promise<unknown>
    beforeAll(async () => {
      accounts = await start('bonus', ['bet_funds', 'bonus_entries'])
    })
    beforeEach(async () => {
      await accounts.reset([{ playerId: 'anna', currency: 'EUR', balance: '0' }])
      ;({ store, end } = accounts.connect(rule))
    })
    afterEach(() => end())
    afterAll(() => accounts.drop())

    const send = (movement: Movement, playerId = 'anna') => {
      const { step, transactionId, betId, amount } = movement
      const request = { transactionId, betId, playerId, transactionDate }
      const money = { amount, currency: 'EUR' }
      if (step === 'place')
        return handlePlaceBet(store, { ...request, ...money, sessionId: 's-1', betType: 'SINGLE' })
      if (step === 'roll back') return handleRollbackBet(store, { ...request, type: 'TECHNICAL_ERROR' })
      if (step === 'claw back win') return handleUnsettlement(store, { ...request, type: 'UNSCORED' })
      if (step === 'claw back void') return handleUnsettlement(store, { ...request, type: 'UNVOIDED' })
      return recordSettlement(store, { ...request, ...money, type: step === 'void' ? 'VOIDED' : 'BET_PAID' })
    }
    let ids = 0
    /** Sends it twice: the second one is a retry. */
    const move = async (step: Movement['step'], betId: string, amount = '') => {
      const movement = { step, betId, amount, transactionId: `t-${++ids}` }
      const first = await send(movement)
      expect(await send(movement)).toMatchObject({ ok: first.ok })
      return first
    }
    const change = (funds: Omit<Parameters<typeof changeFunds>[2], 'reference'>, playerId = 'anna') =>
      accounts.transaction(query => changeFunds(query, playerId, { ...funds, reference: `pam-${++ids}` }))

    /** Cash, bonus and free bets, in cents. */
    const fundsOf = async (playerId = 'anna') => {
      const { rows } = await accounts.query(
        `SELECT balance, bonus, free_bets, (
            SELECT COALESCE(SUM(amount), 0) FROM bonus_entries WHERE player_id = ?
          ) AS entries FROM accounts WHERE player_id = ?`,
        [playerId, playerId],
      )
      const [row] = rows as [Record<'balance' | 'bonus' | 'free_bets' | 'entries', string>]
      const [balance, bonus, entries] = [row.balance, row.bonus, row.entries].map(text =>
        Math.round(Number(text) * 100),
      ) as [number, number, number]
      expect(entries).toBe(bonus)
      return { cash: balance - bonus, bonus, freeBets: Number(row.free_bets) }
    }
    /** Of each bet with a row, in cents. */
    const returned = async () =>
      (
        (await accounts.query('SELECT bet_id, returned FROM bet_funds')).rows as Record<string, unknown>[]
      ).map(row => [String(row.bet_id), Math.round(Number(row.returned) * 100)] as const)
    const everything = async () => [
      (await accounts.query('SELECT * FROM accounts ORDER BY player_id')).rows,
      (await accounts.query('SELECT * FROM bet_funds ORDER BY bet_id')).rows,
      (await accounts.query('SELECT * FROM bonus_entries ORDER BY reference')).rows,
    ]

    test('given cash and bonus, when a bet is placed, then cash is used first; a rollback returns both', async () => {
      await change({ cash: '3.33', bonus: '10' })
      await move('place', 'b-1', '10')
      expect(await fundsOf()).toEqual({ cash: 0, bonus: 333, freeBets: 0 })
      await move('roll back', 'b-1')
      await move('roll back', 'b-1')
      expect(await fundsOf()).toEqual({ cash: 333, bonus: 1000, freeBets: 0 })
    })

    test('when such a bet wins, then both get their share, and the odd cent is cash', async () => {
      await change({ cash: '3.33', bonus: '10' })
      await move('place', 'b-1', '10')
      await move('win', 'b-1', '25.55') // of 6.67 in 10: 17.04185
      expect(await fundsOf()).toEqual({ cash: 851, bonus: 333 + 1704, freeBets: 0 })
      await move('claw back win', 'b-1')
      expect(await fundsOf()).toEqual({ cash: 0, bonus: 333, freeBets: 0 })
    })

    test('when such a bet is voided in parts, then the parts add up to the stake', async () => {
      await change({ cash: '3.33', bonus: '10' })
      await move('place', 'b-1', '10')
      for (const amount of ['0.01', '3.33', '3.33', '3.32', '0.01']) await move('void', 'b-1', amount)
      expect(await fundsOf()).toEqual({ cash: 333, bonus: 1000, freeBets: 0 })
      await move('claw back void', 'b-1')
      expect(await fundsOf()).toEqual({ cash: 0, bonus: 333, freeBets: 0 })
    })

    test('given a spent bonus, when its win is clawed back, then cash pays, and the next win evens it out', async () => {
      await change({ bonus: '10' })
      await move('place', 'b-1', '10')
      await move('win', 'b-1', '20')
      await move('place', 'b-2', '20')
      await change({ cash: '50' })
      await move('claw back win', 'b-1')
      expect(await fundsOf()).toEqual({ cash: 3000, bonus: 0, freeBets: 0 })
      await move('win', 'b-1', '20')
      expect(await fundsOf()).toEqual({ cash: 5000, bonus: 0, freeBets: 0 })
    })

    test('given spent cash, when a win is clawed back, then the bonus pays; a credit returns it', async () => {
      await change({ cash: '10' })
      await move('place', 'b-1', '10')
      await move('win', 'b-1', '15')
      await move('place', 'b-2', '15')
      await change({ bonus: '20' })
      await move('claw back win', 'b-1')
      expect(await fundsOf()).toEqual({ cash: 0, bonus: 500, freeBets: 0 })
      expect(await returned()).toEqual([['b-1', 0]])
      await move('win', 'b-1', '15')
      expect(await fundsOf()).toEqual({ cash: 0, bonus: 2000, freeBets: 0 })
    })

    test('given a clawback that the funds do not cover, then nothing is split (D7)', async () => {
      await change({ bonus: '10' })
      await move('place', 'b-1', '10')
      await move('win', 'b-1', '20')
      await move('place', 'b-2', '15')
      expect(await move('claw back win', 'b-1')).toMatchObject({ errorCode: 'INSUFFICIENT_FUNDS' })
      expect(await fundsOf()).toEqual({ cash: 0, bonus: 500, freeBets: 0 })
    })

    test('given one free bet, then one bet of 0 is accepted; a rollback or void returns it; wins are cash', async () => {
      const noFreeBet = { ok: false, errorCode: 'NO_FREE_BET' }
      await change({ freeBets: 1 })
      expect(await move('place', 'b-1', '0')).toMatchObject({ ok: true })
      expect(await move('place', 'b-2', '0')).toMatchObject(noFreeBet)
      await move('roll back', 'b-1')
      await move('roll back', 'b-1')
      expect(await move('place', 'b-3', '0')).toMatchObject({ ok: true })
      await move('void', 'b-3', '0')
      await move('void', 'b-3', '0')
      expect(await fundsOf()).toEqual({ cash: 0, bonus: 0, freeBets: 1 })
      await move('claw back void', 'b-3')
      expect(await move('place', 'b-4', '0')).toMatchObject(noFreeBet)
      await move('win', 'b-3', '7.77')
      expect(await fundsOf()).toEqual({ cash: 777, bonus: 0, freeBets: 0 })
    })

    test('given one free bet, when two bets of 0 are sent at once, then one is accepted', async () => {
      await change({ freeBets: 1 })
      const bets = [1, 2, 3].map(n =>
        send({ step: 'place', transactionId: `f-${n}`, betId: `b-${n}`, amount: '0' }),
      )
      const codes = (await Promise.all(bets)).map(outcome => (outcome.ok ? 'ok' : outcome.errorCode))
      expect(codes.sort()).toEqual(['NO_FREE_BET', 'NO_FREE_BET', 'ok'])
    })

    test('when the PAM changes funds, then neither cash nor bonus falls below 0', async () => {
      await change({ cash: '10', bonus: '5' })
      expect(await change({ cash: '-10.01' })).toBe(false)
      expect(await change({ bonus: '-5.01' })).toBe(false)
      expect(await change({ cash: '5', bonus: '-5' })).toBe(true)
      expect(await fundsOf()).toEqual({ cash: 1500, bonus: 0, freeBets: 0 })
    })

    test('after any sequence cash and bonus are those of the model, and their sum is the balance; duplicates change nothing', async () => {
      let players = 0
      const property = fc.asyncProperty(movements, async steps => {
        const playerId = `anna-${++players}`
        await accounts.query("INSERT INTO accounts (player_id, currency, balance) VALUES (?, 'EUR', 0)", [
          playerId,
        ])
        const model = new BonusModel(playerId)
        const sent: Movement[] = []
        for (const step of steps) {
          if (step.step === 'PAM') {
            const { cash, bonus, freeBets } = step
            const funds = { cash: String(cash / 100), bonus: String(bonus / 100), freeBets }
            expect(await change(funds, playerId)).toBe(model.change(step))
          } else {
            const movement = model.movementOf(step)
            // Two copies at once: one of them is a retry.
            const [outcome] = await Promise.all([send(movement, playerId), send(movement, playerId)])
            model.perform(movement, outcome)
            // Every other refusal is decided again (D8).
            if (outcome?.ok || step.step === 'place') sent.push(movement)
          }
          expect(await fundsOf(playerId)).toEqual(model.funds)
          const ofModel = model.returned
          for (const [betId, cents] of await returned())
            if (ofModel.has(betId)) expect(cents).toBe(ofModel.get(betId))
        }
        const before = await everything()
        await Promise.all(sent.map(movement => send(movement, playerId)))
        expect(await everything()).toEqual(before)
      })
      await fc.assert(property, { numRuns: 40, seed: 1 })
    })
  })
}
