/** A server for the incidents alone: the page shows the locks of a whole server, and other tests lock rows too. */
import { startServer } from '../../mysql/engine.js'
import { type IncidentDatabase, openMariadb } from './databases.js'

export async function openOwnMariadb(): Promise<{ database: IncidentDatabase; drop(): Promise<void> }> {
  const server = await startServer()
  const { host, port, user, password } = server.config
  return {
    database: await openMariadb(`mysql://${user}:${password}@${host}:${port}/bet_wallet`),
    drop: () => server.stop(),
  }
}
