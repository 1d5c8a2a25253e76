/**
 * The same schedules without any of the explorer's cunning: real handlers that wait at once, one real store, nothing
 * remembered, no two states ever taken for equal. What it finds, the explorer must have found, and nothing else.
 */
import type { CommitResult, WalletChanges, WalletSnapshot, WalletStore } from 'bet-wallet'
import { isCall, keysOf, type Letter, letters, send } from './alphabet.js'
import type { Findings, Step } from './explorer.js'
import { type Ending, endingOf, endingOfError, endingOfMove, optionsOf, settled } from './handler.js'
import { faults } from './judge.js'
import type { Start } from './starts.js'
import { attemptsThatSuffice } from './universe.js'
import { sound, type Variant, World } from './world.js'

/** The end of a schedule as one text: the same for the explorer's and for this one. */
export function endText(endings: readonly Ending[], fault: number, before: number, world: string): string {
  return `${endings.map(({ text }) => text).join('|')} fault ${fault} before ${before} ${world}`
}

type Waiting =
  | { at: 'load'; resolve(snapshot: WalletSnapshot): void; reject(error: Error): void }
  | { at: 'commit'; changes: WalletChanges; resolve(result: CommitResult): void; reject(error: Error): void }

class Play {
  readonly world: World
  readonly #word: readonly number[]
  readonly #waiting: (Waiting | null)[]
  readonly #begun: boolean[]
  readonly endings: (Ending | null)[]
  fault: number = faults.none
  before = 0
  #late: WalletChanges | null = null

  constructor(start: Start, variant: Variant, word: readonly number[]) {
    this.world = new World(start, variant)
    this.#word = word
    this.#waiting = word.map(() => null)
    this.#begun = word.map(() => false)
    this.endings = word.map(() => null)
  }

  async begin(start: Start, attemptsMax: number): Promise<void> {
    const { world } = this
    const direct: WalletStore = {
      contractVersion: 1,
      load: keys => world.load(keys),
      commit: changes => world.commit(changes),
    }
    for (const letter of start.before) {
      if (isCall(letter)) await send(letter, direct, optionsOf(attemptsMax))
      else world.move(letter.step, letter.amount)
    }
    for (const [slot, number] of this.#word.entries()) {
      const letter = letters[number] as Letter
      if (!isCall(letter)) continue
      const store: WalletStore = {
        contractVersion: 1,
        load: () =>
          new Promise((resolve, reject) => {
            this.#waiting[slot] = { at: 'load', resolve, reject }
          }),
        commit: changes =>
          new Promise((resolve, reject) => {
            this.#waiting[slot] = { at: 'commit', changes, resolve, reject }
          }),
      }
      send(letter, store, optionsOf(attemptsMax)).then(
        outcome => this.#end(slot, endingOf(letter, outcome)),
        error => this.#end(slot, endingOfError(error)),
      )
    }
    await settled()
  }

  possible(): Step[] {
    const steps: Step[] = []
    const clean = this.fault === faults.none
    for (const [slot, letter] of this.#word.entries()) {
      if (this.endings[slot] !== null) continue
      const twin = slot > 0 && letter === this.#word[slot - 1]
      if (twin && !this.#begun[slot] && !this.#begun[slot - 1]) continue
      steps.push({ slot, action: 'is answered' })
      const waiting = this.#waiting[slot]
      if (!clean || waiting === null || waiting === undefined) continue
      if (waiting.at === 'load') {
        steps.push({ slot, action: 'load throws' }, { slot, action: 'load is unavailable' })
        continue
      }
      steps.push(
        { slot, action: 'is lost before the write' },
        { slot, action: 'is lost after the write' },
        { slot, action: 'is lost and lands later' },
        { slot, action: 'is unavailable' },
      )
      if (waiting.changes.balance?.delta.startsWith('-')) steps.push({ slot, action: 'is refused' })
    }
    if (this.#late !== null) steps.push({ slot: -1, action: 'is answered' })
    return steps
  }

  async take({ slot, action }: Step): Promise<void> {
    if (slot === -1) {
      await this.world.commit(this.#late as WalletChanges)
      this.#late = null
      return
    }
    this.#begun[slot] = true
    const letter = letters[this.#word[slot] as number] as Letter
    if (!isCall(letter)) {
      this.#end(slot, endingOfMove(this.world.move(letter.step, letter.amount)))
      return
    }
    const waiting = this.#waiting[slot] as Waiting
    this.#waiting[slot] = null
    if (waiting.at === 'load') {
      if (action === 'is answered') waiting.resolve(await this.world.load(keysOf(letter)))
      else {
        this.fault = faults.harmless
        const code = action === 'load is unavailable' ? { code: 'UNAVAILABLE' } : {}
        waiting.reject(Object.assign(new Error('the line broke'), code))
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
        waiting.resolve(await this.world.commit(waiting.changes))
        return
      case 'is unavailable':
        this.fault = faults.harmless
        waiting.resolve({ status: 'unavailable' })
        return
      case 'is refused':
        this.fault = faults.refused + slot
        waiting.resolve({
          status: 'refused',
          errorCode: 'LIMIT_OF_THE_HOUSE',
          description: 'a rule of the house',
        })
        return
      default:
        this.fault = faults.lost + slot
        if (action === 'is lost after the write') await this.world.commit(waiting.changes)
        if (action === 'is lost and lands later') this.#late = waiting.changes
        waiting.reject(new Error('the line broke'))
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

/** Plays every schedule from its beginning to its end. */
export async function playAll(
  start: Start,
  word: readonly number[],
  { variant = sound, attemptsMax = attemptsThatSuffice }: { variant?: Variant; attemptsMax?: number } = {},
): Promise<Pick<Findings, 'schedules'> & { ends: Set<string> }> {
  const ends = new Set<string>()
  let schedules = 0
  /** Which of how many steps was taken, one after the other. */
  const taken: { step: number; of: number }[] = []
  do {
    const play = new Play(start, variant, word)
    await play.begin(start, attemptsMax)
    for (let depth = 0; ; depth += 1) {
      const possible = play.possible()
      if (possible.length === 0) break
      const choice = taken[depth] ?? { step: 0, of: possible.length }
      taken[depth] = choice
      await play.take(possible[choice.step] as Step)
    }
    schedules += 1
    ends.add(endText(play.endings as Ending[], play.fault, play.before, play.world.text()))
    while (taken.length > 0) {
      const last = taken[taken.length - 1] as { step: number; of: number }
      last.step += 1
      if (last.step < last.of) break
      taken.pop()
    }
  } while (taken.length > 0)
  return { schedules, ends }
}
