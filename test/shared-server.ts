/**
 * One server for a whole run of the tests, started on the first request: a run that needs none does not wait
 * for it, and does not fail where none can be started.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SharedServer {
  /** GET answers with the server's address as JSON, or with 500 and the reason. */
  url: string
  stop(): Promise<void>
}

/**
 * @param start starts the server
 * @param addressOf what the tests receive
 */
export async function shareServer<S extends { stop(): Promise<void> }>(
  start: () => Promise<S>,
  addressOf: (server: S) => unknown,
): Promise<SharedServer> {
  let starting: Promise<S> | undefined
  // The answer contains a password: other users of this machine must not guess the path.
  const path = `/${randomBytes(16).toString('hex')}`
  const endpoint = createServer(async (request, response) => {
    if (request.url !== path) {
      response.writeHead(404).end()
      return
    }
    try {
      starting ??= start()
      response.end(JSON.stringify(addressOf(await starting)))
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.stack : String(error))
    }
  })
  endpoint.listen(0, '127.0.0.1')
  await once(endpoint, 'listening')

  return {
    url: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}${path}`,
    async stop() {
      endpoint.close()
      endpoint.closeAllConnections()
      if (starting === undefined) return
      // The tests that requested a server that did not start have received the error.
      const server = await starting.catch(() => null)
      await server?.stop()
    },
  }
}

/** The address of the shared server. @throws Error with the reason why it did not start */
export async function addressOfShared<A>(url: string): Promise<A> {
  const response = await fetch(url, { headers: { connection: 'close' } })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text) as A
}
