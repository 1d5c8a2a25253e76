/** The life of a bet, explained from its records: each call with its rule, what holds now, and a verdict. */
import { add, compare, type Decimal, isZero, negate, subtract } from '../money.js'
import type { SettlementType } from '../store.js'
import { stateOf } from './bet-state.js'
import { money } from './money-text.js'
import type { BetHistory, RecordedBet } from './records.js'
import { type BetStep, isLegacy, isTombstone, stepsOf, wasRefusedFirst } from './steps.js'

/** A bet, in words for people. */
export interface BetExplanation {
  betId: string
  /** Of the bet; where there is none, of its first transaction. */
  playerId: string
  currency: string | null
  /** Whether the bet was taken, how often, and what became of it: one sentence. */
  verdict: string
  steps: readonly BetStep[]
  /** What the bet holds now: a sentence each. */
  now: readonly string[]
  /** What the records do not explain, and what they cannot show: a sentence each. */
  notes: readonly string[]
}

const settlementTypes = ['BET_PAID', 'VOIDED', 'CASHOUT'] as const satisfies SettlementType[]

/** Explains what the records of a bet say, and claims nothing that they do not. */
export function explainBet(history: BetHistory): BetExplanation {
  const { betId, bet, transactions } = history
  const steps = stepsOf(history)
  return {
    betId,
    playerId: bet?.playerId ?? transactions[0]?.playerId ?? '',
    currency: bet?.currency ?? transactions.find(({ currency }) => currency !== null)?.currency ?? null,
    verdict: verdictOf(history, steps),
    steps,
    now:
      bet === null
        ? ['No bet was taken under this id: it holds nothing.']
        : holdingsOf(bet, stateOf(history)),
    notes: [...differencesOf(history), ...unrecorded],
  }
}

/** As the SQL of docs/operations.md makes them. */
const isPseudonym = (playerId: string) => /^forgotten-[0-9a-f-]{36}$/.test(playerId)

const unrecorded = [
  'Retries are not recorded: each was answered with the first decision, and changed nothing (D2).',
  'Refusals that a retry may still turn into a success are not recorded either (D8), nor are faults (D9).',
]

function verdictOf(history: BetHistory, steps: readonly BetStep[]): string {
  const { bet } = history
  const bets = steps.filter(({ transaction }) => transaction.operation === 'placebet')
  const taken = bets.filter(({ accepted }) => accepted)
  const refused = bets.length - taken.length
  if (taken.length > 1)
    return `TAKEN ${taken.length} TIMES: more than one placebet was accepted, which the rules do not allow (D10).`
  if (bet === null) return neverTaken(bets)
  const isStopped = isTombstone(history)
  const others =
    refused === 0
      ? ''
      : `; ${refused} ${isStopped ? 'later' : 'other'} placebet${refused === 1 ? ' was' : 's were'} refused and debited nothing`
  if (isStopped && wasRefusedFirst(history))
    return neverTaken(bets).replace(/\.$/, '; its rollback had nothing to return.')
  if (isStopped) return `Never taken: its rollback came first, so nothing was debited${others}.`
  const stake = money(bet.stake, bet.currency)
  const start =
    taken.length === 1 ? `Taken once, for ${stake}` : `A bet of the legacy integration, for ${stake}`
  return `${start}; ${outcomeOf(bet)}${others}.`
}

function neverTaken(bets: readonly BetStep[]): string {
  const codes = [...new Set(bets.map(({ transaction }) => transaction.refusal?.errorCode))]
  if (bets.length === 0) return 'Never taken: there is no bet and no placebet of this id.'
  const which = bets.length === 1 ? 'its placebet was' : `each of its ${bets.length} placebets was`
  return `Never taken: ${which} refused (${codes.join(', ')}) and debited nothing.`
}

/** Always in this order. */
const creditsOf = ({ credits }: RecordedBet) =>
  settlementTypes.flatMap(type => (credits[type] === undefined ? [] : { type, ...credits[type] }))

/** What became of a bet that was taken. */
function outcomeOf(bet: RecordedBet): string {
  const { status, currency } = bet
  if (status === 'ROLLED_BACK') return 'rolled back, the stake was returned'
  const credits = creditsOf(bet)
  const parts = credits.flatMap(({ type, live, reversed, owed }) => [
    ...(live === null ? [] : [`${money(live, currency)} credited as ${type}`]),
    ...(isZero(reversed) ? [] : [`${money(reversed, currency)} of ${type} reversed`]),
    ...(isZero(owed) ? [] : [`${money(owed, currency)} of ${type} uncollected, owed to the platform`]),
  ])
  const isSettled = credits.some(({ live }) => live !== null)
  const how = isSettled ? 'settled' : parts.length === 0 ? 'not settled' : 'not settled any more'
  return parts.length === 0 ? how : `${how}: ${parts.join(', ')}`
}

function holdingsOf(bet: RecordedBet, state: string): string[] {
  const amount = (value: Decimal) => money(value, bet.currency)
  return [
    `${state}, stake ${amount(bet.stake)}, revision ${bet.revision}`,
    ...creditsOf(bet).map(
      ({ type, live, reversed, owed }) =>
        `${type}: live ${live === null ? 'none' : amount(live)}, reversed ${amount(reversed)}, uncollected ${amount(owed)}`,
    ),
  ]
}

/** What the bet holds and no recorded transaction accounts for. */
function differencesOf(history: BetHistory): string[] {
  const { bet, transactions } = history
  if (bet === null) return []
  const found: string[] = []
  if (isPseudonym(bet.playerId))
    found.push('The player was forgotten: every later call for this bet is refused with INVALID_PLAYER.')
  if (isTombstone(history) && !transactions.some(({ operation }) => operation === 'placebet'))
    found.push(
      'If the stake was debited before the cut-over, the bet was not imported (D27): its rollback found no bet, and returned nothing.',
    )
  if (isLegacy(history)) found.push('No placebet of this bet is recorded: it was imported (D27).')
  if (transactions.some(({ balanceAfter }) => balanceAfter === null))
    found.push('Transactions without a balance were imported: their time is that of the import.')
  const accepted = transactions.filter(({ refusal }) => refusal === null)
  for (const type of settlementTypes) {
    const { live = null, reversed = '0', owed = '0' } = bet.credits[type] ?? {}
    const held = add(add(live ?? '0', reversed), owed)
    const credited = accepted
      .filter(transaction => transaction.operation === 'settlement' && transaction.type === type)
      .reduce((sum, { delta }) => add(sum, delta), '0')
    const difference = subtract(held, credited)
    if (compare(difference, '0') > 0)
      found.push(
        `${money(difference, bet.currency)} of ${type} is in no recorded settlement: the PAM's own code credited it, or it was imported.`,
      )
    if (compare(difference, '0') < 0)
      found.push(
        `Recorded settlements credited ${money(negate(difference), bet.currency)} more as ${type} than the bet holds: its row was changed by other code.`,
      )
  }
  return found
}
