/** The platform's side of the page: it sends calls to the wallet, and keeps each with its answer and rule. */
import { tracingChannel } from 'node:diagnostics_channel'
import { sentenceOf } from '../../lookups/rules.js'
import type { OutcomeReason } from '../../outcomes.js'
import type { Operation } from '../../store.js'
import { type Json, write } from '../wire/json.js'
import { sendOverWire, type TryTarget, type WireTexts } from './wire.js'

/** One call as it went over the wire. */
export interface TryCall extends WireTexts {
  /** `POST /placebet`, and what is special about it. */
  title: string
  /** The answer arrived nowhere: the platform knows nothing of it. */
  lost: boolean
  /** The rule that decided it; `null` if no rule was reached. */
  rule: string | null
}

/** The body of a call: its numbers keep all digits. Its transactionDate is that of its first sending. */
export type CallBody = Readonly<Record<string, Json>> & { readonly transactionId: string }

interface Sent {
  /** Behind the path: `again`, `the late copy`. */
  note?: string
  /** The wallet's answer does not reach the platform. */
  lost?: boolean
}

export type TryPlatform = ReturnType<typeof createTryPlatform>

export function createTryPlatform(target: TryTarget) {
  const reasons = outcomesSeen()
  /** When a call was first sent: its retries are the same text. */
  const dates = new Map<string, string>()
  return {
    async send(operation: Operation, body: CallBody, { note, lost = false }: Sent = {}): Promise<TryCall> {
      const { transactionId, transactionDate = dates.get(transactionId) ?? new Date().toISOString() } = body
      dates.set(transactionId, String(transactionDate))
      const texts = await sendOverWire(target, `/${operation}`, write({ ...body, transactionDate }))
      const reason = reasons.take(operation, transactionId)
      return {
        ...texts,
        title: note === undefined ? `/${operation}` : `/${operation}: ${note}`,
        lost,
        rule: reason && sentenceOf({ operation, reason }),
      }
    },
  }
}

/** The page never takes the reasons of calls that other clients sent. Only the newest are kept. */
const keptMax = 1_000

/**
 * The reasons of the wallet's outcomes, by call. No answer has them: the wallet, in the same process,
 * publishes them on its channel. Of two copies that are decided at once, either may get the first reason.
 */
function outcomesSeen() {
  const seen: { key: string; reason: OutcomeReason }[] = []
  const keyOf = (operation: string, transactionId: string | null) => `${operation} ${transactionId}`
  tracingChannel('bet-wallet:request').asyncEnd.subscribe(message => {
    const { operation, transactionId, reason } = message as Record<'operation' | 'transactionId', string> & {
      reason: OutcomeReason
    }
    seen.push({ key: keyOf(operation, transactionId), reason })
    if (seen.length > keptMax) seen.shift()
  })
  return {
    take(operation: Operation, transactionId: string): OutcomeReason | null {
      const indexOf = (id: string | null) => seen.findLastIndex(({ key }) => key === keyOf(operation, id))
      // An invalid request has no ids.
      const own = indexOf(transactionId)
      const index = own === -1 ? indexOf(null) : own
      return index === -1 ? null : (seen.splice(index, 1)[0]?.reason ?? null)
    },
  }
}
