/**
 * The platform's side: bets from the first call to the last, with calls that come twice, hang, are given up and arrive
 * late, and every answer written down. It retries and rolls back as the interface says.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Accounts, currency } from './accounts.js'
import type { Random } from './random.js'
import { credentials } from './server-child.js'

export type Operation = 'placebet' | 'settlement' | 'unsettlement' | 'rollbackbet'
export type SettlementType = 'BET_PAID' | 'VOIDED' | 'CASHOUT'
type UnsettlementType = 'UNSCORED' | 'UNVOIDED'

export const reverses = { UNSCORED: 'BET_PAID', UNVOIDED: 'VOIDED' } as const

/** One transaction of the platform's, however often it is sent. */
export interface Call {
  readonly bet: PlatformBet
  readonly operation: Operation
  readonly transactionId: string
  readonly body: Record<string, unknown>
  /** Of a stake or a settlement. */
  readonly cents: number | null
  readonly type: SettlementType | UnsettlementType | 'TECHNICAL_ERROR' | null
  readonly answers: Answer[]
  /** How often it was sent, or may have been, and nothing was heard. */
  unanswered: number
}

export interface Answer {
  readonly status: number
  /** `null`: a success. */
  readonly errorCode: string | null
  readonly cents: number | null
  readonly walletTransactionId: string | null
}

export interface PlatformBet {
  readonly betId: string
  readonly playerId: string
  readonly cents: number
  readonly calls: Call[]
  /** What was done and heard, in its order. */
  readonly story: string[]
  rollbackAsked: boolean
}

export interface Traffic {
  /** How often calls went out. */
  sent: number
  succeeded: number
  refused: number
  /** 500 and 503. */
  faults: number
  unanswered: number
  inFlight: number
  /** Sent again after no answer or a fault. */
  retried: number
  /** Sent twice at the same moment. */
  twice: number
  /** Sent again, or for the first time, when the bet was long over. */
  late: number
  /** Given up by the platform before the answer. */
  abandoned: number
  /** Unsettlements that were refused for funds. */
  debts: number
}

export interface Platform {
  readonly bets: readonly PlatformBet[]
  readonly traffic: Readonly<Traffic>
  /** Where the wallet is now. */
  moveTo(urls: readonly string[]): void
  /** Begins bets until `finish` is called. */
  begin(callers: number): void
  /** Returns when so many more calls have had an answer that counts: a success or a refusal. */
  answered(count: number): Promise<void>
  /** Begins no more bets, and returns when those that are under way have come to their end. */
  finish(): Promise<void>
  /** Leaves everything as it is, and returns when nothing is under way any more. */
  abort(): Promise<void>
  /** Sends a call once more, and gives its answer; `null`: none, a fault, or one that must not be and is reported. */
  repeat(call: Call): Promise<Answer | null>
}

export interface PlatformListener {
  /** An answer that must not be. */
  differs(what: string, bet: PlatformBet): void
  /** The platform cannot go on: the soak is over. */
  failed(error: unknown): void
}

/** What happens to a bet cannot go on: it is reported already, or all is at its end. */
class BetDiffers extends Error {
  override readonly name = 'BetDiffers'
}

const callMsMax = 20_000
/** How long a call is tried again, when everything has come back long ago. */
const insistMsMax = 120_000

