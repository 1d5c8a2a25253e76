/**
 * Checks before the first case that the audit is possible: the wallet answers, and the players are usable.
 */
import { compare, type Decimal, fromUnits, subtract, textOf } from '../numbers/decimal.js'
import { withoutQuery } from '../wire/curl.js'
import { AuditError } from '../wire/errors.js'
import { type Answer, describeAnswer } from './answer.js'
import type { AuditCase } from './audit-case.js'
import type { CaseContext } from './case-context.js'
import { describeForeign, senderOf } from './foreign-answers.js'
import type { AuditSettings } from './options.js'
import type { AuditExchange } from './report.js'

/** The funds that the cases need, in smallest units of the currency. */
export function unitsNeeded(concurrency: number): number {
  return Math.max(2_000, concurrency * 100)
}

/** How many answers a case waits for, one after the other: of most cases, on average. */
const answersPerCase = 19

/**
 * @param cases that run
 * @param exchanges before the first case
 */
export function estimateOf(
  cases: readonly AuditCase[],
  exchanges: readonly AuditExchange[],
): { latencyMs: number; durationMs: number } {
  const times = exchanges.flatMap(({ sentAtMs, answeredAtMs }) =>
    answeredAtMs === null ? [] : [answeredAtMs - sentAtMs],
  )
  // The first call opens the connection.
  const latencyMs = Math.min(...times)
  const answers = cases.reduce((sum, { answers: own = answersPerCase }) => sum + own, 0)
  return { latencyMs, durationMs: Math.round(answers * latencyMs) }
}

/**
 * Changes the reading of balances to a bet and its rollback, with the reason, if the rollback of an unknown
 * bet is not answered with a balance, in all attempts.
 *
 * @param settles whether a case settles bets: then one is settled, as a void of its stake, which changes no
 *   balance
 * @returns the opening balance
 * @throws {AuditError} if the audit is not possible
 */
export async function checkTarget(context: CaseContext, settles: boolean): Promise<Decimal> {
  const { wallet, settings } = context
  const { reading } = context.run
  const first = await wallet.readBalance()
  checkReached(settings, first, settings.playerId)
  if (first.balance === null) {
    reading.by = 'bet-and-rollback'
    reading.reason = `the rollback of an unknown bet was answered with ${describeAnswer(first)}`
  }
  let answer = first.balance === null ? await wallet.readBalance() : first
  // An error record of 404 may be that of an unknown bet, or of an unknown path.
  if (first.status === 404 && answer.status === 404) throw notAWallet(settings, first)
  if (answer.balance === null) {
    const [foreign] = context.run.foreignAnswers.all
    const why = foreign !== undefined && senderOf(answer) !== null ? `. ${describeForeign(foreign)}` : ''
    throw new AuditError(
      'BALANCE_UNREADABLE',
      `The balance of ${settings.playerId} cannot be read: the rollback of an unknown bet is answered with ` +
        `${describeAnswer(first)} (spec 4.3 requires success), and a bet and its rollback with ${describeAnswer(answer)}${why}`,
    )
  }
  const currency = answer.fields?.get('currency')
  if (typeof currency === 'string' && currency !== settings.currency) {
    // The player may have an account in each (D28).
    reading.home = { currency, balance: answer.balance }
    // Its own mask: each call has another signature.
    const home = answer.mask(currency)
    answer = await wallet.readBalance()
    if (answer.balance === null || answer.success?.currency !== settings.currency)
      throw new AuditError(
        'CURRENCY_MISMATCH',
        `The currency of ${settings.playerId} is ${home}, not ${settings.currency}: ` +
          `a bet in ${settings.currency} is answered with ${describeAnswer(answer)}`,
      )
  }
  checkFunds(context, answer.balance, settings.currency)
  for (const other of settings.accounts.filter(code => code !== settings.currency)) {
    const { success } = await wallet.readBalance(undefined, other)
    // Without a balance, or with another account's: for the cases.
    if (success?.currency === other) checkFunds(context, success.balance, other)
  }
  if (settings.otherPlayerId !== null) {
    const other = await wallet.readBalance(settings.otherPlayerId)
    checkReached(settings, other, settings.otherPlayerId)
  }
  await checkDecimals(context)
  if (!settles || settings.settle === 'unsupported') return answer.balance
  await checkSettlement(context)
  return (await wallet.readBalance()).balance ?? answer.balance
}

/** More than any currency of ISO 4217 has: those of an unknown code, which a column may not hold. */
const decimalsOfUnknown = 8

