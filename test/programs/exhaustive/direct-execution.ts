/**
 * Executes the same schedules without the optimisations of the explorer: concurrent real handlers, one real
 * store, no caches, and no merging of equal states. The explorer must reach exactly the same ends.
 */
import type { CommitResult, WalletChanges, WalletSnapshot, WalletStore } from 'bet-wallet'
import { type Call, isCall, keysOf, type Letter, letters, send } from './alphabet.js'
import { faults } from './checker.js'
import type { Findings, Step } from './explorer.js'
import {
  addingOf,
  type Ending,
  endingOf,
  endingOfError,
  endingOfMove,
  optionsOf,
  type Placebets,
  settled,
} from './handler.js'
import { ObservedStore, unchanged, type Variant } from './observed-store.js'
import type { Start } from './starts.js'
import { attemptsThatSuffice } from './state-space.js'

/** The end of a schedule as text, to compare exploration and direct execution. */
export function endText(endings: readonly Ending[], fault: number, before: number, observed: string): string {
  return `${endings.map(({ text }) => text).join('|')} fault ${fault} before ${before} ${observed}`
}

type Waiting =
  | { at: 'load'; confirmed: boolean; resolve(snapshot: WalletSnapshot): void; reject(error: Error): void }
  | { at: 'commit'; changes: WalletChanges; resolve(result: CommitResult): void; reject(error: Error): void }

class Execution {
  readonly observed: ObservedStore
  readonly #word: readonly number[]
  readonly #waiting: (Waiting | null)[]
  readonly #begun: boolean[]
  readonly endings: (Ending | null)[]
  fault: number = faults.none
  before = 0
  /** Per letter of the word: its load at the start. */
  #old: readonly (WalletSnapshot | null)[] = []
  #delayed: WalletChanges | null = null

  constructor(start: Start, variant: Variant, word: readonly number[]) {
    this.observed = new ObservedStore(start, variant)
    this.#word = word
    this.#waiting = word.map(() => null)
    this.#begun = word.map(() => false)
    this.endings = word.map(() => null)
  }

  async begin(start: Start, attemptsMax: number, placebets: Placebets): Promise<void> {
    const { observed } = this
    const options = optionsOf(attemptsMax, placebets)
    const direct: WalletStore = {
      contractVersion: 2,
      ...addingOf(options),
      load: keys => observed.load(keys),
      loadConfirmed: keys => observed.load(keys),
      commit: changes => observed.commit(changes),
    }
    for (const letter of start.before) {
      if (isCall(letter)) await send(letter, direct, options)
      else observed.move(letter.step, letter.amount)
    }
    const old: (WalletSnapshot | null)[] = []
    for (const number of this.#word) {
      const letter = letters[number] as Letter
      old.push(isCall(letter) ? await observed.load(keysOf(letter)) : null)
    }
    this.#old = old
    for (const [slot, number] of this.#word.entries()) {
      const letter = letters[number] as Letter
      if (!isCall(letter)) continue
      const load = (confirmed: boolean) =>
        new Promise<WalletSnapshot>((resolve, reject) => {
          this.#waiting[slot] = { at: 'load', confirmed, resolve, reject }
        })
      const store: WalletStore = {
        contractVersion: 2,
        ...addingOf(options),
        load: () => load(false),
        loadConfirmed: () => load(true),
        commit: changes =>
          new Promise((resolve, reject) => {
            this.#waiting[slot] = { at: 'commit', changes, resolve, reject }
          }),
      }
      send(letter, store, options).then(
        outcome => this.#end(slot, endingOf(letter, outcome)),
        error => this.#end(slot, endingOfError(error)),
      )
    }
    await settled()
  }

