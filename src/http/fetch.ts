/** `createFetchHandler`: the wallet for servers with the web's `Request` and `Response`. */
import type { WalletStore } from '../store.js'
import { LostBodyError } from './body.js'
import { createHttpHandler } from './handler.js'
import type { HttpOptions } from './options.js'
import { chunksOf, type WebStream } from './web-stream.js'

/** What the handler reads of a `Request`: the type of every runtime and of every version fits. */
export interface FetchRequest {
  readonly method: string
  readonly url: string
  readonly headers: { forEach(callback: (value: string, name: string) => void): void }
  readonly body: WebStream | null
  readonly bodyUsed: boolean
}

/**
 * The global `Response`, by the `lib` or the runtime's types of your project. Where they have none, what is
 * certain of it.
 */
export type FetchResponse = typeof globalThis extends { Response: { prototype: infer Global } }
  ? Global
  : { readonly status: number; text(): Promise<string> }

/**
 * `createHttpHandler` for Hono, Next.js, SvelteKit, Bun, Deno and the like. The body is read as a stream,
 * after authentication and up to the limit; a longer one is read to its end and dropped, so that the
 * connection stays usable.
 *
 * A `Request` does not say who sent it: `address` is missing in what `authenticate` receives.
 *
 * @param store your store
 * @param options as for `createHttpHandler`. The base path is the whole path of the URL before `/placebet`:
 *   routers of such servers remove nothing from it
 * @returns never throws and never rejects
 * @throws {WalletError} `INVALID_OPTIONS`, naming the option
 */
export function createFetchHandler(
  store: WalletStore,
  options: HttpOptions,
): (request: FetchRequest) => Promise<FetchResponse> {
  const handle = createHttpHandler(store, options)
  return async request => {
    const { method, url } = request
    const headers: Record<string, string> = {}
    request.headers.forEach((value, name) => {
      headers[name] = value
    })
    const body = { [Symbol.asyncIterator]: () => chunksOfBody(request) }
    const answer = await handle({ method, path: pathOf(url), headers, body })
    return new Response(answer.body, { status: answer.status, headers: answer.headers })
  }
}

/** The URL of a `Request` is absolute and in its normal form. */
function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3))
}

/** `body` is not touched before: servers create the stream when it is asked for. */
async function* chunksOfBody(request: FetchRequest): AsyncGenerator<Uint8Array, void> {
  if (request.bodyUsed) throw new LostBodyError('the request any more')
  if (request.body !== null) yield* chunksOf(request.body)
}
