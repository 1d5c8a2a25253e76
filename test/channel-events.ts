/** Records what is published on the library's tracing channels. */
import { tracingChannel } from 'node:diagnostics_channel'
import { onTestFinished } from 'vitest'
import type { WalletChannels } from '../src/diagnostics.js'

export type EventName = 'start' | 'end' | 'asyncStart' | 'asyncEnd' | 'error'

/** Every event until the end of the test, with the message as it was then. */
export function recordEvents<Name extends keyof WalletChannels>(name: Name) {
  const channel = tracingChannel<unknown, WalletChannels[Name]>(name)
  const events: [event: EventName, message: WalletChannels[Name]][] = []
  const messages = new Set<WalletChannels[Name]>()
  const on = (event: EventName) => (message: WalletChannels[Name]) => {
    messages.add(message)
    events.push([event, { ...message }])
  }
  const subscribers = {
    start: on('start'),
    end: on('end'),
    asyncStart: on('asyncStart'),
    asyncEnd: on('asyncEnd'),
    error: on('error'),
  }
  channel.subscribe(subscribers)
  onTestFinished(() => channel.unsubscribe(subscribers))
  return {
    events,
    /** In the order of their first events. */
    messages: () => [...messages],
    names: () => events.map(([event]) => event),
  }
}