export function createPlatform(accounts: Accounts, random: Random, listener: PlatformListener): Platform {
  const agent = new Agent({ keepAlive: true })
  const playerIds = [...accounts.openings.keys()] as [string, ...string[]]
  const bets: PlatformBet[] = []
  const lateOnes: Call[] = []
  const traffic: Traffic = {
    ...{ sent: 0, succeeded: 0, refused: 0, faults: 0, unanswered: 0, inFlight: 0 },
    ...{ retried: 0, twice: 0, late: 0, abandoned: 0, debts: 0 },
  }
  let urls: readonly string[] = []
  let finishing = false
  let aborted = false
  let running: Promise<unknown> = Promise.resolve()
  let transactions = 0
  let waiting: { until: number; resolve(): void } | null = null
  const counted = () => traffic.succeeded + traffic.refused

  function newBet(): PlatformBet {
    const bet: PlatformBet = {
      betId: `bet-${bets.length + 1}`,
      playerId: random.pick(playerIds),
      cents: random.percent(2) ? 0 : random.int(1, 1_500),
      calls: [],
      story: [],
      rollbackAsked: false,
    }
    bets.push(bet)
    return bet
  }

  function newCall(
    bet: PlatformBet,
    operation: Operation,
    own: { cents?: number; type?: Exclude<Call['type'], null>; transactionId?: string } = {},
  ): Call {
    transactions += 1
    const { cents = null, type = null, transactionId = `transaction-${transactions}` } = own
    if (operation === 'rollbackbet') bet.rollbackAsked = true
    const call: Call = {
      bet,
      operation,
      transactionId,
      cents,
      type,
      body: {
        transactionId,
        betId: bet.betId,
        playerId: bet.playerId,
        transactionDate: new Date().toISOString(),
        ...(operation === 'placebet' && { sessionId: 'session-1', odds: 1.85, betType: 'SINGLE' }),
        ...(cents !== null && { amount: Number((cents / 100).toFixed(2)), currency }),
        ...(type !== null && { type }),
      },
      answers: [],
      unanswered: 0,
    }
    bet.calls.push(call)
    return call
  }

  /** Sends a call once. `null`: no answer, or a fault. */
  async function send(call: Call, abandoning = false): Promise<Answer | null> {
    const { operation, body, bet } = call
    traffic.sent += 1
    traffic.inFlight += 1
    const rollbackAsked = bet.rollbackAsked
    const heard = await post(`${random.pick(urls as [string, ...string[]])}/${operation}`, body, abandoning)
    traffic.inFlight -= 1
    if (heard === null) {
      traffic.unanswered += 1
      call.unanswered += 1
      note(call, abandoning ? 'given up' : 'no answer')
      return null
    }
    const answer = answerFrom(heard)
    if (answer === null) {
      note(call, `${heard.status} ${heard.text}`)
      return differ(bet, `${operation} ${call.transactionId} was answered ${heard.status} ${heard.text}`)
    }
    call.answers.push(answer)
    note(
      call,
      `${answer.status} ${answer.errorCode ?? `balance ${answer.cents}, ${answer.walletTransactionId}`}`,
    )
    if (answer.status >= 500) traffic.faults += 1
    else {
      if (answer.errorCode === null) traffic.succeeded += 1
      else traffic.refused += 1
      if (waiting !== null && counted() >= waiting.until) waiting.resolve()
    }
    if (!isLawful(call, answer, rollbackAsked || bet.rollbackAsked)) {
      return differ(
        bet,
        `${operation} ${call.transactionId} was answered ${answer.status} ${answer.errorCode}`,
      )
    }
    return answer.status < 500 ? answer : null
  }

  function post(
    url: string,
    body: unknown,
    abandoning: boolean,
  ): Promise<{ status: number; text: string } | null> {
    return new Promise(resolve => {
      const { username, password } = credentials
      const text = JSON.stringify(body)
      const sending = request(url, {
        method: 'POST',
        agent,
        auth: `${username}:${password}`,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
        timeout: callMsMax,
      })
      const nothing = () => resolve(null)
      sending.on('error', nothing)
      sending.on('close', nothing)
      sending.on('timeout', () => sending.destroy())
      sending.on('response', response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', nothing)
        response.on('end', () => {
          if (response.complete)
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
        })
      })
      if (abandoning) {
        traffic.abandoned += 1
        sending.on('finish', () => setTimeout(() => sending.destroy(), random.int(0, 15)))
      }
      sending.end(text)
    })
  }

  function note({ bet, operation, transactionId, type, cents }: Call, what: string): void {
    const details = [type, cents].filter(part => part !== null).join(' ')
    bet.story.push(`${operation} ${transactionId}${details === '' ? '' : ` (${details})`}: ${what}`)
  }

  function differ(bet: PlatformBet, what: string): never {
    listener.differs(what, bet)
    throw new BetDiffers(what)
  }

  /** Sends a call until it has an answer. Twice at the same moment: to whom it may concern. */
  async function insist(call: Call): Promise<Answer> {
    const until = performance.now() + insistMsMax
    for (;;) {
      if (aborted) throw new BetDiffers('all is at its end')
      const copies = random.percent(12) ? 2 : 1
      if (copies === 2) traffic.twice += 1
      const answers = await Promise.all(Array.from({ length: copies }, () => send(call)))
      const answer = answers.find(heard => heard !== null) ?? null
      if (answer !== null) return answer
      if (performance.now() > until) {
        return differ(call.bet, `${call.operation} ${call.transactionId} had no answer in ${insistMsMax} ms`)
      }
      traffic.retried += 1
      await sleep(random.int(20, 250))
    }
  }

  async function insistOn(call: Call, ...codes: (string | null)[]): Promise<Answer> {
    const answer = await insist(call)
    if (codes.includes(answer.errorCode)) return answer
    const expected = codes.map(code => code ?? 'a success').join(' or ')
    return differ(
      call.bet,
      `${call.operation} ${call.transactionId}: ${answer.status} ${answer.errorCode ?? 'success'}, and it must be ${expected}`,
    )
  }

  async function rollBack(bet: PlatformBet): Promise<void> {
    // Some platforms take the placebet's id for it (D1).
    const own = bet.calls[0]?.transactionId
    const call = newCall(bet, 'rollbackbet', {
      type: 'TECHNICAL_ERROR',
      ...(own !== undefined && random.percent(15) ? { transactionId: own } : {}),
    })
    await insistOn(call, null)
    remember(call)
    if (random.percent(8))
      remember(await done(newCall(bet, 'rollbackbet', { type: 'TECHNICAL_ERROR' }), null)) // D12
  }

  async function done(call: Call, ...codes: (string | null)[]): Promise<Call> {
    await insistOn(call, ...codes)
    return call
  }

  /** For a late delivery. */
  function remember(call: Call): void {
    lateOnes.push(call)
  }

  async function deliverLate(call: Call): Promise<void> {
    traffic.late += 1
    call.bet.story.push('much later:')
    await send(call)
  }

  async function live(bet: PlatformBet): Promise<void> {
    const placebet = newCall(bet, 'placebet', { cents: bet.cents })
    let answer: Answer | null = null
    switch (
      pickByShare({ plain: 58, twice: 12, abandoned: 10, lost: 8, 'with its rollback': 6, regretted: 6 })
    ) {
      case 'plain':
        answer = await send(placebet)
        break
      case 'twice': {
        traffic.twice += 1
        const answers = await Promise.all([send(placebet), send(placebet)])
        answer = answers[0] ?? answers[1]
        break
      }
      case 'abandoned':
        answer = await send(placebet, true)
        break
      case 'lost':
        bet.story.push('the placebet hangs on the line')
        await rollBack(bet)
        await deliverLate(placebet)
        remember(placebet)
        return
      case 'with its rollback':
        await Promise.all([send(placebet), rollBack(bet)])
        remember(placebet)
        return
      case 'regretted':
        answer = await send(placebet)
        if (answer?.errorCode === null) {
          await rollBack(bet)
          remember(placebet)
          return
        }
        break
    }
    remember(placebet)
    // Spec 4.3: failed, or timed out. A platform that finds nobody does not fill the time with bets.
    if (answer === null) {
      await rollBack(bet)
      await sleep(random.int(0, 300))
      return
    }
    if (answer.errorCode !== null) {
      if (random.percent(10)) await rollBack(bet)
      return
    }
    if (random.percent(20)) return
    await settle(bet)
  }

  async function settle(bet: PlatformBet): Promise<void> {
    const type = pickByShare({ BET_PAID: 70, VOIDED: 22, CASHOUT: 8 })
    const pays = () =>
      type === 'VOIDED' ? bet.cents : random.percent(35) ? 0 : random.int(1, Math.max(2, bet.cents * 2))
    const unsettlementType = type === 'VOIDED' ? 'UNVOIDED' : 'UNSCORED'
    const settlement = newCall(bet, 'settlement', { type, cents: pays() })
    remember(settlement)

    if (type !== 'CASHOUT' && random.percent(10)) {
      // It overtakes its settlement and is tried again until that is there (D19).
      const unsettlement = newCall(bet, 'unsettlement', { type: unsettlementType })
      remember(unsettlement)
      const [answer] = await Promise.all([
        insistOn(unsettlement, null, 'INSUFFICIENT_FUNDS'),
        insistOn(settlement, null),
      ])
      return await afterUnsettlement(bet, unsettlement, answer)
    }
    await insistOn(settlement, null)
    if (random.percent(10)) remember(await done(newCall(bet, 'settlement', { type, cents: pays() }), null))
    if (random.percent(6))
      await insistOn(newCall(bet, 'rollbackbet', { type: 'TECHNICAL_ERROR' }), 'INVALID_BET') // D13
    if (type === 'CASHOUT' || !random.percent(55)) return
    // Winnings do not always wait for it.
    if (random.percent(40)) await accounts.move(bet.playerId, -random.int(500, 3_000))
    const unsettlement = newCall(bet, 'unsettlement', { type: unsettlementType })
    remember(unsettlement)
    const answer = await insistOn(unsettlement, null, 'INSUFFICIENT_FUNDS')
    await afterUnsettlement(bet, unsettlement, answer)
  }

  async function afterUnsettlement(bet: PlatformBet, unsettlement: Call, answer: Answer): Promise<void> {
    const { type } = unsettlement
    if (answer.errorCode === null) {
      const next = pickByShare({ nothing: 40, 'once more': 20, 'settled anew': 25, 'rolled back': 15 })
      if (next === 'once more')
        await insistOn(newCall(bet, 'unsettlement', { type: type as UnsettlementType }), 'INVALID_BET')
      if (next === 'settled anew')
        remember(await done(newCall(bet, 'settlement', { type: 'BET_PAID', cents: bet.cents }), null))
      if (next === 'rolled back') await rollBack(bet)
      return
    }
    // D7: the debt is the platform's from now on, whatever the player deposits.
    traffic.debts += 1
    if (random.percent(50)) await accounts.move(bet.playerId, random.int(1_000, 3_000))
    await insistOn(unsettlement, 'INSUFFICIENT_FUNDS')
    if (random.percent(50))
      await insistOn(newCall(bet, 'unsettlement', { type: type as UnsettlementType }), 'INVALID_BET')
    if (random.percent(50))
      await insistOn(newCall(bet, 'rollbackbet', { type: 'TECHNICAL_ERROR' }), 'INVALID_BET')
  }

  function pickByShare<Name extends string>(shares: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(shares) as [Name, number][]
    let left = random.next() * entries.reduce((sum, [, share]) => sum + share, 0)
    for (const [name, share] of entries) {
      left -= share
      if (left < 0) return name
    }
    return (entries[0] as [Name, number])[0]
  }

  async function caller(): Promise<void> {
    while (!finishing) {
      try {
        if (random.percent(8)) {
          // Deposits, and what is lost in the casino.
          const cents = random.percent(60) ? random.int(300, 2_000) : -random.int(100, 2_000)
          await accounts.move(random.pick(playerIds), cents)
        }
        if (lateOnes.length > 0 && random.percent(15)) {
          const call = lateOnes[random.int(0, lateOnes.length - 1)]
          if (call !== undefined) await deliverLate(call)
        }
        await live(newBet())
      } catch (error) {
        if (error instanceof BetDiffers) continue
        listener.failed(error)
        return
      }
    }
  }

  return {
    bets,
    traffic,
    moveTo(next) {
      urls = next
    },
    begin(callers) {
      running = Promise.all(Array.from({ length: callers }, caller))
    },
    answered(count) {
      return new Promise(resolve => {
        waiting = { until: counted() + count, resolve }
        if (count === 0) resolve()
      })
    },
    async finish() {
      finishing = true
      await running
    },
    async abort() {
      finishing = true
      aborted = true
      await running
      agent.destroy()
    },
    async repeat(call) {
      try {
        return await send(call)
      } catch (error) {
        if (error instanceof BetDiffers) return null
        throw error
      }
    },
  }
}

