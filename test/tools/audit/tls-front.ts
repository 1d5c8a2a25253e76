/** A TLS proxy in front of a wallet, with the certificate of the tests. */
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import { cert, key } from './certificate.js'

export async function startTlsFront(url: string): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const front = createServer({ key, cert }, outside => {
    const inside = connect(Number(new URL(url).port), '127.0.0.1')
    for (const [socket, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('error', () => {}) // a caller that disconnects; `close` follows
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://127.0.0.1:${(front.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => front.close(resolve))
    },
  }
}
