/** Groups failed cases by their likely cause: one missing tombstone is one finding, not nine. */

import type { SettlementType } from '../../store.js'
import { add, compare, type Decimal, fromUnits, parseDecimal, subtract, zero } from '../numbers/decimal.js'
import { numberText, readObject } from '../wire/json.js'
import type { AuditCase, Symptom } from './audit-case.js'
import { cases } from './cases.js'
import type { AuditExchange, AuditFailure, AuditFinding, AuditResult, Level } from './report.js'

type Failed = AuditResult & { failure: AuditFailure }

const levels: readonly Level[] = ['MUST', 'SHOULD']

/** A case, the case that it follows, and why. */
interface Link {
  one: string
  other: string
  reason: string
  /** The cause that `other` shows explains `one` too. */
  isByCause?: true
  /** The case after which the balance was already wrong. */
  spoiler?: string
}

/**
 * The failed cases by their likely cause, the gravest first, then those that explain most. A failure whose
 * cause is doubtful is a finding of its own.
 *
 * @param results in the order in which the cases ran
 * @param minorUnits decimals of the player's currency
 * @param unitsNeeded the funds that the cases need, in smallest units
 */
export function findingsOf(
  results: readonly AuditResult[],
  minorUnits: number,
  unitsNeeded: number,
): AuditFinding[] {
  const failed = results.filter((result): result is Failed => result.failure !== null)
  const byFunds = linksByFunds(
    results,
    failed,
    minorUnits,
    fromUnits(Math.floor(unitsNeeded / 2), minorUnits),
  )
  const others = failed.filter(({ id }) => !byFunds.some(({ one }) => one === id))
  const links = [
    ...byFunds,
    ...linksByCause(others.filter(result => !isInexact(result, minorUnits) && !isDrift(result))),
    ...linksBySymptom(others, minorUnits),
  ]
  // If plain calls fail, what the table says about other calls is doubtful.
  const plainFails = failed.some(
    ({ id, failure }) => roleOf(id) === 'basic' && !['balance', 'stale-balance'].includes(failure.kind),
  )
  const findings = groupsOf(failed, links).map(group => findingOf(group, links, minorUnits, !plainFails))
  const place = ({ level }: AuditFinding) => levels.indexOf(level)
  const isOf = ({ id }: AuditFinding, is: (result: Failed) => boolean) =>
    failed.some(result => result.id === id && is(result))
  /** A step of the set-up, or a balance that no case has seen become wrong, says least. */
  const isVague = (finding: AuditFinding) =>
    roleOf(finding.id) === 'books' ||
    links.some(({ one, spoiler }) => one === finding.id && spoiler !== undefined) ||
    isOf(finding, result => result.failure.isPreparation === true && !isOfSettlement(result))
  const isOfMoney = (finding: AuditFinding) =>
    isOf(finding, ({ failure }) => ['balance', 'accepted'].includes(failure.kind))
  return findings.sort(
    (one, other) =>
      place(one) - place(other) ||
      Number(isVague(one)) - Number(isVague(other)) ||
      other.followers.length - one.followers.length ||
      // Of two that explain as much, a wrong balance says more than a wrong answer.
      Number(isOfMoney(other)) - Number(isOfMoney(one)),
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

function findingOf(
  group: readonly Failed[],
  links: readonly Link[],
  minorUnits: number,
  areCausesSure: boolean,
): AuditFinding {
  const members = [...group].sort((one, other) => one.id.localeCompare(other.id))
  const sums = members.find(result => roleOf(result.id) === 'sums' && isInexact(result, minorUnits))
  const [judging] = members
    .filter(({ failure }) => !failure.isPreparation)
    .sort((one, other) => levels.indexOf(one.level) - levels.indexOf(other.level))
  const root =
    sums ??
    members.find(({ id }) => roleOf(id) === 'basic') ??
    mostFollowed(members, links) ??
    members.find(member => hasLeftWrong(member, links)) ??
    judging ??
    members[0]
  const spoiler = links.find(({ one }) => one === root?.id)?.spoiler
  if (root === undefined) throw new RangeError('a group has at least one case')
  return {
    id: root.id,
    level: levels.find(level => members.some(member => member.level === level)) ?? root.level,
    cause: spoiler === undefined ? causeOf(root, minorUnits, areCausesSure) : leftBy(spoiler),
    followers: members
      .filter(({ id }) => id !== root.id)
      .map(({ id }) => ({ id, reason: reasonOf(id, root.id, links) })),
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

/** The case whose cause explains most others of the group, and best one that no other explains. */
function mostFollowed(members: readonly Failed[], links: readonly Link[]): Failed | undefined {
  const byCause = links.filter(({ isByCause }) => isByCause)
  const followersOf = ({ id }: Failed) => byCause.filter(({ other }) => other === id).length
  const followed = members.filter(member => followersOf(member) > 0)
  const unexplained = followed.filter(({ id }) => !byCause.some(({ one }) => one === id))
  const candidates = unexplained.length > 0 ? unexplained : followed
  return candidates.toSorted((one, other) => followersOf(other) - followersOf(one))[0]
}

function reasonOf(id: string, rootId: string, links: readonly Link[]): string {
  const own = links.find(({ one }) => one === id)
  return own?.reason ?? `probably as ${rootId}`
}

const factsOf: ReadonlyMap<string, AuditCase> = new Map(cases.map(item => [item.id, item]))
const roleOf = (id: string) => factsOf.get(id)?.role

/** Cases that fail because an earlier case has left the balance wrong. */
function linksByFunds(
  results: readonly AuditResult[],
  failed: readonly Failed[],
  minorUnits: number,
  least: Decimal,
): Link[] {
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
  if (books !== undefined && first.failure !== null) {
    links.push({ one: books.id, other: first.id, reason: `the balance was unexplained after ${first.id}` })
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
  const { status, errorCode } = answerOf(exchangeOf(result))
  return status === 402 || errorCode === 'INSUFFICIENT_FUNDS'
}

function linksByCause(failed: readonly Failed[]): Link[] {
  const byId = new Map(failed.map(result => [result.id, result]))
  return failed.flatMap(result => {
    for (const followed of factsOf.get(result.id)?.follows ?? []) {
      const [id = '', symptom] = followed.split(' ')
      const root = byId.get(id)
      if (root === undefined || root.failure.isPreparation) continue
      if (symptom === undefined && !isAlike(root, result)) continue
      const shown = symptomsOf(root)
      if (symptom === undefined ? shown.length > 0 : shown.some(one => one === symptom))
        return [{ one: result.id, other: id, reason: `probably as ${id}`, isByCause: true }]
    }
    return []
  })
}

/** The symptoms by which a case fails, as far as its causes name them. */
function symptomsOf({ id, failure: { kind, difference } }: Failed): Symptom[] {
  const found = kind !== 'balance' ? kind : difference?.startsWith('-') ? 'too-little' : 'too-much'
  const isExecuted = kind === 'balance' || kind === 'accepted'
  return (Object.keys(factsOf.get(id)?.causes ?? {}) as Symptom[]).filter(
    symptom => symptom === found || (symptom === 'executed' && isExecuted),
  )
}

const executed = ['balance', 'accepted', 'other-refusal', 'other']

/** Whether two failures go in the same direction. */
function isAlike({ failure: root }: Failed, { failure }: Failed): boolean {
  if (root.kind === 'balance' && failure.kind === 'balance') {
    return root.difference?.startsWith('-') === failure.difference?.startsWith('-')
  }
  if (root.kind === 'balance' || root.kind === 'accepted' || root.kind === 'other')
    return executed.includes(failure.kind)
  return root.kind === failure.kind
}

/** Cases with the same symptom: the same wrong answer, or the same amount. */
function linksBySymptom(failed: readonly Failed[], minorUnits: number): Link[] {
  const first = new Map<string, string>()
  // Sums of 0.1 show it best.
  const sums = failed.find(result => roleOf(result.id) === 'sums' && isInexact(result, minorUnits))
  if (sums !== undefined) first.set('inexact', sums.id)
  return failed.flatMap(result => {
    const { id } = result
    const fault = faultOf(result)
    const symptom = symptomOf(result, minorUnits) ?? (roleOf(id) === 'basic' ? fault : null)
    const key = symptom ?? fault
    if (key === null) return []
    const other = first.get(key)
    if (other === undefined && symptom !== null) first.set(key, id)
    if (other === undefined || other === id) return []
    return [{ one: id, other, reason: `as ${other}: ${inWords(result, minorUnits)}` }]
  })
}

/** A symptom that has probably one cause; `null` if it may have many. */
function symptomOf(result: Failed, minorUnits: number): string | null {
  const { kind, expected, actual } = result.failure
  const { status, errorCode, description, shape } = answerOf(exchangeOf(result))
  switch (kind) {
    case 'stale-balance':
      return kind
    case 'balance':
      if (isInexact(result, minorUnits)) return 'inexact'
      return isDrift(result) ? 'drift' : isOfSettlement(result) ? 'settlement' : null
    case 'form':
      return `${kind} ${Math.floor((status ?? 0) / 100)} ${shape}`
    case 'refused':
      return `${kind} ${status} ${errorCode} ${description}`
    case 'other-refusal':
      return `${kind} ${expected} ${status} ${errorCode}`
    case 'fault':
      return errorCode === null || errorCode === 'INTERNAL_ERROR' ? null : `${kind} ${status} ${errorCode}`
    case 'other':
      return `${kind} ${expected} ${actual}`
    default:
      return null
  }
}

function faultOf(result: Failed): string | null {
  const { kind } = result.failure
  return kind === 'fault' || kind === 'no-answer' ? `${kind} ${exchangeOf(result)?.status}` : null
}

/** Whether the balance is wrong by a fraction of the smallest unit, and has a fraction, now or before. */
function isInexact(result: Failed, minorUnits: number): boolean {
  const { kind, difference } = result.failure
  const isFine = (amount: string | null) => (parseDecimal(amount ?? '')?.scale ?? 0) > minorUnits
  const shown = exchangeOf(result)?.balance ?? null
  const isOfBalance = shown === null || isFine(shown) || isFine(result.balance?.before ?? null)
  return kind === 'balance' && isFine(difference) && isOfBalance
}

/**
 * Whether the balance is wrong by less than any call of the case moves: none was executed twice, or not at
 * all. Nor is it one amount in place of another one.
 */
function isDrift({ failure: { kind, difference }, exchanges }: Failed): boolean {
  const size = parseDecimal(difference?.replace('-', '') ?? '')
  if (kind !== 'balance' || size === null) return false
  const amounts = exchanges.flatMap(({ body, isReading }) => {
    const amount = numberText(readObject(body)?.get('amount'))
    return (isReading || amount === null ? null : parseDecimal(amount.text)) ?? []
  })
  const isSwapped = amounts.some(one => amounts.some(other => compare(add(one, size), other) === 0))
  return amounts.length > 0 && !isSwapped && amounts.every(amount => compare(size, amount) < 0)
}

/**
 * Whether a settlement that a case needs has changed the balance wrongly. No case is about settlements alone.
 */
function isOfSettlement(result: Failed): boolean {
  const { kind, isPreparation = false } = result.failure
  const type = readObject(exchangeOf(result)?.body ?? '')?.get('type')
  return kind === 'balance' && isPreparation && settlementTypes.some(each => each === type)
}

const settlementTypes: readonly SettlementType[] = ['BET_PAID', 'VOIDED', 'CASHOUT']

const exchangeOf = ({ failure, exchanges }: Failed) => exchanges[failure.exchangeIndex ?? -1]

/** What the wallet does wrong; `null` if the case alone says it. */
function causeOf(root: Failed, minorUnits: number, areCausesSure: boolean): string | null {
  const { id, failure } = root
  if (isInexact(root, minorUnits))
    return 'Balances are not exact: they are wrong by fractions of the smallest unit, as in floating point.'
  if (isDrift(root))
    return 'The balance is wrong by less than any of these calls moves: a fee, or a rounding.'
  if (isOfSettlement(root)) return 'A settlement changes the balance by another amount than its own.'
  if (failure.kind === 'stale-balance')
    return 'Answers show a balance that is not the current one. No money moves.'
  if (!areCausesSure || failure.isPreparation) return null
  const [symptom] = symptomsOf(root)
  return (symptom && factsOf.get(id)?.causes?.[symptom]) ?? null
}

function inWords(result: Failed, minorUnits: number): string {
  const { failure } = result
  if (isInexact(result, minorUnits)) return 'an inexact amount'
  if (isDrift(result)) return 'an amount that no call moves'
  if (isOfSettlement(result)) return 'a settlement changes the balance wrongly'
  if (failure.kind === 'stale-balance') return 'an answer shows a wrong balance'
  return failure.kind === 'other' || failure.kind === 'form' ? 'the same form' : 'the same answer'
}

function answerOf(exchange: AuditExchange | undefined) {
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
