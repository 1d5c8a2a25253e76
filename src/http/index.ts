/** `bet-wallet/http`: the wallet over HTTP, without a framework. */
export { basicAuth } from './basic-auth.js'
export type { HttpBody } from './body.js'
export { createHttpHandler } from './handler.js'
export type { HttpRequest, HttpResponse } from './message.js'
export { defaultStatusCodes, type HttpOptions, type JsonAnswer, type Route } from './options.js'
