/** One line per call of the platform: who, what, which answer and why. */
import { subscribe } from 'bet-wallet/operations'

export function logCalls(log: (line: string) => void = console.log): void {
  const write = (text: string, durationMs: number) =>
    log(`${new Date().toISOString()} ${escaped(text)} ${durationMs.toFixed(1)} ms`)

  subscribe(
    'bet-wallet:request',
    ({ operation, transactionId, betId, playerId, outcome, reason, ...event }) => {
      const answer =
        outcome === null
          ? `${reason} (${event.error?.code})`
          : outcome.ok
            ? `${reason}, balance ${outcome.balance} ${outcome.currency}`
            : `${reason} (${outcome.errorCode})`
      const ids = JSON.stringify({ transactionId, betId, playerId })
      write(`${operation} ${ids} ${answer}`, event.durationMs)
    },
  )

  // Calls that reach no handler: wrong credentials, malformed JSON, …
  subscribe('bet-wallet:http', ({ rejection, method, path, status, description, durationMs }) => {
    if (rejection === null) return
    const call = JSON.stringify(`${method} ${path}`.slice(0, 200)) // anything that a caller sends
    write(`${call} ${status} ${rejection} (${description})`, durationMs)
  })
}

/** Ids and paths are the caller's: no character of theirs may control a terminal, or hide. */
const escaped = (text: string) =>
  text.replace(/[^ -~]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
