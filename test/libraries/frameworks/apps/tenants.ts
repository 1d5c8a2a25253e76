import type { RequestListener } from 'node:http'
import type { WalletStore } from 'bet-wallet'
import { createNodeListener, type HttpOptions } from 'bet-wallet/http'

interface Tenant {
  store: WalletStore
  options: HttpOptions
}

/** `createServer(byHost({ 'a.example': { store, options } }))` */
export function byHost(tenants: Readonly<Record<string, Tenant>>): RequestListener {
  const wallets = new Map<string, RequestListener>()
  for (const [host, { store, options }] of Object.entries(tenants))
    wallets.set(host, createNodeListener(store, options))
  return (request, response) => {
    const host = request.headers.host?.replace(/:\d+$/, '').toLowerCase() ?? ''
    const wallet = wallets.get(host)
    if (wallet !== undefined) return wallet(request, response)
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end('{"errorCode":"NOT_FOUND","description":"no wallet for this host"}')
  }
}
