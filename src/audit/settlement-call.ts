/** Settles a bet during an audit, and records how. */
import type { SettlementRequest } from '../requests.js'
import type { Client } from './client.js'
import { quoted } from './curl.js'
import type { AuditSettings } from './options.js'
import type { AuditExchange } from './report.js'
import { exchangeOf } from './request.js'
import { settleDirectly, settlementBody } from './settle.js'

/**
 * @param record is called with the call before it is sent
 * @returns `null` if the bet is settled, otherwise the reason why it is not
 */
export async function settleBet(
  settings: AuditSettings,
  client: Client,
  settlement: SettlementRequest,
  label: string,
  record: (exchange: AuditExchange) => void,
): Promise<string | null> {
  const { settle, target, timeoutMs } = settings
  if (settle === 'unsupported') return 'no way to settle was given'
  const body = settlementBody(settlement)
  if (typeof settle === 'object' && 'url' in settle) {
    const { href } = settle.url
    const path = href.startsWith(`${target}/`) ? href.slice(target.length) : href
    const { exchange, reply } = client.send({ label, path, body, headers: settle.headers })
    record(exchange)
    const { status, text } = await reply
    if (status !== null && status >= 200 && status <= 299) return null
    return status === null ? (exchange.error ?? 'no answer') : `${status} ${text.slice(0, 200)}`.trim()
  }

  const command = typeof settle === 'object' ? settle.command : null
  const exchange = exchangeOf(
    {
      label,
      sentAtMs: client.now(),
      method: command === null ? 'CALL' : 'RUN',
      path: command ?? 'settle()',
      curl: command === null ? '' : `echo ${quoted(body)} | ${command}`,
    },
    Buffer.from(body),
  )
  record(exchange)
  const settled = await settleDirectly(settle, settlement, timeoutMs)
  if (settled.kind === 'done') {
    exchange.answeredAtMs = client.now()
    return null
  }
  exchange.error = settled.kind === 'refused' ? `refused: ${settled.errorCode}` : settled.reason
  return exchange.error
}
