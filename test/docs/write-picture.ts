/**
 * Takes the picture of a report that docs/audit.md shows: an audit of a wallet that forgets refusals. Needs Chromium:
 * `npx tsx test/docs/write-picture.ts`.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { basicAuth, createHttpHandler } from '../../src/http/index.js'
import { recordSettlement, type WalletStore } from '../../src/index.js'
import { createMemoryStore } from '../../src/stores/memory.js'
import { auditWallet, renderHtml } from '../../src/tools/audit/index.js'
import { findBrowser } from '../tools/audit/html/browser.js'
import { root } from './pages.js'

const credentials = { username: 'platform', password: 'demo-secret' }
const players = ['anna', 'ben'].map(playerId => ({ playerId, currency: 'EUR', balance: '100.00' }))
const memory = createMemoryStore(players)
const forgetful: WalletStore = {
  contractVersion: memory.contractVersion,
  load: keys => memory.load(keys),
  async commit(changes) {
    const { operation, playerId, refusal } = changes.transaction
    if (operation !== 'placebet' || refusal?.errorCode !== 'INSUFFICIENT_FUNDS') return memory.commit(changes)
    const balance = memory.player(playerId)?.balance ?? '0'
    return { status: 'committed', balance, walletTransactionId: null }
  },
}

const handle = createHttpHandler(forgetful, { authenticate: basicAuth(credentials), basePath: '/wallet' })
const server = createServer(async (request, response) => {
  const { method = '', url: path = '', headers } = request
  const answer = await handle({ method, path, headers, body: request })
  response.writeHead(answer.status, answer.headers).end(answer.body)
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))

const report = await auditWallet({
  baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/wallet`,
  ...{ credentials, playerId: 'anna', otherPlayerId: 'ben', currency: 'EUR' },
  async settle(settlement) {
    const outcome = await recordSettlement(forgetful, settlement)
    if (!outcome.ok) throw new Error(outcome.errorCode)
  },
})
server.close()
server.closeAllConnections()

const found = await findBrowser()
if ('reason' in found) throw new Error(found.reason)
const folder = mkdtempSync(join(tmpdir(), 'audit-report-'))
writeFileSync(join(folder, 'report.html'), renderHtml(report))
execFileSync(found.browser, [
  ...[
    '--headless',
    '--no-sandbox',
    '--hide-scrollbars',
    '--window-size=1000,1960',
    `--user-data-dir=${folder}`,
  ],
  `--screenshot=${join(root, 'docs/images/audit-report.png')}`,
  `file://${join(folder, 'report.html')}`,
])
rmSync(folder, { recursive: true, force: true })
console.log(report.results.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id))
