/** bet-wallet in Express 5 or 4: translates request and response, nothing else. */
import type { HttpRequest, HttpResponse } from 'bet-wallet/http'
import type { Request, Response } from 'express'

/** For `app.use('/wallet', walletRoutes(handle))`: the mount point is the base path. */
export function walletRoutes(handle: (request: HttpRequest) => Promise<HttpResponse>) {
  return async (req: Request, res: Response): Promise<void> => {
    // A body that a parser has read is in req.body; any other is read by the wallet, after authentication.
    // req.body alone does not tell: a parser of Express 4 sets it to {} for a body that it did not read.
    const body = req.readableDidRead ? { parsed: req.body as unknown } : req
    const answer = await handle({ method: req.method, path: req.path, headers: req.headers, body })
    res.status(answer.status).set(answer.headers).end(answer.body)
  }
}
