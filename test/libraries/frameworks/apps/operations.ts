import { createServer } from 'node:http'
import { collectMetrics, createHealth, stopGracefully } from 'bet-wallet/operations'
import * as client from 'prom-client'

collectMetrics(client) // { store }: a store over a database has metrics of its queues
export const health = createHealth({ check: async () => {}, metrics: client.register }) // () => store.ping()

type Stop = Parameters<typeof stopGracefully>
export function operate(server: Stop[0], options: Stop[1]) {
  const port = Number(process.env.INTERNAL_PORT ?? 9464)
  createServer(health.listener)
    .listen(port, process.env.HOST ?? '127.0.0.1')
    .unref()
  return stopGracefully(server, { health, ...options })
}
