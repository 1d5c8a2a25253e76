/**
 * Groups failed cases by what they have in common: the same wrong answer, or a balance that an earlier case
 * left wrong. The cases run from the plainest to the most involved: the first one of a group shows it best.
 */

import type { SettlementType } from '../../store.js'
import { add, compare, type Decimal, fromUnits, parseDecimal, subtract, zero } from '../numbers/decimal.js'
import { numberText, readObject } from '../wire/json.js'
import { cases } from './cases.js'
import { describeForeign } from './foreign-answers.js'
import { levels } from './printout.js'
import type { AuditExchange, AuditFailure, AuditFinding, AuditResult, ForeignAnswers } from './report.js'

type Failed = AuditResult & { failure: AuditFailure }

/** A case, the case that it follows, and why. */
interface Link {
  one: string
  other: string
  reason: string
  /** The case after which the balance was already wrong. */
  spoiler?: string
}

interface Facts {
  /** Decimals of the player's currency. */
  minorUnits: number
  /** The funds that the cases need, in smallest units. */
  unitsNeeded: number
  refusalCodes: ReadonlySet<string>
  foreignAnswers: readonly ForeignAnswers[]
}

/**
 * The failed cases, the gravest first; of equals, what does not come from the wallet, then the plainest.
 *
 * @param results in the order in which the cases ran
 */
export function findingsOf(results: readonly AuditResult[], facts: Facts): AuditFinding[] {
  const failed = results.filter((result): result is Failed => result.failure !== null)
  const byFunds = linksByFunds(results, failed, facts)
  const others = failed.filter(({ id }) => !byFunds.some(({ one }) => one === id))
  const links = [...byFunds, ...linksBySymptom(others, facts)]
  const rankOf = (id: string) => failed.findIndex(result => result.id === id)
  const resultOf = ({ id }: AuditFinding) => failed.find(result => result.id === id) as Failed
  /** A step of the set-up, or a balance that no case has seen become wrong, says least. */
  const isVague = (finding: AuditFinding) => {
    const result = resultOf(finding)
    const isUnseen = links.some(({ one, spoiler }) => one === result.id && spoiler !== undefined)
    const isPreparation = result.failure.isPreparation === true && !isOfSettlement(result)
    return roleOf(result.id) === 'books' || isUnseen || isPreparation
  }
  const isForeign = (finding: AuditFinding) => foreignOf(resultOf(finding), facts) !== null
  return groupsOf(failed, links)
    .map(group => failed.filter(result => group.includes(result)))
    .map(group => findingOfGroup(group, links, facts))
    .sort(
      (one, other) =>
        levels.indexOf(one.level) - levels.indexOf(other.level) ||
        Number(isForeign(other)) - Number(isForeign(one)) ||
        Number(isVague(one)) - Number(isVague(other)) ||
        rankOf(one.id) - rankOf(other.id),
    )
}

function groupsOf(failed: readonly Failed[], links: readonly Link[]): Failed[][] {
  const groups = new Map(failed.map(result => [result.id, [result]]))
  for (const { one, other } of links) {
    const [a, b] = [groups.get(one), groups.get(other)]
    if (a === undefined || b === undefined || a === b) continue
    a.push(...b)
    for (const { id } of b) groups.set(id, a)
  }
  return [...new Set(groups.values())]
}

function findingOfGroup(members: readonly Failed[], links: readonly Link[], facts: Facts): AuditFinding {
  const role = members.some(member => isInexact(member, facts)) ? 'sums' : 'form'
  const [judging] = members
    .filter(({ failure }) => !failure.isPreparation)
    .sort((one, other) => levels.indexOf(one.level) - levels.indexOf(other.level))
  const root =
    members.find(({ id }) => roleOf(id) === role) ??
    members.find(member => hasLeftWrong(member, links)) ??
    judging ??
    members[0]
  if (root === undefined) throw new RangeError('a group has at least one case')
  const spoiler = links.find(({ one }) => one === root.id)?.spoiler
  return {
    id: root.id,
    level: levels.find(level => members.some(member => member.level === level)) ?? root.level,
    cause: spoiler === undefined ? causeOf(root, facts) : leftBy(spoiler),
    followers: members
      .filter(({ id }) => id !== root.id)
      .map(({ id }) => ({ id, reason: links.find(({ one }) => one === id)?.reason ?? `as ${root.id}` })),
  }
}

/** Whether cases fail because this one has left the balance wrong, which it has seen itself. */
const hasLeftWrong = ({ id, failure }: Failed, links: readonly Link[]) =>
  failure.kind === 'balance' &&
  failure.exchangeIndex !== null &&
  !failure.isPreparation &&
  links.some(({ one, other, spoiler }) => spoiler !== undefined && other === id && one !== id)

