/**
 * The faults of our test servers as shell commands, as an operator has them: each command calls a function
 * of this process.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What is done to the servers, by name. */
export type Actions = Readonly<Record<string, () => Promise<void>>>

export interface Controls {
  /** The command that runs an action, and fails if it fails. */
  command(action: string): string
  close(): void
}

export async function openControls(actions: Actions): Promise<Controls> {
  const server = createServer((request, response) => {
    const action = actions[request.url?.slice(1) ?? '']
    const answer = (status: number, text: string) => response.writeHead(status).end(text)
    if (action === undefined) answer(404, 'no such action')
    else
      action().then(
        () => answer(200, ''),
        (error: unknown) => answer(500, String(error)),
      )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    command: action => `curl --silent --show-error --fail-with-body http://127.0.0.1:${port}/${action} >&2`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
