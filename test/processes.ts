/** The processes of the servers that tests start: their signals and ends, and that none outlives our own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'

/** A server that has not started, or not joined its cluster, by then hangs: a busy machine needs 40 s. */
export const startMsMax = 500_000

export interface Watchdog {
  /** Sets the processes to stop when our process ends. */
  watch(pids: readonly (number | undefined)[]): void
  /** Ends the watchdog, after the folder was removed. */
  stop(): Promise<void>
}

/**
 * Our process may end by SIGKILL, and its servers would continue to run. So a shell reads from us: its input
 * ends with our process, however it ends. Each line names the processes to stop then.
 *
 * @param folder is removed after that
 * @param end shell commands that end `$pids`, and count their `$tries` of a tenth of a second
 */
export function startWatchdog(folder: string, end: string): Watchdog {
  const script = `
    trap '' HUP INT TERM
    folder=$1 pids=
    while read -r line; do pids=$line; done
    tries=0
    if [ -n "$pids" ]; then ${end}
    fi
    until rm -rf -- "$folder" || [ $tries -ge 200 ]; do sleep 0.1; tries=$((tries + 1)); done
  `
  // Windows has no such shell. The server is stopped when our process exits normally.
  if (process.platform === 'win32') {
    let pids: readonly (number | undefined)[] = []
    const killAll = () => {
      for (const pid of pids) if (pid !== undefined) signalTo(pid, 'SIGKILL')
    }
    process.once('exit', killAll)
    return {
      watch(watched) {
        pids = watched
      },
      async stop() {
        process.off('exit', killAll)
      },
    }
  }
  const shell = spawn('sh', ['-c', script, 'sh', folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const input = shell.stdin
  shell.unref()
  ;(input as unknown as Socket).unref()
  return {
    watch(pids) {
      input.write(`${pids.join(' ')}\n`)
    },
    async stop() {
      input.end('\n')
      await exitOf(shell)
    },
  }
}

export function isAlive(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null
}

export async function exitOf(child: ChildProcess): Promise<void> {
  child.ref()
  if (isAlive(child)) await once(child, 'exit')
}

export function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // It has exited already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * SIGSTOP to a process group, and the wait until all of its threads have stopped: on a busy machine one of them may
 * receive and answer for some more milliseconds. Linux; elsewhere the signal alone.
 */
export function pauseGroup(group: number): void {
  signalTo(-group, 'SIGSTOP')
  const nap = new Int32Array(new SharedArrayBuffer(4))
  while (threadsOf(group).some(stat => !/^.*\) [TZX] /s.test(stat))) Atomics.wait(nap, 0, 0, 1)
}

const threadsOf = (group: number): string[] =>
  process.platform === 'linux'
    ? processes()
        .filter(each => each.group === group)
        .flatMap(({ pid }) =>
          unlessExited(() => readdirSync(`/proc/${pid}/task`), []).map(thread =>
            statOf(`${pid}/task/${thread}`),
          ),
        )
        .filter(stat => stat !== '')
    : []

interface RunningProcess {
  pid: number
  parent: number
  /** Its process group: the id of the process that was spawned `detached`. */
  group: number
  /** One letter: T stopped, Z exited but not yet reaped by its parent. */
  state: string
}

export function processes(): RunningProcess[] {
  if (process.platform === 'win32') return []
  // Slim containers have no ps.
  if (process.platform !== 'linux') {
    return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,state='], { encoding: 'utf8' })
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .filter(fields => fields.length === 4)
      .map(([pid, parent, group, state]) => ({
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        state: state?.[0] ?? '',
      }))
  }
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => {
      const stat = statOf(name)
      // "pid (name) state parent group …"; the name may contain any character.
      const [, state, parent, group] = /^.*\) (\S) (\d+) (\d+) /s.exec(stat) ?? []
      return state === undefined
        ? []
        : [{ pid: Number(name), parent: Number(parent), group: Number(group), state }]
    })
}

const statOf = (pid: string): string => unlessExited(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '')

/** What `read` finds in `/proc`; `otherwise` if the process has exited since it was listed. */
function unlessExited<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return otherwise
    throw error
  }
}
