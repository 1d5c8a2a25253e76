/** What happened in a case, told so that a failure reads like a story. */
import type { CommitResult, WalletChanges, WalletKeys, WalletSnapshot, WalletStore } from '../store.js'

interface Step {
  text: string
  /** `null`: it has none. */
  end: string | null
}

const noAnswer = '(no answer yet)'

export class Trace {
  private told: Step[] = []

  get steps(): readonly string[] {
    return this.told.map(({ text, end }) => (end === null ? text : `${text} → ${end}`))
  }

  /** What was asked and not answered so far. */
  get unanswered(): readonly string[] {
    return this.told.filter(({ end }) => end === noAnswer).map(({ text }) => text)
  }

  /** Notes who did what. */
  tell(who: string, what: string): void {
    this.told.push({ text: `${who}: ${what}`, end: null })
  }

  /**
   * Notes who asked what. Gives a function that notes the answer: at its place in the course of things if
   * something else came in between, and `subject` says what it answers.
   */
  ask(who: string, what: string, subject: string | null = null): (answer: string) => void {
    const step: Step = { text: `${who}: ${what}`, end: noAnswer }
    const { told } = this
    told.push(step)
    return answer => {
      if (subject === null || told.at(-1) === step) {
        step.end = answer
        return
      }
      step.end = null
      told.push({ text: `${who}: hears of ${subject}`, end: answer })
    }
  }

  /** A story of its own, for the next of many runs. */
  restart(): void {
    this.told = []
  }

  /** Ends the case as failed, unless `holds`. */
  check(holds: boolean, expected: string, found: unknown): asserts holds {
    if (!holds) throw new CaseFailed(expected, shown(found), [...this.steps])
  }
}

/** A promise that was not kept: what was expected, what was found, and the steps that led there. */
export class CaseFailed extends Error {
  override readonly name = 'BrokenPromise'
  readonly expected: string
  readonly actual: string
  readonly steps: readonly string[]
  constructor(expected: string, found: string, steps: readonly string[]) {
    super(`expected ${expected}, found ${found}`)
    this.expected = expected
    this.actual = found
    this.steps = steps
  }
}

export function shown(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Error) return `${value.name}: ${value.message}`
  return JSON.stringify(value) ?? String(value)
}

/** The store with every call told. */
export function tracedStore(store: WalletStore, story: Trace, who: string): WalletStore {
  const told = async <T>(what: string, call: () => Promise<T>, end: (result: T) => string): Promise<T> => {
    const ended = story.ask(who, what)
    try {
      const result = await call()
      ended(end(result))
      return result
    } catch (error) {
      ended(`throws ${shown(error)}`)
      throw error
    }
  }
  return {
    contractVersion: store.contractVersion,
    load: keys => told(`load ${shownKeys(keys)}`, () => store.load(keys), shownSnapshot),
    commit: changes => told(`commit ${shownChanges(changes)}`, () => store.commit(changes), shownResult),
  }
}

function shownKeys({ operation, transactionId, playerId, betId }: WalletKeys): string {
  return `${operation} ${short(transactionId)}, ${short(playerId)}, ${short(betId)}`
}

function shownSnapshot(snapshot: WalletSnapshot): string {
  const { player, bet, transaction } = snapshot ?? {}
  const parts = [
    player ? `balance ${player.balance} ${player.currency}` : `player ${player}`,
    bet ? `bet ${bet.status} revision ${bet.revision} ${credits(bet.credits)}`.trimEnd() : `bet ${bet}`,
    transaction
      ? `transaction ${transaction.refusal ? transaction.refusal.errorCode : transaction.delta}`
      : `transaction ${transaction}`,
  ]
  return parts.join(', ')
}

function credits(byType: object | undefined): string {
  return Object.entries(byType ?? {})
    .map(([type, credit]) => `${type} ${JSON.stringify(credit)}`)
    .join(' ')
}

function shownChanges({ transaction, bet, balance }: WalletChanges): string {
  const { operation, transactionId, playerId, refusal } = transaction
  const parts = [
    `${operation} ${short(transactionId)} of ${short(playerId)}${refusal ? ` (refused ${refusal.errorCode})` : ''}`,
    bet
      ? `bet ${short(bet.betId)} ${bet.status} revision ${bet.revision} ${credits(bet.credits)}`.trimEnd()
      : 'no bet',
    balance
      ? `${balance.delta} ${balance.currency}${balance.floor === null ? '' : `, floor ${balance.floor}`}`
      : 'nothing moves',
  ]
  return parts.join('; ')
}

export function shownResult(result: CommitResult): string {
  if (result?.status === 'committed') return `committed, balance ${result.balance}`
  if (result?.status === 'refused') return `refused ${result.errorCode}`
  return shown(result?.status)
}

/** Ids that are not plain in quotes, with their accents to be seen; long ones cut. */
export function short(id: string): string {
  if (id.length > 24) return `${visible(id.slice(0, 10))}…${visible(id.slice(-6))} (${id.length} long)`
  return /^[\w~.-]+$/.test(id) ? id : `"${visible(id)}"`
}

function visible(id: string): string {
  return id
    .replace(/["\\]/g, '\\$&')
    .replace(/\p{M}/gu, mark => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
