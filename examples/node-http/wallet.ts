/** bet-wallet in Node's own server: translates request and response, nothing else. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpRequest, HttpResponse } from 'bet-wallet/http'

/** For `createServer(walletRoutes(handle))`, with the option `basePath` where needed. */
export function walletRoutes(handle: (request: HttpRequest) => Promise<HttpResponse>) {
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = req
    const answer = await handle({ method, path: url, headers, body: req })
    res.writeHead(answer.status, answer.headers).end(answer.body)
  }
}
