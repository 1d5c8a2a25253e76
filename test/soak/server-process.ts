/** A server as a process of its own, to be killed and started again on its port. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type ServerReport, type ServerSettings, settingsName } from './server-child.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface ServerProcess {
  /** `http://127.0.0.1:20000`; nobody is there while it is dead. */
  readonly url: string
  /** Returns when it listens. */
  start(): Promise<void>
  /** SIGKILL. Returns when it is gone. */
  kill(): Promise<void>
  /** The same for one that may be dead. */
  end(): Promise<void>
}

export interface ServerListener {
  /** It has answered a fault: the error's code and its story. */
  fault(code: string, story: string): void
  /** It has ended, and nobody killed it. */
  died(how: string): void
}

/** @param script a file name beside this one */
export function createServerProcess(
  script: string,
  settings: Omit<ServerSettings, 'port'>,
  listener: ServerListener,
): ServerProcess {
  let child: ChildProcess | null = null
  let port = 0

  async function start(): Promise<void> {
    if (child !== null) throw new Error(`${script} is running`)
    const own: ServerSettings = { ...settings, port }
    const started = fork(fileURLToPath(new URL(script, import.meta.url)), [], {
      cwd: root,
      execArgv: ['--import', 'tsx'],
      env: { ...process.env, [settingsName]: JSON.stringify(own) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Ctrl+C is for the parent, which ends its children; they end by themselves when it is gone.
      detached: true,
    })
    child = started
    let said = ''
    started.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-4_000)
    })
    const ended = once(started, 'exit').then(
      ([code, signal]) => `${script} ended (${code ?? signal}): ${said}`,
    )
    const listening = new Promise<void>(resolve => {
      started.on('message', (what: ServerReport) => {
        if ('fault' in what) listener.fault(what.fault, what.story)
        else {
          port = what.listening
          resolve()
        }
      })
    })
    const early = await Promise.race([listening, ended])
    if (early !== undefined) {
      if (child === started) child = null
      throw new Error(early)
    }
    void ended.then(how => {
      if (child !== started) return
      child = null
      listener.died(how)
    })
  }

  async function end(): Promise<void> {
    const killed = child
    child = null
    if (killed === null || killed.exitCode !== null || killed.signalCode !== null) return
    const gone = once(killed, 'exit')
    killed.kill('SIGKILL')
    await gone
  }

  return {
    get url() {
      return `http://127.0.0.1:${port}`
    },
    start,
    async kill() {
      if (child === null) throw new Error(`${script} is not running`)
      await end()
    },
    end,
  }
}
