/**
 * Hosts with a network between them, on one machine, of which each can be cut off: network namespaces of Linux,
 * whose addresses no other program can reach. They end with our process.
 */
// cspell:ignore nsenter veth netns
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { exitOf, signalTo } from '../processes.js'

export interface Host {
  readonly address: string
  /** The beginning of a command that runs on it. */
  readonly enter: readonly string[]
  /** No other host reaches it, and it reaches none. Connections stay open and silent. */
  cutOff(): Promise<void>
  reconnect(): Promise<void>
}

export interface Network {
  readonly hosts: readonly Host[]
  close(): Promise<void>
}

/** Why there can be no network here; `null`: there can. */
export function networkProblem(): string | null {
  if (process.getuid?.() !== 0) return 'networks of its own need root'
  try {
    execFileSync('unshare', ['--net', 'ip', 'link'], { stdio: 'ignore' })
    return null
  } catch {
    return 'networks of its own need the rights of root, unshare and ip'
  }
}

const run = promisify(execFile)

export async function openNetwork(count: number): Promise<Network> {
  const namespaces: { pid: number; close(): Promise<void> }[] = []
  const close = async () => {
    await Promise.all(namespaces.map(namespace => namespace.close()))
  }
  const open = async () => {
    const namespace = await openNamespace()
    namespaces.push(namespace)
    const enter = ['nsenter', `--net=/proc/${namespace.pid}/ns/net`] as const
    const [program, ...before] = enter
    const ip = (command: string) => run(program, [...before, 'ip', ...command.split(' ')])
    return { pid: namespace.pid, enter, ip }
  }
  const openHost = async (ofSwitch: Awaited<ReturnType<typeof open>>, index: number): Promise<Host> => {
    const { pid, enter, ip } = await open()
    const port = `port${index}`
    const address = `10.0.0.${index + 1}`
    await ofSwitch.ip(`link add ${port} type veth peer name eth0 netns ${pid}`)
    await ofSwitch.ip(`link set ${port} master switch up`)
    for (const command of [`address add ${address}/24 dev eth0`, 'link set eth0 up', 'link set lo up'])
      await ip(command)
    return {
      address,
      enter,
      async cutOff() {
        await ofSwitch.ip(`link set ${port} down`)
      },
      async reconnect() {
        await ofSwitch.ip(`link set ${port} up`)
      },
    }
  }
  try {
    const ofSwitch = await open()
    await ofSwitch.ip('link add switch type bridge')
    await ofSwitch.ip('link set switch up')
    const hosts: Host[] = []
    for (let index = 0; index < count; index += 1) hosts.push(await openHost(ofSwitch, index))
    return { hosts, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A namespace lives as long as a process in it: one that reads from us, and so ends with us. */
async function openNamespace() {
  const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const ended = once(holder, 'exit').then(() => {
    throw new Error('no network namespace can be made')
  })
  ended.catch(() => {}) // it ends at the end
  await Promise.race([once(holder.stdout, 'data'), ended])
  const { pid } = holder
  if (pid === undefined) throw new Error('no network namespace can be made')
  return {
    pid,
    async close() {
      signalTo(pid, 'SIGKILL')
      await exitOf(holder)
    },
  }
}
