/**
 * One address for several wallet processes, as a load balancer is: each request goes to the next of them. It
 * records every success that a wallet has answered.
 */
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface WalletFront {
  readonly url: string
  /** By operation and transaction id: `placebet soak-7`, the reference of the success. */
  readonly answered: ReadonlyMap<string, string>
  close(): Promise<void>
}

/** @param differs is called when a retry is answered as another transaction */
export async function openWalletFront(
  wallets: readonly { readonly url: string }[],
  differs: (difference: string) => void,
): Promise<WalletFront> {
  const agent = new Agent({ keepAlive: true })
  const answered = new Map<string, string>()
  let turn = 0

  function record(operation: string, call: Buffer, answer: Buffer): void {
    const { transactionId } = JSON.parse(call.toString()) as { transactionId: string }
    const { walletTransactionId } = JSON.parse(answer.toString()) as { walletTransactionId: string }
    const name = `${operation} ${transactionId}`
    const first = answered.get(name) ?? walletTransactionId
    if (first !== walletTransactionId)
      differs(`${name} was answered as ${first}, and then as ${walletTransactionId}`)
    answered.set(name, first)
  }

  const server = createServer(async (req, res) => {
    const { url = '' } = wallets[turn++ % wallets.length] ?? {}
    try {
      const { method, headers, url: path = '' } = req
      const call = await buffer(req)
      const forwarded = request(new URL(path, url), { agent, method, headers })
      forwarded.end(call)
      const [response] = (await once(forwarded, 'response')) as [IncomingMessage]
      const answer = await buffer(response)
      // Also if the caller does not wait any more: the wallet has answered.
      if (response.statusCode === 200) record(path.slice(1), call, answer)
      res.writeHead(response.statusCode ?? 500, response.headers).end(answer)
    } catch {
      // One of the two has closed its connection: there is no answer.
      res.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered,
    async close() {
      server.close()
      server.closeAllConnections()
      agent.destroy()
    },
  }
}
