/** The steps of a case in the order in which they happened, for the report of a failure. */
import { isA } from '../foreign-values.js'
import type { CommitResult, WalletChanges, WalletKeys, WalletSnapshot, WalletStore } from '../store.js'
import { optionalParts } from './stores-around.js'

interface Entry {
  text: string
  /** `null`: this entry expects no answer. */
  answer: string | null
}

const noAnswerYet = '(no answer yet)'

export class Trace {
  #entries: Entry[] = []

  get steps(): readonly string[] {
    return this.#entries.map(({ text, answer }) => (answer === null ? text : `${text} → ${answer}`))
  }

  /** Calls that have started and have no answer yet. */
  get unanswered(): readonly string[] {
    return this.#entries.filter(({ answer }) => answer === noAnswerYet).map(({ text }) => text)
  }

  note(actor: string, action: string): void {
    this.#entries.push({ text: `${actor}: ${action}`, answer: null })
  }

  /**
   * Records the start of a call.
   *
   * @param subject names the call in the entry of its answer, if other steps happened in between; `null`: the
   *   answer always stands beside the start
   * @returns a function that records the answer
   */
  start(actor: string, action: string, subject: string | null = null): (answer: string) => void {
    const entry: Entry = { text: `${actor}: ${action}`, answer: noAnswerYet }
    const entries = this.#entries
    entries.push(entry)
    return answer => {
      if (subject === null || entries.at(-1) === entry) {
        entry.answer = answer
        return
      }
      entry.answer = null
      entries.push({ text: `${actor}: receives the answer to ${subject}`, answer })
    }
  }

  /** Drops all entries: each of many random runs has its own trace. */
  reset(): void {
    this.#entries = []
  }

  /** @throws {CaseFailed} unless `holds` */
  check(holds: boolean, expected: string, actual: unknown): asserts holds {
    if (!holds) throw new CaseFailed(expected, shown(actual), [...this.steps])
  }
}

/** A failed check: the expected and the actual result, and the steps that led to it. */
export class CaseFailed extends Error {
  override readonly name: string = 'CaseFailed'
  readonly expected: string
  readonly actual: string
  readonly steps: readonly string[]
  constructor(expected: string, actual: string, steps: readonly string[]) {
    super(`expected ${expected}, actual ${actual}`)
    this.expected = expected
    this.actual = actual
    this.steps = steps
  }
}

export function shown(value: unknown): string {
  if (typeof value === 'string') return value
  if (isA(value, Error)) return `${value.name}: ${value.message}`
  return JSON.stringify(value) ?? String(value)
}

/** The same store, with every call recorded in the trace. */
export function tracedStore(store: WalletStore, trace: Trace, actor: string): WalletStore {
  const traced = async <T>(
    action: string,
    call: () => Promise<T>,
    textOf: (result: T) => string,
  ): Promise<T> => {
    const answered = trace.start(actor, action)
    try {
      const result = await call()
      answered(textOf(result))
      return result
    } catch (error) {
      answered(`throws ${shown(error)}`)
      throw error
    }
  }
  return {
    contractVersion: store.contractVersion,
    load: keys => traced(`load ${shownKeys(keys)}`, () => store.load(keys), shownSnapshot),
    ...optionalParts(store, (keys, loadConfirmed) =>
      traced(`loadConfirmed ${shownKeys(keys)}`, () => loadConfirmed(keys), shownSnapshot),
    ),
    commit: changes => traced(`commit ${shownChanges(changes)}`, () => store.commit(changes), shownResult),
  }
}

function shownKeys({ operation, transactionId, playerId, betId }: WalletKeys): string {
  return `${operation} ${short(transactionId)}, ${short(playerId)}, ${short(betId)}`
}

function shownSnapshot(snapshot: WalletSnapshot): string {
  const { accounts, bet, transaction } = snapshot ?? {}
  const parts = [
    accounts?.length
      ? `balance ${accounts.map(({ balance, currency }) => `${balance} ${currency}`).join(' and ')}`
      : `accounts ${shown(accounts)}`,
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

function shownChanges({ transaction, bet, credit, account }: WalletChanges): string {
  const { operation, transactionId, playerId, refusal } = transaction
  const parts = [
    `${operation} ${short(transactionId)} of ${short(playerId)}${refusal ? ` (refused ${refusal.errorCode})` : ''}`,
    bet
      ? `bet ${short(bet.betId)} ${bet.status} revision ${bet.revision} ${credits(bet.credits)}`.trimEnd()
      : credit
        ? `${credit.type} ${credit.amount} added to the bet ${short(transaction.betId)}`
        : 'no bet',
    `${account.delta} ${account.currency}${account.floor === null ? '' : `, floor ${account.floor}`}`,
  ]
  return parts.join('; ')
}

export function shownResult(result: CommitResult): string {
  if (result?.status === 'committed') return `committed, balance ${result.balance}`
  if (result?.status === 'refused') return `refused ${result.errorCode}`
  return shown(result?.status)
}

/** Quotes ids with unusual characters, escapes combining marks, and cuts long ids. */
export function short(id: string): string {
  if (id.length > 24) return `${escaped(id.slice(0, 10))}…${escaped(id.slice(-6))} (${id.length} characters)`
  return /^[\w~.-]+$/.test(id) ? id : `"${escaped(id)}"`
}

function escaped(id: string): string {
  return id
    .replace(/["\\]/g, '\\$&')
    .replace(/\p{M}/gu, mark => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
