import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type AuditReport, auditWallet } from '../../../../src/tools/audit/index.js'
import { renderHtml } from '../../../../src/tools/audit/printout.js'
import { startPlainWallet } from '../../wallets/independent/plain.js'
import { findBrowser } from './browser.js'
import { measurePages } from './measure.js'

const found = await findBrowser()
const browser = 'browser' in found ? found.browser : ''
const without = 'reason' in found ? ` (skipped: ${found.reason})` : ''

async function audited(): Promise<AuditReport> {
  const wallet = await startPlainWallet({ fault: 'no-tombstone' })
  try {
    return await auditWallet({
      ...{ baseUrl: wallet.url, credentials: wallet.credentials, currency: 'EUR', playerId: 'player-1' },
      only: ['AU-101', 'AU-301', 'AU-302', 'AU-502', 'AU-802'],
    })
  } finally {
    await wallet.close()
  }
}

const measureAll = (pages: Parameters<typeof measurePages>[1], ...flags: string[]) =>
  measurePages(browser, pages, ...flags)

describe.skipIf(browser === '')(`in a real browser${without}`, () => {
  it('the page of an audit fits a phone and a screen, and runs no script', async () => {
    const page = renderHtml(await audited())
    const { measured, logged } = await measureAll([390, 1200].map(width => [width, page] as const))
    expect(logged).toEqual([])
    expect(measured).toMatchObject([390, 1200].map(() => ({ outside: [], scripts: 0, handlers: 0 })))
    for (const { scrollWidth, innerWidth } of measured) expect(scrollWidth).toBeLessThanOrEqual(innerWidth)
  })
})

describe('the search for a browser', () => {
  it('finds none where there is none, and says so', async () => {
    const reason = 'none of chromium, chromium-browser, google-chrome is in PATH'
    expect(await findBrowser('')).toEqual({ reason })
    expect(await findBrowser('/nowhere:/dev')).toEqual({ reason })
  })

  it('does not take what opens no page', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-no-browser-'))
    try {
      const stub = join(folder, 'chromium-browser')
      for (const script of ['exit 1', 'exit 0']) {
        writeFileSync(stub, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
        expect(await findBrowser(folder)).toEqual({ reason: `${stub} opens no page` })
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
