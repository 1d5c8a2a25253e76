/** `bet-wallet/try`, for a test wallet of your own: the page of `bet-wallet try`, and a data folder. */
import { textOf } from '../../foreign-values.js'
import { renderTryPage } from './page.js'
import { type TryPageOptions, TrySession } from './session.js'
import type { TryTarget } from './wire.js'

export {
  type DataFolder,
  type EmbeddedDatabase,
  openDataFolder,
} from './data-folder.js'
export { createMemoryWallet, type MemoryWallet } from './memory-wallet.js'
export type { TryPageOptions, TryTarget }

/** What the page uses of a request of `node:http`. */
export interface TryRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array>
}

/** What the page uses of a response of `node:http`. */
export interface TryResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body?: string): unknown
}

/** Serves `GET /` and `POST /try/…`. Any other path is answered 404. */
export type TryPage = (request: TryRequest, response: TryResponse) => Promise<void>

/**
 * Creates the page. It plays the platform: its buttons send real calls to `baseUrl`, which must also serve
 * `/settlement`. The wallet must run in the same process: the rule of each call is read from its tracing
 * channel.
 *
 * Anyone who reaches the page can move the players' money: let it listen on 127.0.0.1 only.
 */
export function createTryPage(options: TryPageOptions): TryPage {
  const session = new TrySession(options)
  return async (request, response) => {
    try {
      await answer(session, request, response)
    } catch (error) {
      send(response, 500, `The page failed: ${textOf(error)}`)
    }
  }
}

async function answer(session: TrySession, request: TryRequest, response: TryResponse): Promise<void> {
  const { method, url = '/', headers } = request
  const scenario = /^\/try\/([a-z-]+)$/.exec(url)?.[1]
  if (!isLocalHost(headers)) return send(response, 403, 'Open this page by the name localhost or 127.0.0.1')
  if (method === 'GET' && url === '/') return send(response, 200, renderTryPage(await session.state()))
  if (method !== 'POST' || scenario === undefined) return send(response, 404, 'Not found')
  if (!isOwnForm(headers)) return send(response, 403, 'Only this page may send this')
  const form = await formOf(request)
  if (form === null) return send(response, 413, 'The form is too large')
  await session.run(scenario, form)
  // The script takes the page from this answer; a browser without scripts follows to the page.
  response.writeHead(303, { Location: '/' })
  response.end()
}

/**
 * Whether a browser took the server for one of this machine. The name of another site may lead to it, and
 * that site's script may then read and send everything: a server on a loopback address refuses such a call,
 * on all of its paths.
 */
export const isLocalHost = ({ host }: TryRequest['headers']): boolean =>
  /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(String(host))

/** Another site's page must not press the buttons. Browsers name the site of a form, other clients do not. */
function isOwnForm({ host, origin, 'sec-fetch-site': site }: TryRequest['headers']): boolean {
  if (site !== undefined) return site === 'same-origin'
  return origin === undefined || origin === `http://${host}`
}

function send(response: TryResponse, status: number, body: string): void {
  const type = status === 200 ? 'text/html' : 'text/plain'
  response.writeHead(status, {
    'Content-Type': `${type}; charset=utf-8`,
    'Cache-Control': 'no-store',
    // In a frame of another site, a click meant for that site would press a button of the page.
    'Content-Security-Policy': "frame-ancestors 'none'",
    'X-Frame-Options': 'DENY',
  })
  response.end(body)
}

const formBytesMax = 10_000

/** @returns `null` for a form that is too large */
async function formOf(request: TryRequest): Promise<URLSearchParams | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > formBytesMax) return null
    chunks.push(chunk)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
}
