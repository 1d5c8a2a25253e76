/** A consumer of events that verifies signatures, and sometimes fails: what it has received, and accepted. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WebhookBody } from '../../../examples/webhooks/sender.js'

export interface Received {
  body: WebhookBody
  /** The place of its first request among all requests. */
  firstAt: number
  /** The place of the first request that was answered with 2xx, or whose answer was lost. */
  acceptedAt: number | null
  accepted: number
}

export class Consumer {
  readonly received = new Map<string, Received>()
  readonly problems: string[] = []
  requests = 0
  /** Accepted requests whose connection was closed instead of an answer. */
  lostAnswers = 0
  /** Whether it fails sometimes. */
  faulty = true
  readonly #key: Buffer
  readonly #server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const status = this.#accept(request.headers, text)
    if (status === null) request.socket.destroy()
    else response.writeHead(status).end()
  })

  constructor(secret: string) {
    this.#key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    this.#server.on('error', error => this.problems.push(String(error)))
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/events`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /** @returns `null`: the answer is lost */
  #accept(headers: NodeJS.Dict<string | string[]>, text: string): number | null {
    const id = String(headers['webhook-id'])
    const signed = `${id}.${headers['webhook-timestamp']}.${text}`
    const signature = `v1,${createHmac('sha256', this.#key).update(signed).digest('base64')}`
    if (headers['webhook-signature'] !== signature) {
      this.problems.push(`${id}: the signature is wrong`)
      return 400
    }
    this.requests += 1
    const body = JSON.parse(text) as WebhookBody
    const known = this.received.get(id) ?? { body, firstAt: this.requests, acceptedAt: null, accepted: 0 }
    this.received.set(id, known)
    if (JSON.stringify(known.body) !== JSON.stringify(body)) this.problems.push(`${id}: two contents`)
    if (this.faulty && this.requests % 50 === 0) return 500
    known.acceptedAt ??= this.requests
    known.accepted += 1
    if (!this.faulty || this.requests % 75 !== 0) return 200
    this.lostAnswers += 1
    return null
  }
}
