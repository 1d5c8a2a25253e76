/** Which rule decided a call, and what it meant: one sentence per reason, for lookups, reports and pages. */
import { type Decimal, isZero, negate } from '../money.js'
import type { OutcomeReason } from '../outcomes.js'
import type { RecordedReason } from '../store.js'
import { money } from './money-text.js'
import type { RecordedTransaction } from './records.js'

/** A decided call. Its sentence does without what is missing. */
export type DecidedCall = Pick<RecordedTransaction, 'operation' | 'reason'> & Partial<RecordedTransaction>

export interface Explanation {
  /** The decision of docs/decisions.md, or the section of the interface: `"D11"`, `"spec 4.1"`. */
  rule: string
  /** The reason, in words that support can read to a player; begins in lower case. */
  why: string
}

/** By its recorded reason. One of a newer version is named as it is. */
export function explain(call: DecidedCall): Explanation {
  if (isKnown(call.reason)) return explanations[call.reason](call)
  return { rule: call.reason, why: `a newer version of the wallet ${decisionOf(call)}` }
}

/** The same as a sentence: `Nothing was left to return (D12).` */
export function sentenceOf(call: DecidedCall): string {
  const { rule, why } = explain(call)
  return `${capitalized(why)} (${rule}).`
}

export const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

type Sentence = (call: DecidedCall) => Explanation

const says = (rule: string, why: string): Sentence => {
  const explanation = { rule, why }
  return () => explanation
}

const final = 'nothing was debited, and the refusal is final'

const explanations: Record<OutcomeReason | RecordedReason, Sentence> = {
  ACCEPTED: call => accepted[call.operation](call),
  TOMBSTONE_CREATED: says(
    'D11',
    'the platform rolled back a bet that was never taken: no stake was debited, so nothing was returned',
  ),
  ALREADY_ROLLED_BACK: says('D12', 'the bet was rolled back already; nothing was left to return'),
  BET_OF_ANOTHER_PLAYER: says('D15', 'the bet belongs to another player; nothing was debited'),
  BET_ALREADY_EXISTS: says('D10', 'another transaction had placed the bet already; nothing was debited'),
  BET_ROLLED_BACK: ({ operation }) =>
    operation === 'placebet'
      ? { rule: 'D10, D11', why: 'the platform had rolled the bet back already; nothing was debited' }
      : { rule: 'D17, D19', why: 'the bet was rolled back before; nothing was debited or credited' },
  CURRENCY_MISMATCH: ({ operation, currency = null }) => ({
    rule: 'D23',
    why: `the bet was in ${currency ?? 'a currency'}, in which the player has no account; ${operation === 'placebet' ? final : 'nothing was credited'}`,
  }),
  INSUFFICIENT_FUNDS: call =>
    call.operation === 'unsettlement'
      ? uncollected(
          'D7',
          call,
          `${balanceOf(call)} did not cover the ${creditOf(call)}: nothing was taken back`,
        )
      : { rule: 'D6', why: `${balanceOf(call)} did not cover ${stakeOf(call)}; ${final}` },
  CLAWBACKS_DISABLED: call => uncollected('D20', call, `this wallet cannot take the ${creditOf(call)} back`),
  REFUSED_BY_OPERATOR: call => refusedBy('a rule of the operator', call),
  REFUSED_BY_STORE: call => refusedBy('a rule of the database', call),
  IMPORTED: call => ({ rule: 'D27', why: `the legacy integration ${decisionOf(call)}` }),
  // The others are not recorded.
  REPLAYED: says('D2', 'this transactionId was decided before: the answer is the first decision'),
  INVALID_REQUEST: says('D21 to D26', 'the body is invalid: the description names each field'),
  PAYLOAD_MISMATCH: says('D4', 'this transactionId was used before, with other content: nothing changed'),
  UNKNOWN_PLAYER: says('D16', 'there is no such player: nothing is recorded'),
  UNKNOWN_BET: says('D17, D19', 'there is no such bet: nothing changed'),
  BET_SETTLED: says('D13', 'the bet is settled: its rollback would return the stake beside the win'),
  ALREADY_UNSETTLED: says('D19', 'another transaction reversed the credit before: nothing changed'),
  CLAWBACK_UNCOLLECTED: says(
    'D7, D13',
    'the clawback is uncollected and owed to the platform: nothing changed',
  ),
  SETTLEMENT_NOT_FOUND: says('D19', 'nothing was credited yet: the same call succeeds after the settlement'),
  BET_CURRENCY_MISMATCH: says('D23', "the bet's currency is not that of the account: nothing changed"),
  FAULT: says('D9', 'there is no decision: the platform sends the call again, or rolls the bet back'),
}

