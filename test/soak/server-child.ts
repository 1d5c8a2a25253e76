/** What the server scripts of the soak have in common: they are told where to listen, and end with their parent. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PlayersTable } from 'bet-wallet/postgres'
import type { Fault } from './faults.js'

export const credentials = { username: 'platform', password: 'soak-secret' }

/** What a server is told by its parent, as JSON in the environment. */
export interface ServerSettings {
  databaseUrl: string
  /** 0: any. */
  port: number
  players: PlayersTable | null
  legacyBets: string | null
  fault: Fault | null
}

/** What a server tells its parent. */
export type ServerReport =
  | { listening: number }
  /** Something was answered as a fault: the error's code, and its text with that of its causes. */
  | { fault: string; story: string }

export const settingsName = 'BET_WALLET_SOAK'

export function settings(): ServerSettings {
  const text = process.env[settingsName]
  if (text === undefined) throw new Error(`${settingsName} is missing: this script is started by the soak`)
  return JSON.parse(text) as ServerSettings
}

export function report(what: ServerReport): void {
  process.send?.(what)
}

export function reportFault(error: unknown): void {
  const code = (error as { code?: unknown } | null)?.code
  report({ fault: typeof code === 'string' ? code : 'NO_CODE', story: storyOf(error) })
}

function storyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const causes =
    error instanceof AggregateError ? error.errors : error.cause === undefined ? [] : [error.cause]
  return [error.message, ...causes.map(storyOf)].filter(text => text !== '').join(' ← ')
}

/**
 * Listens, and says where. The port is one below those that connections are given, so that nobody else is found there
 * while the server is dead.
 */
export async function listen(server: Server, { port }: ServerSettings): Promise<void> {
  process.on('disconnect', () => process.exit())
  for (;;) {
    const wanted = port === 0 ? randomInt(15_000, 30_000) : port
    try {
      server.listen(wanted, '127.0.0.1')
      await once(server, 'listening')
      report({ listening: wanted })
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      await sleep(20)
    }
  }
}
