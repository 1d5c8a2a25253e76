/** Where a server of the examples listens: what is wrong is said at once, before a database is made. */
import { once } from 'node:events'
import { createServer } from 'node:net'

export interface ListenAddress {
  port: number
  host: string
  /** `null`: without INTERNAL_PORT. */
  internalPort: number | null
}

/**
 * From PORT, HOST and INTERNAL_PORT. Ports must be free now: another program may still take one later.
 *
 * @throws {Error} with a message for the user
 */
export async function readListenAddress(): Promise<ListenAddress> {
  // Not ??: with an empty HOST, the server would listen on every interface.
  const port = portOf('PORT', process.env.PORT || '3000')
  const host = process.env.HOST || '127.0.0.1'
  const internalPort = process.env.INTERNAL_PORT ? portOf('INTERNAL_PORT', process.env.INTERNAL_PORT) : null
  await mustBeFree('PORT', port, host)
  if (internalPort !== null) await mustBeFree('INTERNAL_PORT', internalPort, host)
  return { port, host, internalPort }
}

/**
 * What to print if callers from elsewhere can reach a server that has the password of the examples.
 *
 * @param address as the server listens on it: `0.0.0.0`
 * @returns `null` on a loopback address
 */
export function exposureWarning(address: string): string | null {
  if (/^(?:::ffff:)?127\.|^::1$/.test(address)) return null
  return (
    `Warning: the wallet listens on ${address}, and its password is public: demo-secret. Everybody who reaches ` +
    'this port can credit money. Do not keep real data in it. HOST=127.0.0.1 keeps others out.'
  )
}

function portOf(name: string, value: string): number {
  if (/^[0-9]{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value)
  throw new Error(`${name} must be a whole number from 0 to 65535, but is ${JSON.stringify(value)}`)
}

async function mustBeFree(name: string, port: number, host: string): Promise<void> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    throw new Error(problemOf(error as NodeJS.ErrnoException, name, port, host), { cause: error })
  }
  server.close()
  await once(server, 'close')
}

function problemOf({ code, message }: NodeJS.ErrnoException, name: string, port: number, host: string) {
  const advice = `Choose another: ${name}=${name === 'PORT' ? 3001 : 9464} npm start`
  if (code === 'EADDRINUSE') return `Port ${port} is in use. ${advice}`
  if (code === 'EACCES') return `Port ${port} is not allowed for this user. ${advice}`
  return `Cannot listen on ${host}, port ${port}: ${message}`
}
