/** Sends a transaction to the wallet: over HTTP, or a settlement by the operator's function or command. */
import type { SettlementRequest } from '../../requests.js'
import { parseDecimal } from '../numbers/decimal.js'
import type { Delivery } from '../wire/http-client.js'
import { type Settled, settleDirectly } from '../wire/settle.js'
import type { TargetSettings } from '../wire/target.js'
import { createWalletClient } from '../wire/wallet-client.js'
import { shown, type Transaction } from './books.js'
import { type Reading, readingOf, withoutSecrets } from './reading.js'

/** `cut-after`, `cut-within`: the connection is closed after the request, or before its last byte. */
export type SendMode = 'complete' | 'cut-after' | 'cut-within'

export type Transport = ReturnType<typeof createTransport>

const cut = (pieces: Delivery['pieces']): Delivery => ({ pieces, pauseMs: 0, leave: async () => {} })
const deliveries = {
  'cut-after': cut(request => [request]),
  'cut-within': cut(request => [request.subarray(0, -Math.ceil(request.length / 8))]),
}

export function createTransport(settings: TargetSettings) {
  const { base, target, settle } = settings
  const client = createWalletClient(settings)
  const urls = {
    placebet: new URL(`${target}/placebet`),
    unsettlement: new URL(`${target}/unsettlement`),
    rollbackbet: new URL(`${target}/rollbackbet`),
    settlement: typeof settle === 'object' && 'url' in settle ? settle.url : base,
  }
  return {
    /** Rejects only if the option `sign` throws. */
    async post(transaction: Transaction, mode: SendMode): Promise<Reading> {
      const { operation, body } = transaction
      if (operation === 'settlement' && settle !== 'unsupported' && !('url' in settle)) {
        // A function cannot be cut in the middle: the request counts as lost before it arrived.
        if (mode === 'cut-within') return { kind: 'no-answer', reason: mode }
        const settlement = settlementOf(transaction)
        const settled = await settleDirectly(settle, settlement, settings.timeoutMs, client.mask)
        if (mode === 'cut-after') return { kind: 'no-answer', reason: mode }
        return withoutSecrets(settledReading(settled), client.mask)
      }
      const delivery = mode === 'complete' ? undefined : deliveries[mode]
      const { reply, mask } = await client.send({ url: urls[operation], body, delivery })
      return withoutSecrets(readingOf(reply, operation !== 'settlement'), mask)
    },
    close: () => client.close(),
  }
}

/** What the body says, with the amount as text. */
const settlementOf = ({ body, amount, account }: Transaction): SettlementRequest => ({
  ...JSON.parse(body),
  amount: shown(amount, account),
})

/** Converts the outcome of a direct settlement to an answer over HTTP. */
export function settledReading(settled: Settled): Reading {
  if (settled.kind === 'refused') return { kind: 'refusal', status: 400, errorCode: settled.errorCode }
  if (settled.kind === 'unknown')
    return { kind: 'fault', status: 500, errorCode: settled.reason, problem: null }
  const { balance, currency = null, walletTransactionId = null } = settled.answer ?? {}
  return {
    kind: 'success',
    status: 200,
    balance: typeof balance === 'string' && currency !== null ? parseDecimal(balance) : null,
    currency,
    reference: walletTransactionId,
  }
}
