/** bet-wallet in Koa 3: translates request and response, nothing else. */
import type { HttpRequest, HttpResponse } from 'bet-wallet/http'
import type { Context } from 'koa'

/** For `app.use(walletRoutes(handle))`, with the option `basePath`. It answers every request: use it last. */
export function walletRoutes(handle: (request: HttpRequest) => Promise<HttpResponse>) {
  return async (ctx: Context): Promise<void> => {
    const { method, path, headers, ip: address, req } = ctx
    const { body: parsed, rawBody } = ctx.request as { body?: unknown; rawBody?: string } // of a body parser
    const body = req.readableDidRead ? { parsed: rawBody ?? parsed } : req
    const answer = await handle({ method, path, headers, address, body })
    ctx.status = answer.status
    ctx.set(answer.headers)
    ctx.body = answer.body
  }
}
