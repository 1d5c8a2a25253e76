/**
 * Explains an answer of a wallet: the rule, whether the platform sends the call again, what to do. Rules are
 * known of wallets of this library; of others, what the interface says about status and error code.
 */
import { sentenceOf } from '../../lookups/rules.js'
import type { OutcomeReason } from '../../outcomes.js'
import type { Operation } from '../../store.js'
import { readObject } from '../platform/json.js'
import { type Fault, readingOf } from '../simulator/reading.js'

export interface Explanation {
  /** What it is for the platform. */
  result: 'accepted' | 'refused' | 'unknown'
  /** Which rule decided. */
  rule: string
  /** Whether the platform sends the call again. */
  retry: string
  /** What to do. */
  advice: string
}

/** By error code; with several, the description of a wallet of this library tells them apart. */
const reasons: Readonly<Record<string, readonly (readonly [description: RegExp, reason: OutcomeReason])[]>> =
  {
    INVALID_REQUEST: [[/^/, 'INVALID_REQUEST']],
    INVALID_PLAYER: [
      [/another player/, 'BET_OF_ANOTHER_PLAYER'],
      [/^/, 'UNKNOWN_PLAYER'],
    ],
    INVALID_CURRENCY: [
      [/^betId/, 'BET_CURRENCY_MISMATCH'],
      [/^/, 'CURRENCY_MISMATCH'],
    ],
    INVALID_BET: [
      [/already used/, 'BET_ALREADY_EXISTS'],
      [/unknown bet/, 'UNKNOWN_BET'],
      [/rolled back/, 'BET_ROLLED_BACK'],
      [/collected/, 'CLAWBACK_UNCOLLECTED'],
      [/already reversed/, 'ALREADY_UNSETTLED'],
      [/settled/, 'BET_SETTLED'],
    ],
    INSUFFICIENT_FUNDS: [
      [/cannot be debited/, 'CLAWBACKS_DISABLED'],
      [/below the minimum balance/, 'REFUSED_BY_STORE'],
      [/^$|insufficient/i, 'INSUFFICIENT_FUNDS'],
    ],
    INVALID_AMOUNT: [[/not representable/, 'REFUSED_BY_STORE']],
    TRANSACTION_CONFLICT: [[/^/, 'PAYLOAD_MISMATCH']],
    SETTLEMENT_NOT_FOUND: [[/^/, 'SETTLEMENT_NOT_FOUND']],
  }

const again = 'It sends the same call again, with the same transactionId, or rolls a placebet back.'
const never = 'It does not send this call again.'

/** What a proxy or the HTTP handler answers, before any rule. */
const statuses: Readonly<Record<number, readonly [rule: string, advice: string]>> = {
  401: [
    'The wallet does not accept the credentials. Nothing was read or written.',
    'Check --user, --header or --sign-header; the log of the wallet says why.',
  ],
  403: [
    'This address or caller is not allowed. Nothing was read or written.',
    'Check the allowed addresses, and what is in front of the wallet.',
  ],
  404: ['There is no such path.', 'Check the base URL: /placebet and the other paths are appended to it.'],
  405: ['The path exists, but not for POST.', 'Check the base URL.'],
  413: [
    'The body is too large for the wallet or a proxy.',
    'Check bodyBytesMax, and the limit of the proxy.',
  ],
  415: ['The wallet did not accept the content type.', 'Check what changes the headers on the way.'],
}

/**
 * @param problem why there is no answer
 * @param code of the error, and the system call that failed
 */
export function explainSilence(problem: string, { code, syscall }: NodeJS.ErrnoException): Explanation {
  const isConnected = syscall !== 'connect' && syscall !== 'getaddrinfo' && code !== 'ECONNREFUSED'
  if (isConnected)
    return {
      result: 'unknown',
      rule: `There is no answer: ${problem}. The call may have been recorded.`,
      retry: again,
      advice: 'Send the same ids again: the answer is the recorded decision, if there is one.',
    }
  const why = code === 'ECONNREFUSED' ? 'Nothing listens at this address' : 'There is no connection'
  return {
    result: 'unknown',
    rule: `${why}, so nothing was sent: ${problem}.`,
    retry: again,
    advice: 'Start the wallet, or correct the base URL.',
  }
}

/**
 * @param text the body of the answer
 * @param isNew whether the transactionId was never sent before: a success is then no replay
 */
