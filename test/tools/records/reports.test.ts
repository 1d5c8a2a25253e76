/** Pages for a dispute: the questions of a player and of finance, answered in plain words. */
import { describe, expect, it } from 'vitest'
import { stateOf } from '../../../src/lookups/bet-state.js'
import type { BetHistory, RecordedTransaction } from '../../../src/lookups/index.js'
import { renderBet, renderUnknownBet } from '../../../src/tools/dispute/bet-page.js'
import { renderPlayer } from '../../../src/tools/dispute/player-page.js'
import { expectGoodPage, textOf } from '../html/page-rules.js'
import { disputedWallet } from './disputed.js'

const wallet = await disputedWallet()
const time = /\d{1,2} \w+ \d{4}, \d\d:\d\d:\d\d UTC/g
const pageOf = async (betId: string) => renderBet(await wallet.bet(betId))
/** The upper part of the page, by the name of the answer. */
const answersOf = (page: string) =>
  Object.fromEntries(
    [...(page.split('</header>')[0] ?? '').matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(
      ([, name = '', text = '']) => [name, textOf(text).trim().replace(time, 'TIME')],
    ),
  )

describe('the questions of a dispute', () => {
  it('where is my stake, and why was my win taken back', async () => {
    expect(answersOf(await pageOf('corrected'))).toEqual({
      Stake:
        'The stake of 30.00 EUR was debited. That was on TIME , and the balance went from 100.00 EUR to 70.00 EUR.',
      Refused: 'The bet belongs to another player; nothing was debited. That was on TIME .',
      Result:
        'The bet was settled: the payout of 75.50 EUR was credited. That was on TIME , and the balance went from 70.00 EUR to 145.50 EUR. The platform corrected the result, so the payout of 75.50 EUR was taken back. That was on TIME , and the balance went from 145.50 EUR to 70.00 EUR.',
      Refund: 'None: the bet was neither rolled back nor declared void.',
      'In sum': '-30.00 EUR by the calls below.',
    })
  })

  it('why was my bet refused', async () => {
    expect(answersOf(await pageOf('refused'))).toEqual({
      Stake: 'Nothing was debited.',
      Refused:
        'The balance of 70.00 EUR did not cover the stake of 500.00 EUR; nothing was debited, and the refusal is final. That was on TIME .',
      'In sum': '0.00 EUR by the calls below.',
    })
    expect(answersOf(await pageOf('late')).Refused).toMatch(/^The platform had rolled the bet back already/)
    expect(answersOf(await pageOf('foreign')).Refused).toMatch(/^The bet was in USD, which is not/)
  })

  it('where is my refund', async () => {
    expect(answersOf(await pageOf('returned'))).toMatchObject({
      Refund:
        'The platform rolled the bet back: the stake of 10.00 EUR was returned. That was on TIME , and the balance went from 60.00 EUR to 70.00 EUR.',
      'In sum': '0.00 EUR by the calls below.',
    })
    expect(answersOf(await pageOf('open'))).toMatchObject({
      Result: 'None has arrived.',
      Refund: 'None: the bet was neither rolled back nor declared void.',
    })
  })

  it('what does the player still owe', async () => {
    expect(answersOf(await pageOf('owed'))).toMatchObject({
      Result: expect.stringMatching(
        /The platform corrected the result, but the balance of 0\.00 EUR did not cover the payout: nothing was taken back, and the amount is owed to the platform, which nets it off later winnings\. That was on TIME \.$/,
      ),
      Owed: '40.00 EUR, to the platform: it nets this off later winnings.',
      'In sum': '+20.00 EUR by the calls below.',
    })
  })

  it('what was my balance before and after: beside each call', async () => {
    const text = textOf(await pageOf('returned')).replace(time, 'TIME')
    expect(text).toContain('-10.00 EUR balance 70.00 EUR → 60.00 EUR')
    expect(text).toContain('+10.00 EUR balance 60.00 EUR → 70.00 EUR')
  })

  it.each(['corrected', 'returned', 'refused', 'owed', 'open', 'late', 'foreign'])(
    'the answers need no term of the interface, and the page has it behind: %s',
    async betId => {
      const page = await pageOf(betId)
      const terms = /\bD\d+|spec \d|placebet|rollbackbet|unsettlement|BET_PAID|INSUFFICIENT|INVALID/
      expect(textOf(page.split('</header>')[0] ?? '')).not.toMatch(terms)
      const sentences = [...page.matchAll(/<div><p>(.*?)<\/p><p class="terms">(.*?)<\/p>/g)]
      expect(sentences.length).toBeGreaterThan(0)
      for (const [, sentence, small] of sentences) {
        expect(sentence).not.toMatch(terms)
        expect(small).not.toMatch(/\b(?:amount|betId|currency): /)
        expect(small).toMatch(/^(placebet|settlement|unsettlement|rollbackbet).* · bet .* · rule (D\d+|spec)/)
      }
      expectGoodPage(page)
    },
  )
})

it('never shows the balance of another player', async () => {
  const page = await pageOf('corrected')
  expect(page).toContain('player kenji')
  expect(page).not.toContain('77700077')
  const history = await wallet.bet('corrected')
  const transactions = history.transactions.map(each =>
    each.playerId === 'kenji' ? { ...each, delta: '-30', refusal: null } : each,
  )
  expect(renderBet({ ...history, transactions })).not.toMatch(/77700077|77700107/)
})

describe('the state of a bet', () => {
  const states = {
    corrected: 'Open again: the result was corrected',
    ...{ returned: 'Rolled back', refused: 'Refused', open: 'Open', late: 'Cancelled before it arrived' },
  }
  it.each(Object.entries(states))('%s: %s', async (betId, state) => {
    expect(stateOf(await wallet.bet(betId))).toBe(state)
  })

  const credit = (live: string | null) => ({ live, reversed: '0', owed: '0' })
  it.each([
    [{ BET_PAID: credit('40') }, 'Settled'],
    [{ BET_PAID: credit('0.00') }, 'Lost'],
    [{ VOIDED: credit('90') }, 'Declared void'],
    [{ CASHOUT: credit('5') }, 'Cashed out'],
    [{ BET_PAID: credit('0'), CASHOUT: credit('5') }, 'Settled'],
    [{ BET_PAID: credit('40'), VOIDED: credit(null) }, 'Settled'],
  ])('%j: %s', async (credits, state) => {
    const { bet } = await wallet.bet('open')
    expect(stateOf({ bet: bet && { ...bet, credits }, transactions: [] })).toBe(state)
  })

  it('unknown: no record, in words for support', () => {
    expect(stateOf({ bet: null, transactions: [] })).toBe('Unknown')
    const page = renderUnknownBet('b-9')
    expectGoodPage(page)
    expect(textOf(page)).toMatch(/Bet b-9 Unknown .* neither a bet nor a recorded call/)
    expect(textOf(page)).not.toMatch(/\bD\d+|5xx|placebet|In sum/)
  })

  it('of a legacy integration: its stake was debited before', async () => {
    const { bet } = await wallet.bet('open')
    expect(answersOf(renderBet({ betId: 'b', bet, transactions: [] })).Stake).toBe(
      '90.00 EUR, debited before this wallet was in use, or by other code.',
    )
  })
})

it('shows the last three of many refusals, and how many more there are', async () => {
  const history = await wallet.bet('refused')
  const [refused] = history.transactions as [RecordedTransaction]
  const transactions = Array.from({ length: 9 }, (_, index) => ({ ...refused, transactionId: `t-${index}` }))
  const answer = answersOf(renderBet({ ...history, transactions })).Refused
  expect(answer?.match(/did not cover/g)).toHaveLength(3)
  expect(answer).toMatch(/^Before that 6 calls, below\./)
})

describe('a player', () => {
  const player = async (limit = 50) => {
    const history = await wallet.player({ limit })
    return { history, bets: await wallet.betsOf(history) }
  }
  const linesOf = (page: string) =>
    [...page.matchAll(/<li class="(?:none|warn)"><p class="when">[\s\S]*?<\/li>/g)].map(([line]) =>
      textOf(line).trim().replace(time, 'TIME'),
    )

  it('has every call in the order of time, with the balance before and after', async () => {
    const { history, bets } = await player()
    const page = renderPlayer(history, bets)
    expectGoodPage(page)
    const lines = linesOf(page)
    expect(lines).toHaveLength(history.transactions.length)
    expect(lines[0]).toMatch(
      /^TIME Bet corrected The stake of 30\.00 EUR was debited\. .*-30\.00 EUR balance 100\.00 EUR → 70\.00 EUR$/,
    )
    expect(lines.at(-1)).toMatch(/The bet was in USD.* 0\.00 EUR balance 0\.00 EUR$/)
    expect(page).toContain('<desc>from 100.00 EUR to 0.00 EUR, lowest 0.00 EUR, highest 145.50 EUR</desc>')
    expect(textOf(page)).toMatch(/corrected Open again: the result was corrected 30\.00 EUR -30\.00 EUR –/)
    expect(textOf(page)).toMatch(
      /owed Open again: the result was corrected 20\.00 EUR \+20\.00 EUR 40\.00 EUR/,
    )
  })

  it('has what other code changed, between two calls and since the last', async () => {
    const { history, bets } = await player()
    const changed = history.transactions.map((transaction, index) =>
      index === 12 ? { ...transaction, balanceAfter: '65.5' } : transaction,
    )
    const other = {
      ...history,
      transactions: changed,
      player: { playerId: 'anna', currency: 'EUR', balance: '7' },
    }
    const others = (page: string) => linesOf(page).filter(line => line.startsWith('Other changes'))
    expect(others(renderPlayer(other, bets))).toEqual([
      expect.stringMatching(/ \+4\.50 EUR$/),
      expect.stringMatching(/ \+7\.00 EUR$/),
    ])
    expect(others(renderPlayer(other, bets, { to: '2999-01-01' }))).toHaveLength(1)
    expect(others(renderPlayer(other, bets, { cursor: 'x' }))).toHaveLength(1)
  })

  it('of concurrent calls whose times are in another order than their balances, invents no change', async () => {
    const { history } = await player(1)
    const [call] = history.transactions as [RecordedTransaction]
    const at = (second: string, delta: string, balanceAfter: string): RecordedTransaction => ({
      ...{ ...call, recordedAt: `2026-11-22T10:00:${second}Z`, transactionId: second },
      ...{ delta, balanceAfter, refusal: null },
    })
    const first = at('00.000', '-1', '100')
    const [late, early, next] = [
      at('20.000', '-10', '140'),
      at('20.200', '50', '150'),
      at('50.000', '5', '145'),
    ]
    const pageFor = (transactions: RecordedTransaction[]) =>
      linesOf(
        renderPlayer(
          {
            ...{ ...history, transactions: transactions.toReversed() },
            player: { playerId: 'anna', currency: 'EUR', balance: '145' },
          },
          [],
        ),
      )
    const balances = ['150.00 EUR', '140.00 EUR', '145.00 EUR']
    for (const transactions of [
      [first, late, early, next],
      [late, early, next],
    ]) {
      const lines = pageFor(transactions)
      expect(lines).toHaveLength(transactions.length)
      expect(lines.slice(-3).map(line => line.split('→ ')[1])).toEqual(balances)
    }
    // No order of these explains the balances: a deposit.
    const deposited = [first, at('01.000', '-10', '190')]
    expect(pageFor(deposited)[1]).toMatch(/^Other changes.* \+100\.00 EUR$/)
  })

  it('names the cursor of older transactions', async () => {
    const { history, bets } = await player(3)
    const page = renderPlayer(history, bets, { limit: 3 })
    expect(linesOf(page)).toHaveLength(3)
    expect(textOf(page)).toContain('Older transactions exist: --cursor 3')
  })

  it('may have no transactions, and no row in the players table', () => {
    const page = renderPlayer({ playerId: 'x', player: null, transactions: [], bets: [], next: null }, [])
    expectGoodPage(page)
    expect(textOf(page)).toContain('Not in the players')
  })

  it('whose bet was forgotten meanwhile: the call is shown without a reason', async () => {
    const { history } = await player(1)
    expect(linesOf(renderPlayer(history, []))[0]).toMatch(/^TIME Bet foreign Recorded\. .*rule \?/)
  })
})

it('no text of the platform becomes markup, or invisible', async () => {
  const attack = '"><script>x</script>\u202e'
  const hostile = await disputedWallet(attack.replace('\u202e', ''))
  const history = await hostile.player()
  const bets = await hostile.betsOf(history)
  const transactions = (bets[0] as BetHistory).transactions.map(transaction => ({
    ...{ ...transaction, walletTransactionId: attack, recordedAt: attack, transactionDate: attack },
    refusal: { errorCode: attack, description: attack },
  }))
  for (const page of [
    ...bets.map(renderBet),
    renderPlayer(history, bets),
    renderBet({ ...(bets[0] as BetHistory), transactions }),
  ]) {
    expectGoodPage(page)
    expect(page).not.toContain('\u202e')
  }
})
