/** Settles a bet during an audit, and records how. */

import type { SettlementRequest } from '../../requests.js'
import { quoted } from '../wire/curl.js'
import { isRefusedIn, settleDirectly, settlementBody } from '../wire/settle.js'
import { quoteOf } from './answer.js'
import { type Client, exchangeOf } from './client.js'
import type { AuditSettings } from './options.js'
import type { AuditExchange } from './report.js'

/**
 * @param record is called with the call before it is sent
 * @returns `problem`: why the bet is not settled; `outage`: why the outcome is unknown, and a retry is safe
 */
export async function settleBet(
  settings: AuditSettings,
  client: Client,
  settlement: SettlementRequest,
  label: string,
  record: (exchange: AuditExchange) => void,
): Promise<Record<'problem' | 'outage', string | null>> {
  const { settle, target, timeoutMs } = settings
  if (settle === 'unsupported') return { problem: 'no way to settle was given', outage: null }
  const body = settlementBody(settlement)
  if (typeof settle === 'object' && 'url' in settle) {
    const { href } = settle.url
    const path = href.startsWith(`${target}/`) ? href.slice(target.length) : href
    const { exchange, reply } = client.send({ label, path, body })
    record(exchange)
    const answer = await reply
    const { status } = answer
    if (status === null) return { problem: exchange.error ?? 'no answer', outage: 'no answer' }
    if (status >= 200 && status <= 299) {
      const problem = isRefusedIn(answer.text) ? `refused, with a 2xx: ${quoteOf(answer)}` : null
      return { problem, outage: null }
    }
    return {
      problem: `${status} ${quoteOf(answer)}`.trim(),
      outage: status >= 500 ? String(status) : null,
    }
  }

  const command = typeof settle === 'object' ? client.mask(settle.command) : null
  const exchange = exchangeOf(
    {
      label,
      method: command === null ? 'CALL' : 'RUN',
      path: command ?? 'settle()',
      curl: command === null ? '' : `echo ${quoted(body)} | ${command}`,
    },
    client.now(),
    body,
  )
  record(exchange)
  const settled = await settleDirectly(settle, settlement, timeoutMs, client.mask)
  if (settled.kind === 'done') {
    exchange.answeredAtMs = client.now()
    return { problem: null, outage: null }
  }
  const problem = settled.kind === 'refused' ? client.mask(`refused: ${settled.errorCode}`) : settled.reason
  exchange.error = problem
  return { problem, outage: settled.kind === 'refused' ? null : 'unknown outcome' }
}
