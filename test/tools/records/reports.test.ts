/** Pages for a dispute: the questions of a player and of finance, answered in plain words. */
import { beforeAll, describe, expect, it } from 'vitest'
import { stateOf } from '../../../src/lookups/bet-state.js'
import type { BetHistory, RecordedTransaction } from '../../../src/lookups/index.js'
import { betReport, unknownBetReport } from '../../../src/tools/records/bet.js'
import { owedReport } from '../../../src/tools/records/owed.js'
import { playerReport } from '../../../src/tools/records/player.js'
import { transactionReport } from '../../../src/tools/records/transaction.js'
import { pageOf } from '../../../src/tools/report/page.js'
import { textOf as asText } from '../../../src/tools/report/text.js'
import { expectGoodPage, textOf } from '../report/page-rules.js'
import { disputedWallet } from './disputed.js'

const renderBet = (history: BetHistory) => pageOf(betReport(history))
const renderPlayer = (...given: Parameters<typeof playerReport>) => pageOf(playerReport(...given))
/** The rows of the table of this section, each cell after its column's name. */
const rowsOf = (page: string, heading: string) => {
  const section = page.split('<section>').find(each => each.startsWith(`<h2>${heading}</h2>`)) ?? ''
  return [...section.matchAll(/<tr>(<td[\s\S]*?)<\/tr>/g)].map(([, row = '']) =>
    Object.fromEntries(
      [...row.matchAll(/<td data-name="(.*?)".*?>([\s\S]*?)<\/td>/g)].map(([, name = '', text = '']) => [
        textOf(name),
        textOf(text).trim(),
      ]),
    ),
  )
}

