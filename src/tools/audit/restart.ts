/** Restarts the wallet under test, and waits until it answers again. */
import { textOf } from '../../foreign-values.js'
import { withTimeout } from '../../timeout.js'
import { runCommand } from '../wire/settle.js'
import type { Client } from './client.js'
import type { AuditSettings } from './options.js'
import type { WalletCalls } from './wallet-calls.js'

const restartMsMax = 120_000
const pauseMs = 100

/** @returns why the wallet was not restarted; otherwise `null` */
export async function restartWallet(
  { restart }: AuditSettings,
  wallet: WalletCalls,
  client: Client,
): Promise<string | null> {
  const late = (): never => {
    throw new Error(`not done within ${restartMsMax / 1_000} s`)
  }
  try {
    if (typeof restart === 'function') await withTimeout(Promise.resolve(restart()), restartMsMax, late)
    else if (restart !== null) await runCommand(restart.command, '', restartMsMax, client.mask)
  } catch (error) {
    return client.mask(`the wallet could not be restarted: ${textOf(error)}`)
  }
  // A process that stops gracefully still answers on the connections that are open.
  client.disconnect()
  const until = performance.now() + restartMsMax
  for (;;) {
    const { balance } = await wallet.readBalance()
    if (balance !== null) return null
    if (performance.now() > until)
      return `the wallet did not answer within ${restartMsMax / 1_000} s of its restart`
    await new Promise(resolve => setTimeout(resolve, pauseMs))
  }
}
