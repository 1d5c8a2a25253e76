/**
 * A copy of a running server's data for a standby, by the backup functions of PostgreSQL (its manual, "Making
 * a Base Backup Using the Low Level API"): the embedded PostgreSQL has no pg_basebackup.
 */
import { chownSync, copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PostgresServer, withClient } from './server.js'

/** Their contents belong to the running server. */
const emptyInCopy = [
  ...['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp'],
  'pg_subtrans',
]
const notInCopy = ['postmaster.pid', 'postmaster.opts', 'standby.signal', 'backup_label']

/**
 * Copies the data of a server into the empty data folder of another one, which starts as its standby.
 *
 * @param conninfo of the replication connection: `host=127.0.0.1 port=20000 user=postgres password=…`
 */
export async function copyForStandby(
  { url, dataFolder: from, version }: PostgresServer,
  to: string,
  conninfo: string,
): Promise<void> {
  const owner = statSync(to)
  const own = (path: string) => chownSync(path, owner.uid, owner.gid)
  const write = (name: string, text: string, flag = 'w') => {
    writeFileSync(join(to, name), text, { mode: 0o600, flag })
    own(join(to, name))
  }
  // PostgreSQL 15 has renamed the functions.
  const [start, stop] =
    Number.parseInt(version, 10) < 15
      ? ["pg_start_backup('standby', true, false)", 'pg_stop_backup(false, false)']
      : ["pg_backup_start('standby', true)", 'pg_backup_stop(wait_for_archive => false)']
  await withClient(url, async client => {
    await client.query(`SELECT ${start}`)
    copyFolder(from, to, own)
    const { rows } = await client.query<{ labelfile: string }>(`SELECT labelfile FROM ${stop}`)
    write('backup_label', rows[0]?.labelfile ?? '')
  })
  mkdirSync(join(to, 'pg_wal', 'archive_status'), { mode: 0o700 })
  own(join(to, 'pg_wal', 'archive_status'))
  write('standby.signal', '')
  // The last line of a name holds.
  write('postgresql.auto.conf', `\nprimary_conninfo = '${conninfo}'\n`, 'a')
}

function copyFolder(from: string, to: string, own: (path: string) => void): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (notInCopy.includes(entry.name)) continue
    try {
      if (entry.isDirectory()) {
        mkdirSync(target, { mode: 0o700 })
        if (!emptyInCopy.includes(entry.name)) copyFolder(source, target, own)
      } else copyFileSync(source, target)
      own(target)
    } catch (error) {
      // The server has removed it meanwhile, and the WAL since the beginning of the backup says so.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}