  async possible(): Promise<Step[]> {
    const steps: Step[] = []
    const clean = this.fault === faults.none
    for (const [slot, letter] of this.#word.entries()) {
      if (this.endings[slot] !== null) continue
      const isCopy = slot > 0 && letter === this.#word[slot - 1]
      if (isCopy && !this.#begun[slot] && !this.#begun[slot - 1]) continue
      steps.push({ slot, action: 'is answered' })
      const waiting = this.#waiting[slot]
      if ((clean || this.fault === faults.stale) && waiting?.at === 'load' && !waiting.confirmed) {
        const now = await this.observed.load(keysOf(letters[letter] as Call))
        if (JSON.stringify(now) !== JSON.stringify(this.#old[slot]))
          steps.push({ slot, action: 'load is stale' })
      }
      if (!clean || waiting === null || waiting === undefined) continue
      if (waiting.at === 'load') {
        steps.push({ slot, action: 'load throws' }, { slot, action: 'load is unavailable' })
        continue
      }
      steps.push(
        { slot, action: 'is lost before the write' },
        { slot, action: 'is lost after the write' },
        { slot, action: 'is lost and delivered later' },
        { slot, action: 'is unavailable' },
      )
      if (waiting.changes.account.delta.startsWith('-')) steps.push({ slot, action: 'is refused' })
    }
    if (this.#delayed !== null) steps.push({ slot: -1, action: 'is answered' })
    return steps
  }

  async take({ slot, action }: Step): Promise<void> {
    if (slot === -1) {
      await this.observed.commit(this.#delayed as WalletChanges)
      this.#delayed = null
      return
    }
    this.#begun[slot] = true
    const letter = letters[this.#word[slot] as number] as Letter
    if (!isCall(letter)) {
      this.#end(slot, endingOfMove(this.observed.move(letter.step, letter.amount)))
      return
    }
    const waiting = this.#waiting[slot] as Waiting
    this.#waiting[slot] = null
    if (waiting.at === 'load') {
      if (action === 'is answered') waiting.resolve(await this.observed.load(keysOf(letter)))
      else if (action === 'load is stale') {
        this.fault = faults.stale
        waiting.resolve(this.#old[slot] as WalletSnapshot)
      } else {
        this.fault = faults.harmless
        const code = action === 'load is unavailable' ? { code: 'UNAVAILABLE' } : {}
        waiting.reject(Object.assign(new Error('Injected fault'), code))
      }
    } else await this.#answerCommit(slot, waiting, action)
    await settled()
  }

  async #answerCommit(
    slot: number,
    waiting: Waiting & { at: 'commit' },
    action: Step['action'],
  ): Promise<void> {
    switch (action) {
      case 'is answered':
        waiting.resolve(await this.observed.commit(waiting.changes))
        return
      case 'is unavailable':
        this.fault = faults.harmless
        waiting.resolve({ status: 'unavailable' })
        return
      case 'is refused':
        this.fault = faults.refused + slot
        waiting.resolve({
          status: 'refused',
          errorCode: 'DEBIT_LIMIT_EXCEEDED',
          description: 'amount: above the limit',
        })
        return
      default:
        this.fault = faults.lost + slot
        if (action === 'is lost after the write') await this.observed.commit(waiting.changes)
        if (action === 'is lost and delivered later') this.#delayed = waiting.changes
        waiting.reject(new Error('Injected fault'))
    }
  }

  #end(slot: number, ending: Ending): void {
    this.endings[slot] = ending
    if (ending.fault !== null) return
    for (const [other, begun] of this.#begun.entries()) {
      if (other !== slot && !begun) this.before |= 1 << (slot * 3 + other)
    }
  }
}

/** Executes every schedule from its beginning to its end. */
export async function executeAll(
  start: Start,
  word: readonly number[],
  {
    variant = unchanged,
    attemptsMax = attemptsThatSuffice,
    placebets = 'commit-first',
  }: { variant?: Variant; attemptsMax?: number; placebets?: Placebets } = {},
): Promise<Pick<Findings, 'schedules'> & { ends: Set<string> }> {
  const ends = new Set<string>()
  let schedules = 0
  /** The choice at every depth: which of the possible steps was taken. */
  const taken: { step: number; of: number }[] = []
  do {
    const execution = new Execution(start, variant, word)
    await execution.begin(start, attemptsMax, placebets)
    for (let depth = 0; ; depth += 1) {
      const possible = await execution.possible()
      if (possible.length === 0) break
      const choice = taken[depth] ?? { step: 0, of: possible.length }
      taken[depth] = choice
      await execution.take(possible[choice.step] as Step)
    }
    schedules += 1
    ends.add(
      endText(execution.endings as Ending[], execution.fault, execution.before, execution.observed.text()),
    )
    while (taken.length > 0) {
      const last = taken[taken.length - 1] as { step: number; of: number }
      last.step += 1
      if (last.step < last.of) break
      taken.pop()
    }
  } while (taken.length > 0)
  return { schedules, ends }
}
