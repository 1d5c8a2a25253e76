import type { RequestListener } from 'node:http'

/** `createServer(byHost({ 'a.example': createNodeListener(storeOfA, optionsOfA) }))` */
export const byHost =
  (wallets: Readonly<Record<string, RequestListener>>): RequestListener =>
  (request, response) => {
    const host = request.headers.host?.replace(/:\d+$/, '').toLowerCase() ?? ''
    if (Object.hasOwn(wallets, host)) return wallets[host]?.(request, response)
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end('{"errorCode":"NOT_FOUND","description":"no wallet for this host"}')
  }
