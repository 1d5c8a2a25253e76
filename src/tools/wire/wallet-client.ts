/** Calls of the wallet under test: with its credentials and signatures, and a mask for what it answers. */
import { basicOf } from './checks.js'
import { type HttpCall, HttpClient } from './http-client.js'
import { maskOf, secretsIn, secretsOf } from './secrets.js'
import type { TargetSettings } from './target.js'

/** How calls are authenticated. */
export type Caller = Pick<TargetSettings, 'credentials' | 'headers' | 'sign'>

export interface WalletCall extends Omit<HttpCall, 'headers' | 'timeoutMs'> {
  /** In addition to those of the options, or instead of them. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Instead of that of the options. */
  caller?: Caller
  /** Instead of that of the options. */
  timeoutMs?: number | undefined
}

export type WalletClient = ReturnType<typeof createWalletClient>

export function createWalletClient(settings: TargetSettings) {
  const { base } = settings
  const client = new HttpClient(settings.tls)
  const given = [...secretsOf(settings), ...secretsIn(fixedHeaders(settings, base))]
  const mask = maskOf(given)
  return {
    /** Of the secrets in the options. */
    mask,
    /**
     * Sends JSON.
     *
     * @returns the reply as it came, and a mask for reports: the wallet may repeat the secrets of the request
     * @throws what the option `sign` throws
     */
    async send({ caller = settings, headers, timeoutMs = settings.timeoutMs, ...call }: WalletCall) {
      const { url, method = 'POST', body } = call
      const fixed = { ...fixedHeaders({ ...settings, ...caller }, url), ...headers }
      const sign = url.origin === base.origin ? caller.sign : null
      const signed = await sign?.({
        method,
        url: url.href,
        headers: { host: url.host, ...fixed },
        body: Buffer.from(body ?? ''),
      })
      const all = { ...fixed, ...signed }
      const reply = await client.send({ ...call, timeoutMs, headers: all })
      // Signatures are new in each request.
      const isGiven = sign === null && caller === settings
      return { reply, mask: isGiven ? mask : maskOf([...given, ...secretsIn(all)]) }
    },
    /** Closes all connections. The next call opens one. */
    disconnect: () => client.disconnect(),
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
