/** A failed MUST breaks a sentence of the interface, or loses or creates money. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { cases } from '../../../src/tools/audit/cases.js'
import { type Sentence, sentences } from '../../../src/tools/audit/interface-sentences.js'

/** The text of the page without anchors and marks. */
const page = readFileSync(new URL('../../../docs/interface.md', import.meta.url), 'utf8')
  .replace(/<[^>]*>|[`*]/g, '')
  .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')

/** A case after a long pause, and the same after a restart. */
function later(number: number, stake: string): Record<string, string> {
  return { [`AU-92${number}`]: stake, [`AU-94${number}`]: stake }
}

/** By MUST where the interface is silent: whose money it is, and why. */
const moneyAtStake: Record<string, string> = {
  'AU-111': 'player or operator: an amount is debited in another currency',
  'AU-118': 'player: the stake is returned to another player',
  'AU-206': 'operator: a stake is returned twice',
  'AU-208': 'operator: a stake is returned twice',
  'AU-209': 'player: a stake is debited for a bet that the platform has as refused',
  'AU-224': 'player: a stake is debited for a bet that the platform has cancelled',
  'AU-303': 'player: a stake is debited for a bet that the platform has cancelled',
  'AU-304': 'operator: a stake is returned that was never debited',
  'AU-309': 'player: as AU-303, for one bet among others',
  'AU-409': 'operator: a negative stake is a deposit',
  'AU-410': 'operator: a bet without a stake, or a balance that is no number',
  'AU-501': 'operator: a payout is credited twice',
  'AU-509': 'operator: the player has both void and stake',
  'AU-517': 'operator: the platform has an amount as collected that was never debited',
  'AU-520': 'operator: a stake is returned twice',
  'AU-533': 'operator: the player has both payout and stake',
  'AU-534': 'operator: the player has both payout and stake',
  'AU-536': 'player: another player pays',
  'AU-537': 'operator: lost stakes are returned',
  'AU-541': 'operator: a payout is credited twice',
  'AU-542': 'player or operator: a credit or a debit disappears',
  'AU-546': 'operator: the player has both the price and the stake',
  'AU-548': 'operator: the player has both payout and stake',
  'AU-549': 'operator: a part of a stake is returned twice',
  'AU-550': 'operator: the player has both payout and stake',
  'AU-555': 'operator: a payout for a bet without a stake',
  'AU-701': 'everybody: anyone changes balances',
  'AU-702': 'everybody: anyone changes balances',
  'AU-703': 'player: anyone cancels bets before they arrive',
  'AU-708': 'everybody: anyone changes balances',
  'AU-709': 'everybody: a user without rights changes balances',
  'AU-710': 'everybody: anyone changes balances',
  'AU-801': 'everybody: the calls in flight are lost with the process',
  'AU-803': 'player: two stakes for one bet',
  'AU-816': 'operator: one call returns all stakes',
  'AU-905': 'player: a stake of an incomplete request',
  ...later(2, 'player: a stake is debited for a bet that the platform has cancelled'),
  ...later(4, 'player: the stake of a cancelled bet is not returned'),
  ...later(5, 'player: a stake is debited for a bet that the platform has as refused'),
  ...later(7, 'operator: a payout is never collected'),
  ...later(8, 'player: the platform and the wallet both collect'),
  'AU-954': 'player or operator: an amount is debited in another currency',
  'AU-958': 'player or operator: an amount is credited in another currency',
}

describe('a MUST', () => {
  it('quotes the interface, or money is at stake', () => {
    const silent = cases.filter(({ level, quote }) => level === undefined && quote === undefined)
    expect(silent.map(({ id }) => id).sort()).toEqual(Object.keys(moneyAtStake).sort())
  })
})

describe('a sentence that cases quote', () => {
  it.each(Object.entries(sentences))('%s is in docs/interface.md', (_, sentence) => {
    expect(page).toContain(sentence)
  })

  it('is quoted by some case', () => {
    const quoted = new Set(cases.map(({ quote }) => quote))
    expect(Object.keys(sentences).filter(key => !quoted.has(key as Sentence))).toEqual([])
  })
})

describe('the order of the cases', () => {
  it('has the enormous amounts last, before availability and the books', () => {
    expect(cases.slice(-5).map(({ id }) => id)).toEqual([
      ...['AU-413', 'AU-418', 'AU-411', 'AU-981', 'AU-991'],
    ])
  })
})

it('no id of a removed case is used again', () => {
  const removed = [115, 117, 412, 417, 614, 705, 707, 804, 809, 810, 812, 815, 910].map(id => `AU-${id}`)
  expect(cases.filter(({ id }) => removed.includes(id)).map(({ id }) => id)).toEqual([])
})
