/**
 * Three PostgreSQL servers under Patroni, with one etcd, behind HAProxy: what operators run, from Debian's
 * packages. Everything is in one temporary folder and on loopback addresses of its own, and is removed at the
 * end, also when the process that started it is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processes, signalTo, startMsMax } from '../processes.js'
import { type Account, environment, spawnAs, unprivileged } from './installation.js'
import {
  type Addresses,
  etcdArguments,
  findPrograms,
  haproxyConfig,
  type NodeName,
  nodeNames,
  patroniConfig,
  ports,
} from './patroni-config.js'

const pollMs = 100
/** Of a node's answer: one that is stopped gives none. */
const readMsMax = 3_000

export interface PatroniCluster {
  /** `postgres://…` at HAProxy, which leads to the leader. */
  readonly url: string
  /** For example `"Patroni 3.0.2, etcd 3.4.23, HAProxy 2.6.12, PostgreSQL 15.20"`. */
  readonly versions: string
  /** The node whose Patroni says that it is the leader; `null`: none. */
  leader(): Promise<NodeName | null>
  /** The leader, as soon as a node other than the old one says that it is; `null`: any. */
  leaderAfter(old: NodeName | null): Promise<NodeName>
  synchronousStandby(): Promise<NodeName | null>
  /** Sends a signal to Patroni, to PostgreSQL with all of its processes, or to both. */
  signal(node: NodeName, what: readonly ('patroni' | 'postgres')[], signal: NodeJS.Signals): void
  /** Starts Patroni of a node again; Patroni starts its PostgreSQL. */
  startNode(node: NodeName): void
  killEtcd(): Promise<void>
  startEtcd(): void
  /** Asks Patroni to make the synchronous standby the leader. */
  switchOver(): Promise<void>
  /** Changes settings of the whole cluster, as an administrator does: `{ synchronous_mode: false }`. */
  configure(settings: Readonly<Record<string, unknown>>): Promise<void>
  /**
   * Resolves when three members run on one timeline, one of them the leader and one of this role. Default:
   * synchronous.
   */
  healthy(standby?: 'sync_standby' | 'replica'): Promise<void>
  stop(): Promise<void>
}

interface Member {
  name: NodeName
  role: string
  state: string
  timeline?: number
}

/**
 * Our input is the pids of our processes. When it ends, they are killed: first Patroni, which would restart
 * PostgreSQL, then the servers that the pid files name.
 */
const watchdogScript = `
  trap '' HUP INT TERM
  folder=$1 pids=
  while read -r line; do pids=$line; done
  if [ -n "$pids" ]; then kill -KILL $pids; fi
  tries=0
  for file in "$folder"/*/data/postmaster.pid; do
    if [ -e "$file" ] && read -r pid <"$file"; then
      kill -QUIT $pid && kill -CONT $pid
      while kill -0 $pid && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
      kill -KILL $pid
    fi
  done
  until rm -rf -- "$folder" || [ $tries -ge 200 ]; do sleep 0.1; tries=$((tries + 1)); done
`

