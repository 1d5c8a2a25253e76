/** A primary, and a replica that replicates from it: read-only, and sometimes behind. */
import type { RowDataPacket } from 'mysql2/promise'
import { type MariadbServer, startMariadb, withConnection } from './server.js'

export interface Replicated {
  readonly primary: MariadbServer
  /** `read_only`, also for its users with all rights: a write is refused with 1290. */
  readonly replica: MariadbServer
  /** The replica receives what the primary commits, and applies nothing of it until `release`. */
  hold(): Promise<void>
  release(): Promise<void>
  /** Resolves when the replica has applied what the primary has committed so far. */
  caughtUp(): Promise<void>
  stop(): Promise<void>
}

/** COMMIT waits until the replica has received it: semi-synchronous, AFTER_SYNC. */
export async function startReplicated(): Promise<Replicated> {
  const primary = await startMariadb({
    settings: {
      server_id: '1',
      log_bin: 'binlog',
      gtid_strict_mode: 'ON',
      rpl_semi_sync_master_enabled: 'ON',
      rpl_semi_sync_master_wait_point: 'AFTER_SYNC',
      rpl_semi_sync_master_timeout: '60000',
    },
  })
  const { host, port, user, password } = primary.config
  const servers = [primary]
  const stop = async () => {
    await Promise.all(servers.map(server => server.stop()))
  }
  try {
    const replica = await startMariadb({
      settings: { server_id: '2', gtid_strict_mode: 'ON', rpl_semi_sync_slave_enabled: 'ON' },
    })
    servers.push(replica)
    const onReplica = (statement: string) =>
      withConnection(replica.config, async connection => {
        await connection.query(statement)
      })
    await onReplica(`CHANGE MASTER TO master_host = '${host}', master_port = ${port}, master_user = '${user}',
      master_password = '${password}', master_use_gtid = slave_pos`)
    await onReplica('START SLAVE')
    await onReplica('SET GLOBAL read_only = ON')
    // Its users have all rights, and so could write in spite of read_only.
    await onReplica(`REVOKE READ_ONLY ADMIN ON *.* FROM '${user}'@'127.%'`)
    return {
      primary,
      replica,
      stop,
      hold: () => onReplica('STOP SLAVE SQL_THREAD'),
      release: () => onReplica('START SLAVE SQL_THREAD'),
      async caughtUp() {
        const position = await withConnection(primary.config, async connection => {
          const [rows] = await connection.query<RowDataPacket[]>('SELECT @@gtid_binlog_pos AS position')
          return rows[0]?.position as string
        })
        await onReplica(`DO MASTER_GTID_WAIT('${position}')`)
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}
