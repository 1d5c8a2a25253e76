/** The rule that decided a call, in one sentence for people. */
import type { OutcomeReason } from '../../outcomes.js'
import type { Operation } from '../../store.js'

type OfEachOperation = 'ACCEPTED' | 'INSUFFICIENT_FUNDS'

const sentences: Record<Exclude<OutcomeReason, OfEachOperation>, string> = {
  REPLAYED:
    'This transactionId was decided before: the answer is that first decision, with the current balance, which does not change (D2).',
  INVALID_REQUEST: 'The body is invalid, and the description names each field. Nothing is recorded.',
  PAYLOAD_MISMATCH:
    'This transactionId was used before with other content: it is not the same transaction, so nothing changes (D4).',
  UNKNOWN_PLAYER: 'The wallet has no such player. Nothing is recorded (D16).',
  BET_OF_ANOTHER_PLAYER: 'The bet belongs to another player: nothing changes (D15).',
  UNKNOWN_BET: 'The wallet has no such bet: nothing changes (D17, D19).',
  BET_ROLLED_BACK:
    'The bet was rolled back before: it is neither placed nor settled any more, and nothing changes (D10, D17, D19).',
  BET_SETTLED:
    'The bet is settled: a rollback would return the stake beside the win, so it is refused (D13).',
  BET_ALREADY_EXISTS: 'One bet, one placebet: another transaction has placed this betId (D10).',
  ALREADY_ROLLED_BACK:
    'The bet was rolled back by another transaction: a success, and the balance does not change (D12).',
  TOMBSTONE_CREATED:
    'The wallet does not know this bet yet. It records the rollback, so that the bet is refused if it still arrives (D11).',
  ALREADY_UNSETTLED: 'The credit was reversed before, by another transaction: nothing changes (D19).',
  CLAWBACK_UNCOLLECTED:
    'The clawback of this bet is uncollected: the amount is owed to the platform, and nothing changes (D7, D13).',
  SETTLEMENT_NOT_FOUND:
    'Nothing was credited yet, and nothing is recorded: the same call succeeds after the settlement (D19).',
  CURRENCY_MISMATCH: "The currency is not the player's: a final refusal, nothing is debited (D23).",
  BET_CURRENCY_MISMATCH: "The bet's currency is not the player's current one: nothing changes (D23).",
  CLAWBACKS_DISABLED: 'This wallet cannot debit clawbacks: the amount is owed to the platform (D20).',
  REFUSED_BY_OPERATOR: "A rule of the operator's own code refused the call.",
  REFUSED_BY_STORE: 'The database refused the debit by a rule of its own.',
  FAULT: 'No decision: the platform may send the same call again, or roll the bet back (D9).',
}

const accepted: Record<Operation, string> = {
  placebet:
    'The bet is new and the funds suffice: bet, transaction and balance change in one commit (interface, 4.1).',
  settlement: 'The settlement is credited once (D17).',
  unsettlement: 'The whole credit of the wrong settlement is debited: the clawback (D18).',
  rollbackbet: 'The bet is undone: its stake returns to the player (interface, 4.3).',
}

/**
 * @param reason of the outcome of this operation
 * @returns one sentence, with the number of the decision of `docs/decisions.md` behind it
 */
export function ruleSentence(operation: Operation, reason: OutcomeReason): string {
  if (reason === 'ACCEPTED') return accepted[operation]
  if (reason !== 'INSUFFICIENT_FUNDS') return sentences[reason]
  return operation === 'unsettlement'
    ? 'The balance is lower than the credit: nothing is debited, and the amount is owed to the platform (D7).'
    : 'The balance is lower than the stake: a final refusal, recorded, and replayed even after a deposit (D6).'
}
