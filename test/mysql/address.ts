/** One address in front of servers, as a virtual address or a router is. It may lead to another server. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type MariadbConfig, ownAddress } from '../mariadb/server.js'

export interface Address {
  readonly host: string
  readonly port: number
  /** New connections lead to these, each to the next one; without any they are refused. */
  leadTo(...servers: readonly { readonly config: MariadbConfig }[]): void
  /** Ends all connections. */
  reset(): void
  /** The servers' answers on connections that are open now are swallowed. */
  swallow(): void
  close(): Promise<void>
}

export async function openAddress(): Promise<Address> {
  let servers: readonly { readonly config: MariadbConfig }[] = []
  let opened = 0
  const pairs = new Set<{ client: Socket; server: Socket }>()
  const listener = createServer(client => {
    const target = servers[opened % servers.length]
    opened += 1
    client.on('error', () => {})
    if (target === undefined) return client.destroy()
    const { port, host, socketPath } = target.config
    const server = connect(socketPath === undefined ? { port, host } : { path: socketPath })
    const pair = { client, server }
    pairs.add(pair)
    server.on('error', () => {})
    for (const socket of [client, server])
      socket.on('close', () => {
        pairs.delete(pair)
        client.destroy()
        server.destroy()
      })
    client.pipe(server)
    server.pipe(client)
    return undefined
  })
  const host = ownAddress()
  listener.listen(0, host)
  await once(listener, 'listening')
  const reset = () => {
    for (const { client } of pairs) client.destroy()
  }
  return {
    host,
    port: (listener.address() as AddressInfo).port,
    reset,
    leadTo(...targets) {
      servers = targets
      opened = 0
    },
    swallow() {
      for (const { client, server } of pairs) {
        server.unpipe(client)
        server.resume()
      }
    },
    async close() {
      listener.close()
      reset()
      await once(listener, 'close')
    },
  }
}
