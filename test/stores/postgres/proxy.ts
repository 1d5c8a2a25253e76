/** A line to PostgreSQL that breaks at a chosen byte: before a statement arrives, after it is done, or in silence. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  /** That of the server, through here. */
  readonly url: string
  /**
   * The next message to the server that has this text in it is not forwarded: the connection is cut instead. Resolves
   * when it has happened.
   */
  loseRequest(text: string): Promise<void>
  /**
   * The next message to the server that has this text in it is forwarded; once the server has answered it, the
   * connection is cut, and the client has heard nothing. Resolves when it has happened.
   */
  loseAnswer(text: string): Promise<void>
  /** Every connection that there is stays open and is not heard of again. Those that come later are served. */
  goDark(): void
  close(): Promise<void>
}

interface Line {
  cut(): void
  darken(): void
  /** What was asked until now does not count. */
  forget(): void
}

interface Loss {
  text: Buffer
  what: 'request' | 'answer'
  happened(): void
}

/** How PostgreSQL ends every answer: ReadyForQuery, five bytes long, and the state of the transaction block. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])

/** @param serverUrl `postgres://…` */
export async function openProxy(serverUrl: string): Promise<TcpProxy> {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let lines: Line[] = []
  let losses: Loss[] = []

  const server = createServer(client => {
    const upstream = connect(Number(target.port), target.hostname)
    let dark = false
    let losing: Loss | null = null
    // A message may come in pieces.
    let asked: Buffer = Buffer.alloc(0)
    let answered: Buffer = Buffer.alloc(0)
    const line: Line = {
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
    lines.push(line)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      // The other end is told by `close`.
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        lines = lines.filter(other => other !== line)
        if (!dark) line.cut()
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
        line.cut()
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
      line.cut()
      losing.happened()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(serverUrl)
  url.port = String((server.address() as AddressInfo).port)

  const lose = (text: string, what: Loss['what']) =>
    new Promise<void>(happened => {
      for (const line of lines) line.forget()
      losses.push({ text: Buffer.from(text), what, happened })
    })

  return {
    url: url.href,
    loseRequest: text => lose(text, 'request'),
    loseAnswer: text => lose(text, 'answer'),
    goDark() {
      for (const line of lines) line.darken()
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
