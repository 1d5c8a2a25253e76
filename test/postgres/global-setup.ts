/** The PostgreSQL of a whole run of the tests. Tests request it by `freshDatabase`. */
import type { TestProject } from 'vitest/node'
import { shareServer } from '../shared-server.js'
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
  const shared = await shareServer(
    // With fsync, which the store requires. No test cuts the power of this server: its pages cannot be torn.
    () => openPostgres({ settings: { full_page_writes: 'off' } }),
    ({ url, version, owned }): ServerAddress => ({ url, version, owned }),
  )
  provide('postgres', shared.url)
  return shared.stop
}
