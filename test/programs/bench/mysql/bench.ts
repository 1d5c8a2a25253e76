/**
 * `npm run bench -- mysql`: compares the MySQL store of the built package with hand-written code, on one MariaDB with
 * durable commits, as ratios of alternating measurements; with `DATABASE_ENGINE=mysql` before it, on MySQL. Exits with
 * 1 when a ratio exceeds its limit. It starts servers of its own: without one it says how to install it, and exits with
 * 1.
 */
import type { RowDataPacket } from 'mysql2'
import { withConnection } from '../../../mariadb/server.js'
import { isMysql, startServer } from '../../../mysql/engine.js'
import { optionsFrom } from '../options.js'
import { runParts } from '../run-parts.js'
import { parts } from './parts.js'

const settingNames = [
  ...['version', 'innodb_flush_log_at_trx_commit', 'innodb_flush_method', 'innodb_doublewrite'],
  ...['innodb_buffer_pool_size', 'innodb_log_file_size', 'innodb_redo_log_capacity'],
  ...['log_bin', 'sync_binlog', 'max_connections'],
]

const options = optionsFrom('mysql', process.argv.slice(2), [...parts.keys()])
const server = await startServer({
  ...(options.folder === undefined ? {} : { parentFolder: options.folder }),
  // As large as on a server that a growth of millions of rows is expected on; a checkpoint is no part of a round.
  settings: {
    innodb_buffer_pool_size: '1G',
    ...(isMysql ? { innodb_redo_log_capacity: '512M' } : { innodb_log_file_size: '512M' }),
  },
})
try {
  const settings = await withConnection(server.config, async connection => {
    const [rows] = await connection.query<RowDataPacket[]>(
      'SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)',
      [settingNames],
    )
    return Object.fromEntries(rows.map(row => [String(row.Variable_name), String(row.Value)]))
  })
  if (settings.innodb_flush_log_at_trx_commit !== '1') {
    throw new Error('Commits of this server are not durable: its throughput is meaningless')
  }
  await runParts({ parts, ground: { server, options }, settings })
} finally {
  await server.stop()
}
