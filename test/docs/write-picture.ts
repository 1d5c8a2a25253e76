/**
 * Takes the picture of a report that docs/audit.md shows: an audit of a wallet that forgets refusals. Needs Chromium:
 * `npx tsx test/docs/write-picture.ts`.
 */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { basicAuth, createHttpHandler } from '../../src/http/index.js'
import { recordSettlement, type WalletStore } from '../../src/index.js'
import { createMemoryStore } from '../../src/stores/memory.js'
import { auditWallet, renderHtml } from '../../src/tools/audit/index.js'
import { findBrowser, flags } from '../tools/audit/html/browser.js'
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
    const balance = memory.account(playerId)?.balance ?? '0'
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
const browser = await chromium.launch({ executablePath: found.browser, args: [...flags] })
const page = await browser.newPage({ viewport: { width: 1000, height: 900 } })
await page.setContent(renderHtml(report))
// WebP, since the picture is in the package: a fourth of the size of PNG.
const session = await page.context().newCDPSession(page)
const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 60 })
writeFileSync(join(root, 'docs/images/audit-report.webp'), Buffer.from(data, 'base64'))
await browser.close()
console.log(report.results.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id))
