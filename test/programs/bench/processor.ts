/** The processor time of a database server, as counted by Linux. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'
import type { ServerTime } from './measure.js'

/**
 * `null` where the server's processes are not visible: on another machine, in another container, not on
 * Linux.
 */
export async function postgresTimeOf(pool: pg.Pool): Promise<ServerTime | null> {
  const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const backend = statOf(String(rows[0]?.pid))
  if (backend === null || !backend.name.startsWith('postgres')) return null
  const ticksPerSecond = clockTicks()
  const { parent: postmaster } = backend
  return () => {
    let ticks = 0
    for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
      const stat = statOf(pid)
      if (stat === null) continue
      if (pid === postmaster) ticks += stat.ticks + stat.ticksOfEnded
      else if (stat.parent === postmaster) ticks += stat.ticks
    }
    return (ticks / ticksPerSecond) * 1_000_000
  }
}

/** The time of one process, with all its threads. `null` where it is not visible: see {@link postgresTimeOf}. */
export function processTimeOf(pid: number, names: readonly string[]): ServerTime | null {
  if (!names.includes(statOf(String(pid))?.name ?? '')) return null
  const ticksPerSecond = clockTicks()
  return () => ((statOf(String(pid))?.ticks ?? Number.NaN) / ticksPerSecond) * 1_000_000
}

const clockTicks = () => Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

interface Stat {
  name: string
  parent: string
  ticks: number
  /** Of its exited children. */
  ticksOfEnded: number
}

function statOf(pid: string): Stat | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch (error) {
    // It has exited since it was listed, or there is no /proc.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
  // "pid (name) state parent …"; the name may contain any character.
  const [, name, rest] = /^\d+ \((.*)\) (.*)$/s.exec(text) ?? []
  if (name === undefined || rest === undefined) return null
  const fields = rest.split(' ')
  const sum = (from: number) => Number(fields[from]) + Number(fields[from + 1])
  return { name, parent: fields[1] ?? '', ticks: sum(11), ticksOfEnded: sum(13) }
}
