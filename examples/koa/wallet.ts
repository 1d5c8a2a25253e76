/** bet-wallet in Koa 3. Translates, and does nothing else. */
import type { HttpRequest, HttpResponse } from 'bet-wallet/http'
import type { Context } from 'koa'

/** For `app.use(walletRoutes(handle))`, with the option `basePath`. It answers whatever reaches it: put it last. */
export function walletRoutes(handle: (request: HttpRequest) => Promise<HttpResponse>) {
  return async (ctx: Context): Promise<void> => {
    // ctx.request.body is what a parser has read; ctx.body is the answer. What no parser has read is read by the
    // wallet itself, once the caller is known. Not by ctx.request.body: a parser leaves {} there for what it did not read.
    const { body: parsed } = ctx.request as { body?: unknown }
    const body = ctx.req.readableDidRead ? { parsed } : ctx.req
    const answer = await handle({ method: ctx.method, path: ctx.path, headers: ctx.headers, body })
    ctx.status = answer.status
    ctx.set(answer.headers)
    ctx.body = answer.body
  }
}