export function explainAnswer(
  operation: Operation,
  status: number,
  text: string,
  isNew: boolean,
): Explanation {
  const body = readObject(text)
  const fieldOf = (name: string) => {
    const value = body?.get(name)
    return typeof value === 'string' ? value : null
  }
  const errorCode = fieldOf('errorCode')
  // The answer to a settlement is the operator's own.
  const reading = readingOf({ status, body: text }, operation !== 'settlement')
  if (reading.kind === 'success') return explainSuccess(operation, isNew)
  if (reading.kind === 'fault') return explainFault(operation, reading)
  const known = errorCode === null ? undefined : reasonOf(errorCode, fieldOf('description') ?? '')
  if (known !== undefined)
    return {
      result: 'refused',
      rule: refusalSentence(operation, known),
      retry: never,
      advice: adviceFor(operation, known),
    }
  const [rule, advice] = statuses[status] ?? []
  if (rule !== undefined && advice !== undefined) return { result: 'refused', rule, retry: never, advice }
  if (errorCode === null)
    return {
      result: 'refused',
      rule: 'A refusal without an errorCode: it is not the answer of a wallet.',
      retry: never,
      advice: lookWho,
    }
  return {
    result: 'refused',
    rule: Object.hasOwn(reasons, errorCode)
      ? `The wallet refused the call with ${errorCode}, a code of the interface. It may be a rule of the operator's own code.`
      : `${sentenceOf({ operation, reason: 'REFUSED_BY_OPERATOR' })} The code is ${errorCode}.`,
    retry: never,
    advice: 'The description above has the reason.',
  }
}

const lookWho = 'Find out what answers at this address: a proxy or a framework.'

function refusalSentence(operation: Operation, reason: OutcomeReason): string {
  // Recorded alike: spec 4.2 has one refusal for both.
  const byStore =
    reason === 'CLAWBACKS_DISABLED' ? ` Or: ${sentenceOf({ operation, reason: 'REFUSED_BY_STORE' })}` : ''
  return `${sentenceOf({ operation, reason: reason })}${byStore}`
}

function reasonOf(errorCode: string, description: string): OutcomeReason | undefined {
  const candidates = Object.hasOwn(reasons, errorCode) ? reasons[errorCode] : undefined
  return candidates?.find(([pattern]) => pattern.test(description))?.[1]
}

function explainSuccess(operation: Operation, isNew: boolean): Explanation {
  const replay = isNew ? '' : ` Or: ${sentenceOf({ operation, reason: 'REPLAYED' })}`
  const unknownBet =
    operation === 'rollbackbet' ? ` Or: ${sentenceOf({ operation, reason: 'TOMBSTONE_CREATED' })}` : ''
  return {
    result: 'accepted',
    rule: `${sentenceOf({ operation, reason: 'ACCEPTED' })}${unknownBet}${replay}`,
    retry: never,
    advice: 'Send the same ids again: the answer is the same, and the balance does not change (D2).',
  }
}

function explainFault(operation: Operation, { status, errorCode, problem }: Fault): Explanation {
  const unknown = (rule: string, advice: string): Explanation => ({
    result: 'unknown',
    rule,
    retry: again,
    advice,
  })
  if (problem !== null)
    return unknown(
      `The status is a success, but ${problem}: the call may have been recorded.`,
      `${lookWho} The interface needs balance and currency as JSON.`,
    )
  if (status < 400)
    return unknown(
      'A redirection is no answer of a wallet; it is not followed.',
      'Check the base URL: http or https, and a slash.',
    )
  if (status < 500)
    return unknown(
      `The status ${status} is no refusal: it asks for the same call later.`,
      'Check the time limits and rate limits of the wallet, and of what is in front of it.',
    )
  return errorCode === 'SETTLEMENT_NOT_FOUND'
    ? unknown(sentenceOf({ operation, reason: 'SETTLEMENT_NOT_FOUND' }), settleFirst)
    : unknown(
        sentenceOf({ operation, reason: 'FAULT' }),
        'The log of the wallet has the cause. Send the same ids again.',
      )
}

const settleFirst = 'Send the settlement of this bet first.'

function adviceFor(operation: Operation, reason: OutcomeReason): string {
  switch (reason) {
    case 'INVALID_REQUEST':
      return 'Correct the fields that the description names.'
    case 'PAYLOAD_MISMATCH':
      return 'Use a new --transaction for another call; send the same fields for a retry.'
    case 'UNKNOWN_PLAYER':
      return 'Check --player: ids are compared exactly. Nothing is recorded, so the same call may succeed later.'
    case 'UNKNOWN_BET':
      return 'Check --bet: place the bet first.'
    case 'CURRENCY_MISMATCH':
      return "Send a new call with the player's currency."
    case 'INSUFFICIENT_FUNDS':
      return operation === 'unsettlement'
        ? 'No later call debits the amount: the platform nets it off later winnings.'
        : 'The same transactionId stays refused, whatever the balance becomes: send a new call.'
    case 'SETTLEMENT_NOT_FOUND':
      return settleFirst
    default:
      return 'bet-wallet bet <betId> shows the life of the bet, from the database.'
  }
}