const leftBy = (id: string) =>
  `The balance was wrong before this case: ${id} was left with another one than it began with, although its bets were rolled back.`

const roleOf = (id: string) => cases.find(item => item.id === id)?.role

/** Cases that fail because an earlier case has left the balance wrong. */
function linksByFunds(
  results: readonly AuditResult[],
  failed: readonly Failed[],
  { minorUnits, unitsNeeded }: Facts,
): Link[] {
  const least = fromUnits(Math.floor(unitsNeeded / 2), minorUnits)
  const spoilers = results.filter(({ balance }) => balance?.explained === false)
  const [first] = spoilers
  if (first === undefined) return []
  const books = failed.find(({ id, failure }) => roleOf(id) === 'books' && failure.exchangeIndex === null)
  /**
   * The failed case that stands for what a case left: itself, an earlier one that saw it, or that of the
   * books.
   */
  const standsFor = (spoiler: AuditResult) => {
    const isEarlier = (result: Failed) =>
      spoilers.includes(result) && results.indexOf(result) <= results.indexOf(spoiler)
    const seen = failed.find(result => isEarlier(result) && result.failure.kind === 'balance')
    return spoiler.failure === null ? (seen ?? books)?.id : spoiler.id
  }
  const links: Link[] = []
  for (const result of failed) {
    const earlier = spoilers.filter(spoiler => results.indexOf(spoiler) < results.indexOf(result))
    const before = parseDecimal(result.balance?.before ?? '')
    const spoiler =
      before !== null && before.scale > minorUnits
        ? earlier.find(({ balance }) => (parseDecimal(balance?.after ?? '')?.scale ?? 0) > minorUnits)
        : earlier.toSorted((one, other) => compare(left(one), left(other)))[0]
    if (spoiler === undefined || result === books || !lacksFunds(result, minorUnits, least)) continue
    const other = standsFor(spoiler) ?? links.find(link => link.spoiler === spoiler.id)?.one
    const reason = `the balance was already unexplained after ${spoiler.id}`
    links.push({ one: result.id, other: other ?? result.id, reason, spoiler: spoiler.id })
  }
  const seen = failed.find(result => result !== books && spoilers.includes(result))
  if (books !== undefined && seen !== undefined) {
    links.push({ one: books.id, other: seen.id, reason: `the balance was unexplained after ${first.id}` })
  }
  return links
}

/** What a case left on the balance. */
function left({ balance }: AuditResult): Decimal {
  const [before, after] = [parseDecimal(balance?.before ?? ''), parseDecimal(balance?.after ?? '')]
  return before === null || after === null ? zero : subtract(after, before)
}

/** The balance before the case is too low to judge anything, or it is why a success was refused. */
function lacksFunds(result: Failed, minorUnits: number, least: Decimal): boolean {
  const { failure, balance } = result
  const before = parseDecimal(balance?.before ?? '')
  if (before !== null && compare(before, least) < 0) return true
  if (failure.kind !== 'refused') return false
  if (before !== null && before.scale > minorUnits) return true
  const { status, errorCode } = partsOfAnswer(failedExchange(result))
  return status === 402 || errorCode === 'INSUFFICIENT_FUNDS'
}

/** Cases with the same symptom: the same wrong answer, or the same amount. */
function linksBySymptom(failed: readonly Failed[], facts: Facts): Link[] {
  const first = new Map<string, string>()
  return failed.flatMap(result => {
    const { id } = result
    const symptom = symptomOf(result, facts)
    if (symptom === null) return []
    const other = first.get(symptom)
    if (other === undefined) first.set(symptom, id)
    return other === undefined ? [] : [{ one: id, other, reason: `as ${other}: ${inWords(result, facts)}` }]
  })
}

/** A symptom that has probably one cause; `null` if it may have many. */
function symptomOf(result: Failed, facts: Facts): string | null {
  const { kind, expected, actual } = result.failure
  const { status, errorCode, description, shape } = partsOfAnswer(failedExchange(result))
  const known = knownWords(result, facts)
  if (known !== undefined) return known
  switch (kind) {
    case 'form':
      return `${kind} ${Math.floor((status ?? 0) / 100)} ${shape}`
    case 'refused':
      return `${kind} ${status} ${errorCode} ${description}`
    case 'other-refusal':
      return `${kind} ${expected} ${status} ${errorCode}`
    case 'fault':
      if (errorCode !== null && facts.refusalCodes.has(errorCode))
        return 'a refusal with the status of a fault'
      return errorCode === null || errorCode === 'INTERNAL_ERROR' ? null : `${kind} ${status} ${errorCode}`
    case 'other':
      return `${kind} ${expected} ${actual}`
    default:
      return null
  }
}

