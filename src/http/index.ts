/** `bet-wallet/http`: the wallet over HTTP, without a framework. */
export { basicAuth } from './basic-auth.js'
export type { HttpBody } from './body.js'
export { createHttpHandler, defaultStatusCodes, type HttpOptions } from './handler.js'
export type { HttpRequest, HttpResponse } from './message.js'
