/** The snapshots that `load` may return while commits are in progress. */
import type { WalletSnapshot } from '../../store.js'
import { type CaseContext, casesOf, concurrently } from '../case-context.js'
import { anna, placeBet } from '../changes.js'
import { sameAmount } from '../equality.js'
import type { Wallet } from '../wallet.js'

/** The three parts of a snapshot: `true` if the part was read after the commit. */
interface Parts {
  bet: boolean
  transaction: boolean
  player: boolean
}

export const readCases = casesOf({
  'WS-50 load returns one consistent snapshot: all of a concurrent commit, or nothing of it': {
    level: 'SHOULD',
    ...during('all of the commit, or nothing of it', parts => new Set(Object.values(parts)).size === 1),
  },
  'WS-51 load reads the bet before the transaction: a load that returns a new bet returns its transaction':
    during('the transaction if it shows the bet', ({ bet, transaction }) => !bet || transaction),
  'WS-52 load reads the player last: a load that returns a new bet or transaction returns the balance after it':
    during(
      'the balance after the commit if it shows bet or transaction',
      ({ bet, transaction, player }) => (!bet && !transaction) || player,
    ),
})

/** @param isAllowed of the parts of a load during a commit */
function during(expected: string, isAllowed: (parts: Parts) => boolean) {
  return {
    players: [anna],
    run: (wallet: Wallet, context: CaseContext) => loadsDuringCommits(wallet, context, expected, isAllowed),
  }
}

const rounds = 16
const readers = 8
/** After this many loads a reader yields to timers and sockets: its loads may use neither. */
const loadsPerTurn = 16

/** Rounds in which the readers start ever later, for loads of more steps than there are readers. */
const phases = 4

/**
 * Readers load in a loop from before a commit until after it, each one step behind the other. If a load
 * consists of several reads, the commit falls between each two of them for one of the readers.
 */
async function loadsDuringCommits(
  wallet: Wallet,
  context: CaseContext,
  expected: string,
  isAllowed: (parts: Parts) => boolean,
): Promise<void> {
  const { store } = wallet.opened // untraced: only the load that fails is of interest
  context.trace.note('kit', `commits bets of 1, one after the other, while ${readers} readers load the bet`)
  for (let round = 0; round < rounds; round += 1) {
    const id = `b-${round}`
    const keys = { operation: 'placebet', transactionId: id, playerId: 'anna', betId: id } as const
    const before = String(100 - round)
    const snapshots: WalletSnapshot[] = []
    let committing = true
    const reading = concurrently(readers, async reader => {
      const behind = reader + (round % phases) * readers
      for (let step = 0; step < behind; step += 1) await undefined
      for (let load = 1; committing && !context.over; load += 1) {
        snapshots.push(await store.load(keys))
        if (load % loadsPerTurn === 0) await new Promise(resolve => setImmediate(resolve))
      }
    })
    const changes = placeBet(id, id, { stake: '1' })
    // async: a commit that throws synchronously stops the readers too.
    const commit = (async () => store.commit(changes))().finally(() => {
      committing = false
    })
    const [result] = await Promise.all([commit, reading])
    context.check(result.status === 'committed', 'committed, because every guard holds', result)
    for (const { bet, transaction, accounts } of snapshots) {
      const parts = {
        bet: bet !== null,
        transaction: transaction !== null,
        player: accounts.some(({ balance }) => !sameAmount(balance, before)),
      }
      context.check(
        isAllowed(parts),
        `a load during the commit of ${id} to show ${expected}`,
        shownParts(parts),
      )
    }
  }
}

function shownParts({ bet, transaction, player }: Parts): string {
  const when = (after: boolean) => (after ? 'after' : 'before')
  return `the bet from ${when(bet)}, the transaction from ${when(transaction)}, the balance from ${when(player)} the commit`
}
