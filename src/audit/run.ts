/** Runs the cases one after the other: what they judge is one player's balance. */
import { randomBytes } from 'node:crypto'
import type { AuditCase, Need } from './case.js'
import { type Client, openClient } from './client.js'
import { compare, type Decimal, fromUnits, subtract, textOf } from './decimal.js'
import { AuditError } from './errors.js'
import { excerptOf } from './excerpt.js'
import type { AuditSettings } from './options.js'
import { createRandom } from './random.js'
import type { AuditFailure, AuditReport, AuditResult } from './report.js'
import { type Answer, type Books, Failed, found, Skipped, Stage } from './stage.js'

type ReadBy = { way: 'rollback' | 'bet and rollback' }

/** What the cases need at the most, in smallest units of the currency. */
export function unitsNeeded(concurrency: number): number {
  return Math.max(2_000, concurrency * 100)
}

export async function runAudit(settings: AuditSettings, cases: readonly AuditCase[]): Promise<AuditReport> {
  const beganAt = new Date()
  const client = openClient(settings)
  try {
    const ids = idsOfRun()
    const readBy: ReadBy = { way: 'rollback' }
    const books: Books[] = []
    const stageFor = (stream: string) =>
      new Stage(books, settings, client, createRandom(settings.seed, stream), ids, readBy)

    const before = await begin(settings, stageFor, readBy)
    let balance = before
    let gone: string | null = null
    const results: AuditResult[] = []
    for (const item of cases) {
      const reason = gone ?? reasonNotToJudge(settings, client, item)
      const result =
        reason === null ? await play(item, stageFor(item.id), client, balance) : unjudged(item, reason)
      if ('after' in result) {
        balance = result.after ?? balance
        if (result.after === null) gone = `the wallet did not answer any more after ${item.id}`
        if (result.books !== null) books.push(result.books)
      }
      const shown = 'after' in result ? result.result : result
      results.push(shown)
      settings.onResult?.(shown, { done: results.length, total: cases.length })
    }

    const passed = !results.some(({ verdict, level }) => verdict === 'failed' && level === 'MUST')
    // What closed clawbacks have left is staked, so that the player can be audited again and again.
    const surplus = subtract(balance, before)
    if (passed && gone === null && surplus.units > 0n) {
      const stage = stageFor('end')
      const staked = await stage.place(stage.bet(surplus), { label: 'what settlements left is staked' })
      balance = staked.balance ?? balance
    }
    return {
      formatVersion: 1,
      target: settings.target,
      startedAt: beganAt.toISOString(),
      durationMs: Math.round(client.now()),
      seed: settings.seed,
      player: { playerId: settings.playerId, currency: settings.currency },
      funds: {
        before: textOf(before, settings.minorUnits),
        after: gone === null ? textOf(balance, settings.minorUnits) : null,
      },
      requests: client.requests,
      results,
      passed,
      complete: results.every(({ verdict }) => verdict !== 'not judged'),
    }
  } finally {
    client.close()
  }
}

/** Fresh in each run: `au-mf3k2x9q1a-17`. */
function idsOfRun(): { next(): string } {
  const run = `${Date.now().toString(36)}${randomBytes(3).toString('hex')}`
  let count = 0
  return {
    next() {
      count += 1
      return `au-${run}-${count}`
    },
  }
}

/** The opening balance. @throws {AuditError} for whatever keeps the audit from being done */
async function begin(
  settings: AuditSettings,
  stageFor: (stream: string) => Stage,
  readBy: ReadBy,
): Promise<Decimal> {
  const stage = stageFor('begin')
  let answer = await stage.readBalance()
  checkReached(settings, answer, settings.playerId)
  if (answer.balance === null) {
    readBy.way = 'bet and rollback'
    const asked = answer
    answer = await stage.readBalance()
    if (answer.balance === null) {
      throw new AuditError(
        'BALANCE_UNREADABLE',
        `The balance of ${settings.playerId} cannot be read: the rollback of a bet that is not known is answered ` +
          `with ${found(asked)} (spec 4.3 asks for success), and a bet with its rollback ends with ${found(answer)}`,
      )
    }
  }
  const currency = answer.fields?.get('currency')
  if (typeof currency === 'string' && currency !== settings.currency) {
    throw new AuditError(
      'CURRENCY_MISMATCH',
      `The currency of ${settings.playerId} is ${currency}, and not ${settings.currency}`,
    )
  }
  const needed = fromUnits(unitsNeeded(settings.concurrency), settings.minorUnits)
  if (compare(answer.balance, needed) < 0) {
    const short = subtract(needed, answer.balance)
    throw new AuditError(
      'INSUFFICIENT_TEST_FUNDS',
      `${settings.playerId} has ${stage.money(answer.balance)}, and the audit needs at least ${stage.money(needed)}: ` +
        `deposit ${stage.money(short)} or more`,
    )
  }
  if (settings.otherPlayerId !== null) {
    const other = await stage.readBalance(settings.otherPlayerId)
    checkReached(settings, other, settings.otherPlayerId)
  }
  return answer.balance
}

