/** What Patroni needs from the machine, and the settings of its nodes, etcd and HAProxy. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'

/** Ports on addresses that only this cluster has. */
export const ports = { postgres: 15_432, restApi: 18_008, etcd: 12_379, etcdPeers: 12_380, proxy: 15_000 }

export const nodeNames = ['n1', 'n2', 'n3'] as const
export type NodeName = (typeof nodeNames)[number]

export interface Addresses {
  nodes: Readonly<Record<NodeName, string>>
  proxy: string
  etcd: string
}

export interface Programs {
  patroni: string
  etcd: string
  haproxy: string
  /** The folder of PostgreSQL's own programs. */
  postgres: string
  /** For example `"patroni 3.0.2, etcd 3.4.23"`. */
  versions: string
}

/** The programs of Debian's packages, or the reason why they cannot be used. */
export function findPrograms(): Programs | string {
  if (process.platform !== 'linux')
    return 'Patroni runs here on Linux only: it needs addresses in 127.0.0.0/8'
  const [patroni, etcd, haproxy] = ['patroni', 'etcd', 'haproxy'].map(name =>
    ['/usr/bin', '/usr/sbin', '/usr/local/bin'].map(folder => `${folder}/${name}`).find(existsSync),
  )
  const postgres = newestPostgres()
  if (!patroni || !etcd || !haproxy || !postgres)
    return 'the Debian packages postgresql, patroni, etcd-server, python3-etcd and haproxy are not installed'
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const version = (text: string) => /\d+(\.\d+)+/.exec(text)?.[0] ?? '0'
  const etcdVersion = version(run(etcd, '--version'))
  const [major = 0, minor = 0] = etcdVersion.split('.').map(Number)
  if (major !== 3 || minor >= 6) return `etcd ${etcdVersion} has no v2 API`
  try {
    run('/usr/bin/python3', '-c', 'import etcd')
  } catch {
    return 'the Debian package python3-etcd is not installed'
  }
  const versions = [
    `Patroni ${version(run(patroni, '--version'))}`,
    `etcd ${etcdVersion}`,
    `HAProxy ${version(run(haproxy, '-v'))}`,
    `PostgreSQL ${version(run(`${postgres}/postgres`, '--version'))}`,
  ]
  return { patroni, etcd, haproxy, postgres, versions: versions.join(', ') }
}

function newestPostgres(): string | null {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return null
  const newest = readdirSync(root)
    .map(Number)
    .sort((a, b) => b - a)
    .map(version => `${root}/${version}/bin`)
    .find(folder => existsSync(`${folder}/postgres`))
  return newest ?? null
}

export interface NodeSettings {
  name: NodeName
  /** Everything of this node is in it. */
  folder: string
  addresses: Addresses
  programs: Programs
  password: string
}

/**
 * As JSON, which is YAML. Synchronous, strictly: no commit is acknowledged by one server alone. The leader is
 * replaced after eight seconds of silence.
 */
export function patroniConfig({ name, folder, addresses, programs, password }: NodeSettings): string {
  const address = addresses.nodes[name]
  const restApi = `${address}:${ports.restApi}`
  const postgres = `${address}:${ports.postgres}`
  return JSON.stringify({
    scope: 'soak',
    name,
    restapi: { listen: restApi, connect_address: restApi },
    // The v2 API: with the v3 API, Patroni before 3.0.3 may overwrite the key of a new leader.
    etcd: { host: `${addresses.etcd}:${ports.etcd}` },
    bootstrap: {
      dcs: {
        // loop_wait + 2 * retry_timeout <= ttl
        ...{ ttl: 8, loop_wait: 1, retry_timeout: 3, maximum_lag_on_failover: 1_048_576 },
        ...{ synchronous_mode: true, synchronous_mode_strict: true },
        postgresql: {
          ...{ use_pg_rewind: true, use_slots: true },
          parameters: {
            ...{ max_connections: 60, shared_buffers: '32MB', max_wal_size: '256MB', wal_keep_size: '64MB' },
            wal_retrieve_retry_interval: '500ms',
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      ...{ listen: postgres, connect_address: postgres, bin_dir: programs.postgres },
      ...{ data_dir: `${folder}/data`, pgpass: `${folder}/pgpass` },
      pg_hba: [
        'host all all 127.0.0.0/8 scram-sha-256',
        'host replication all 127.0.0.0/8 scram-sha-256',
        'local all all scram-sha-256',
      ],
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
        rewind: { username: 'postgres', password },
      },
      parameters: { unix_socket_directories: folder },
    },
  })
}

export function etcdArguments({ etcd }: Addresses, folder: string): string[] {
  const [clients, peers] = [`http://${etcd}:${ports.etcd}`, `http://${etcd}:${ports.etcdPeers}`]
  return [
    ...['--enable-v2', '--name=e1', `--data-dir=${folder}`],
    ...[`--listen-client-urls=${clients}`, `--advertise-client-urls=${clients}`],
    ...[`--listen-peer-urls=${peers}`, `--initial-advertise-peer-urls=${peers}`],
    `--initial-cluster=e1=${peers}`,
  ]
}

/** The leader is the server whose Patroni answers /primary with 200. Connections to another one are cut. */
export function haproxyConfig({ nodes, proxy }: Addresses): string {
  return `
defaults
  mode tcp
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  timeout check 3s
listen primary
  bind ${proxy}:${ports.proxy}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${nodeNames.map(name => `  server ${name} ${nodes[name]}:${ports.postgres} check port ${ports.restApi}`).join('\n')}
`
}