/** Whether the balance is wrong by a fraction of the smallest unit, and has a fraction, now or before. */
function isInexact(result: Failed, { minorUnits }: Facts): boolean {
  const { kind, difference } = result.failure
  const isFine = (amount: string | null) => (parseDecimal(amount ?? '')?.scale ?? 0) > minorUnits
  const shown = failedExchange(result)?.balance ?? null
  const isOfBalance = shown === null || isFine(shown) || isFine(result.balance?.before ?? null)
  return kind === 'balance' && isFine(difference) && isOfBalance
}

/** Of an amount with more, a parser that reads numbers as doubles loses digits. */
const digitsOfDouble = 15

/**
 * Whether the balance is wrong by less than any call of the case moves: none was executed twice, or not at
 * all. Nor is it one amount in place of another one, or the digits that a double loses.
 */
function isDrift({ failure: { kind, difference }, exchanges }: Failed): boolean {
  const size = parseDecimal(difference?.replace('-', '') ?? '')
  if (kind !== 'balance' || size === null) return false
  const amounts = exchanges.flatMap(({ body, isReading }) => {
    const amount = numberText(readObject(body)?.get('amount'))
    return (isReading || amount === null ? null : parseDecimal(amount.text)) ?? []
  })
  const isSwapped = amounts.some(one => amounts.some(other => compare(add(one, size), other) === 0))
  const isOfDouble = ({ units }: Decimal) => String(units).length > digitsOfDouble
  return (
    amounts.length > 0 &&
    !isSwapped &&
    !amounts.some(isOfDouble) &&
    amounts.every(amount => compare(size, amount) < 0)
  )
}

/**
 * Whether a settlement that a case needs has changed the balance wrongly. No case is about settlements alone.
 */
function isOfSettlement(result: Failed): boolean {
  const { kind, isPreparation = false } = result.failure
  const type = readObject(failedExchange(result)?.body ?? '')?.get('type')
  return kind === 'balance' && isPreparation && settlementTypes.some(each => each === type)
}

const settlementTypes: readonly SettlementType[] = ['BET_PAID', 'VOIDED', 'CASHOUT']

const failedExchange = ({ failure, exchanges }: Failed) => exchanges[failure.exchangeIndex ?? -1]
const senderOfFailure = (result: Failed) => failedExchange(result)?.sender

/** Causes that the calls of a case show. */
const causes: readonly {
  isShown(result: Failed, facts: Facts): boolean
  words: string
  sentence: string
}[] = [
  {
    isShown: isInexact,
    words: 'an inexact amount',
    sentence:
      'Balances are not exact: they are wrong by fractions of the smallest unit, as in floating point.',
  },
  {
    isShown: isDrift,
    words: 'an amount that no call moves',
    sentence: 'The balance is wrong by less than any of these calls moves: a fee, or a rounding.',
  },
  {
    isShown: isOfSettlement,
    words: 'a settlement changes the balance wrongly',
    sentence: 'A settlement changes the balance by another amount than its own.',
  },
  {
    isShown: ({ failure }) => failure.kind === 'stale-balance',
    words: 'an answer shows a wrong balance',
    sentence: 'Answers show a balance that is not the current one. No money moves.',
  },
]

const causeShown = (result: Failed, facts: Facts) => causes.find(({ isShown }) => isShown(result, facts))
const knownWords = (result: Failed, facts: Facts) =>
  senderOfFailure(result) ?? causeShown(result, facts)?.words

/** `null` if the case alone says it. */
function causeOf(root: Failed, facts: Facts): string | null {
  const foreign = foreignOf(root, facts)
  return foreign === null ? (causeShown(root, facts)?.sentence ?? null) : describeForeign(foreign)
}

/** What sent the answer by which a case failed, if it also answered calls of the platform. */
function foreignOf(result: Failed, { foreignAnswers }: Facts): ForeignAnswers | null {
  return foreignAnswers.find(({ sender }) => sender === senderOfFailure(result)) ?? null
}

function inWords(result: Failed, facts: Facts): string {
  const { kind } = result.failure
  return (
    knownWords(result, facts) ?? (kind === 'other' || kind === 'form' ? 'the same form' : 'the same answer')
  )
}

function partsOfAnswer(exchange: AuditExchange | undefined) {
  const fields = readObject(exchange?.answer ?? '')
  const textOf = (name: string) => {
    const value = fields?.get(name)
    return typeof value === 'string' ? value : null
  }
  return {
    status: exchange?.status ?? null,
    errorCode: textOf('errorCode'),
    // Without ids and amounts.
    description: textOf('description')?.replace(/\S+/g, word => (/\d/.test(word) ? '#' : word)) ?? null,
    shape: fields === null ? 'no JSON object' : [...fields.keys()].sort().join(', '),
  }
}
