/**
 * An address that moves between servers, as a proxy, a DNS name or a virtual IP of a cluster does: a TCP proxy
 * whose target can be changed, with its connections kept or cut.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface MovingAddress {
  /** On 127.0.0.1; always the same. */
  readonly port: number
  /**
   * Leads new connections to another port, and accepts them again after `refuse`. The connections so far stay
   * with their server, unless they are cut.
   */
  moveTo(port: number, options: { cut: boolean }): void
  /** Cuts all connections, and leads each new one to the next of these ports, in turn. */
  alternate(ports: readonly number[]): void
  /** Forwards nothing from now on: all connections stay open and silent, new ones too. */
  hold(): void
  /** Ends `hold`: what was sent meanwhile is forwarded. */
  release(): void
  /** Cuts all connections, and each new one at once, until `moveTo`. */
  refuse(): void
  close(): Promise<void>
}

export async function openMovingAddress(target: number): Promise<MovingAddress> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let targets: readonly number[] = [target]
  let accepted = 0
  let held = false
  let refusing = false

  const server = createServer(client => {
    // `close` follows every error, and closes the other end.
    client.on('error', () => {})
    if (refusing) {
      client.destroy()
      return
    }
    const upstream = connect(targets[accepted % targets.length] ?? target, '127.0.0.1')
    accepted += 1
    upstream.on('error', () => {})
    const pair = [client, upstream] as const
    pairs.add(pair)
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.on('data', chunk => {
        if (!to.write(chunk)) from.pause()
      })
      to.on('drain', () => {
        if (!held) from.resume()
      })
      from.on('close', () => {
        pairs.delete(pair)
        to.destroySoon()
      })
      if (held) from.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const all = () => [...pairs].flat()
  const cut = () => {
    for (const socket of all()) socket.destroy()
  }

  return {
    port: (server.address() as AddressInfo).port,
    moveTo(port, options) {
      targets = [port]
      refusing = false
      if (options.cut) cut()
    },
    alternate(ports) {
      targets = ports
      accepted = 0
      cut()
    },
    hold() {
      held = true
      for (const socket of all()) socket.pause()
    },
    release() {
      held = false
      for (const socket of all()) socket.resume()
    },
    refuse() {
      refusing = true
      cut()
    },
    async close() {
      refusing = true
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
