/** The kit on the server that the test files share. */
import mysql from 'mysql2/promise'
import { afterAll, describe } from 'vitest'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import type { HarnessOptions } from './harness.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

/** @param play describes the kit; its argument is what a harness needs of the server */
export function describeKit(play: (shared: Pick<HarnessOptions, 'pool' | 'configOf'>) => void): void {
  describe.skipIf(noServer !== null)(`the kit${reason}`, async () => {
    if (noServer !== null) return
    const { config } = await sharedMariadb()
    const pool = mysql.createPool({ ...config, connectionLimit: 20 })
    afterAll(() => pool.end())
    play({ pool, configOf: () => config })
  })
}
