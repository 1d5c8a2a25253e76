/** The server of a whole run of the tests: MariaDB or MySQL. Tests request it by `freshMariadb`. */
import type { TestProject } from 'vitest/node'
import { fastSettings, startServer } from '../mysql/engine.js'
import { shareServer } from '../shared-server.js'
import type { MariadbServer } from './server.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** GET answers with the server's {@link MariadbAddress} as JSON, or with 500 and the reason. */
    mariadb: string
  }
}

/** Where the run's server is. */
export type MariadbAddress = Pick<MariadbServer, 'config' | 'version'>

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const shared = await shareServer(
    () => startServer({ settings: fastSettings }),
    ({ config, version }): MariadbAddress => ({ config, version }),
  )
  provide('mariadb', shared.url)
  return shared.stop
}
