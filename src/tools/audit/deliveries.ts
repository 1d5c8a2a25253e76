/** Unusual ways to send a call, each with the options by which curl does the like. */
import type { Delivery } from '../wire/http-client.js'

export interface UnusualDelivery extends Delivery {
  curl: readonly string[]
}

const after = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** At once, on a connection of its own. */
export const onOwnConnection: UnusualDelivery = {
  pieces: request => [request],
  pauseMs: 0,
  leave: null,
  curl: [],
}

/** The caller disconnects this long after the request is sent, without waiting for the answer. */
export const leavingAfter = (ms: number): UnusualDelivery => ({
  ...onOwnConnection,
  leave: () => after(ms),
  curl: ['--max-time 0.05'],
})

const bodyAt = (request: Buffer) => request.indexOf('\r\n\r\n') + 4

/** The body is cut at these bytes, with a pause at each cut. */
export const inPieces = (cuts: readonly number[], pauseMs: number): UnusualDelivery => ({
  pieces(request) {
    const ends = cuts.map(cut => bodyAt(request) + cut)
    return [...ends, request.length].map((end, index) => request.subarray(ends[index - 1] ?? 0, end))
  },
  pauseMs,
  leave: null,
  curl: ['--limit-rate 100'],
})

/**
 * The headers, and this many bytes of the body that they announce.
 *
 * @param leave is called when they are sent: the caller disconnects when it resolves
 */
export const cutOff = (bytes: number, leave: () => Promise<unknown> = () => after(1)): UnusualDelivery => ({
  pieces: request => [request.subarray(0, bodyAt(request) + bytes)],
  pauseMs: 0,
  leave,
  curl: ['--max-time 2', "-H 'Content-Length: 9999'"],
})
