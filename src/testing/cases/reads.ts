/** What `load` may show while others commit. */
import type { WalletSnapshot } from '../../store.js'
import { placing } from '../changes.js'
import { type Stage, sameAmount } from '../stage.js'
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

const rounds = 16
const readers = 8
/** After so many loads a reader lets timers and sockets have their turn, in case that its loads need neither. */
const loadsPerTurn = 16

/**
 * Readers load again and again from before a commit until after it, each a step behind the other: where a load is
 * in pieces, the commit comes between each two of them for one of the readers.
 */
async function loadsDuringCommits(
  stage: Stage,
  promise: string,
  lawful: (parts: Parts) => boolean,
): Promise<void> {
  const wallet = await stage.open([{ playerId: 'anna', currency: 'EUR', balance: '100' }])
  const { store } = wallet.opened // not told: the story is the one load that shows what must not be
  stage.story.tell('kit', `commits bets of 1, one after the other; ${readers} readers load the bet meanwhile`)
  for (let round = 0; round < rounds; round += 1) {
    const id = `b-${round}`
    const keys = { operation: 'placebet', transactionId: id, playerId: 'anna', betId: id } as const
    const before = String(100 - round)
    const snapshots: WalletSnapshot[] = []
    let committing = true
    const reading = Array.from({ length: readers }, async (_, behind) => {
      for (let step = 0; step < behind; step += 1) await undefined
      for (let load = 1; committing && !stage.over; load += 1) {
        snapshots.push(await store.load(keys))
        if (load % loadsPerTurn === 0) await new Promise(resolve => setImmediate(resolve))
      }
    })
    const changes = placing({ transactionId: id, betId: id, stake: '1' })
    // async: a commit that throws at once stops the readers too.
    const commit = (async () => store.commit(changes))().finally(() => {
      committing = false
    })
    const [result] = await Promise.all([commit, ...reading])
    stage.check(result.status === 'committed', 'committed, since every guard holds', result)
    for (const { bet, transaction, player } of snapshots) {
      const parts = {
        bet: bet !== null,
        transaction: transaction !== null,
        player: player !== null && !sameAmount(player.balance, before),
      }
      stage.check(lawful(parts), `a load during the commit of ${id} to show ${promise}`, shownParts(parts))
    }
  }
}

function shownParts({ bet, transaction, player }: Parts): string {
  const when = (after: boolean) => (after ? 'after' : 'before')
  return `the bet as ${when(bet)}, the transaction as ${when(transaction)}, the balance as ${when(player)} the commit`
}
