/** Where an incident arises: a wallet behind real HTTP on a real database, and the platform that calls it. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { basicAuth, createHttpHandler } from '../../../src/http/index.js'
import { createFaultLog } from '../../../src/http/log.js'
import { recordSettlement, type WalletOptions, type WalletStore } from '../../../src/index.js'
import type { IncidentDatabase } from './databases.js'

/** What a call was answered: its status, or that the answer was lost. */
export type Expected = number | 'lost'

export interface Placebet {
  transactionId: string
  betId: string
  playerId?: string
  amount?: string
  currency?: string
  transactionDate?: string
}

/** `type` has a default per call: BET_PAID, UNSCORED, TECHNICAL_ERROR. */
export interface LaterCall extends Placebet {
  type?: string
}

/** The calls of the platform. Each checks that it was answered as the incident needs it. */
export interface Platform {
  placebet(call: Placebet, expected?: Expected): Promise<void>
  settle(call: LaterCall, expected?: Expected): Promise<void>
  unsettle(call: LaterCall, expected?: Expected): Promise<void>
  rollback(call: LaterCall, expected?: Expected): Promise<void>
}

export type ReportRow = Placebet & { operation: string; type?: string }

export interface Scene {
  readonly database: IncidentDatabase
  readonly platform: Platform
  /** Of the wallet, with the path below which the calls are. */
  readonly url: string
  /** What the wallet has logged. */
  readonly log: readonly string[]
  /** The range of the platform's report: UTC. */
  range: { from: string; to: string }
  /** Where on-call reads the database; as `database.url` without an incident of the network. */
  commandUrl: string | null
  /** The same calls, to a wallet with another store on the same database, with its own log. */
  platformOn(store: WalletStore, options?: WalletOptions): Promise<Platform>
  /** Writes the platform's report, `platform.csv`. Dates are left out where the incident is not about them. */
  report(rows: readonly ReportRow[]): void
  /** Called at the end of the scene. */
  atEnd(end: () => Promise<void>): void
  /** The same for what ends with this process, as a lock does. */
  keep(end: () => Promise<void>): void
  readonly isKept: boolean
  /** Where the report is. */
  readonly folder: string
  close(): Promise<void>
}

const credentials = { username: 'platform', password: 'demo-secret' }
const hourMs = 3_600_000

const withoutMs = (time: number) => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')

/** @param folder for the platform's report */
export async function openScene(database: IncidentDatabase, folder: string): Promise<Scene> {
  const ends: (() => Promise<void>)[] = []
  const log: string[] = []
  let isKept = false
  const walletOn = async (store: WalletStore, options: WalletOptions = {}) => {
    const wallet = await openWallet(store, options, log)
    ends.push(wallet.close)
    return wallet
  }
  const { platform, url } = await walletOn(database.store)
  const now = Date.now()
  return {
    ...{ database, log, folder, platform, url, commandUrl: database.url },
    platformOn: async (...store) => (await walletOn(...store)).platform,
    range: { from: withoutMs(now - hourMs), to: withoutMs(now + hourMs) },
    report(rows) {
      const columns = [
        'operation',
        'transactionId',
        'betId',
        'playerId',
        'type',
        'amount',
        'currency',
      ] as const
      const isDated = rows.some(({ transactionDate }) => transactionDate !== undefined)
      const names = isDated ? ([...columns, 'transactionDate'] as const) : columns
      const lines = rows.map(row => {
        const full = {
          playerId: 'anna',
          type: '',
          amount: '30',
          currency: 'EUR',
          transactionDate: '',
          ...row,
        }
        return names.map(name => full[name]).join(',')
      })
      writeFileSync(join(folder, 'platform.csv'), `${[names.join(','), ...lines].join('\n')}\n`)
    },
    atEnd(end) {
      ends.push(end)
    },
    keep(end) {
      isKept = true
      ends.push(end)
    },
    get isKept() {
      return isKept
    },
    async close() {
      for (const end of ends.reverse()) await end()
    },
  }
}

async function openWallet(store: WalletStore, options: WalletOptions, log: string[]) {
  let losesAnswer = false
  const handle = createHttpHandler(store, {
    ...options,
    authenticate: basicAuth(credentials),
    basePath: '/wallet',
    routes: { '/settlement': body => recordSettlement(store, body, options) },
    onError: createFaultLog(line => log.push(line)),
  })
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const answer = await handle({ method, path, headers, body: request })
    if (losesAnswer) response.destroy()
    else response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/wallet`

  async function send(path: string, body: object, expected: Expected): Promise<void> {
    losesAnswer = expected === 'lost'
    const { username, password } = credentials
    const request = fetch(`${base}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${btoa(`${username}:${password}`)}`,
      },
      body: JSON.stringify(body),
    })
    const actual = await request.then(
      async response => [response.status, await response.text()] as const,
      () => ['lost', ''] as const,
    )
    if (actual[0] !== expected)
      throw new Error(
        `${path} ${JSON.stringify(body)} was answered ${actual.join(' ')}, not ${expected}. ${log.at(-1) ?? ''}`,
      )
  }

  const dated = (call: Placebet) => ({
    ...{ playerId: 'anna', transactionDate: new Date().toISOString() },
    ...call,
  })
  const money = (call: Placebet) => ({ amount: '30', currency: 'EUR', ...dated(call) })
  const platform: Platform = {
    placebet: (call, expected = 200) =>
      send('/placebet', { sessionId: 's', betType: 'SINGLE', ...money(call) }, expected),
    settle: (call, expected = 200) => send('/settlement', { type: 'BET_PAID', ...money(call) }, expected),
    unsettle: (call, expected = 200) => send('/unsettlement', { type: 'UNSCORED', ...dated(call) }, expected),
    rollback: (call, expected = 200) =>
      send('/rollbackbet', { type: 'TECHNICAL_ERROR', ...dated(call) }, expected),
  }
  return {
    ...{ platform, url: base },
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
