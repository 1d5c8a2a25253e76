/** One HTTP call on a connection of its own, kept as the text that went over the wire. */
import { HttpClient } from '../wire/http-client.js'

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

const timeoutMs = 10_000

/** Sends a body as JSON text. Never rejects: what went wrong is the `problem`. */
export async function sendOverWire(target: TryTarget, path: string, body: string): Promise<WireTexts> {
  const url = new URL(`${target.baseUrl.replace(/\/$/, '')}${path}`)
  const headers = { 'Content-Type': 'application/json', ...target.headers }
  const client = new HttpClient({})
  let request = ''
  const pieces = (bytes: Buffer) => {
    request = bytes.toString()
    return [bytes]
  }
  const delivery = { pieces, pauseMs: 0, leave: null }
  const reply = await client.send({ url, headers, body, timeoutMs, delivery })
  client.close()
  return 'error' in reply
    ? { request, response: null, problem: reply.error }
    : { request, response: `${reply.head}\r\n\r\n${reply.body}`, problem: null }
}
