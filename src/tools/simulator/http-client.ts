/**
 * A small HTTP/1.1 client with kept-alive connections, written on node:net and node:tls: the client of
 * node:http needs as much time for a request as a wallet needs to answer it, and the sportsbook has to be the
 * faster of the two.
 */
import type { ConnectionOptions } from 'node:tls'
import { textOf } from '../../foreign-values.js'
import { Connection, type HttpResult, type SendMode } from './http-connection.js'

export interface HttpClient {
  /**
   * Posts a JSON body. Never throws: `onResult` is called exactly once, after this method has returned, with
   * the answer or with the reason why there is none.
   *
   * @param headers additional headers of this request, such as a signature
   */
  post(
    url: URL,
    body: string,
    headers: Readonly<Record<string, string>> | null,
    mode: SendMode,
    onResult: (result: HttpResult) => void,
  ): void
  /** The headers of every request to this URL, names in lower case, without the length of the body. */
  headersTo(url: URL): Readonly<Record<string, string>>
  close(): void
}

interface HttpClientOptions {
  /** The headers of every request to this URL, without those of HTTP itself. Called once for each URL. */
  headersTo(url: URL): Readonly<Record<string, string>>
  timeoutMs: number
  tls: ConnectionOptions
}

const sweepEveryMs = 100

export function createHttpClient({ headersTo, timeoutMs, tls }: HttpClientOptions): HttpClient {
  const connections = createPool(tls)
  const heads = new Map<string, string>()
  const headOf = (url: URL): string => {
    let head = heads.get(url.href)
    if (head === undefined) {
      head =
        `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n` +
        `content-type: application/json\r\n${headText(headersTo(url))}`
      heads.set(url.href, head)
    }
    return head
  }
  const sweep = setInterval(() => connections.closeExpired(timeoutMs), sweepEveryMs)
  sweep.unref()

  return {
    post(url, body, further, mode, onResult) {
      let head: string
      try {
        head = headOf(url)
        if (further !== null) head += headText(further)
      } catch (error) {
        queueMicrotask(() => onResult({ error: textOf(error) }))
        return
      }
      const request = `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
      connections.to(url).send(request, mode, onResult)
    },
    headersTo: url => ({
      host: url.host,
      'content-type': 'application/json',
      ...Object.fromEntries(
        Object.entries(headersTo(url)).map(([name, value]) => [name.toLowerCase(), value]),
      ),
    }),
    close() {
      clearInterval(sweep)
      connections.closeAll()
    },
  }
}

function createPool(tls: ConnectionOptions) {
  /** The connection that was used last is used first, so that surplus ones expire. */
  const idle = new Map<string, Connection[]>()
  const all = new Set<Connection>()
  return {
    /** An idle connection to the origin of the URL, or a new one. */
    to(url: URL): Connection {
      const candidates = idle.get(url.origin)
      for (let one = candidates?.pop(); one !== undefined; one = candidates?.pop()) {
        if (one.isUsable(performance.now())) return one
        one.close()
      }
      const connection: Connection = new Connection(url, tls, {
        onIdle() {
          const others = idle.get(url.origin)
          if (others === undefined) idle.set(url.origin, [connection])
          else others.push(connection)
        },
        onClosed: () => all.delete(connection),
      })
      all.add(connection)
      return connection
    },
    closeExpired(timeoutMs: number): void {
      const now = performance.now()
      for (const connection of all) connection.closeIfExpired(now, timeoutMs)
    },
    closeAll(): void {
      for (const connection of [...all]) connection.close()
    },
  }
}

function headText(headers: Readonly<Record<string, string>>): string {
  let text = ''
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      throw new TypeError(`headers: "${name}" is not a valid header name`)
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new TypeError(`headers: the value of ${name} is not valid in HTTP`)
    }
    text += `${name}: ${value}\r\n`
  }
  return text
}
