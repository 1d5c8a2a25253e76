/** Sends every answered call again: its answer must be the replay of the first one (D2). */
import { compare, type Decimal } from '../numbers/decimal.js'
import { type Account, setRange, shown, type Transaction } from './books.js'
import type { SimulatorClock } from './clock.js'
import { isReplay } from './judgements.js'
import { type Reading, shortOf } from './reading.js'
import type { WrongReplay } from './report.js'
import type { Transport } from './transport.js'

/** A transaction that the wallet has decided. */
export interface Answered {
  transaction: Transaction
  /** Milliseconds since 1970. */
  at: number
}

export interface Retries {
  /** The calls whose first answer is final. */
  answered: number
  lost: (WrongReplay & { at: number })[]
  repeated: WrongReplay[]
  /** The wallet did not answer any more, or could not replay them for another reason. */
  notRetried: number
}

interface RetrySettings {
  transport: Transport
  clock: SimulatorClock
  giveUpAfterMs: number
}

const pauseMs = 100

/**
 * One call of a player after the other, so that each balance in an answer shows what this call has changed.
 * The balance that a player has afterwards is in the player's account.
 */
export async function sendAgain(answered: readonly Answered[], settings: RetrySettings): Promise<Retries> {
  const final = answered.filter(isFinal)
  const retries: Retries = { answered: final.length, lost: [], repeated: [], notRetried: 0 }
  const ofPlayer = new Map<Account, Answered[]>()
  for (const call of final) {
    const { account } = call.transaction
    ofPlayer.set(account, ofPlayer.get(account) ?? [])
    ofPlayer.get(account)?.push(call)
  }
  const sender = new Sender(settings)
  await Promise.all([...ofPlayer].map(([account, calls]) => retryPlayer(account, calls, sender, retries)))
  retries.lost.sort((one, other) => one.at - other.at)
  return retries
}

/** Refusals of settlements and rollbacks are not recorded: a retry is decided anew (D8). */
function isFinal({ transaction: { first, operation } }: Answered): boolean {
  if (first === null) return false
  const isRecorded = operation === 'placebet' || first.errorCode === 'INSUFFICIENT_FUNDS'
  return first.ok || isRecorded
}

async function retryPlayer(
  account: Account,
  calls: readonly Answered[],
  sender: Sender,
  retries: Retries,
): Promise<void> {
  const player = new PlayerRetries(account, sender)
  for (const [index, { transaction, at }] of calls.entries()) {
    const verdict = await player.retry(transaction)
    if (verdict === null) {
      retries.notRetried += calls.length - index
      return
    }
    if (verdict.kind === 'replayed') continue
    const wrong = wrongReplayOf(transaction, at, verdict.reading)
    if (verdict.kind === 'lost') retries.lost.push({ ...wrong, at })
    else retries.repeated.push(wrong)
  }
}

type Verdict = { kind: 'replayed' } | { kind: 'lost' | 'repeated'; reading: Reading }

class PlayerRetries {
  readonly #account: Account
  readonly #sender: Sender
  /** A call that is replayed with a balance: it reads the balance, where a settlement's answer has none. */
  #probe: Transaction | null = null

  constructor(account: Account, sender: Sender) {
    this.#account = account
    this.#sender = sender
  }

  /** `null`: it was not answered. */
  async retry(transaction: Transaction): Promise<Verdict | null> {
    const first = transaction.first as NonNullable<Transaction['first']>
    const again = await this.#send(transaction)
    if (again === null) return null
    const { reading, changed } = again
    const isSame = reading.kind !== 'no-answer' && reading.kind !== 'fault' && isReplay(first, reading)
    if (isSame && !changed) {
      if (reading.kind === 'success' && reading.balance !== null) this.#probe = transaction
      return { kind: 'replayed' }
    }
    // It is known, and the retry has changed the balance all the same.
    if (isSame && reading.kind === 'success' && reading.reference !== null)
      return { kind: 'repeated', reading }
    // What was lost is recorded now, and the next retry is a replay. Otherwise nothing is ever recorded.
    const next = await this.#send(transaction)
    if (next === null) return null
    const isRecorded = !next.changed && isSameAnswer(reading, next.reading)
    // The platform believes that nothing was debited.
    if (!first.ok && reading.kind === 'success')
      setRange(transaction, -transaction.amount, -transaction.amount)
    return { kind: isRecorded ? 'lost' : 'repeated', reading }
  }

  async #send(transaction: Transaction): Promise<{ reading: Reading; changed: boolean } | null> {
    const account = this.#account
    const before = account.actual
    const reading = await this.#sender.send(transaction)
    if (reading === null) return null
    if (reading.kind !== 'success') return { reading, changed: false }
    const after = reading.balance ?? (await this.#readBalance())
    if (after !== null) account.actual = after
    return { reading, changed: before !== null && after !== null && compare(before, after) !== 0 }
  }

  async #readBalance(): Promise<Decimal | null> {
    const reading = this.#probe === null ? null : await this.#sender.send(this.#probe)
    return reading?.kind === 'success' ? reading.balance : null
  }
}

function isSameAnswer(one: Reading, other: Reading): boolean {
  if (one.kind === 'success' && other.kind === 'success') return one.reference === other.reference
  return one.kind === other.kind
}

/** Sends until the answer is definite. */
class Sender {
  readonly #settings: RetrySettings
  #gaveUp = false

  constructor(settings: RetrySettings) {
    this.#settings = settings
  }

  /** `null`: given up, as every later call then is. */
  async send(transaction: Transaction): Promise<Reading | null> {
    const { clock, giveUpAfterMs } = this.#settings
    const since = clock.now()
    while (!this.#gaveUp) {
      const reading = await this.#settings.transport.post(transaction, 'complete')
      if (isDefinite(reading)) return reading
      if (clock.now() - since >= giveUpAfterMs) this.#gaveUp = true
      else await new Promise<void>(resolve => clock.after(pauseMs, resolve))
    }
    return null
  }
}

/** An unsettlement whose settlement is lost is always answered with a fault (D19). */
const isDefinite = (reading: Reading) =>
  reading.kind === 'success' ||
  reading.kind === 'refusal' ||
  (reading.kind === 'fault' && reading.errorCode === 'SETTLEMENT_NOT_FOUND')

function wrongReplayOf(transaction: Transaction, at: number, reading: Reading): WrongReplay {
  const { operation, transactionId, bet, account, amount, first } = transaction
  return {
    operation,
    transactionId,
    betId: bet.betId,
    playerId: account.playerId,
    ...{ amount: shown(amount, account), currency: account.currency },
    answeredAt: new Date(at).toISOString(),
    answer: `${first?.status} ${first?.errorCode}`.trimEnd(),
    retryAnswer: shortOf(reading),
  }
}
