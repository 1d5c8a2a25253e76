/** Incidents of the outbox: events that nobody delivers, or that their consumer refuses. */
import type { Incident } from './incident.js'
import type { Scene } from './scene.js'

/** The event of a bet, and a relay whose consumer answers 500, until the failure is recorded. */
async function refused({ platform, database }: Scene, name: string, attemptsMax: number): Promise<void> {
  await platform.placebet({ transactionId: `t-${name}`, betId: `b-${name}` })
  await platform.settle({ transactionId: `s-${name}`, betId: `b-${name}` })
  await new Promise<void>((resolve, reject) => {
    const relay = database.relay({
      attemptsMax,
      deliver: () => Promise.reject(new Error('The consumer answered 500')),
      onError: () => resolve(relay.stop()),
    })
    relay.start().catch(reject)
  })
}

/** What a relay delivers, until nothing is left. */
async function delivered({ database }: Scene): Promise<string[]> {
  const ids: string[] = []
  const relay = database.relay({ deliver: async ({ transactionId }) => ids.push(transactionId) })
  await relay.start()
  while ((await relay.stats()).oldestMs !== null) await new Promise(resolve => setTimeout(resolve, 5))
  await relay.stop()
  return ids
}

export const eventIncidents: readonly Incident[] = [
  {
    title: 'a consumer that refuses events',
    alarm: () => 'Alert BetWalletEventsLate: an event has waited for more than 5 minutes.',
    symptom: '`BetWalletEventsLate`',
    ids: {},
    arise: scene => refused(scene, '601', 100),
    solution: 'The consumer refuses events',
  },
  {
    title: 'events without a relay',
    alarm: () => 'Alert BetWalletNoRelay: wallets write events, and no relay reports on them.',
    symptom: '`BetWalletNoRelay`',
    ids: {},
    arise: ({ platform }) => platform.placebet({ transactionId: 't-611', betId: 'b-611' }),
    solution: 'No relay delivers',
    async solve(scene) {
      const ids = await delivered(scene)
      if (ids.join() !== 't-611') throw new Error(`delivered: ${ids}`)
    },
  },
  {
    title: 'an event whose transaction was deleted',
    alarm: () => 'Alert BetWalletDeadLetter: 1 event was given up.',
    symptom: '`BetWalletDeadLetter`',
    ids: {},
    async arise({ platform, database }) {
      await platform.placebet({ transactionId: 't-631', betId: 'b-631' })
      await database.run("DELETE FROM TRANSACTIONS WHERE transaction_id = 't-631'")
      await new Promise<void>((resolve, reject) => {
        const relay = database.relay({ async deliver() {}, onError: () => resolve(relay.stop()) })
        relay.start().catch(reject)
      })
    },
    solution: 'A transaction was deleted',
  },
  {
    title: 'a dead letter',
    alarm: () => 'Alert BetWalletDeadLetter: 1 event was given up.',
    symptom: '`BetWalletDeadLetter`',
    ids: {},
    arise: scene => refused(scene, '621', 1),
    solution: 'retry the dead letters',
    async solve(scene) {
      await scene.database.relay({ async deliver() {} }).retryDeadLetters()
      const ids = await delivered(scene)
      if (ids.join() !== 't-621,s-621') throw new Error(`delivered: ${ids}`)
    },
  },
]
