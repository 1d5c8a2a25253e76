/**
 * One PostgreSQL for a whole run of the tests, started on the first request: a run that needs none does not
 * wait for it, and does not fail where none can be started. Tests request it by `freshDatabase`.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { type DatabaseServer, openPostgres } from './server.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** GET answers with the server's {@link ServerAddress} as JSON, or with 500 and the reason. */
    postgres: string
  }
}

/** Where the run's server is. */
export type ServerAddress = Pick<DatabaseServer, 'url' | 'version' | 'owned'>

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<DatabaseServer> | undefined
  // The answer contains a password: other users of this machine must not guess the path.
  const path = `/${randomBytes(16).toString('hex')}`
  const endpoint = createServer(async (request, response) => {
    if (request.url !== path) {
      response.writeHead(404).end()
      return
    }
    try {
      // With fsync, which the store requires. No test cuts the power of this server: its pages cannot be torn.
      starting ??= openPostgres({ settings: { full_page_writes: 'off' } })
      const { url, version, owned } = await starting
      const address: ServerAddress = { url, version, owned }
      response.end(JSON.stringify(address))
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.stack : String(error))
    }
  })
  endpoint.listen(0, '127.0.0.1')
  await once(endpoint, 'listening')
  provide('postgres', `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}${path}`)

  return async () => {
    endpoint.close()
    endpoint.closeAllConnections()
    if (starting === undefined) return
    // The tests that requested a server that did not start have received the error.
    const server = await starting.catch(() => null)
    await server?.stop()
  }
}