const wallet = await disputedWallet()
const time = /\d{1,2} \w+ \d{4}, \d\d:\d\d:\d\d UTC/g
const bet = async (betId: string) => renderBet(await wallet.bet(betId))
/** The upper part of the page, by the name of the answer. */
const answersOf = (page: string) =>
  Object.fromEntries(
    [...(page.split('</header>')[0] ?? '').matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(
      ([, name = '', text = '']) => [name, textOf(text).trim().replace(time, 'TIME')],
    ),
  )

describe('the questions of a dispute', () => {
  it('where is my stake, and why was my win taken back', async () => {
    expect(textOf(await bet('corrected'))).toContain('-30.00 EUR in sum, by these calls')
    expect(answersOf(await bet('corrected'))).toEqual({
      Stake:
        'The stake of 30.00 EUR was debited. That was on TIME, and the balance went from 100.00 EUR to 70.00 EUR.',
      Refused: 'The bet belongs to another player; nothing was debited. That was on TIME.',
      Result:
        'The bet was settled: the payout of 75.50 EUR was credited. That was on TIME, and the balance went from 70.00 EUR to 145.50 EUR. The platform corrected the result, so the payout of 75.50 EUR was taken back. That was on TIME, and the balance went from 145.50 EUR to 70.00 EUR.',
      Refund: 'None: no rollback and no void has arrived.',
    })
  })

  it('why was my bet refused', async () => {
    expect(answersOf(await bet('refused'))).toEqual({
      Stake: 'Nothing was debited.',
      Refused:
        'The balance of 70.00 EUR did not cover the stake of 500.00 EUR; nothing was debited, and the refusal is final. That was on TIME.',
    })
    expect(answersOf(await bet('late')).Refused).toMatch(/^The platform had rolled the bet back already/)
    expect(answersOf(await bet('foreign')).Refused).toMatch(
      /^The bet was in USD, in which the player has no account/,
    )
  })

  it('where is my refund', async () => {
    expect(answersOf(await bet('returned'))).toMatchObject({
      Refund:
        'The platform rolled the bet back: the stake of 10.00 EUR was returned. That was on TIME, and the balance went from 60.00 EUR to 70.00 EUR.',
    })
    expect(answersOf(await bet('open'))).toMatchObject({
      Result: 'None has arrived.',
      Refund: 'None: no rollback and no void has arrived.',
    })
  })

  it('where is my refund, of a bet that no call of this wallet has returned', async () => {
    const { bet: open } = await wallet.bet('open')
    const refundOf = (changes: object) =>
      answersOf(renderBet({ betId: 'b', bet: open && { ...open, ...changes }, transactions: [] })).Refund
    const by = 'before this wallet was in use, or by other code.'
    expect(refundOf({ status: 'ROLLED_BACK' })).toBe(`The bet was rolled back ${by}`)
    const credits = { VOIDED: { live: '90', reversed: '0', owed: '0' } }
    expect(refundOf({ credits })).toBe(`The bet was declared void ${by}`)
    expect(refundOf({ credits: { VOIDED: { live: null, reversed: '90', owed: '0' } } })).toBe(
      `The bet was declared void ${by} That was taken back.`,
    )
    expect(refundOf({ credits: { BET_PAID: credits.VOIDED } })).toMatch(/^None: no rollback and no void/)
  })

  it('what does the player still owe', async () => {
    expect(answersOf(await bet('owed'))).toMatchObject({
      Result: expect.stringMatching(
        /The platform corrected the result, but the balance of 0\.00 EUR did not cover the payout: nothing was taken back, and the amount is owed to the platform, which nets it off later winnings\. That was on TIME\.$/,
      ),
      Owed: '40.00 EUR, to the platform: it nets this off later winnings.',
    })
  })

  it('what was my balance after: beside each call', async () => {
    const rows = rowsOf(await bet('returned'), 'What happened')
    expect(rows.map(row => [row.Change, row['Balance after']])).toEqual([
      ['-10.00', '60.00'],
      ['+10.00', '70.00'],
    ])
  })

  it.each(['corrected', 'returned', 'refused', 'owed', 'open', 'late', 'foreign'])(
    'the answers and the calls need no term of the interface, and the page has it behind: %s',
    async betId => {
      const page = await bet(betId)
      const terms = /\bD\d+|spec \d|placebet|rollbackbet|unsettlement|BET_PAID|INSUFFICIENT|INVALID/
      expect(textOf(page.split('</header>')[0] ?? '')).not.toMatch(terms)
      const told = rowsOf(page, 'What happened')
      expect(told.length).toBeGreaterThan(0)
      for (const row of told) expect(row['What happened']).not.toMatch(terms)
      const behind = rowsOf(page, 'In the terms of the interface')
      expect(behind).toHaveLength(told.length)
      for (const row of behind) {
        expect(row.Call).toMatch(/^(placebet|settlement|unsettlement|rollbackbet)/)
        expect(row.Rule).toMatch(/^(D\d+|spec)/)
        expect(row.Decision).toMatch(/^accepted$|^refused [A-Z_]+$/)
      }
      expectGoodPage(page)
    },
  )
})

it('never shows the balance of another player', async () => {
  const page = await bet('corrected')
  expect(textOf(page)).toContain('kenji')
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
    const page = pageOf(unknownBetReport('b-9'))
    expectGoodPage(page)
    expect(textOf(page)).toMatch(/Bet b-9 is unknown Unknown .*neither a bet nor a recorded call/)
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
  const player = (limit = 50) => wallet.player({ limit })
  const linesOf = (page: string) => rowsOf(page, 'What happened')
  const euros = (balance: string) => [{ playerId: 'anna', currency: 'EUR', balance }]

  it('has every call in the order of time, with the balance after it', async () => {
    const history = await player()
    const page = renderPlayer(history)
    expectGoodPage(page)
    const lines = linesOf(page)
    expect(lines).toHaveLength(history.transactions.length)
    expect(lines[0]).toMatchObject({
      ...{ Bet: 'corrected', 'What happened': 'The stake of 30.00 EUR was debited.' },
      ...{ Change: '-30.00', 'Balance after': '70.00' },
    })
    expect(lines.at(-1)).toMatchObject({ Change: '0.00', 'Balance after': '0.00' })
    expect(lines.at(-1)?.['What happened']).toMatch(/^The bet was in USD/)
    expect(textOf(page)).toContain('Before the first line the balance was 100.00 EUR.')
    expect(page).toContain('<desc>from 100.00 EUR to 0.00 EUR, lowest 0.00 EUR, highest 145.50 EUR</desc>')
  })

  it('has the state and the amounts of each bet', async () => {
    const bets = rowsOf(renderPlayer(await player()), 'Bets')
    const corrected = 'Open again: the result was corrected'
    expect(bets.find(row => row.Bet === 'corrected')).toMatchObject({ State: corrected, Stake: '30.00 EUR' })
    expect(bets.find(row => row.Bet === 'owed')).toMatchObject({
      ...{ State: corrected, Uncollected: 'BET_PAID 40.00 EUR' },
    })
  })

  it('has all amounts of the bets on the right', async () => {
    const page = renderPlayer(await player())
    for (const name of ['Stake', 'Live', 'Reversed', 'Uncollected'])
      expect(page).toContain(`<th scope="col" class="number">${name}</th>`)
  })

  it('has what other code changed, between two calls and since the last', async () => {
    const history = await player()
    const transactions = history.transactions.map((transaction, index) =>
      index === 12 ? { ...transaction, balanceAfter: '65.5' } : transaction,
    )
    const page = renderPlayer({ ...history, transactions, accounts: euros('7') })
    expect(linesOf(page).map(row => row['Other changes'])).toContain('+4.50')
    expect(textOf(page)).toContain('Other changes since the last line: +7.00 EUR.')
    for (const given of [{ to: '2999-01-01' }, { cursor: 'x' }])
      expect(textOf(renderPlayer({ ...history, transactions }, given))).not.toContain('since the last line')
  })

  it('has no such column, and no such sentence, if nothing did', async () => {
    const history = await player()
    const page = renderPlayer(history)
    expect(Object.keys(linesOf(page)[0] ?? {})).not.toContain('Other changes')
    expect(textOf(page)).not.toContain('Other changes')
  })

  it('of concurrent calls whose times are in another order than their balances, invents no change', async () => {
    const history = await player(1)
    const [call] = history.transactions as [RecordedTransaction]
    const at = (second: string, delta: string, balanceAfter: string): RecordedTransaction => ({
      ...{ ...call, recordedAt: `2026-11-22T10:00:${second}Z`, transactionId: second },
      ...{ delta, balanceAfter, refusal: null, reason: 'ACCEPTED' },
    })
    const first = at('00.000', '-1', '100')
    const [late, early, next] = [
      at('20.000', '-10', '140'),
      at('20.200', '50', '150'),
      at('50.000', '5', '145'),
    ]
    const linesFor = (transactions: RecordedTransaction[]) =>
      linesOf(renderPlayer({ ...history, transactions: transactions.toReversed(), accounts: euros('145') }))
    for (const transactions of [
      [first, late, early, next],
      [late, early, next],
    ]) {
      const balances = linesFor(transactions).map(row => row['Balance after'])
      expect(balances.slice(-3)).toEqual(['150.00', '140.00', '145.00'])
    }
    // No order of these explains the balances: a deposit.
    const deposited = [first, at('01.000', '-10', '190')]
    expect(linesFor(deposited)[1]).toMatchObject({ 'Other changes': '+100.00' })
  })

  describe('whose imported call has no balance', () => {
    const call = (minute: number, balanceAfter: string | null, fields: object = {}) => ({
      ...(transactions[0] as RecordedTransaction),
      ...{ recordedAt: `2026-11-22T10:${minute}:00.000Z`, transactionId: `t-${minute}` },
      ...{ delta: '-10', balanceAfter, ...fields },
    })
    const soon = { recordedAt: '2026-11-22T10:10:01.000Z' }
    let transactions: readonly RecordedTransaction[] = []
    beforeAll(async () => {
      transactions = (await wallet.bet('returned')).transactions
    })
    const pageWith = (calls: readonly RecordedTransaction[], balance: string) =>
      renderPlayer({
        ...{ playerId: 'anna', accounts: euros(balance), bets: [], next: null },
        transactions: calls.toReversed(),
      })

    it('has the change behind it, beside the next balance that is known', () => {
      for (const fields of [{}, soon]) {
        const page = pageWith([call(10, '90'), call(11, null, fields), call(12, '130', fields)], '130')
        expect(linesOf(page).map(row => row['Other changes'])).toEqual(['', '', '+60.00'])
      }
    })

    it('has the change since, if it is the last', () => {
      expect(textOf(pageWith([call(10, '90'), call(11, null)], '130'))).toContain(
        'Other changes since the last line: +50.00 EUR.',
      )
    })

    it('invents none, whatever the order of concurrent calls', () => {
      for (const calls of [
        [call(10, '90'), call(11, null), call(12, '70')],
        [call(10, '90'), call(11, null, soon), call(12, '70', soon)],
        [call(10, '90'), call(11, null, soon), call(12, '80', soon)],
        [call(11, null), call(12, '70')],
        [call(11, null, soon), call(12, '70', soon), call(13, '60'), call(14, '70', { delta: '10' })],
        [call(10, null), call(11, null, soon), call(12, '70', soon)],
      ])
        expect(textOf(pageWith(calls, '70'))).not.toContain('Other changes')
    })
  })

  it('names the cursor of older transactions', async () => {
    const page = renderPlayer(await player(3), { limit: 3 })
    expect(linesOf(page)).toHaveLength(3)
    expect(textOf(page)).toContain('--cursor 3')
  })

  it('may have no transactions, and no row in the players table', () => {
    const page = renderPlayer({ playerId: 'x', accounts: [], transactions: [], bets: [], next: null })
    expectGoodPage(page)
    expect(textOf(page)).toContain("not in the players' table")
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
    renderPlayer(history),
    renderBet({ ...(bets[0] as BetHistory), transactions }),
  ]) {
    expectGoodPage(page)
    expect(page).not.toContain('\u202e')
  }
})

it('prints a balance whose currency it does not know as it is', async () => {
  const history = await wallet.bet('foreign')
  const transactions = history.transactions.map(each => ({
    ...each,
    ...{ balanceAfter: '5000', currency: null, accountCurrency: null },
  }))
  const [row] = rowsOf(pageOf(transactionReport('t-8', transactions)), 'What happened')
  expect(row?.['Balance after']).toBe('5000')
})

it('prints a clawback, which names no currency, in that of its bet', async () => {
  const { transactions } = await wallet.bet('corrected')
  const clawback = transactions.filter(({ operation }) => operation === 'unsettlement')
  const [row] = rowsOf(pageOf(transactionReport('u-1', clawback)), 'What happened')
  expect(row).toMatchObject({ Change: '-75.50', 'Balance after': '70.00' })
})

it('names the player of a call that the bet is not of', async () => {
  const text = asText(betReport(await wallet.bet('corrected')))
  expect(text).toContain('Player kenji is named by a transaction too.')
  expect(text).toMatch(/^ {2}Taken once, for 30\.00 EUR; /m)
  expect(text).toMatch(/^OPEN AGAIN: THE RESULT WAS CORRECTED: -30\.00 EUR in sum/m)
})

it('sums what is owed by currency, and says what the wallet cannot know', () => {
  const bets = [
    {
      ...{ betId: 'b-1', playerId: 'anna', currency: 'EUR', owed: '20.5' },
      ...{ refusedAt: '2026-11-21T00:00:00.000Z', transactionIds: ['u-1', 'u-2'] },
    },
    { betId: 'b-2', playerId: 'kenji', currency: 'JPY', owed: '700', refusedAt: null, transactionIds: [] },
  ]
  const totals = [
    { currency: 'EUR', owed: '20.5', bets: 1 },
    { currency: 'JPY', owed: '700', bets: 1 },
  ]
  const text = asText(owedReport({ totals, bets, withoutTime: 2 }))
  expect(text).toMatch(/2026-11-21 00:00:00\.000 {2}anna {4}b-1 {2}u-1, u-2 +20\.50 EUR/)
  expect(text).toMatch(/imported +kenji +b-2 +700 JPY/)
  expect(text).toContain('D7')
  const left = 'imported with what is owed, and without the time of the refusal'
  const leftOf = (count: string) => new RegExp(`; left out: ${count}, ${left}$`)
  expect(text).toMatch(/^OWED: 20\.50 EUR, of 1 bet; 700 JPY, of 1 bet; left out/m)
  expect(text).toMatch(leftOf('2 bets'))
  expect(asText(owedReport({ totals, bets, withoutTime: 0 }))).toMatch(/, of 1 bet$/)
  const onlyLeft = asText(owedReport({ totals: [], bets: [], withoutTime: 1 }))
  expect(onlyLeft).toContain('D7')
  expect(onlyLeft).toMatch(/^OWED: nothing; left out/m)
  expect(onlyLeft).toMatch(leftOf('1 bet'))
  const none = asText(owedReport({ totals: [], bets: [], withoutTime: 0 }))
  expect(none).toBe('Owed to the platform\n\nOWED: nothing')
})
