/**
 * The platform: bets from the first call to the last, with calls that are duplicated, delayed, abandoned and
 * delivered late. Every answer is recorded. It retries and rolls back as the interface says.
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

/** One transaction of the platform, however often it is sent. */
export interface Call {
  readonly bet: PlatformBet
  readonly operation: Operation
  readonly transactionId: string
  readonly body: Record<string, unknown>
  /** The amount of a stake or a settlement. */
  readonly cents: number | null
  readonly type: SettlementType | UnsettlementType | 'TECHNICAL_ERROR' | null
  readonly answers: Answer[]
  /** A time of `Date.now()`: when it was sent for the first time; `null`: not yet. */
  sentAt: number | null
  /** How often it was sent, perhaps in vain, without an answer. */
  unanswered: number
}

export interface Answer {
  readonly status: number
  /** `null`: a success. */
  readonly errorCode: string | null
  readonly cents: number | null
  readonly walletTransactionId: string | null
  /** A time of `Date.now()`: when it arrived. */
  readonly at: number
}

export interface PlatformBet {
  readonly betId: string
  readonly playerId: string
  readonly cents: number
  readonly calls: Call[]
  /** Calls and answers, in order. */
  readonly trace: string[]
  rollbackRequested: boolean
}

export interface Traffic {
  /** Calls sent, retries included. */
  sent: number
  succeeded: number
  refused: number
  /** 500 and 503. */
  faults: number
  unanswered: number
  inFlight: number
  /** Sent again after a fault or no answer. */
  retried: number
  /** Sent twice concurrently. */
  twice: number
  /** Delivered, perhaps for the first time, long after the bet was over. */
  late: number
  /** Abandoned by the platform before the answer. */
  abandoned: number
  /** Uncollected clawbacks: unsettlements refused for funds. */
  debts: number
}

export interface Platform {
  readonly bets: readonly PlatformBet[]
  readonly traffic: Readonly<Traffic>
  /** Sets the addresses of the wallet. */
  moveTo(urls: readonly string[]): void
  /** Starts new bets until `finish` is called. */
  begin(callers: number): void
  /** Resolves when this many further calls are answered with a success or a refusal. */
  answered(count: number): Promise<void>
  /** Starts no more bets. Resolves when all bets in progress are complete. */
  finish(): Promise<void>
  /** Stops all bets at once. Resolves when no call is in flight. */
  abort(): Promise<void>
  /** Sends a call again. `no answer`: or a fault. `differs`: an answer that is not allowed, which is reported. */
  retry(call: Call): Promise<Answer | 'no answer' | 'differs'>
}

export interface PlatformListener {
  /** Called with every invalid answer. */
  reportDifference(difference: string, bet: PlatformBet): void
  /** Called if the platform cannot continue: the soak ends. */
  failed(error: unknown): void
}

/** Ends the course of one bet: its difference is reported already, or the soak was aborted. */
class BetDiffers extends Error {
  override readonly name = 'BetDiffers'
}

const callMsMax = 20_000
export interface PlatformOptions {
  /** Whether new players join while the load runs. */
  registering?: boolean
  /** How long a call is retried. */
  retryMsMax?: number
}

