/**
 * `/livez` and `/readyz` for Kubernetes, and `/metrics` for Prometheus, on a port of their own: the platform
 * cannot reach them, and they still answer while the wallet's connections are all taken (`maxConnections`).
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HealthOptions {
  port: number
  host: string
  /** Whether calls should be sent to this process; rejects if not: `() => store.ping()`. */
  check?(): Promise<void>
  /** In the text format of Prometheus. */
  metrics?(): Promise<string>
}

export interface Health {
  url: string
  /** From now on the process is not ready: no new calls should be sent to it. */
  stopping(): void
  close(): void
}

export async function startHealthServer({ port, host, check, metrics }: HealthOptions): Promise<Health> {
  let isStopping = false
  // All probes share one check: they must not add to the load of a slow database.
  let checking: Promise<string> | null = null
  const problem = () => {
    checking ??= Promise.resolve(check?.())
      .then(() => '')
      .catch((error: Error) => error.message || 'not ready')
      .finally(() => {
        checking = null
      })
    return checking
  }

  async function answer(path: string): Promise<[status: number, text: string]> {
    // Only that the event loop runs. A database that is down is no reason to restart the process.
    if (path === '/livez') return [200, 'alive']
    if (path === '/readyz') {
      if (isStopping) return [503, 'stopping']
      const found = await problem()
      return found === '' ? [200, 'ready'] : [503, found]
    }
    if (path === '/metrics' && metrics !== undefined) return [200, await metrics()]
    return [404, 'not found']
  }

  const server = createServer(async (request, response) => {
    const [status, text] = await answer(request.url ?? '').catch(
      (error: Error) => [500, error.message] as const,
    )
    response
      .writeHead(status, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
      .end(`${text}\n`)
  })
  server.listen(port, host)
  await once(server, 'listening')
  server.unref()
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    stopping() {
      isStopping = true
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
