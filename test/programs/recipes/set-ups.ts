/** Five set-ups of databases that operators run, each with a wallet, its faults, and what must be found. */
import { setTimeout as sleep } from 'node:timers/promises'
import { migrateMysql } from 'bet-wallet/mysql'
import { migratePostgres } from 'bet-wallet/postgres'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { readPage, sectionOf } from '../../docs/pages.js'
import { type GaleraNode, startGalera } from '../../mariadb/cluster.js'
import { noGalera } from '../../mariadb/installation.js'
import { type MariadbConfig, withConnection } from '../../mariadb/server.js'
import { type GroupNode, noGroup, startGroup } from '../../mysql/group.js'
import { startPatroni } from '../../postgres/patroni.js'
import { findPrograms, type NodeName } from '../../postgres/patroni-config.js'
import { noServerOfOurOwn, startPostgres, withClient } from '../../postgres/server.js'
import { signalTo } from '../../processes.js'
import type { Limits } from '../soak/server-child.js'
import type { Actions } from './controls.js'

const database = 'recipes'

/** A running set-up. */
export interface Opened {
  actions: Actions
  /** Options of `check` that name its servers and tables. */
  check: readonly string[]
  /** A script of the soak that serves a wallet, and its settings. */
  wallet: { script: 'server.ts' | 'mysql-server.ts'; settings: object }
  close(): Promise<void>
}

export interface SetUp {
  /** Of its recipe in docs/go-live.md. */
  name: string
  /** The names of two actions each. */
  faults: readonly (readonly [fault: string, repair: string])[]
  /** Why it cannot run here; `null`: it can. */
  unavailable(): string | null
  /** @param players their ids, each with 1,000.00 EUR */
  open(players: readonly string[]): Promise<Opened>
  /** The exit code, and what the run and `bet-wallet check` must say. */
  expected: { code: 0 | 1; page: readonly RegExp[]; durability: RegExp }
}

/** The recipes of docs/go-live.md, by name. */
export const recipes: ReadonlyMap<string, string> = new Map(
  [
    ...sectionOf(readPage('docs/go-live.md'), 'Drill your own cluster').text.matchAll(
      /^- \*\*(.*?)\*\*(.*)$/gm,
    ),
  ].map(([, name = '', text = '']) => [name, text]),
)

/** The statement of a recipe. */
const statementOf = (name: string) => /`((?:SELECT|SET) [^`]+)`/.exec(recipes.get(name) ?? '')?.[1] ?? ''

const noPatroni = () => {
  const programs = findPrograms()
  return typeof programs === 'string' ? programs : null
}

const ofPostgres = (databaseUrl: string, limits: Limits) => ({
  check: ['--database-url', databaseUrl],
  wallet: {
    script: 'server.ts' as const,
    settings: { databaseUrl, players: null, fault: null, limits },
  },
})

async function preparePostgres(url: string, players: readonly string[]): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  pool.on('error', () => {}) // the statement rejects
  try {
    await migratePostgres(pool)
    await pool.query(`INSERT INTO bet_wallet.players SELECT unnest($1::text[]), 'EUR', 1000`, [players])
  } finally {
    await pool.end()
  }
}

async function single(players: readonly string[]): Promise<Opened> {
  const server = await startPostgres()
  await preparePostgres(server.url, players)
  return {
    actions: { 'kill-server': () => server.kill(), 'start-server': () => server.start() },
    ...ofPostgres(server.url, { connectMs: 2_000, timeoutMs: 3_000 }),
    close: () => server.stop(),
  }
}

/** The processes of the primary that send WAL to its standbys. */
async function sendersOf(url: string): Promise<number[]> {
  return await withClient(url, async client => {
    const { rows } = await client.query<{ pid: number }>(statementOf('Patroni, default'))
    return rows.map(({ pid }) => pid)
  })
}

const all = ['patroni', 'postgres'] as const

const patroni =
  (mode: 'default' | 'strict') =>
  async (players: readonly string[]): Promise<Opened> => {
    const cluster = await startPatroni()
    const standby = mode === 'strict' ? 'sync_standby' : 'replica'
    if (mode === 'default')
      await cluster.configure({ synchronous_mode: false, synchronous_mode_strict: false })
    await cluster.healthy(standby)
    await preparePostgres(cluster.url, players)
    let victim: NodeName = 'n1'
    const leader = async () => {
      victim = (await cluster.leader()) ?? victim
      return victim
    }
    const killLeader = async () => cluster.signal(await leader(), all, 'SIGKILL')
    return {
      actions: {
        'kill-leader': killLeader,
        /** As when the network to the standbys is slow: they have not received the last commits. */
        async 'kill-leader-with-lag'() {
          for (const pid of await sendersOf(cluster.url)) signalTo(pid, 'SIGSTOP')
          await sleep(300)
          await killLeader()
        },
        async 'start-leader'() {
          cluster.startNode(victim)
          await cluster.healthy(standby)
        },
        'freeze-leader': async () => cluster.signal(await leader(), all, 'SIGSTOP'),
        async 'wake-leader'() {
          cluster.signal(victim, all, 'SIGCONT')
          await cluster.healthy(standby)
        },
      },
      ...ofPostgres(cluster.url, { connectMs: 2_000, timeoutMs: 3_000 }),
      close: () => cluster.stop(),
    }
  }

/** A node's share of the time limit is longer than a cluster waits before it expels a node. */
const ofMysql = (nodes: readonly { config: MariadbConfig }[]) => ({
  check: [
    ...['--schema', database],
    ...nodes.flatMap(({ config: { user, password, host, port, socketPath } }) => [
      '--database-url',
      socketPath === undefined
        ? `mysql://${user}:${password}@${host}:${port}/${database}`
        : `mysql://${user}:${password}@localhost/${database}?socketPath=${socketPath}`,
    ]),
  ],
  wallet: {
    script: 'mysql-server.ts' as const,
    settings: {
      nodes: nodes.map(({ config }) => ({ ...config, database })),
      ...{ fault: null, limits: { connectMs: 2_000, timeoutMs: 9_000 } },
    },
  },
})

