/** Shared by the server scripts of the soak: settings, reports, and the end together with the parent. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WalletStore } from 'bet-wallet'
import type { PlayersTable } from 'bet-wallet/postgres'
import type { Fault } from './faults.js'

export const credentials = { username: 'platform', password: 'soak-secret' }

/** Limits in milliseconds where a database may stay silent. */
export interface Limits {
  /** For a connection to be ready. */
  connectMs: number
  /** For a batch of the wallet, and for a statement of the PAM. */
  timeoutMs: number
}

/** The settings of a server, as JSON in its environment: those of its script, and the port. */
export type ServerSettings<Settings> = Settings & {
  /** 0: any free port. */
  port: number
}

/** The settings of the scripts over PostgreSQL. */
export interface PostgresSettings {
  databaseUrl: string
  players: PlayersTable | null
  fault: Fault | null
  limits: Limits | null
}

/** A message of a server to its parent. */
export type ServerReport =
  | { listening: number }
  /** A call was answered with a fault: the error's code, and its message with those of its causes. */
  | { fault: string; messages: string }
  /** The first settlement that this process has committed without a load. */
  | { credited: true }

export const settingsName = 'BET_WALLET_SOAK'

export function settings<Settings = PostgresSettings>(): ServerSettings<Settings> {
  const text = process.env[settingsName]
  if (text === undefined) throw new Error(`${settingsName} is missing: this script is started by the soak`)
  return JSON.parse(text) as ServerSettings<Settings>
}

export function report(message: ServerReport): void {
  process.send?.(message)
}

/** The same store, which reports its first commit of a credit. */
export function reportingCredits(store: WalletStore): WalletStore {
  let isReported = false
  return {
    ...store,
    async commit(changes) {
      const result = await store.commit(changes)
      if (!isReported && changes.credit !== null && result.status === 'committed') {
        isReported = true
        report({ credited: true })
      }
      return result
    },
  }
}

export function reportFault(error: unknown): void {
  const code = (error as { code?: unknown } | null)?.code
  report({ fault: typeof code === 'string' ? code : 'NO_CODE', messages: messagesOf(error) })
}

function messagesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const causes =
    error instanceof AggregateError ? error.errors : error.cause === undefined ? [] : [error.cause]
  return [error.message, ...causes.map(messagesOf)].filter(text => text !== '').join(' ← ')
}

/**
 * Listens, and reports the port. Below the ephemeral ports, so that no connection takes it while the server
 * is down.
 */
export async function listen(server: Server, { port }: { port: number }): Promise<void> {
  process.on('disconnect', () => process.exit())
  for (;;) {
    const candidate = port === 0 ? randomInt(15_000, 30_000) : port
    try {
      server.listen(candidate, '127.0.0.1')
      await once(server, 'listening')
      report({ listening: candidate })
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      await sleep(20)
    }
  }
}
