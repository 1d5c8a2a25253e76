/** A primary, and a replica that replicates from it: read-only, and sometimes behind. MariaDB or MySQL. */
// cspell:ignore gtids semisync
import type { RowDataPacket } from 'mysql2/promise'
import { isMysql, startServer } from '../mysql/engine.js'
import { type MariadbConfig, type MariadbServer, withConnection } from './server.js'

export interface Replicated {
  readonly primary: MariadbServer
  /** `read_only`, also for its users with all rights: a write is refused with 1290. */
  readonly replica: MariadbServer
  /** The replica receives what the primary commits, and applies nothing of it until `release`. */
  hold(): Promise<void>
  release(): Promise<void>
  /** Whether the replica may be written to, as after a promotion, or by mistake. It goes on to replicate. */
  setWritable(isWritable: boolean): Promise<void>
  /** Resolves when the replica has applied what the primary has committed so far. */
  caughtUp(): Promise<void>
  stop(): Promise<void>
}

/** What the two servers call the same thing. */
interface Names {
  primarySettings: Readonly<Record<string, string>>
  replicaSettings: Readonly<Record<string, string>>
  /** Statements of the replica: to replicate, and then to refuse writes of its users with all rights too. */
  follow(primary: MariadbConfig): string
  refuseWrites(config: MariadbConfig): readonly string[]
  /** Who may change that, if it is not the same user. */
  operator?: string
  setWritable(isWritable: boolean): string
  position: string
  waitFor(position: string): string
}

const ofMariadb: Names = {
  primarySettings: {
    log_bin: 'binlog',
    gtid_strict_mode: 'ON',
    rpl_semi_sync_master_enabled: 'ON',
    rpl_semi_sync_master_wait_point: 'AFTER_SYNC',
    rpl_semi_sync_master_timeout: '60000',
  },
  replicaSettings: { gtid_strict_mode: 'ON', rpl_semi_sync_slave_enabled: 'ON' },
  follow: ({ host, port, user, password }) =>
    `CHANGE MASTER TO master_host = '${host}', master_port = ${port}, master_user = '${user}',
      master_password = '${password}', master_use_gtid = slave_pos`,
  refuseWrites: ({ user, password }) => [
    `GRANT READ_ONLY ADMIN ON *.* TO 'operator'@'127.%' IDENTIFIED BY '${password}'`,
    'SET GLOBAL read_only = ON',
    `REVOKE READ_ONLY ADMIN ON *.* FROM '${user}'@'127.%'`,
  ],
  operator: 'operator',
  setWritable: isWritable => `SET GLOBAL read_only = ${isWritable ? 'OFF' : 'ON'}`,
  position: '@@gtid_binlog_pos',
  waitFor: position => `DO MASTER_GTID_WAIT('${position}')`,
}

const gtids = { gtid_mode: 'ON', enforce_gtid_consistency: 'ON' }

const ofMysql: Names = {
  primarySettings: {
    ...gtids,
    plugin_load: 'semisync_source.so',
    rpl_semi_sync_source_enabled: 'ON',
    rpl_semi_sync_source_wait_point: 'AFTER_SYNC',
    rpl_semi_sync_source_timeout: '60000',
  },
  replicaSettings: { ...gtids, plugin_load: 'semisync_replica.so', rpl_semi_sync_replica_enabled: 'ON' },
  follow: ({ host, port, user, password }) =>
    `CHANGE REPLICATION SOURCE TO SOURCE_HOST = '${host}', SOURCE_PORT = ${port}, SOURCE_USER = '${user}',
      SOURCE_PASSWORD = '${password}', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1`,
  refuseWrites: () => ['SET GLOBAL super_read_only = ON'],
  setWritable: isWritable => (isWritable ? 'SET GLOBAL read_only = OFF' : 'SET GLOBAL super_read_only = ON'),
  position: '@@gtid_executed',
  waitFor: position => `DO WAIT_FOR_EXECUTED_GTID_SET('${position}')`,
}

/** COMMIT waits until the replica has received it: semi-synchronous, AFTER_SYNC. */
export async function startReplicated(): Promise<Replicated> {
  const names = isMysql ? ofMysql : ofMariadb
  const primary = await startServer({ settings: { server_id: '1', ...names.primarySettings } })
  const servers = [primary]
  const stop = async () => {
    await Promise.all(servers.map(server => server.stop()))
  }
  try {
    const { password } = primary.config
    const replica = await startServer({ password, settings: { server_id: '2', ...names.replicaSettings } })
    servers.push(replica)
    const onReplica = (statement: string, user = replica.config.user) =>
      withConnection({ ...replica.config, user }, async connection => {
        await connection.query(statement)
      })
    await onReplica(names.follow(primary.config))
    await onReplica('START REPLICA')
    for (const statement of names.refuseWrites(replica.config)) await onReplica(statement)
    return {
      primary,
      replica,
      stop,
      hold: () => onReplica('STOP REPLICA SQL_THREAD'),
      release: () => onReplica('START REPLICA SQL_THREAD'),
      setWritable: isWritable => onReplica(names.setWritable(isWritable), names.operator),
      async caughtUp() {
        const position = await withConnection(primary.config, async connection => {
          const [rows] = await connection.query<RowDataPacket[]>(`SELECT ${names.position} AS position`)
          return rows[0]?.position as string
        })
        await onReplica(names.waitFor(position))
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** How the servers name the states of semi-synchronous replication. */
export const semiSync = isMysql
  ? { status: 'Rpl_semi_sync_source_status', waiting: 'Rpl_semi_sync_source_wait_sessions' }
  : { status: 'Rpl_semi_sync_master_status', waiting: 'Rpl_semi_sync_master_wait_sessions' }
