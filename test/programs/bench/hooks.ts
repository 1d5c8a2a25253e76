/** What the operator's own rules in `withinTransaction` cost a placebet: the limits and the bonus of the examples. */
import type { PendingCommit, Query } from 'bet-wallet/postgres'
import { createBonus } from '../../../examples/bonus/bonus.js'
import { createLimits } from '../../../examples/limits/limits.js'
import { type Contestant, inTurn, type Measured, ratioOf } from './measure.js'
import type { BenchOptions } from './options.js'
import type { PartResult, Ratio } from './report.js'
import { type Tally, tally } from './tally.js'

/** `withinTransaction`; its statements have `?` for their parameters on every engine. */
export type Hook = (query: Query, pending: readonly PendingCommit[]) => Promise<void>

/** The folders of both, for their schemas. */
export const examples = ['limits', 'bonus'] as const

const hooks: Readonly<Record<(typeof examples)[number], Hook>> = {
  limits: createLimits({ timeZone: 'UTC' }),
  bonus: createBonus({ EUR: 2 }),
}

/** A store over the operator's accounts, with the columns of both examples. */
export interface AccountsStore {
  /** 64 callers that place bets with a stake of 2.5. */
  placing(answers: Tally, name: string): Contestant
  /** What all accounts were debited, and the number of rows in `limited_bets`. */
  books(): Promise<{ debited: string; counted: number }>
}

/** @param withStores calls `work` with a store with the hook, and with one without */
export async function compareHooks(
  options: BenchOptions,
  withStores: (hook: Hook, work: (stores: [AccountsStore, AccountsStore]) => Promise<void>) => Promise<void>,
): Promise<PartResult> {
  const measured: Measured[] = []
  const ratios: Ratio[] = []
  for (const name of examples) {
    await withStores(hooks[name], async ([withHook, without]) => {
      const answers = tally()
      const pair = await inTurn(
        [
          withHook.placing(answers, `with the ${name} of the example`),
          without.placing(tally(), `without (${name})`),
        ],
        options,
      )
      const { debited, counted } = await withHook.books()
      if (
        Number(debited) !== 2.5 * answers.accepted ||
        counted !== (name === 'limits' ? answers.accepted : 0)
      )
        throw new Error(`${name}: the books do not balance: ${debited} debited, ${counted} counted`)
      measured.push(...pair)
      ratios.push({
        name: `times the placebets per second, ${name}`,
        value: ratioOf(pair, s => s.perSecond),
      })
    })
  }
  return { title: 'Rules in withinTransaction: 64 concurrent callers', measured, ratios, notes: [] }
}
