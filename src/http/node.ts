/** `createNodeListener`: the wallet for servers with Node's own requests and responses. */
import { notify } from '../hooks.js'
import type { WalletStore } from '../store.js'
import { pathOf } from '../visible-text.js'
import { type HttpBody, isBytes, LostBodyError } from './body.js'
import { handlerOf } from './handler.js'
import type { HttpRequest, HttpResponse } from './message.js'
import { type HttpOptions, httpSettingsOf } from './options.js'

/** What the listener uses of an `IncomingMessage`. Of Fastify and Koa, pass the raw requests. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: HttpRequest['headers']
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly readableDidRead: boolean
  [Symbol.asyncIterator](): unknown
}

/** What the listener uses of a `ServerResponse`. */
export interface NodeResponse {
  readonly headersSent: boolean
  readonly destroyed: boolean
  writeHead(status: number, headers: Record<string, string | number>): unknown
  end(body: string): unknown
  destroy(): unknown
}

/**
 * `createHttpHandler` as a listener for `node:http`, Express, Connect, NestJS, and the raw requests of
 * Fastify.
 *
 * Under `app.use('/wallet', listener)`, Express and Connect remove `/wallet` from `request.url`: leave
 * `basePath` empty. Where the remaining path is none of the wallet's, the whole path counts, of
 * `request.originalUrl`: NestJS on Fastify removes all of it.
 *
 * A body that a parser has read is taken from `request.rawBody` (text or bytes, exactly as they were sent),
 * or else from `request.body`, where amounts are accepted up to 15 digits only (D21). Any other body is read
 * after authentication.
 *
 * @param store your store
 * @param options as for `createHttpHandler`. `authenticate` receives the address of the socket's other end
 * @returns never throws and never rejects
 * @throws {WalletError} `INVALID_OPTIONS`, naming the option
 */
export function createNodeListener(
  store: WalletStore,
  options: HttpOptions,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const settings = httpSettingsOf(store, options)
  const handle = handlerOf(settings)
  return async (request, response) => {
    const { method = '', url = '', headers, socket } = request
    const call: HttpRequest = {
      method,
      path: url,
      headers,
      address: socket.remoteAddress,
      body: bodyOf(request),
    }
    const { originalUrl } = request as { originalUrl?: unknown }
    if (typeof originalUrl === 'string') Object.assign(call, pathsOf(url, originalUrl, settings.routes))
    const answer = await handle(call)
    try {
      send(response, answer)
    } catch (error) {
      // Other code of the server has changed the response. A call without an answer is rolled back or sent
      // again.
      notify('onError', () => settings.onError(error, call))
      response.destroy()
    }
  }
}

function pathsOf(
  url: string,
  originalUrl: string,
  routes: ReadonlyMap<string, unknown>,
): Pick<HttpRequest, 'path' | 'originalPath'> {
  const isRoute = (path: string) => routes.has(pathOf(path))
  return { path: !isRoute(url) && isRoute(originalUrl) ? originalUrl : url, originalPath: originalUrl }
}

function bodyOf(request: NodeRequest): HttpBody {
  // request.body alone does not tell: a parser of Express 4 sets it to {} for a body that it did not read.
  if (!request.readableDidRead) return request as unknown as AsyncIterable<Uint8Array>
  const { body: parsed, rawBody } = request as { body?: unknown; rawBody?: unknown }
  if (typeof rawBody === 'string') return { parsed, raw: Buffer.from(rawBody) }
  if (isBytes(rawBody)) return { parsed, raw: rawBody }
  if (parsed === undefined && hasBody(request)) return lostBody
  return { parsed }
}

const hasBody = ({ headers }: NodeRequest) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Reported when it is read: after authentication. */
const lostBody: HttpBody = {
  [Symbol.asyncIterator]() {
    throw new LostBodyError('request.body or request.rawBody')
  },
}

function send(response: NodeResponse, { status, headers, body }: HttpResponse): void {
  // The caller has closed the connection, or other code of the server, such as a time limit, has answered.
  if (response.destroyed || response.headersSent) return
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}
