/**
 * A server of the benchmarks in its own process, so that its time and memory are measured without its load.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ServerReport, ServerSettings, ServerUsage } from './server.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface ServerProcess {
  readonly baseUrl: string
  /** Its CPU time since the start and its memory. Rejects if it has ended. */
  usage(): Promise<ServerUsage>
  stop(): Promise<void>
}

/** Resolves when the server listens. */
export async function startServer(settings: ServerSettings): Promise<ServerProcess> {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [JSON.stringify(settings)], {
    cwd: root,
    execArgv: ['--import', 'tsx'],
  })
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`The server (${settings.kind}) has ended: ${code ?? signal}`)
  })
  // Handled here too: a caller that asks for nothing more must not cause an unhandled rejection.
  ended.catch(() => {})
  const nextReport = async (): Promise<ServerReport> => {
    const [report] = await Promise.race([once(child, 'message'), ended])
    return report as ServerReport
  }
  const { port } = (await nextReport()) as { port: number }
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async usage() {
      const answer = nextReport()
      child.send('usage')
      return (await answer) as ServerUsage
    },
    async stop() {
      child.disconnect()
      await ended.catch(() => {})
    },
  }
}
