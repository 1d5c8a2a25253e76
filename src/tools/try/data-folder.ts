/**
 * A database in a folder, as PGlite keeps it: for one process at a time. Other processes of the same user
 * may read while it is open, through the process that has it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

type Query = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>

/** What the folder needs of a PGlite. */
export interface EmbeddedDatabase {
  query: Query
  transaction<T>(work: (connection: { query: Query }) => Promise<T>): Promise<T | undefined>
  close(): Promise<void>
}

export interface DataFolder<D> {
  database: D
  close(): Promise<void>
}

/** Another process of this host has the folder open. */
class FolderInUse extends Error {
  /** Where that process answers queries; `null`: not yet. */
  readonly reader: Reader | null

  constructor(folder: string, pid: string, file: string) {
    super(
      `${folder} is in use by process ${pid}: stop it, or use another folder. ` +
        `(If process ${pid} is another program, this lock is stale: remove ${file})`,
    )
    this.reader = readerIn(file)
  }
}

/** The process that answered queries has ended, or closed its database. */
class ReaderGone extends Error {}

/** A lock says where its process answers queries. Only the same user can read the token. */
interface Reader {
  port: number
  token: string
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
  const dataDir = dataDirOf(folder)
  const complete = join(folder, 'complete')
  let database: D | undefined
  let server: Server | undefined
  try {
    if (!existsSync(complete)) {
      onCreate()
      // The remains of a start that was killed.
      rmSync(dataDir, { recursive: true, force: true })
    }
    database = await create(dataDir)
    writeFileSync(complete, '')
    const token = randomBytes(32).toString('hex')
    server = await serveQueries(database, token)
    const reader: Reader = { port: (server.address() as AddressInfo).port, token }
    writeFileSync(lock, JSON.stringify(reader), { mode: 0o600 })
    return opened(database, server, lock)
  } catch (error) {
    server?.close()
    // The first error is the cause.
    await database?.close().catch(() => {})
    release(lock)
    throw error
  }
}

const opened = <D extends EmbeddedDatabase>(database: D, server: Server, lock: string): DataFolder<D> => ({
  database,
  async close() {
    // Before the server: the reader then sees an empty lock, and waits.
    writeFileSync(lock, '')
    server.close()
    server.closeAllConnections()
    await database.close()
    release(lock)
  },
})

/** For another process that opens or closes the folder just now. */
const waitMsMax = 30_000

interface Reading {
  query: Query
  close(): Promise<void>
}

/**
 * Opens the database of a folder for reading, also while another process has it open.
 *
 * @throws {Error} if there is no database, or the process that has it does not answer
 */
export async function readDataFolder<D extends EmbeddedDatabase>(
  folder: string,
  create: (dataDir: string) => Promise<D>,
): Promise<Reading> {
  if (!existsSync(join(folder, 'complete'))) throw new Error(`${folder} has no complete database`)
  let opening = openToRead(folder, create)
  await opening
  return {
    async query(text, values) {
      for (const end = Date.now() + waitMsMax; ; ) {
        const asked = opening
        try {
          return await (await asked).query(text, values)
        } catch (error) {
          if (!(error instanceof ReaderGone) || Date.now() > end) throw error
          // Once for all queries that run: this process must not open the files twice.
          if (opening === asked) opening = openToRead(folder, create)
        }
      }
    },
    // If it could not be opened again, the queries have failed with the error.
    close: () =>
      opening.then(
        ({ close }) => close(),
        () => {},
      ),
  }
}

async function openToRead<D extends EmbeddedDatabase>(
  folder: string,
  create: (dataDir: string) => Promise<D>,
): Promise<Reading> {
  for (const end = Date.now() + waitMsMax; ; ) {
    try {
      const { database, close } = await openDataFolder(folder, create)
      return { query: (text, values) => database.query(text, values), close }
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error
      const { reader } = error
      if (reader !== null) {
        return { query: (text, values) => ask(reader, text, values), close: async () => {} }
      }
      if (Date.now() > end) throw error
      // Two that have started at the same moment have both given up: not again at the same moment.
      await sleep(50 + Math.random() * 200)
    }
  }
}

/** @returns the folders of databases: the folder itself, or those in it */
export function dataFoldersIn(folder: string): string[] {
  const isOne = (path: string) => existsSync(dataDirOf(path))
  if (isOne(folder) || !existsSync(folder)) return isOne(folder) ? [folder] : []
  return readdirSync(folder)
    .map(name => join(folder, name))
    .filter(isOne)
}

const dataDirOf = (folder: string) => join(folder, 'pglite')

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
  if (ownLocks.has(own)) throw new FolderInUse(folder, String(process.pid), own)
  // Of an earlier process with this id: it keeps its mode, and others might read the token.
  rmSync(own, { force: true })
  writeFileSync(own, '', { flag: 'wx', mode: 0o600 })
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
      if (isRunning(Number(pid))) throw new FolderInUse(folder, pid, file)
      rmSync(file, { force: true })
    }
  } catch (error) {
    rmSync(own, { force: true })
    throw error
  }
  ownLocks.add(own)
  return own
}

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

function readerIn(lock: string): Reader | null {
  try {
    return JSON.parse(readFileSync(lock, 'utf8')) as Reader
  } catch {
    // The process opens its database just now, has closed it, or belongs to another user.
    return null
  }
}

/** Answers queries in read-only database transactions, to processes that know the token. */
async function serveQueries(database: EmbeddedDatabase, token: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { status, answer } = await answerTo(request, token, database)
    response.writeHead(status, { 'content-type': 'application/json' }).end(answer)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  // It alone must not keep the process.
  server.unref()
  return server
}

/** A bigint as text: JSON has none. */
const jsonOf = (value: unknown) =>
  JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item))

async function answerTo(
  request: IncomingMessage,
  token: string,
  database: EmbeddedDatabase,
): Promise<{ status: number; answer: string }> {
  const sent = Buffer.from(String(request.headers.authorization))
  const expected = Buffer.from(`Bearer ${token}`)
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected))
    return { status: 401, answer: jsonOf({ message: 'The token is wrong' }) }
  try {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { text, values } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const result = await database.transaction(async connection => {
      await connection.query('SET TRANSACTION READ ONLY')
      return await connection.query(text, values)
    })
    return { status: 200, answer: jsonOf({ rows: result?.rows ?? [] }) }
  } catch (error) {
    const { message, code } = error as Error & { code?: string }
    return { status: 400, answer: jsonOf({ message, code }) }
  }
}

async function ask(reader: Reader, text: string, values: unknown[] = []) {
  const { status, answer } = await post(reader, JSON.stringify({ text, values })).catch(cause => {
    throw new ReaderGone('The process that had the folder open does not answer', { cause })
  })
  if (status === 200) return answer as { rows: unknown[] }
  const { message, code } = answer as { message?: string; code?: string }
  throw Object.assign(new Error(message ?? `The database answered ${status}`), { code })
}

/**
 * Not with `fetch`: that of Node.js 20 neither resolves nor rejects if the server closes a connection before
 * the request is written. Nothing then keeps the process, and it ends with exit code 0.
 */
const post = ({ port, token }: Reader, body: string) =>
  new Promise<{ status: number | undefined; answer: unknown }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const options = { host: '127.0.0.1', port, method: 'POST', headers, agent: false }
    request(options, response => {
      json(response).then(answer => resolve({ status: response.statusCode, answer }), reject)
    })
      .on('error', reject)
      .end(body)
  })
