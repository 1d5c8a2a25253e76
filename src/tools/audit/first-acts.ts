/** Cases in two acts. The first acts are played together, then there is one pause or one restart for all of them. */

import { type Decimal, subtract } from '../platform/decimal.js'
import type { AuditCase, Later } from './audit-case.js'
import type { Client } from './client.js'
import type { AuditSettings } from './options.js'
import { restartWallet } from './restart.js'
import { CaseFailed, Skipped, type Stage } from './stage.js'

export interface FirstAct {
  /** The case with its second act only. */
  item: AuditCase
  stage: Stage
  /** How much the first act has changed the balance. */
  change: Decimal
}

/** The first acts of one audit. */
export class FirstActs {
  private readonly played = new Map<string, FirstAct>()

  constructor(
    private readonly cases: readonly AuditCase[],
    private readonly settings: AuditSettings,
    private readonly client: Client,
    private readonly stageFor: (id: string) => Stage,
    /** Why a case is skipped; `null` if it is played. */
    private readonly skipReason: (item: AuditCase) => string | null,
  ) {}

  /**
   * Plays the first acts of this case and of those that wait for the same, and passes the time, unless that is done.
   *
   * @returns `null` for a case in one act; otherwise the act, and the balance now
   */
  async of(item: AuditCase, balance: Decimal): Promise<(FirstAct & { balance: Decimal }) | null> {
    const { later } = item
    if (later === undefined) return null
    let now = balance
    if (!this.played.has(item.id)) {
      const group = this.cases.filter(other => other.later === later && this.skipReason(other) === null)
      for (const each of group) now = await this.play(each, now)
      const stage = this.stageFor(later)
      if (later === 'restart')
        for (const id of [later, ...group.map(one => one.id)]) stage.outages.excused.add(id)
      const problem = await passTime(later, this.settings, this.client, stage)
      if (problem !== null) for (const { id } of group) this.leaveOut(id, problem)
      now = (await stage.readBalance()).balance ?? now
    }
    const act = this.played.get(item.id)
    return act === undefined ? null : { ...act, balance: now }
  }

  /** Rolls back the bets of a first act whose second act is not played. */
  async cleanUp(id: string): Promise<void> {
    await this.played.get(id)?.stage.cleanUp()
  }

  /** @returns the balance after the first act */
  private async play(item: AuditCase, opening: Decimal): Promise<Decimal> {
    const stage = this.stageFor(item.id)
    stage.opening = opening
    const second = await firstActOf(item, stage)
    const after = (await stage.readBalance()).balance ?? opening
    this.played.set(item.id, { item: { ...item, play: second }, stage, change: subtract(after, opening) })
    return after
  }

  private leaveOut(id: string, problem: string): void {
    const act = this.played.get(id)
    if (act === undefined) return
    this.played.set(id, { ...act, item: { ...act.item, play: () => Promise.reject(new Skipped(problem)) } })
  }
}

async function firstActOf(item: AuditCase, stage: Stage): Promise<() => Promise<void>> {
  try {
    return (await item.play(stage)) ?? (async () => {})
  } catch (error) {
    if (!(error instanceof CaseFailed || error instanceof Skipped)) throw error
    return () => Promise.reject(error)
  }
}

const stepMs = 100

/** @returns why there was no pause or no restart; otherwise `null` */
async function passTime(
  later: Later,
  settings: AuditSettings,
  client: Client,
  stage: Stage,
): Promise<string | null> {
  if (later === 'restart') return await restartWallet(settings, stage)
  const until = client.now() + (settings.patienceMs ?? 0)
  while (client.now() < until) {
    if (settings.signal?.aborted) return 'the audit was stopped'
    await stage.wait(Math.min(stepMs, Math.max(0, until - client.now())))
  }
  return null
}
