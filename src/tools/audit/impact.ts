/** The damage of a failure, from what was found. The text of a case is used only where it describes that. */

import { type Decimal, subtract, zero } from '../platform/decimal.js'
import type { AuditCase, Described } from './audit-case.js'
import type { AuditExchange, FailureKind } from './report.js'

const numbersIn = (text: string) => new Set(text.trim().split(/\s+/))

/**
 * By failure, the cases whose text describes the damage. A text that warns of a stake debited twice says nothing
 * about a stake that was not debited. Kind `other` is an expectation of the case itself, and always described.
 */
export const describedIn: Partial<Record<Described, ReadonlySet<string>>> = {
  'too much': numbersIn(`
    101 105 112 113 118 204 205 206 208 218 223 241 304 308 403 404 406 409 410 411 413 414 416 501 502 503
    509 514 516 518 520 523 527 533 534 537 539 540 541 542 543 545 546 548 549 550 552 701 702 708 709 803 804 806
    807 808 814 816 903 923 924 927 943 944 947 991`),
  'too little': numbersIn(`
    104 111 112 118 120 201 202 203 209 212 214 216 217 218 222 224 225 241 301 303 306 307 308 404 406 410
    411 413 414 416 502 504 506 507 510 511 512 513 514 515 522 523 524 526 527 531 532 535 536 538 540 542
    544 604 608 701 702 703 708 709 803 804 805 807 808 814 815 901 902 903 904 905 907 921 922 924 925 926 928
    941 942 944 945 946 948 991`),
  accepted: numbersIn(`
    102 103 106 107 108 111 118 121 209 215 224 231 232 233 234 235 302 407 409 410 411 506 507 512 517 521
    529 532 604 605 606 607 622 624 701 702 708 709 802 805 811 812 815 925 928 945 948`),
  refused: numbersIn(`
    103 104 105 109 110 117 207 213 219 220 221 225 305 309 402 405 408 412 416 502 503 505 514 518 522 528
    530 551 609 703 809 813 906 924 927 944 947`),
  'other refusal': numbersIn('119 121 508 519 525 601 610 614 621 622 623 624 704 706'),
  fault: numbersIn('105 415 603 611 624 802 809 810'),
  'no answer': numbersIn('105 411 602 707 801 908'),
  form: numbersIn('114 115 601 602 614 906'),
}

/**
 * @param item the failed case; `null` if only a step that prepares it has failed
 * @param exchange the call that failed, if it is a single one
 * @param difference the wrong balance minus the right one, or what an accepted call changed
 * @param money writes an amount with the currency
 */
export function impactOf(
  item: (Pick<AuditCase, 'impact' | 'describes'> & { id: string }) | null,
  kind: FailureKind,
  exchange: AuditExchange | undefined,
  difference: Decimal | null,
  money: (amount: Decimal) => string,
): string {
  const [sign, size] = difference === null ? [0, ''] : sizeOf(difference, money)
  const described = kind !== 'balance' ? kind : sign > 0 ? 'too much' : 'too little'
  const fits =
    kind === 'other' ||
    item?.describes?.includes(described) ||
    describedIn[described]?.has(item?.id.replace('AU-', '') ?? '')
  const found = foundText(kind, exchange, sign, size)
  const texts = [found, item === null ? notJudged : fits ? item.impact : null]
  return texts.filter(text => text !== null).join(' ')
}

const notJudged = 'The case could not judge what it is about.'

function sizeOf(difference: Decimal, money: (amount: Decimal) => string): [number, string] {
  if (difference.units === 0n) return [0, '']
  return difference.units < 0n ? [-1, money(subtract(zero, difference))] : [1, money(difference)]
}

function foundText(
  kind: FailureKind,
  exchange: AuditExchange | undefined,
  sign: number,
  size: string,
): string | null {
  const answer = exchange?.status ?? 'none'
  switch (kind) {
    case 'balance':
      return `The player has ${size} too ${sign > 0 ? 'much' : 'little'}.`
    case 'shown balance':
      return 'No money moves: the balance is right. But the answer shows another one than the current balance, and so does the sportsbook.'
    case 'accepted':
      if (sign === 0)
        return 'A success where a refusal was due: the platform believes that the call was executed.'
      return `A success where a refusal was due: ${size} ${sign < 0 ? 'were debited' : 'were credited'}.`
    case 'refused':
      return `A refusal (${answer}) where a success was due: ${refusedText(exchange)}`
    case 'other refusal':
      return `The call was refused, as it must be, but not as agreed (${answer}): the platform may react as to another refusal.`
    case 'fault':
      return `A fault (${answer}) where a definite answer was due: the platform cannot know what was done, and retries or rolls back.`
    case 'no answer':
      return 'No answer: the platform cannot know what was done, and retries or rolls back.'
    case 'form':
      return `The answer (${answer}) is not in the form of the interface: the platform may not be able to read it.`
    case 'other':
      return null
  }
}

/** What the platform does with a refusal. */
function refusedText(exchange: AuditExchange | undefined): string {
  if (exchange?.path === '/rollbackbet') return 'the stake of a cancelled bet stays where it is.'
  if (exchange?.path === '/unsettlement') return 'the payout is not collected.'
  return 'the sportsbook shows the player that the bet was refused.'
}
