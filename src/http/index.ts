/** `bet-wallet/http`: the wallet over HTTP, without a framework. */

export { JsonNumber } from '../money.js'
export { allowAddresses } from './allow-addresses.js'
export { type Authenticate, type AuthenticationCall, allOf, anyOf } from './authentication.js'
export { type BasicCredentials, basicAuth } from './basic-auth.js'
export type { HttpBody } from './body.js'
export { createFetchHandler, type FetchRequest, type FetchResponse } from './fetch.js'
export { createHttpHandler } from './handler.js'
export type { HttpRequest, HttpResponse } from './message.js'
export { createNodeListener, type NodeRequest, type NodeResponse } from './node.js'
export { defaultStatusCodes, type HttpOptions, type JsonAnswer, type Route } from './options.js'
export {
  type SignatureEncoding,
  type SignatureOptions,
  type SignatureTimestamp,
  signature,
} from './signature.js'
export type { SignatureAlgorithm } from './signature-verifier.js'
