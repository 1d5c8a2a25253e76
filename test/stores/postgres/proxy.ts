/** A TCP proxy to PostgreSQL that loses a chosen request, a chosen answer, or all traffic. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  /** The URL of the server, through the proxy. */
  readonly url: string
  /**
   * Closes the connection instead of forwarding the next message to the server that contains this text.
   * Resolves when it has happened.
   */
  loseRequest(text: string): Promise<void>
  /**
   * Forwards the next message to the server that contains this text, and closes the connection instead of
   * forwarding its answer. Resolves when it has happened.
   */
  loseAnswer(text: string): Promise<void>
  /** All current connections stay open and silent. Later connections work. */
  goDark(): void
  close(): Promise<void>
}

interface ProxiedConnection {
  cut(): void
  darken(): void
  /** Forgets the requests so far. */
  forget(): void
}

interface Loss {
  text: Buffer
  what: 'request' | 'answer'
  happened(): void
}

/**
 * How PostgreSQL ends every answer: ReadyForQuery, five bytes long, and the state of the transaction block.
 */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])

/** @param serverUrl `postgres://…` */
export async function openProxy(serverUrl: string): Promise<TcpProxy> {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let connections: ProxiedConnection[] = []
  let losses: Loss[] = []

  const server = createServer(client => {
    const upstream = connect(Number(target.port), target.hostname)
    let dark = false
    let losing: Loss | null = null
    // A message may arrive in several chunks.
    let asked: Buffer = Buffer.alloc(0)
    let answered: Buffer = Buffer.alloc(0)
    const connection: ProxiedConnection = {
      cut() {
        client.destroy()
        upstream.destroy()
      },
      darken() {
        dark = true
      },
      forget() {
        asked = Buffer.alloc(0)
      },
    }
    connections.push(connection)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      // `close` follows, and closes the other end.
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        connections = connections.filter(other => other !== connection)
        if (!dark) connection.cut()
      })
    }
    client.on('data', chunk => {
      if (dark) return
      asked = Buffer.concat([asked, chunk])
      const loss = losses.find(({ text }) => asked.includes(text))
      if (loss === undefined) {
        asked = asked.subarray(-1024)
        upstream.write(chunk)
        return
      }
      losses = losses.filter(other => other !== loss)
      if (loss.what === 'request') {
        connection.cut()
        loss.happened()
        return
      }
      losing = loss
      upstream.write(chunk)
    })
    upstream.on('data', chunk => {
      if (dark) return
      if (losing === null) {
        client.write(chunk)
        return
      }
      answered = Buffer.concat([answered, chunk])
      if (!answered.subarray(-6).subarray(0, 5).equals(readyForQuery)) return
      connection.cut()
      losing.happened()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(serverUrl)
  url.port = String((server.address() as AddressInfo).port)

  const lose = (text: string, what: Loss['what']) =>
    new Promise<void>(happened => {
      for (const connection of connections) connection.forget()
      losses.push({ text: Buffer.from(text), what, happened })
    })

  return {
    url: url.href,
    loseRequest: text => lose(text, 'request'),
    loseAnswer: text => lose(text, 'answer'),
    goDark() {
      for (const connection of connections) connection.darken()
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
