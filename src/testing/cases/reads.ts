/** What `load` may show while others commit. */
import type { WalletSnapshot } from '../../store.js'
import { placing } from '../changes.js'
import { type Stage, sameAmount } from '../stage.js'
import { shown } from '../story.js'
import type { CaseDefinition } from './case.js'

/** The three parts of a snapshot: whether each was read before or after one commit. */
interface Parts {
  bet: boolean
  transaction: boolean
  player: boolean
}

export const readCases: readonly CaseDefinition[] = [
  {
    id: 'WS-50',
    level: 'SHOULD',
    name: 'load is one moment: all of a commit is seen, or nothing of it',
    play: stage =>
      loadsDuringCommits(stage, 'all or nothing of the commit', ({ bet, transaction, player }) => {
        return bet === transaction && transaction === player
      }),
  },
  {
    id: 'WS-51',
    level: 'MUST',
    name: 'load reads the bet before the transaction: who sees the bet sees its transaction',
    play: stage =>
      loadsDuringCommits(
        stage,
        'the transaction, where its bet is seen',
        ({ bet, transaction }) => !bet || transaction,
      ),
  },
  {
    id: 'WS-52',
    level: 'MUST',
    name: 'load reads the player last: who sees the bet or the transaction sees its money',
    play: stage =>
      loadsDuringCommits(stage, 'the balance after it, where bet or transaction are seen', parts => {
        return (!parts.bet && !parts.transaction) || parts.player
      }),
  },
]

const rounds = 24
const loadsPerRound = 4

/**
 * Loads begin before, beside and after a commit, a step later each round: where a load is in pieces, the commit
 * comes between each two of them at some time.
 */
async function loadsDuringCommits(
  stage: Stage,
  promise: string,
  lawful: (parts: Parts) => boolean,
): Promise<void> {
  const wallet = await stage.open([{ playerId: 'anna', currency: 'EUR', balance: '100' }])
  for (let round = 0; round < rounds; round += 1) {
    const id = `${round}`
    const keys = { operation: 'placebet', transactionId: id, playerId: 'anna', betId: id } as const
    const before = String(100 - round)
    const loads: Promise<WalletSnapshot>[] = []
    const steps = round % 12
    for (let step = 0; step <= steps; step += 1) {
      if (step % Math.ceil((steps + 1) / loadsPerRound) === 0) loads.push(wallet.store.load(keys))
      await undefined
    }
    const commit = wallet.commit(placing({ transactionId: id, betId: id, stake: '1' }))
    loads.push(wallet.store.load(keys))
    const result = await commit
    stage.check(result.status === 'committed', 'committed, since every guard holds', result)
    for (const { bet, transaction, player } of await Promise.all(loads)) {
      const parts = {
        bet: bet !== null,
        transaction: transaction !== null,
        player: player !== null && !sameAmount(player.balance, before),
      }
      stage.check(lawful(parts), `a load beside the commit of ${id} to show ${promise}`, shownParts(parts))
    }
  }
}

function shownParts({ bet, transaction, player }: Parts): string {
  const when = (after: boolean) => (after ? 'after' : 'before')
  return shown(`bet ${when(bet)}, transaction ${when(transaction)}, player ${when(player)} the commit`)
}
