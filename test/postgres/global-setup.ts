/**
 * One PostgreSQL for a whole run of the tests, started when the first test asks for it: a run that needs none pays
 * nothing, and does not fail where none can be started. Tests ask by `freshDatabase`.
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
  // The answer holds a password: the path is not to be guessed by others on this machine.
  const path = `/${randomBytes(16).toString('hex')}`
  const desk = createServer(async (request, response) => {
    if (request.url !== path) {
      response.writeHead(404).end()
      return
    }
    try {
      // No test of this server loses power. What is durable is tested on servers of their own, with fsync.
      starting ??= openPostgres({ settings: { fsync: 'off', full_page_writes: 'off' } })
      const { url, version, owned } = await starting
      const address: ServerAddress = { url, version, owned }
      response.end(JSON.stringify(address))
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.stack : String(error))
    }
  })
  desk.listen(0, '127.0.0.1')
  await once(desk, 'listening')
  provide('postgres', `http://127.0.0.1:${(desk.address() as AddressInfo).port}${path}`)

  return async () => {
    desk.close()
    desk.closeAllConnections()
    if (starting === undefined) return
    // One that did not start has been told to the tests that asked for it.
    const server = await starting.catch(() => null)
    await server?.stop()
  }
}
