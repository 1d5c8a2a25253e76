/** bet-wallet in Node's own server. Translates, and does nothing else. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpRequest, HttpResponse } from 'bet-wallet/http'

/** For `createServer(walletRoutes(handle))`, with the option `basePath` if there is one. */
export function walletRoutes(handle: (request: HttpRequest) => Promise<HttpResponse>) {
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = req
    const answer = await handle({ method, path: url, headers, body: req })
    res.statusCode = answer.status
    for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value)
    res.end(answer.body)
  }
}
