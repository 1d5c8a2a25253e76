/** Many callers, compared with pgbench running an equivalent stored procedure, prepared. */
import { execFile } from 'node:child_process'
import { accessSync, constants, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { type Contestant, inTurn, ratioOf, type Sample } from '../measure.js'
import type { PartResult } from '../report.js'
import { anyPlayer, playersCount, risingId } from '../requests.js'
import { type Tally, tally } from '../tally.js'
import { type BenchDatabase, checkBooks, type Ground, library, quieten, withDatabase } from './ground.js'
import { procedureScript } from './hand-written.js'

const clients = 16

export async function procedure(ground: Ground): Promise<PartResult> {
  const title = `64 concurrent callers, and a stored procedure run by pgbench with ${clients} clients`
  const program = pgbenchProgram()
  if (program === null) {
    return { title, measured: [], ratios: [], notes: ['Not measured: pgbench is not installed.'] }
  }
  return withDatabase(ground, async database => {
    const [ours, theirs] = [tally(), tally()]
    const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-pgbench-'))
    try {
      const script = join(folder, 'placebet.sql')
      writeFileSync(script, procedureScript(ground.options.ids, playersCount))
      const measured = await inTurn(
        [
          library(database, { callers: 64, player: anyPlayer }, ours),
          pgbench(database, program, script, theirs),
        ],
        ground.options,
      )
      await checkBooks(database, 'bet_wallet', ours.accepted)
      await checkBooks(database, 'hand_written', theirs.accepted)
      return {
        title,
        measured,
        ratios: [
          {
            name: 'times the placebets per second',
            value: ratioOf(measured, s => s.perSecond),
            limit: { least: 1.8 },
          },
        ],
        notes: [],
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

function pgbench(database: BenchDatabase, program: string, script: string, answers: Tally): Contestant {
  const { url, serverTime } = database
  const { hostname, port, username, password, pathname } = new URL(url)
  const env = {
    ...process.env,
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
  }
  const threads = Math.min(availableParallelism(), clients)
  return {
    name: 'prepared procedure',
    prepare: () => quieten(database, 'hand_written'),
    async run(seconds): Promise<Sample> {
      const before = serverTime?.() ?? null
      // pgbench takes whole seconds only.
      const { stdout } = await promisify(execFile)(
        program,
        [
          ...['--no-vacuum', '--protocol=prepared', `--client=${clients}`, `--jobs=${threads}`],
          ...[`--time=${Math.max(1, Math.round(seconds))}`, `--file=${script}`],
          ...[`--define=first=${risingId()}`, '--define=n=0'],
        ],
        { env, maxBuffer: 1e8 },
      )
      const number = (pattern: RegExp): number => {
        const found = pattern.exec(stdout)?.[1]
        if (found === undefined) throw new Error(`pgbench printed:\n${stdout}`)
        return Number(found)
      }
      const count = number(/^number of transactions actually processed: (\d+)/m)
      answers.accepted += count
      return {
        perSecond: number(/^tps = ([\d.]+) \(without initial connection time\)/m),
        p50Ms: null,
        p99Ms: null,
        nodeUs: null,
        serverUs: serverTime === null ? null : (serverTime() - (before ?? 0)) / count,
      }
    },
  }
}

/** On the PATH, or in the folders of Debian's packages; of several, the newest. */
function pgbenchProgram(): string | null {
  const packages = '/usr/lib/postgresql'
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...foldersIn(packages)
      .sort((a, b) => Number(b) - Number(a))
      .map(version => join(packages, version, 'bin')),
  ]
  for (const folder of folders.filter(name => name !== '')) {
    const program = join(folder, process.platform === 'win32' ? 'pgbench.exe' : 'pgbench')
    try {
      accessSync(program, constants.X_OK)
      return program
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }
  return null
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