/** A success, or exactly errorCode and description; else `null`. */
function answerFrom({ status, text }: { status: number; text: string }): Answer | null {
  let body: Record<string, unknown>
  try {
    body = JSON.parse(text) as Record<string, unknown>
  } catch {
    return null
  }
  const { balance, walletTransactionId = null, errorCode, description } = body
  if (status === 200) {
    const cents = typeof balance === 'number' ? Math.round(balance * 100) : Number.NaN
    const fine =
      cents / 100 === balance &&
      body.currency === currency &&
      (walletTransactionId === null || typeof walletTransactionId === 'string')
    return fine ? { status, errorCode: null, cents, walletTransactionId } : null
  }
  const fine = status >= 400 && typeof errorCode === 'string' && typeof description === 'string'
  return fine ? { status, errorCode, cents: null, walletTransactionId: null } : null
}

/** Whether a code may be answered to this call at all. What was right at its time, the books say. */
function isLawful(
  { bet, operation, type }: Call,
  { status, errorCode }: Answer,
  rollbackAsked: boolean,
): boolean {
  const others = (wanted: Operation) => bet.calls.filter(call => call.operation === wanted)
  switch (errorCode) {
    case null:
      return true
    case 'INTERNAL_ERROR':
      return status === 500
    case 'UNAVAILABLE':
      return status === 503
    case 'SETTLEMENT_NOT_FOUND':
      return status === 503 && operation === 'unsettlement'
    case 'INSUFFICIENT_FUNDS':
      return status === 402 && (operation === 'placebet' || operation === 'unsettlement')
    case 'INVALID_BET':
      if (status !== 400) return false
      if (operation === 'placebet') return rollbackAsked
      if (operation === 'rollbackbet') return others('settlement').length > 0
      if (operation === 'settlement') return false
      return others('unsettlement').filter(call => call.type === type).length > 1
    default:
      return false
  }
}