export function createPlatform(
  accounts: Accounts,
  random: Random,
  listener: PlatformListener,
  { registering = false, retryMsMax = 120_000 }: PlatformOptions = {},
): Platform {
  const agent = new Agent({ keepAlive: true })
  const playerIds = [...accounts.initialBalances.keys()] as [string, ...string[]]
  const bets: PlatformBet[] = []
  const lateCalls: Call[] = []
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
  const newest = () => playerIds[playerIds.length - 1] as string

  function newBet(): PlatformBet {
    const bet: PlatformBet = {
      betId: `bet-${bets.length + 1}`,
      // Often the newest, who was perhaps just registered.
      playerId: registering && random.percent(30) ? newest() : random.pick(playerIds),
      cents: random.percent(2) ? 0 : random.int(1, 1_500),
      calls: [],
      trace: [],
      rollbackRequested: false,
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
    if (operation === 'rollbackbet') bet.rollbackRequested = true
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
      sentAt: null,
      unanswered: 0,
    }
    bet.calls.push(call)
    return call
  }

  /** Sends a call once. `null`: no answer, or a fault. */
  async function send(call: Call, abandoning = false): Promise<Answer | null> {
    const { operation, body, bet } = call
    call.sentAt ??= Date.now()
    traffic.sent += 1
    traffic.inFlight += 1
    const rollbackRequested = bet.rollbackRequested
    const response = await post(
      `${random.pick(urls as [string, ...string[]])}/${operation}`,
      body,
      abandoning,
    )
    traffic.inFlight -= 1
    if (response === null) {
      traffic.unanswered += 1
      call.unanswered += 1
      note(call, abandoning ? 'abandoned' : 'no answer')
      return null
    }
    const answer = answerFrom(response)
    if (answer === null) {
      note(call, `${response.status} ${response.text}`)
      return differ(
        bet,
        `${operation} ${call.transactionId} was answered ${response.status} ${response.text}`,
      )
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
    if (!isAllowed(call, answer, rollbackRequested || bet.rollbackRequested)) {
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

  function note({ bet, operation, transactionId, type, cents }: Call, event: string): void {
    const details = [type, cents].filter(part => part !== null).join(' ')
    bet.trace.push(`${operation} ${transactionId}${details === '' ? '' : ` (${details})`}: ${event}`)
  }

  function differ(bet: PlatformBet, difference: string): never {
    listener.reportDifference(difference, bet)
    throw new BetDiffers(difference)
  }

  /** Sends a call until it is answered, sometimes twice concurrently. */
  async function retryUntilAnswered(call: Call): Promise<Answer> {
    const until = performance.now() + retryMsMax
    for (;;) {
      if (aborted) throw new BetDiffers('the soak was aborted')
      const copies = random.percent(12) ? 2 : 1
      if (copies === 2) traffic.twice += 1
      const answers = await Promise.all(Array.from({ length: copies }, () => send(call)))
      const answer = answers.find(each => each !== null) ?? null
      if (answer !== null) return answer
      if (performance.now() > until) {
        return differ(call.bet, `${call.operation} ${call.transactionId} had no answer in ${retryMsMax} ms`)
      }
      traffic.retried += 1
      await sleep(random.int(20, 250))
    }
  }

  async function retryUntil(call: Call, ...codes: (string | null)[]): Promise<Answer> {
    const answer = await retryUntilAnswered(call)
    if (codes.includes(answer.errorCode)) return answer
    const expected = codes.map(code => code ?? 'a success').join(' or ')
    return differ(
      call.bet,
      `${call.operation} ${call.transactionId}: ${answer.status} ${answer.errorCode ?? 'success'}, but must be ${expected}`,
    )
  }

  async function rollBack(bet: PlatformBet): Promise<void> {
    // Some platforms reuse the placebet's id (D1).
    const own = bet.calls[0]?.transactionId
    const call = newCall(bet, 'rollbackbet', {
      type: 'TECHNICAL_ERROR',
      ...(own !== undefined && random.percent(15) ? { transactionId: own } : {}),
    })
    await retryUntil(call, null)
    remember(call)
    if (random.percent(8))
      remember(await answered(newCall(bet, 'rollbackbet', { type: 'TECHNICAL_ERROR' }), null)) // D12
  }

  async function answered(call: Call, ...codes: (string | null)[]): Promise<Call> {
    await retryUntil(call, ...codes)
    return call
  }

  /** Keeps a call for a late delivery. */
  function remember(call: Call): void {
    lateCalls.push(call)
  }

  async function deliverLate(call: Call): Promise<void> {
    traffic.late += 1
    call.bet.trace.push('delivered late:')
    await send(call)
  }

  async function live(bet: PlatformBet): Promise<void> {
    const placebet = newCall(bet, 'placebet', { cents: bet.cents })
    let answer: Answer | null = null
    switch (
      pickByShare({ plain: 58, twice: 12, abandoned: 10, lost: 8, 'with its rollback': 6, revoked: 6 })
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
        bet.trace.push('the placebet is delayed')
        await rollBack(bet)
        await deliverLate(placebet)
        remember(placebet)
        return
      case 'with its rollback':
        await Promise.all([send(placebet), rollBack(bet)])
        remember(placebet)
        return
      case 'revoked':
        answer = await send(placebet)
        if (answer?.errorCode === null) {
          await rollBack(bet)
          remember(placebet)
          return
        }
        break
    }
    remember(placebet)
    // Spec 4.3: failed, or timed out. The pause limits the number of bets while no wallet is reachable.
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
      // The unsettlement overtakes its settlement and is retried until that has arrived (D19).
      const unsettlement = newCall(bet, 'unsettlement', { type: unsettlementType })
      remember(unsettlement)
      const [answer] = await Promise.all([
        retryUntil(unsettlement, null, 'INSUFFICIENT_FUNDS'),
        retryUntil(settlement, null),
      ])
      return await afterUnsettlement(bet, unsettlement, answer)
    }
    await retryUntil(settlement, null)
    if (random.percent(10))
      remember(await answered(newCall(bet, 'settlement', { type, cents: pays() }), null))
    if (random.percent(6))
      await retryUntil(newCall(bet, 'rollbackbet', { type: 'TECHNICAL_ERROR' }), 'INVALID_BET') // D13
    if (type === 'CASHOUT' || !random.percent(55)) return
    // The player may have withdrawn the winnings.
    if (random.percent(40)) await accounts.move(bet.playerId, -random.int(500, 3_000))
    const unsettlement = newCall(bet, 'unsettlement', { type: unsettlementType })
    remember(unsettlement)
    const answer = await retryUntil(unsettlement, null, 'INSUFFICIENT_FUNDS')
    await afterUnsettlement(bet, unsettlement, answer)
  }

  async function afterUnsettlement(bet: PlatformBet, unsettlement: Call, answer: Answer): Promise<void> {
    const { type } = unsettlement
    if (answer.errorCode === null) {
      const next = pickByShare({ nothing: 40, 'unsettled again': 20, 'settled again': 25, 'rolled back': 15 })
      if (next === 'unsettled again')
        await retryUntil(newCall(bet, 'unsettlement', { type: type as UnsettlementType }), 'INVALID_BET')
      if (next === 'settled again')
        remember(await answered(newCall(bet, 'settlement', { type: 'BET_PAID', cents: bet.cents }), null))
      if (next === 'rolled back') await rollBack(bet)
      return
    }
    // D7: the clawback stays uncollected, whatever the player deposits.
    traffic.debts += 1
    if (random.percent(50)) await accounts.move(bet.playerId, random.int(1_000, 3_000))
    await retryUntil(unsettlement, 'INSUFFICIENT_FUNDS')
    if (random.percent(50))
      await retryUntil(newCall(bet, 'unsettlement', { type: type as UnsettlementType }), 'INVALID_BET')
    if (random.percent(50))
      await retryUntil(newCall(bet, 'rollbackbet', { type: 'TECHNICAL_ERROR' }), 'INVALID_BET')
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
          // Deposits, and losses in the casino.
          const cents = random.percent(60) ? random.int(300, 2_000) : -random.int(100, 2_000)
          await accounts.move(random.pick(playerIds), cents)
        }
        // Their first bets follow at once.
        if (registering && random.percent(3)) playerIds.push(await accounts.register(random.int(500, 4_000)))
        if (lateCalls.length > 0 && random.percent(15)) {
          const call = lateCalls[random.int(0, lateCalls.length - 1)]
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
    async retry(call) {
      try {
        return (await send(call)) ?? 'no answer'
      } catch (error) {
        if (error instanceof BetDiffers) return 'differs'
        throw error
      }
    },
  }
}

/** A success, or exactly errorCode and description; else `null`. */
function answerFrom({ status, text }: { status: number; text: string }): Answer | null {
  const at = Date.now()
  let body: Record<string, unknown>
  try {
    body = JSON.parse(text) as Record<string, unknown>
  } catch {
    return null
  }
  const { balance, walletTransactionId = null, errorCode, description } = body
  if (status === 200) {
    const cents = typeof balance === 'number' ? Math.round(balance * 100) : Number.NaN
    const valid =
      cents / 100 === balance &&
      body.currency === currency &&
      (walletTransactionId === null || typeof walletTransactionId === 'string')
    return valid ? { status, errorCode: null, cents, walletTransactionId, at } : null
  }
  const valid = status >= 400 && typeof errorCode === 'string' && typeof description === 'string'
  return valid ? { status, errorCode, cents: null, walletTransactionId: null, at } : null
}

/** Whether the interface allows this code for this call at all. The check of the books is exact. */
function isAllowed(
  { bet, operation, type }: Call,
  { status, errorCode }: Answer,
  rollbackRequested: boolean,
): boolean {
  const others = (other: Operation) => bet.calls.filter(call => call.operation === other)
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
      if (operation === 'placebet') return rollbackRequested
      if (operation === 'rollbackbet') return others('settlement').length > 0
      if (operation === 'settlement') return false
      return others('unsettlement').filter(call => call.type === type).length > 1
    default:
      return false
  }
}
