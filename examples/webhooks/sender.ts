/** The `deliver` of a relay: over HTTP, signed by Standard Webhooks (standard-webhooks.com). */
import type { RecordedTransaction } from 'bet-wallet/lookups'
import type { RelayOptions } from 'bet-wallet/postgres'

/**
 * Of a POST of a {@link WebhookBody} as JSON. Any answer but 2xx is a failed attempt, redirects too. The
 * header `webhook-id` is the `walletTransactionId`: the same for each attempt.
 */
export interface WebhookOptions {
  /** The consumer's address, without credentials: they belong in `headers`. */
  url: string
  /**
   * `whsec_` and the key in base64: 24 to 64 bytes. While keys change, a list: the request has a signature
   * of each.
   */
  secret: string | readonly string[]
  /** Further headers of each request; not those of the signature, of the body and of the connection. */
  headers?: Readonly<Record<string, string>>
}

/** The message of an event. */
export interface WebhookBody {
  /** The operation. */
  type: RecordedTransaction['operation']
  /** When the wallet recorded it. */
  timestamp: string
  data: RecordedTransaction
}

/** `fetch` would join them with those of the request, or reject each delivery. */
const ownHeaders = new Set([
  ...['content-type', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'expect'],
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
])

/** No message shows a value. */
function invalid(problem: string): never {
  throw new TypeError(problem)
}

/** What would break every delivery, or its signature. No message shows a value, which may be a secret. */
function checkAddress({ url, headers = {} }: WebhookOptions): void {
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    invalid('url must be an address of HTTP')
  if (/\p{Cc}/u.test(url)) invalid('url must not have control characters')
  const { username, password } = new URL(url)
  if (username + password !== '') invalid('url must not have credentials: they belong in headers')
  if (typeof headers !== 'object' || headers === null || Symbol.iterator in headers)
    invalid('headers must be an object of names and texts')
  for (const [name, value] of Object.entries(headers)) {
    if (ownHeaders.has(name.toLowerCase())) invalid(`headers must not have ${name.toLowerCase()}`)
    if (
      !/^[\w!#$%&'*+.^`|~-]+$/.test(name) ||
      typeof value !== 'string' ||
      !/^[\t -~\u00a0-\u00ff]*$/.test(value)
    )
      invalid('headers has a name or a value that HTTP does not allow')
  }
}

/** @throws {TypeError} naming the option */
export function webhookSender(options: WebhookOptions): RelayOptions['deliver'] {
  const unknown = Object.keys(options).find(name => !['url', 'secret', 'headers'].includes(name))
  if (unknown !== undefined) invalid(`${unknown} is no option`)
  checkAddress(options)
  const { url, secret, headers } = options
  const keys = [secret].flat().map(each => keyOf(each))
  if (keys.length === 0) invalid('secret must have a key')
  return async (event, { signal }) => {
    const message: WebhookBody = { type: event.operation, timestamp: event.recordedAt, data: event }
    const body = JSON.stringify(message)
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        ...headers,
        'content-type': 'application/json',
        ...(await signedHeaders(keys, event.walletTransactionId, Math.floor(Date.now() / 1000), body)),
      },
      body,
      signal,
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`The consumer answered ${response.status}`)
  }
}

function keyOf(secret: unknown): Uint8Array<ArrayBuffer> {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(typeof secret === 'string' ? secret : '')?.[1]
  const key = encoded === undefined ? null : Buffer.from(encoded, 'base64')
  // Never its value.
  if (key === null || key.length < 24 || key.length > 64)
    return invalid('secret must be "whsec_" and 24 to 64 bytes in base64')
  return new Uint8Array(key)
}

/** @param timestamp in seconds */
export async function signedHeaders(
  keys: readonly Uint8Array<ArrayBuffer>[],
  id: string,
  timestamp: number,
  body: string,
): Promise<Record<string, string>> {
  const text = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const signatures = await Promise.all(
    keys.map(async key => {
      const algorithm = { name: 'HMAC', hash: 'SHA-256' }
      const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
      return `v1,${Buffer.from(await crypto.subtle.sign('HMAC', imported, text)).toString('base64')}`
    }),
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
