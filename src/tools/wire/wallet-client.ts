/** Calls of the wallet under test: with its credentials and signatures, and a mask for what it answers. */
import { basicOf } from './checks.js'
import { type Delivery, HttpClient, type HttpReply } from './http-client.js'
import { type Mask, maskOf, secretsIn, secretsOf } from './secrets.js'
import type { TargetSettings } from './target.js'

export interface WalletClient {
  /**
   * Posts a JSON body.
   *
   * @returns the reply as it came, and a mask for reports: the wallet may repeat the secrets of the request
   * @throws what the option `sign` throws
   */
  post(url: URL, body: string, delivery?: Delivery): Promise<{ reply: HttpReply; mask: Mask }>
  /** Of the secrets in the options. */
  readonly mask: Mask
  close(): void
}

export function createWalletClient(settings: TargetSettings): WalletClient {
  const { base, sign, timeoutMs, tls } = settings
  const client = new HttpClient(tls)
  const given = [...secretsOf(settings), ...secretsIn(fixedHeaders(settings, base))]
  const mask = maskOf(given)
  return {
    mask,
    async post(url, body, delivery) {
      const fixed = fixedHeaders(settings, url)
      const call = { url, body, timeoutMs, ...(delivery && { delivery }) }
      if (sign === null || url.origin !== base.origin)
        return { reply: await client.send({ ...call, headers: fixed }), mask }
      const headers = { host: url.host, ...fixed }
      const signed = await sign({ method: 'POST', url: url.href, headers, body: Buffer.from(body) })
      const reply = await client.send({ ...call, headers: { ...fixed, ...signed } })
      return { reply, mask: maskOf([...given, ...secretsIn(signed)]) }
    },
    close: () => client.close(),
  }
}

/** The headers of every request to this URL. Credentials go to the origin of the base URL only. */
export function fixedHeaders(
  { base, credentials, headers, settle }: TargetSettings,
  url: URL,
): Record<string, string> {
  const isOwn = url.origin === base.origin
  const isSettleUrl = typeof settle === 'object' && 'url' in settle && settle.url.href === url.href
  const all = {
    'content-type': 'application/json',
    ...(isOwn ? headers : {}),
    ...(isSettleUrl ? settle.headers : {}),
    ...(isOwn && credentials !== null ? { authorization: basicOf(credentials) } : {}),
  }
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name.toLowerCase(), value]))
}
