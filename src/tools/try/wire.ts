/** One HTTP call on a connection of its own, kept as the text that went over the wire. */
import { connect } from 'node:net'

/** The wallet's address and the headers that it asks for. */
export interface TryTarget {
  /** The wallet's base URL, `http://…`: `/placebet` and the other paths are appended. */
  baseUrl: string
  /** Headers of every call: `{ Authorization: 'Basic …' }`. The page shows their values. */
  headers?: Readonly<Record<string, string>>
}

/** What was sent and received: start line, headers and body. */
export interface WireTexts {
  request: string
  /** `null`: no answer came; see `problem`. */
  response: string | null
  problem: string | null
}

const answerWaitMs = 10_000

/** Sends a body as JSON text. Never rejects: what went wrong is the `problem`. */
export async function sendOverWire(target: TryTarget, path: string, body: string): Promise<WireTexts> {
  const { hostname, host, port, pathname } = new URL(target.baseUrl)
  const headers = {
    Host: host,
    'Content-Type': 'application/json',
    ...target.headers,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = `POST ${pathname.replace(/\/$/, '')}${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`
  const server = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) }
  const answer = await answerOf(server, request)
  return 'problem' in answer
    ? { request, response: null, problem: answer.problem }
    : { request, response: answer.response, problem: null }
}

function answerOf(
  server: { host: string; port: number },
  request: string,
): Promise<{ response: string } | { problem: string }> {
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    const socket = connect(server, () => socket.write(request))
    socket.setTimeout(answerWaitMs, () => socket.destroy(new Error(`no answer in ${answerWaitMs / 1000} s`)))
    socket.on('data', chunk => chunks.push(chunk))
    socket.on('error', ({ message }) => resolve({ problem: message }))
    socket.on('close', () => {
      const response = Buffer.concat(chunks).toString('utf8')
      resolve(response === '' ? { problem: 'the connection was closed' } : { response })
    })
  })
}
