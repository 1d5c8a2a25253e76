/** bet-wallet in Koa 3: translates request and response, nothing else. */
import type { HttpRequest, HttpResponse } from 'bet-wallet/http'
import type { Context } from 'koa'

/** For `app.use(walletRoutes(handle))`, with the option `basePath`. It answers every request: use it last. */
export function walletRoutes(handle: (request: HttpRequest) => Promise<HttpResponse>) {
  return async (ctx: Context): Promise<void> => {
    const { method, path, originalUrl: originalPath, headers, req } = ctx
    const { body: parsed, rawBody } = ctx.request as { body?: unknown; rawBody?: string } // of a body parser
    const body = req.readableDidRead ? { parsed: rawBody ?? parsed } : req
    const address = req.socket.remoteAddress // ctx.ip is what the caller writes, with app.proxy
    const answer = await handle({ method, path, originalPath, headers, address, body })
    ctx.set(answer.headers)
    Object.assign(ctx, { status: answer.status, body: answer.body })
  }
}
