/** A server of the benchmarks in a process of its own, so that its time and its memory are not those of its load. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ServerReport, ServerSettings, ServerUsage } from './server.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface ServerProcess {
  readonly baseUrl: string
  /** What it has used since its start. Rejects when it has ended. */
  usage(): Promise<ServerUsage>
  stop(): Promise<void>
}

/** Returns when it listens. */
export async function startServer(settings: ServerSettings): Promise<ServerProcess> {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [JSON.stringify(settings)], {
    cwd: root,
    execArgv: ['--import', 'tsx'],
  })
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`The server (${settings.kind}) has ended: ${code ?? signal}`)
  })
  // Who asks nothing more of it, is not told.
  ended.catch(() => {})
  const told = async (): Promise<ServerReport> => {
    const [report] = await Promise.race([once(child, 'message'), ended])
    return report as ServerReport
  }
  const { port } = (await told()) as { port: number }
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async usage() {
      const answer = told()
      child.send('usage')
      return (await answer) as ServerUsage
    },
    async stop() {
      child.disconnect()
      await ended.catch(() => {})
    },
  }
}
