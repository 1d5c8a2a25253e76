/**
 * Wallets that keep some of their records in the memory of the process: a proxy in front of a correct wallet no longer
 * knows them after a restart. later.test.ts has the same for a pause.
 */
import { type Fault, fieldsOf, type Message, refusal } from './fronts.js'

interface Forgetful {
  fault: Fault
  restart(): void
}

/** A wallet without the record executes the call as a new one. */
const asNew = (message: Message, { transactionId, betId, ...rest }: Record<string, unknown>): Message => {
  const fields = { ...rest, transactionId: `${transactionId}-new`, betId: `${betId}-new` }
  return { ...message, body: Buffer.from(JSON.stringify(fields)) }
}

/**
 * @param keptBy the operation that writes the record
 * @param meet what becomes of a call about a bet whose record is lost
 */
function forgetful(
  says: string,
  keptBy: string,
  meet: (message: Message, fields: Record<string, unknown>) => ReturnType<NonNullable<Fault['call']>>,
): Forgetful {
  let inMemory = new Set<unknown>()
  const lost = new Set<unknown>()
  return {
    restart() {
      for (const betId of inMemory) lost.add(betId)
      inMemory = new Set()
    },
    fault: {
      says,
      call(message) {
        const fields = fieldsOf(message) ?? {}
        if (lost.has(fields.betId)) return meet(message, fields)
        if (message.path === keptBy) inMemory.add(fields.betId)
        return message
      },
    },
  }
}

export const forgetfulWallets = {
  'placebets-lost-at-restart': () =>
    forgetful(
      'A restart loses the transactions: a retried placebet is debited again',
      '/placebet',
      (message, fields) => (message.path === '/placebet' ? asNew(message, fields) : message),
    ),
  'tombstones-lost-at-restart': () =>
    forgetful(
      'A restart loses the tombstones: a late placebet is debited',
      '/rollbackbet',
      (message, fields) => (message.path === '/placebet' ? asNew(message, fields) : message),
    ),
  'open-bets-lost-at-restart': () =>
    forgetful('A restart loses the open bets: they can no longer be rolled back', '/placebet', message =>
      message.path === '/rollbackbet' ? refusal(400, 'INVALID_BET') : message,
    ),
} satisfies Record<string, () => Forgetful>
