import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { renderHtml } from '../../../../src/tools/audit/html/render.js'
import { findBrowser, open, print } from './browser.js'
import { measurePage, measurePages } from './measure.js'
import { failingReport, largeReport, passingReport, withEveryText } from './sample.js'

const found = await findBrowser()
const browser = 'browser' in found ? found.browser : ''
const without = 'reason' in found ? ` (skipped: ${found.reason})` : ''
const failing = renderHtml(failingReport)
const longWords = renderHtml(withEveryText(failingReport, () => 'W'.repeat(300)))
const longNumbers = renderHtml(withEveryText(failingReport, () => `${'8'.repeat(40)}.${'8'.repeat(40)}`))

const measureAll = (pages: Parameters<typeof measurePages>[1], ...flags: string[]) =>
  measurePages(browser, pages, ...flags)

const measure = (page: string, width: number, ...flags: string[]) =>
  measurePage(browser, page, width, ...flags)

describe.skipIf(browser === '')(`in a real browser${without}`, { timeout: 180_000 }, () => {
  it('the unfolded page fits without horizontal scrolling, and logs nothing', async () => {
    const passing = renderHtml(passingReport)
    const pages = [
      [360, failing],
      [1200, failing],
      [360, passing],
      [1200, passing],
      [360, renderHtml(largeReport)],
      [320, failing],
      [360, longWords],
      [1200, longWords],
      [360, longNumbers],
    ] as const
    // One browser for all pages, since its start takes longer than the measurements.
    const { measured, logged } = await measureAll(pages)
    expect(logged).toEqual([])
    expect(measured).toMatchObject(
      pages.map(([width, page]) => ({
        innerWidth: width,
        outside: [],
        foldedShown: page.match(/class="bodies"/g)?.length,
      })),
    )
    for (const { scrollWidth, innerWidth } of measured) expect(scrollWidth).toBeLessThanOrEqual(innerWidth)
  })

  it('the measurement detects what is too wide', async () => {
    const wide = failing.replace('<main>', '<main><svg class="too-wide" width="500" height="5"></svg>')
    const { scrollWidth, outside } = await measure(wide, 360)
    expect(scrollWidth).toBeGreaterThan(360)
    expect(outside).toContain('svg too-wide')
  })

  it('is well-formed to an XML parser', async () => {
    const asXml = (page: string) =>
      page
        .replace('<html ', '<html xmlns="http://www.w3.org/1999/xhtml" ')
        .replace(/<svg(?=[ >])/g, '<svg xmlns="http://www.w3.org/2000/svg"')
    const { dom } = await open(browser, asXml(failing), 'page.xhtml')
    expect(dom).not.toContain('<parsererror')
    expect(dom).toContain('How to read this')
    const broken = await open(browser, asXml(failing.replace('</main>', '')), 'page.xhtml')
    expect(broken.dom).toContain('<parsererror')
  })

  it('runs no text of a wallet, and its policy would not let it', async () => {
    const attack = `"'></title></style><script>alerted=1</script><img src=x onerror="alerted=1"><svg onload="alerted=1">`
    const escaped = await measure(renderHtml(withEveryText(failingReport, () => attack)), 1200)
    expect(escaped).toMatchObject({ scripts: 0, handlers: 0, alerted: false, logged: [] })

    const injected = await measure(
      failing.replace('<main>', `<main><script>alerted=1</script><img src="x" onerror="alerted=1">`),
      1200,
    )
    expect(injected).toMatchObject({ scripts: 1, handlers: 1, alerted: false })
    expect(injected.logged.join('\n')).toMatch(/Content Security Policy/)

    const unguarded = failing
      .replace(/<meta http-equiv[^>]*>/, '')
      .replace('<main>', '<main><script>alerted=1</script>')
    expect(await measure(unguarded, 1200)).toMatchObject({ alerted: true })
  })

  it('is dark where the reader wants it dark', async () => {
    expect((await measure(failing, 1200)).background).toBe('rgb(255, 255, 255)')
    expect((await measure(failing, 1200, '--force-dark-mode')).background).toBe('rgb(20, 23, 27)')
  })

  it('prints, with what is folded on the screen', async ({ skip }) => {
    const pagesOf = (pdf: Buffer) => pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0
    const page = renderHtml(passingReport)
    const { unfoldsOnPaper } = await measure(page, 1200)
    skip(!unfoldsOnPaper, 'this browser knows no ::details-content: Chromium does since 131')
    const pdf = await print(browser, page)
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
    const folded = await print(browser, page.replace('details::details-content', 'details::nothing'))
    expect(pagesOf(folded)).toBeGreaterThan(0)
    expect(pagesOf(pdf)).toBeGreaterThan(pagesOf(folded))
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
