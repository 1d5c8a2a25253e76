/** bet-wallet in Koa 3: translates request and response, nothing else. */
import type { HttpRequest, HttpResponse } from 'bet-wallet/http'
import type { Context } from 'koa'

/** For `app.use(walletRoutes(handle))`, with the option `basePath`. It answers every request: use it last. */
export function walletRoutes(handle: (request: HttpRequest) => Promise<HttpResponse>) {
  return async (ctx: Context): Promise<void> => {
    // A body that a parser has read is in ctx.request.body (ctx.body is the answer); any other is read by the
    // wallet, after authentication. ctx.request.body alone does not tell: a parser sets it to {} for a body
    // that it did not read.
    const { body: parsed } = ctx.request as { body?: unknown }
    const body = ctx.req.readableDidRead ? { parsed } : ctx.req
    const answer = await handle({ method: ctx.method, path: ctx.path, headers: ctx.headers, body })
    ctx.status = answer.status
    ctx.set(answer.headers)
    ctx.body = answer.body
  }
}