/** Where the smallest stake is refused, and a whole one is not: most cases would fail. */
async function checkDecimals({ wallet, settings, money }: CaseContext): Promise<void> {
  const { minorUnits } = settings
  if (minorUnits < decimalsOfUnknown) return
  const [least, whole] = [fromUnits(101, minorUnits), fromUnits(10 ** minorUnits, minorUnits)]
  const answers = []
  for (const amount of [least, whole]) {
    answers.push(
      await wallet.place(wallet.bet(amount), `placebet of ${textOf(amount, minorUnits)}, for the decimals`),
    )
    await wallet.cleanUp()
  }
  const [refused, accepted] = answers
  if (refused === undefined || refused.errorCode === null || refused.status === 402 || !accepted?.success)
    return
  throw new AuditError(
    'DECIMALS_REFUSED',
    `A stake of ${money(least)} is refused (${describeAnswer(refused)}), and one of ${money(whole)} is not: the audit ` +
      `assumes ${minorUnits} decimals. State how many the wallet has: --minor-units 2`,
  )
}

function checkFunds({ settings, money }: CaseContext, balance: Decimal, currency: string): void {
  const needed = fromUnits(unitsNeeded(settings.concurrency), settings.minorUnitsOf(currency))
  if (compare(balance, needed) >= 0) return
  const [has, needs, short] = [balance, needed, subtract(needed, balance)].map(value =>
    money(value, currency),
  )
  throw new AuditError(
    'INSUFFICIENT_TEST_FUNDS',
    `${settings.playerId} has ${has}, and the audit needs at least ${needs}: deposit ${short} or more`,
  )
}

async function checkSettlement({ wallet, settings, run }: CaseContext): Promise<void> {
  const bet = wallet.bet()
  const placed = await wallet.place(bet, { label: 'placebet, to settle it' })
  if (placed.success === null) return // for the cases
  let problem: string | null = null
  for (const type of ['VOIDED', 'BET_PAID'] as const) {
    problem = await wallet.trySettle(bet, type, bet.amount)
    if (problem === null) return
  }
  await wallet.cleanUp()
  const { settle } = settings
  const how =
    typeof settle === 'function'
      ? 'the settle function'
      : 'url' in (settle as object)
        ? `POST ${withoutQuery((settle as { url: URL }).url.href)}`
        : `the command ${run.client.mask((settle as { command: string }).command)}`
  throw new AuditError(
    'SETTLEMENT_FAILED',
    `The wallet has accepted a bet, but it cannot be settled: ${how} failed (${problem}). Correct it, or leave it ` +
      'out: then the cases that need a settlement are skipped',
  )
}

function checkReached(settings: AuditSettings, answer: Answer, playerId: string): void {
  const { status, exchange, errorCode } = answer
  const where = `POST ${settings.target}${exchange.path}`
  if (status === null) {
    throw new AuditError(
      'UNREACHABLE',
      `No answer from ${settings.target}: ${exchange.error ?? 'unknown reason'}. Is the wallet running, and is the address right?`,
    )
  }
  if (status >= 300 && status <= 399) {
    throw new AuditError(
      'NOT_A_WALLET',
      `${where} is answered with a redirect (${status}). Redirects are not followed: use the address that it leads to`,
    )
  }
  if (status === 401 || status === 403) {
    throw new AuditError(
      'AUTHENTICATION_FAILED',
      `${where} is answered with ${status}: the credentials (--user) are missing or wrong. If the wallet checks signatures, ` +
        'they need --sign',
    )
  }
  const playerCodes = settings.errorCodes.get('INVALID_PLAYER') ?? ['INVALID_PLAYER']
  if (errorCode !== null && playerCodes.includes(errorCode)) {
    throw new AuditError('UNKNOWN_PLAYER', `The wallet does not know the player ${playerId} (${errorCode})`)
  }
  if ((status === 404 && errorCode === null) || (status < 300 && answer.fields === null))
    throw notAWallet(settings, answer)
  // Any other answer comes from a wallet, perhaps an incorrect one: that is for the cases.
}

function notAWallet(settings: AuditSettings, answer: Answer): AuditError {
  return new AuditError(
    'NOT_A_WALLET',
    `POST ${settings.target}${answer.exchange.path} is answered with ${describeAnswer(answer)}. Is the base URL ` +
      'right? /placebet, /unsettlement and /rollbackbet are appended to it',
  )
}
