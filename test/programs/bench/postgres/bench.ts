/**
 * `npm run bench -- postgres`: compares the PostgreSQL store of the built package with hand-written code, on one
 * server with fsync on, as ratios of alternating measurements. Exits with 1 when a ratio exceeds its limit.
 * It starts a server, or uses the one of DATABASE_URL.
 */
import pg from 'pg'
import { openPostgres } from '../../../postgres/server.js'
import { optionsFrom } from '../options.js'
import { runParts } from '../run-parts.js'
import { parts } from './parts.js'

const settingNames = [
  ...['server_version', 'fsync', 'synchronous_commit', 'wal_sync_method', 'full_page_writes'],
  ...['shared_buffers', 'max_wal_size', 'max_connections'],
]

async function settingsOf(url: string): Promise<Record<string, string>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; value: string }>(
      'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) name',
      [settingNames],
    )
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  } finally {
    await client.end()
  }
}

const options = optionsFrom('postgres', process.argv.slice(2), [...parts.keys()])
const server = await openPostgres(options.folder === undefined ? {} : { parentFolder: options.folder })
try {
  const settings = await settingsOf(server.url)
  if (settings.fsync !== 'on' || settings.synchronous_commit === 'off') {
    throw new Error('fsync or synchronous_commit is off: throughput of this server is meaningless')
  }
  await runParts({ parts, ground: { server, options }, settings })
} finally {
  await server.stop()
}
