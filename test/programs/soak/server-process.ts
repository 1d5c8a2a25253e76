/** A server in its own process, which can be killed and restarted on the same port. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type ServerReport, type ServerSettings, settingsName } from './server-child.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface ServerProcess {
  /** `http://127.0.0.1:20000`; refuses connections after `kill`. */
  readonly url: string
  /** Resolves when the server listens. */
  start(): Promise<void>
  /** SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>
  /** The same, also for a process that has ended already. */
  end(): Promise<void>
}

export interface ServerListener {
  /** The server answered a call with a fault: the error's code, and its messages. */
  fault(code: string, messages: string): void
  /** A wallet has committed a settlement without a load: reported once per process. */
  credited?(): void
  /** The process has ended without `kill` or `end`. */
  died(how: string): void
}

/**
 * @param script a file name beside this one
 * @param settings of that script, without its port
 */
export function createServerProcess<Settings extends object>(
  script: string,
  settings: Settings,
  listener: ServerListener,
): ServerProcess {
  let child: ChildProcess | null = null
  let port = 0

  async function start(): Promise<void> {
    if (child !== null) throw new Error(`${script} is running`)
    const own: ServerSettings<Settings> = { ...settings, port }
    const started = fork(fileURLToPath(new URL(script, import.meta.url)), [], {
      cwd: root,
      execArgv: ['--import', 'tsx'],
      env: { ...process.env, [settingsName]: JSON.stringify(own) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Ctrl+C is handled by the parent, which ends its children; they also end when the parent does.
      detached: true,
    })
    child = started
    let output = ''
    started.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output = `${output}${text}`.slice(-4_000)
    })
    const ended = once(started, 'exit').then(
      ([code, signal]) => `${script} ended (${code ?? signal}): ${output}`,
    )
    const listening = new Promise<void>(resolve => {
      started.on('message', (report: ServerReport) => {
        if ('credited' in report) listener.credited?.()
        else if ('fault' in report) listener.fault(report.fault, report.messages)
        else {
          port = report.listening
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
    const exited = once(killed, 'exit')
    killed.kill('SIGKILL')
    await exited
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