/** @throws Error if it does not become healthy, with the end of its logs */
export async function startPatroni(): Promise<PatroniCluster> {
  const programs = findPrograms()
  if (typeof programs === 'string') throw new Error(programs)
  const account = unprivileged()
  const addresses = await freeAddresses()
  const folder = folderOf(account)
  const password = randomBytes(16).toString('hex')
  const folderOfNode = (node: NodeName) => join(folder, node)
  for (const node of nodeNames) {
    makeFolder(folderOfNode(node), account)
    const config = patroniConfig({ name: node, folder: folderOfNode(node), addresses, programs, password })
    writeOwn(join(folderOfNode(node), 'patroni.yml'), config, account)
  }
  makeFolder(join(folder, 'etcd'), account)
  writeOwn(join(folder, 'haproxy.cfg'), haproxyConfig(addresses), account)

  const running = new Map<string, ChildProcess>()
  const watchdog = spawn('sh', ['-c', watchdogScript, 'sh', folder], {
    ...{ cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  })
  watchdog.unref()
  ;(watchdog.stdin as unknown as Socket).unref()
  const tellWatchdog = () =>
    watchdog.stdin?.write(`${[...running.values()].map(({ pid }) => pid).join(' ')}\n`)

  function run(name: string, program: string, args: readonly string[], home: string): void {
    const output = openSync(join(folder, `${name}.log`), 'a')
    const child = spawn(program, args, {
      ...{
        cwd: home,
        env: { ...environment, HOME: home },
        stdio: ['ignore', output, output],
        detached: true,
      },
      ...spawnAs(account),
    })
    closeSync(output)
    child.unref()
    running.set(name, child)
    tellWatchdog()
    child.once('exit', () => {
      if (running.get(name) === child) running.delete(name)
      tellWatchdog()
    })
  }

  const startNode = (node: NodeName) =>
    run(node, programs.patroni, [join(folderOfNode(node), 'patroni.yml')], folderOfNode(node))
  const startEtcd = () => run('etcd', programs.etcd, etcdArguments(addresses, join(folder, 'etcd')), folder)

  const api = (node: NodeName, path: string, init: RequestInit = {}) =>
    fetch(`http://${addresses.nodes[node]}:${ports.restApi}${path}`, {
      ...{ ...init, signal: AbortSignal.timeout(init.method === undefined ? readMsMax : 60_000) },
      headers: { 'content-type': 'application/json', connection: 'close' },
    })

  async function leader(): Promise<NodeName | null> {
    const ifLeader = async (node: NodeName) => {
      if (!(await api(node, '/primary')).ok) throw new Error(`${node} is not the leader`)
      return node
    }
    return Promise.any(nodeNames.map(ifLeader)).catch(() => null)
  }

  /** `null`: no answer, or half of one, within the time limit. */
  const read = (node: NodeName, path: string): Promise<unknown> =>
    api(node, path)
      .then(response => (response.ok ? response.json() : null))
      .catch(() => null)

  /** @throws Error if that takes too long */
  async function leaderAfter(old: NodeName | null): Promise<NodeName> {
    for (const end = Date.now() + startMsMax; Date.now() < end; await sleep(pollMs)) {
      const node = await leader()
      if (node !== null && node !== old) return node
    }
    throw new Error(`after ${startMsMax / 1000} s still no leader but ${old}`)
  }

  async function members(): Promise<Member[]> {
    const node = await leader()
    if (node === null) return []
    return ((await read(node, '/cluster')) as { members: Member[] } | null)?.members ?? []
  }

  /** As PostgreSQL itself says; `null`: it is no primary. The list of members can be older than a promotion. */
  async function timelineOfPrimary(node: NodeName): Promise<number | null> {
    const status = (await read(node, '/patroni')) as { role: string; timeline?: number } | null
    return status === null || status.role === 'replica' ? null : (status.timeline ?? null)
  }

  async function synchronousStandby(): Promise<NodeName | null> {
    return (await members()).find(({ role }) => role === 'sync_standby')?.name ?? null
  }

  async function healthy(standby: 'sync_standby' | 'replica' = 'sync_standby'): Promise<void> {
    const until = Date.now() + startMsMax
    let last: Member[] = []
    while (Date.now() < until) {
      last = await members()
      const leading = last.find(({ role }) => role === 'leader')
      if (last.length === 3 && leading !== undefined && last.some(({ role }) => role === standby)) {
        const runs = last.every(({ state }) => ['running', 'streaming'].includes(state))
        const timeline = await timelineOfPrimary(leading.name)
        if (runs && last.every(member => member.timeline === timeline)) return
      }
      await sleep(pollMs)
    }
    const log = (name: string) => readFileSync(join(folder, `${name}.log`), 'utf8').slice(-2_000)
    throw new Error(
      `Patroni is not healthy: ${JSON.stringify(last)}\n${['etcd', ...nodeNames].map(log).join('\n\n')}`,
    )
  }

  async function stop(): Promise<void> {
    watchdog.stdin?.end()
    watchdog.ref()
    if (watchdog.exitCode === null) await once(watchdog, 'exit')
  }

  try {
    startEtcd()
    for (const node of nodeNames) startNode(node)
    run('haproxy', programs.haproxy, ['-db', '-f', join(folder, 'haproxy.cfg')], folder)
    await healthy()
  } catch (error) {
    await stop()
    throw error
  }

  return {
    url: `postgres://postgres:${password}@${addresses.proxy}:${ports.proxy}/postgres`,
    versions: programs.versions,
    ...{ leader, leaderAfter, synchronousStandby, startNode, startEtcd, healthy, stop },

    signal(node, what, signal) {
      const pids: number[] = []
      const patroni = running.get(node)?.pid
      if (what.includes('patroni') && patroni !== undefined) pids.push(patroni)
      if (what.includes('postgres')) pids.push(...postgresPids(join(folderOfNode(node), 'data')))
      for (const pid of pids) signalTo(pid, signal)
    },

    async killEtcd() {
      const etcd = running.get('etcd')
      if (etcd === undefined) throw new Error('etcd is not running')
      const exited = once(etcd, 'exit')
      etcd.kill('SIGKILL')
      await exited
    },

    async configure(settings) {
      const node = await leaderAfter(null)
      const response = await api(node, '/config', { method: 'PATCH', body: JSON.stringify(settings) })
      if (!response.ok) throw new Error(`config: ${response.status} ${await response.text()}`)
    },

    async switchOver() {
      const [from, candidate] = [await leaderAfter(null), await synchronousStandby()]
      if (candidate === null) throw new Error('there is no synchronous standby')
      const body = JSON.stringify({ leader: from, candidate })
      const response = await api(from, '/switchover', { method: 'POST', body })
      if (!response.ok) throw new Error(`switchover: ${response.status} ${await response.text()}`)
    },
  }
}

/** The postmaster, and its children. */
function postgresPids(dataFolder: string): number[] {
  const file = join(dataFolder, 'postmaster.pid')
  if (!existsSync(file)) return []
  const postmaster = Number(readFileSync(file, 'utf8').split('\n')[0])
  const children = processes().filter(({ parent }) => parent === postmaster)
  return [postmaster, ...children.map(({ pid }) => pid)]
}

function folderOf(account: Account | null): string {
  const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-patroni-'))
  chmodSync(folder, 0o711)
  if (account !== null) chownSync(folder, account.uid, account.gid)
  return folder
}

function makeFolder(path: string, account: Account | null): void {
  mkdirSync(path, { mode: 0o700 })
  if (account !== null) chownSync(path, account.uid, account.gid)
}

function writeOwn(path: string, text: string, account: Account | null): void {
  writeFileSync(path, text, { mode: 0o600 })
  if (account !== null) chownSync(path, account.uid, account.gid)
}

/** Five free addresses of 127.0.0.0/8: no port of them is taken, and none of all addresses. */
async function freeAddresses(): Promise<Addresses> {
  for (let tries = 0; tries < 20; tries += 1) {
    const network = `127.${randomInt(2, 250)}.${randomInt(0, 250)}`
    const addresses: Addresses = {
      nodes: { n1: `${network}.1`, n2: `${network}.2`, n3: `${network}.3` },
      proxy: `${network}.8`,
      etcd: `${network}.9`,
    }
    const needed = [
      ...Object.values(addresses.nodes).flatMap(host =>
        [ports.postgres, ports.restApi].map(port => ({ host, port })),
      ),
      { host: addresses.proxy, port: ports.proxy },
      ...[ports.etcd, ports.etcdPeers].map(port => ({ host: addresses.etcd, port })),
    ]
    if ((await Promise.all(needed.map(isFree))).every(Boolean)) return addresses
  }
  throw new Error('found no free addresses in 127.0.0.0/8')
}

function isFree(address: { host: string; port: number }): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(address, () => server.close(() => resolve(true)))
  })
}
