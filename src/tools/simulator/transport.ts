/** Sends a transaction to the wallet: over HTTP, or a settlement by the operator's function or command. */
import type { SettlementRequest } from '../../requests.js'
import type { SettlementType } from '../../store.js'
import { parseDecimal } from '../numbers/decimal.js'
import { basicOf } from '../wire/checks.js'
import { type Mask, maskOf, secretsIn, secretsOf } from '../wire/secrets.js'
import { type Settled, settleDirectly } from '../wire/settle.js'
import type { SettleFunction, TargetSettings } from '../wire/target.js'
import { shown, type Transaction } from './books.js'
import { createHttpClient } from './http-client.js'
import type { SendMode } from './http-connection.js'
import { type Reading, readingOf, withoutSecrets } from './reading.js'

export interface Transport {
  /**
   * `onReading` is called exactly once, and not before this method returns; or `onError`, if the option
   * `sign` throws.
   */
  post(
    transaction: Transaction,
    mode: SendMode,
    onReading: (reading: Reading) => void,
    onError: (error: unknown) => void,
  ): void
  close(): void
}

export function createTransport(settings: TargetSettings): Transport {
  const { base, target, settle, sign, timeoutMs, tls } = settings
  const client = createHttpClient({ headersTo: url => fixedHeaders(settings, url), timeoutMs, tls })
  const direct =
    typeof settle === 'function' || (typeof settle === 'object' && 'command' in settle) ? settle : null
  const urls = {
    placebet: new URL(`${target}/placebet`),
    unsettlement: new URL(`${target}/unsettlement`),
    rollbackbet: new URL(`${target}/rollbackbet`),
    settlement: typeof settle === 'object' && 'url' in settle ? settle.url : base,
  }

  const given = [...secretsOf(settings), ...secretsIn(fixedHeaders(settings, base))]
  const mask = maskOf(given)

  return {
    post(transaction, mode, onReading, onError) {
      const { operation, body } = transaction
      if (operation === 'settlement' && direct !== null) {
        void settleWith(direct, transaction, mode, timeoutMs, mask).then(reading =>
          onReading(withoutSecrets(reading, mask)),
        )
        return
      }
      const url = urls[operation]
      const send = (further: Readonly<Record<string, string>> | null) => {
        const ownMask = further === null ? mask : maskOf([...given, ...secretsIn(further)])
        client.post(url, body, further, mode, result =>
          onReading(withoutSecrets(readingOf(result, operation !== 'settlement'), ownMask)),
        )
      }
      if (sign === null || url.origin !== base.origin) {
        send(null)
        return
      }
      Promise.resolve()
        .then(() =>
          sign({ method: 'POST', url: url.href, headers: client.headersTo(url), body: Buffer.from(body) }),
        )
        .then(send)
        .catch(onError)
    },
    close: () => client.close(),
  }
}

/** The headers of every request to this URL. Credentials go to the origin of the base URL only. */
export function fixedHeaders(
  { base, credentials, headers, settle }: TargetSettings,
  url: URL,
): Record<string, string> {
  const isSettleUrl = typeof settle === 'object' && 'url' in settle && settle.url.href === url.href
  return {
    ...(url.origin === base.origin ? headers : {}),
    ...(isSettleUrl ? settle.headers : {}),
    ...(url.origin === base.origin && credentials !== null ? { authorization: basicOf(credentials) } : {}),
  }
}

async function settleWith(
  how: SettleFunction | { command: string },
  transaction: Transaction,
  mode: SendMode,
  timeoutMs: number,
  mask: Mask,
): Promise<Reading> {
  const lost: Reading = { kind: 'no-answer', reason: mode }
  // A function cannot be cut in the middle: the request counts as lost before it arrived.
  if (mode === 'cut-within') return lost
  const settled = await settleDirectly(how, settlementOf(transaction), timeoutMs, mask)
  return mode === 'complete' ? settledReading(settled) : lost
}

function settlementOf({ transactionId, bet, account, type, amount, body }: Transaction): SettlementRequest {
  const { transactionDate } = JSON.parse(body) as { transactionDate: string }
  return {
    transactionId,
    betId: bet.betId,
    playerId: account.playerId,
    type: type as SettlementType,
    amount: shown(amount, account),
    currency: account.currency,
    transactionDate,
  }
}

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
