/** A database in a folder, as PGlite keeps it: for one process at a time. */
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** What the folder needs of a PGlite. */
export interface EmbeddedDatabase {
  close(): Promise<void>
}

export interface DataFolder<D> {
  database: D
  readonly close: () => Promise<void>
}

/**
 * Opens the database of a folder, and creates both if there is none.
 *
 * Commits survive the death of the process (kill -9), but not a power cut: PGlite does not wait for the disk.
 *
 * @param create `dataDir => PGlite.create({ dataDir })`
 * @param onCreate is called before a new database is made, which takes seconds
 * @throws {Error} if the folder is open in a process, also in this one or one of another host, or it cannot
 * be written (with its `code`)
 */
export async function openDataFolder<D extends EmbeddedDatabase>(
  folder: string,
  create: (dataDir: string) => Promise<D>,
  onCreate: () => void = () => {},
): Promise<DataFolder<D>> {
  mkdirSync(folder, { recursive: true })
  // PGlite lets every user write its files.
  chmodSync(folder, 0o700)
  const lock = lockOf(folder)
  const dataDir = join(folder, 'pglite')
  const complete = join(folder, 'complete')
  let database: D | undefined
  try {
    if (!existsSync(complete)) {
      onCreate()
      // The remains of a start that was killed.
      rmSync(dataDir, { recursive: true, force: true })
    }
    const created = await create(dataDir)
    database = created
    writeFileSync(complete, '')
    return {
      database: created,
      async close() {
        await created.close()
        release(lock)
      },
    }
  } catch (error) {
    // The first error is the cause.
    await database?.close().catch(() => {})
    release(lock)
    throw error
  }
}

/**
 * Two processes would corrupt the files of a PGlite, and PGlite does not detect it. Each process writes a
 * file named after its process id and host, then looks for other files. When two start at the same moment,
 * both give up. Files of dead processes are removed; whether one of another host is dead is unknown.
 *
 * @returns its file
 */
function lockOf(folder: string): string {
  mkdirSync(join(folder, 'processes'), { recursive: true })
  const locks = realpathSync(join(folder, 'processes'))
  // A name that is a file name everywhere.
  const here = encodeURIComponent(hostname())
  const ownName = `${process.pid}@${here}`
  const own = join(locks, ownName)
  if (ownLocks.has(own)) throw inUse(folder, String(process.pid), own)
  writeFileSync(own, '')
  try {
    for (const name of readdirSync(locks)) {
      if (name === ownName) continue
      const file = join(locks, name)
      const [pid = '', host] = name.split('@')
      if (host !== here)
        throw new Error(
          `${folder} is in use by process ${pid} of the host ${host}: stop it, or use another folder. ` +
            `(If it has ended, remove ${file})`,
        )
      if (isRunning(Number(pid))) throw inUse(folder, pid, file)
      rmSync(file, { force: true })
    }
  } catch (error) {
    rmSync(own, { force: true })
    throw error
  }
  ownLocks.add(own)
  return own
}

const inUse = (folder: string, pid: string, file: string) =>
  new Error(
    `${folder} is in use by process ${pid}: stop it, or use another folder. ` +
      `(If process ${pid} is another program, this lock is stale: remove ${file})`,
  )

/** Of the folders that this process has open: by its id alone, its lock may be that of an earlier process. */
const ownLocks = new Set<string>()

function release(lock: string): void {
  rmSync(lock, { force: true })
  ownLocks.delete(lock)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0) // signal 0 only checks
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
