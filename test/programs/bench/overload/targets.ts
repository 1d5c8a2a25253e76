/** The wallet that is overloaded: a handler in this process, or a server in its own. */
import { Agent, request } from 'node:http'
import { basicAuth, createHttpHandler } from 'bet-wallet/http'
import { createPostgresStore, type PostgresStoreOptions } from 'bet-wallet/postgres'
import type pg from 'pg'
import { credentials } from '../load.js'
import { startServer } from '../server-process.js'
import type { Send } from './platform.js'

export interface Target {
  send: Send
  rssBytes(): Promise<number>
  stop(): Promise<void>
}

const authorization = `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`

/** All of the library, without sockets: what the load costs is the wallet's, and little is the sender's. */
export function inProcess(pool: pg.Pool, options: PostgresStoreOptions = {}): Target {
  const handle = createHttpHandler(createPostgresStore(pool, options), {
    authenticate: basicAuth(credentials),
    onError() {}, // the platform counts them by their status
  })
  const headers = { authorization, 'content-type': 'application/json' }
  return {
    send: async (path, body) => (await handle({ method: 'POST', path, headers, body })).status,
    rssBytes: async () => process.memoryUsage.rss(),
    stop: async () => {},
  }
}

/** The node:http example in its own process, over keep-alive connections. */
export async function overHttp(databaseUrl: string, connections: number): Promise<Target> {
  const server = await startServer({ kind: 'postgres', databaseUrl })
  const agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections })
  const { hostname, port } = new URL(server.baseUrl)
  const send: Send = (path, body) =>
    new Promise(resolve => {
      const headers = { authorization, 'content-type': 'application/json' }
      const call = request({ agent, hostname, port, path, method: 'POST', headers }, response => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
        response.on('error', () => resolve(0))
      })
      call.on('error', () => resolve(0)) // an answer that is lost: the platform rolls back
      call.end(body)
    })
  return {
    send,
    rssBytes: async () => (await server.usage()).rssBytes,
    async stop() {
      agent.destroy()
      await server.stop()
    },
  }
}
