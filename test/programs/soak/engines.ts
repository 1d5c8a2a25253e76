/** The five soaks: which phases, on which servers. */
import { startGalera } from '../../mariadb/cluster.js'
import { noGalera } from '../../mariadb/installation.js'
import { noGroup, startGroup } from '../../mysql/group.js'
import { type Cluster, startCluster } from '../../postgres/cluster.js'
import { type PatroniCluster, startPatroni } from '../../postgres/patroni.js'
import { findPrograms } from '../../postgres/patroni-config.js'
import { noServerOfOurOwn, startPostgres } from '../../postgres/server.js'
import { runClusterPhase } from './cluster-run.js'
import { failingOver } from './failovers.js'
import { disturbGalera } from './galera.js'
import { disturbGroup } from './group.js'
import { killing } from './kills.js'
import { losing } from './losses.js'
import { patroniFailing } from './patroni.js'
import { type Phase, type PhaseOptions, type PhaseReport, phasesOf, runPhase } from './run.js'

export interface Engine {
  /** The number of faults if none is given, and the least one. */
  faults: { usual: number; least: number }
  /** Why it cannot run here, or `null`. */
  unavailable(): string | null
  phasesOf(faults: number): Phase[]
  /** Starts the servers. Call `close` at the end. */
  open(): Promise<Servers>
}

export interface Servers {
  /** One line: what they are. */
  description: string
  run(phase: Phase, options: PhaseOptions): Promise<PhaseReport>
  close(): Promise<void>
}

const asynchronous = 'asynchronous'

/** The two kinds of load: the soak's own platform, and the simulated sportsbook of bet-wallet/audit. */
function bothLoads(faults: number): [Phase, Phase] {
  const simulated = Math.round(faults * 0.4)
  return [
    { name: 'callers', accounts: 'numeric', cutOver: null, kills: faults - simulated },
    { name: 'simulated sportsbook', accounts: 'own', cutOver: null, kills: simulated },
  ]
}

export const engines: Record<'default' | 'failover' | 'patroni' | 'galera' | 'group', Engine> = {
  default: {
    faults: { usual: 20, least: 4 },
    unavailable: () => noServerOfOurOwn,
    phasesOf,
    async open() {
      const server = await startPostgres()
      return {
        description: `PostgreSQL ${server.version}, fsync on`,
        run: (phase, options) => runPhase(killing(server), phase, options),
        close: () => server.stop(),
      }
    },
  },

  failover: {
    faults: { usual: 32, least: 3 },
    unavailable: () => noServerOfOurOwn,
    phasesOf(faults) {
      const losses = Math.max(1, Math.round(faults / 10))
      return [
        ...bothLoads(faults - losses),
        { name: asynchronous, accounts: 'numeric', cutOver: null, kills: losses },
      ]
    },
    async open() {
      const synchronous = await startCluster({ synchronous: true })
      let lagging: Cluster | null = null
      return {
        description: `PostgreSQL ${synchronous.primary.version}, a primary and a synchronous standby, fsync on`,
        async run(phase, options) {
          if (phase.name !== asynchronous) return await runPhase(failingOver(synchronous), phase, options)
          lagging ??= await startCluster({ synchronous: false })
          return await runPhase(losing(lagging), phase, options)
        },
        async close() {
          await Promise.all([synchronous.stop(), lagging?.stop()])
        },
      }
    },
  },

  patroni: {
    faults: { usual: 14, least: 2 },
    unavailable() {
      const programs = findPrograms()
      return typeof programs === 'string' ? programs : null
    },
    phasesOf: bothLoads,
    async open() {
      const cluster: PatroniCluster = await startPatroni()
      return {
        description: `${cluster.versions}: three nodes, synchronous_mode_strict, etcd's v2 API`,
        run: (phase, options) => runPhase(patroniFailing(cluster), phase, options),
        close: () => cluster.stop(),
      }
    },
  },

  galera: {
    faults: { usual: 56, least: 1 },
    unavailable: () => noGalera,
    phasesOf: faults => [{ name: 'simulated sportsbook', accounts: 'own', cutOver: null, kills: faults }],
    async open() {
      const cluster = await startGalera()
      return {
        description: `Galera, three nodes of MariaDB ${cluster.nodes[0].version}, innodb_flush_log_at_trx_commit = 1`,
        run: (phase, options) =>
          runClusterPhase(
            {
              nodes: cluster.nodes,
              writable: async () => cluster.nodes[0],
              disturb: scene => disturbGalera(cluster, scene),
              settled: () => cluster.consistsOf(),
            },
            phase,
            options,
          ),
        close: () => cluster.stop(),
      }
    },
  },

  group: {
    faults: { usual: 36, least: 1 },
    unavailable: () => noGroup,
    phasesOf: faults => [{ name: 'simulated sportsbook', accounts: 'own', cutOver: null, kills: faults }],
    async open() {
      const group = await startGroup()
      return {
        description: `Group Replication, three nodes of MySQL ${group.nodes[0].version}, single primary`,
        run: (phase, options) =>
          runClusterPhase(
            {
              nodes: group.nodes,
              writable: group.primary,
              disturb: scene => disturbGroup(group, scene),
              settled: group.settled,
            },
            phase,
            options,
          ),
        close: () => group.stop(),
      }
    },
  },
}