function checkReached(settings: AuditSettings, answer: Answer, playerId: string): void {
  const { status, exchange, errorCode } = answer
  const where = `POST ${settings.target}${exchange.path}`
  if (status === null) {
    throw new AuditError(
      'UNREACHABLE',
      `Nobody answers at ${settings.target}: ${exchange.error ?? 'nothing came'}. Is the wallet running, and the address right?`,
    )
  }
  if (status >= 300 && status <= 399) {
    throw new AuditError(
      'NOT_A_WALLET',
      `${where} is answered with a redirection (${status}), which is not followed: give the address that it leads to`,
    )
  }
  if (status === 401 || status === 403) {
    throw new AuditError(
      'AUTHENTICATION_FAILED',
      `${where} is answered with ${status}: the credentials are missing or not the wallet's`,
    )
  }
  const playerCodes = settings.errorCodes.get('INVALID_PLAYER') ?? ['INVALID_PLAYER']
  if (errorCode !== null && playerCodes.includes(errorCode)) {
    throw new AuditError('UNKNOWN_PLAYER', `The wallet does not know the player ${playerId} (${errorCode})`)
  }
  if (status === 404 || (status < 300 && answer.fields === null)) {
    throw new AuditError(
      'NOT_A_WALLET',
      `${where} is answered with ${found(answer)}: is the base URL right? /placebet, /unsettlement and /rollbackbet are appended to it`,
    )
  }
  // Anything else is a wallet, though perhaps one that answers wrongly: the cases say how.
}

const reasons: Record<Need, string> = {
  settle: 'no way to settle was given (settle)',
  clawbacks: 'the wallet cannot deduct (clawbacks: false)',
  'other player': 'no second test player was given (otherPlayerId)',
  authentication: 'the wallet is called without credentials, headers or signature',
}

function reasonNotToJudge(settings: AuditSettings, client: Client, item: AuditCase): string | null {
  if (settings.signal?.aborted) return 'the audit was stopped'
  if (client.now() >= settings.timeBudgetMs) return 'the time budget was used up'
  const offered: Record<Need, boolean> = {
    settle: settings.settle !== 'unsupported',
    clawbacks: settings.clawbacks,
    'other player': settings.otherPlayerId !== null,
    authentication:
      settings.credentials !== null || settings.sign !== null || Object.keys(settings.headers).length > 0,
  }
  const missing = item.needs?.find(need => !offered[need])
  return missing === undefined ? null : reasons[missing]
}

function unjudged({ id, level, title, source }: AuditCase, reason: string): AuditResult {
  const rest = { failure: null, exchanges: [], durationMs: 0 }
  return { id, level, title, source, verdict: 'not judged', reason, ...rest }
}

interface Played {
  result: AuditResult
  /** `null`: nobody answers any more. */
  after: Decimal | null
  books: Books | null
}

async function play(item: AuditCase, stage: Stage, client: Client, opening: Decimal): Promise<Played> {
  const { id, level, title, source, impact } = item
  const beganAt = client.now()
  let failure: AuditFailure | null = null
  let reason: string | null = null
  stage.opening = opening
  try {
    await item.play(stage)
  } catch (error) {
    if (error instanceof Failed) {
      failure = { expected: error.expected, actual: error.found, impact, exchangeIndex: error.exchange }
    } else if (error instanceof Skipped) reason = error.message
    else throw error
  } finally {
    await stage.giveBack()
  }

  const last = await lastLook(stage)
  if (last.status === null && failure === null) {
    failure = {
      expected: 'the wallet to go on answering',
      actual: found(last),
      impact,
      exchangeIndex: last.index,
    }
  }
  const verdict = failure !== null ? 'failed' : reason !== null ? 'not judged' : 'passed'
  const { exchanges, telling } = excerptOf(stage.exchanges, failure !== null, failure?.exchangeIndex ?? null)
  if (failure !== null) failure.exchangeIndex = telling
  const after = last.balance
  return {
    result: {
      ...{ id, level, title, source, verdict, failure },
      reason: failure === null ? reason : null,
      exchanges,
      durationMs: Math.round(client.now() - beganAt),
    },
    after: last.status === null ? null : (after ?? opening),
    books: after === null ? null : { id, before: opening, after, settled: stage.settled },
  }
}

const looks = 4
const pauseMs = 250

/** A wallet that was shaken by a case gets a second to come back. */
async function lastLook(stage: Stage): Promise<Answer> {
  for (let look = 1; ; look += 1) {
    const answer = await stage.readBalance()
    if (answer.status !== null || look === looks) return answer
    await stage.wait(pauseMs)
  }
}