const isKnown = (reason: string): reason is keyof typeof explanations => Object.hasOwn(explanations, reason)

const accepted: Record<DecidedCall['operation'], Sentence> = {
  placebet: call => ({
    rule: 'spec 4.1',
    why: isNothing(call.amount)
      ? `the stake was ${money('0', call.currency ?? null)}: nothing was debited`
      : `${stakeOf(call)} was debited`,
  }),
  settlement: call => ({ rule: 'D17', why: settled(call) }),
  unsettlement: call => {
    const { delta, accountCurrency } = call
    const credit = named(creditOf(call), delta && negate(delta), accountCurrency)
    return {
      rule: 'D18',
      why: isNothing(delta)
        ? `${correctionOf(call)}; the ${creditOf(call)} was ${money('0', accountCurrency ?? null)}, so nothing was taken back`
        : `${correctionOf(call)}, so ${credit} was taken back`,
    }
  },
  rollbackbet: ({ delta, accountCurrency }) => ({
    rule: 'spec 4.3',
    why: isNothing(delta)
      ? `the platform rolled the bet back; its stake was ${money('0', accountCurrency ?? null)}`
      : `the platform rolled the bet back: ${named('stake', delta, accountCurrency)} was returned`,
  }),
}

type Maybe<T> = T | null | undefined

const isNothing = (amount: Maybe<Decimal>) => amount != null && isZero(amount)

/** `the stake of 30.00 EUR` */
const named = (what: string, amount: Maybe<Decimal>, currency: Maybe<string>) =>
  amount == null ? `the ${what}` : `the ${what} of ${money(amount, currency ?? null)}`

const stakeOf = ({ amount, currency }: DecidedCall) => named('stake', amount, currency)

const balanceOf = ({ balanceAfter, accountCurrency, currency }: DecidedCall) =>
  named('balance', balanceAfter, accountCurrency ?? currency)

function settled({ amount, currency, type }: DecidedCall): string {
  if (type === 'VOIDED') return `the bet was declared void: ${named('amount', amount, currency)} was returned`
  if (type === 'CASHOUT') return `the bet was cashed out: ${named('amount', amount, currency)} was credited`
  return isNothing(amount)
    ? 'the bet was settled without a payout'
    : `the bet was settled: ${named('payout', amount, currency)} was credited`
}

/** Why an unsettlement came, and what it takes back. */
const correctionOf = ({ type }: DecidedCall) =>
  type === 'UNVOIDED' ? 'the platform declared the bet valid again' : 'the platform corrected the result'
const creditOf = ({ type }: DecidedCall) => (type === 'UNVOIDED' ? 'refund' : 'payout')

const uncollected = (rule: string, call: DecidedCall, why: string): Explanation => ({
  rule,
  why: `${correctionOf(call)}, but ${why}, and the amount is owed to the platform, which nets it off later winnings`,
})

function refusedBy(who: string, call: DecidedCall): Explanation {
  if (call.operation === 'unsettlement') return uncollected('D20', call, `${who} refused the debit`)
  const words = call.refusal == null ? '' : `: ${call.refusal.description}`
  return { rule: 'D6', why: `${who} refused it${words}; ${final}` }
}

const decisionOf = ({ refusal }: DecidedCall) =>
  refusal == null ? 'accepted it' : `refused it: ${refusal.description}; nothing was debited`
