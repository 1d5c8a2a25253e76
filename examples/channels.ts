/** Typed access to the tracing channels of bet-wallet. */
import { tracingChannel } from 'node:diagnostics_channel'
import type { WalletChannels } from 'bet-wallet'

/** Calls the listener at the end of each request, commit, HTTP call, … with its complete message. */
export function onEnd<Name extends keyof WalletChannels>(
  name: Name,
  listener: (message: WalletChannels[Name]) => void,
): void {
  // `decide` is synchronous: its last event is `end`.
  const last = name === 'bet-wallet:decide' ? 'end' : 'asyncEnd'
  tracingChannel(name)[last].subscribe(message => listener(message as WalletChannels[Name]))
}