async function prepareMysql(config: MariadbConfig, players: readonly string[]): Promise<void> {
  const pool = mysql.createPool(config)
  try {
    await pool.query(`CREATE DATABASE ${database}`)
    await migrateMysql(pool, { schema: database })
    await pool.query(`INSERT INTO ${database}.wallet_players (player_id, currency, balance) VALUES ?`, [
      players.map(playerId => [playerId, 'EUR', '1000.00']),
    ])
  } finally {
    await pool.end()
  }
}

async function galera(players: readonly string[]): Promise<Opened> {
  const cluster = await startGalera()
  // The wallet prefers the first.
  const node: GaleraNode = cluster.nodes[0]
  const setIsolated = (value: string) =>
    withConnection(node.config, async connection => {
      await connection.query(statementOf('Galera').replace('=1', `=${value}`))
    })
  await prepareMysql(node.config, players)
  return {
    actions: {
      'kill-node': () => node.kill(),
      async 'start-node'() {
        await node.start()
        await cluster.consistsOf()
      },
      'freeze-node': async () => node.pause(),
      async 'wake-node'() {
        node.resume()
        await cluster.consistsOf()
      },
      'cut-node': () => setIsolated('1'),
      async 'reconnect-node'() {
        await setIsolated('0')
        await cluster.consistsOf()
      },
    },
    ...ofMysql(cluster.nodes),
    close: () => cluster.stop(),
  }
}

async function group(players: readonly string[]): Promise<Opened> {
  const cluster = await startGroup()
  let victim: GroupNode = cluster.nodes[0]
  const primary = async () => {
    victim = await cluster.primary()
    return victim
  }
  await prepareMysql((await primary()).config, players)
  return {
    actions: {
      'kill-primary': async () => (await primary()).kill(),
      async 'start-primary'() {
        await victim.boot()
        await cluster.whole()
      },
      'freeze-primary': async () => (await primary()).pause(),
      async 'wake-primary'() {
        victim.resume()
        await cluster.whole()
      },
      'cut-primary': async () => (await primary()).cutOff(),
      async 'reconnect-primary'() {
        await victim.reconnect()
        await cluster.whole()
      },
    },
    ...ofMysql(cluster.nodes),
    close: () => cluster.stop(),
  }
}

const faultsOfPatroni = [
  ['kill-leader-with-lag', 'start-leader'],
  ['kill-leader', 'start-leader'],
  ['freeze-leader', 'wake-leader'],
] as const

const nothingLost = /PASSED: .*nothing was lost/

export const setUps: Readonly<Record<string, SetUp>> = {
  'patroni-default': {
    unavailable: noPatroni,
    ...{ name: 'Patroni, default', faults: faultsOfPatroni },
    open: patroni('default'),
    expected: {
      code: 1,
      page: [/^FAILED: \d+ answered calls were lost/m],
      durability: /durability.*synchronous_standby_names is empty/,
    },
  },
  'patroni-strict': {
    unavailable: noPatroni,
    ...{ name: 'Patroni, strict', faults: faultsOfPatroni },
    open: patroni('strict'),
    expected: { code: 0, page: [nothingLost], durability: /durability.*synchronous/ },
  },
  galera: {
    unavailable: () => noGalera,
    name: 'Galera',
    faults: [
      ['kill-node', 'start-node'],
      ['freeze-node', 'wake-node'],
      ['cut-node', 'reconnect-node'],
    ],
    open: galera,
    expected: { code: 0, page: [nothingLost], durability: /durability.*synchronous/ },
  },
  group: {
    unavailable: () => noGroup,
    name: 'Group Replication',
    faults: [
      ['kill-primary', 'start-primary'],
      ['freeze-primary', 'wake-primary'],
      ['cut-primary', 'reconnect-primary'],
    ],
    open: group,
    expected: { code: 0, page: [nothingLost], durability: /durability.*synchronous/ },
  },
  single: {
    unavailable: () => noServerOfOurOwn,
    name: 'One PostgreSQL',
    faults: [['kill-server', 'start-server']],
    open: single,
    expected: { code: 0, page: [nothingLost], durability: /durability.*(?:alone|standby)/ },
  },
}
