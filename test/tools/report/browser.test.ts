/** The pages of a simulation, of a dispute and of a reconciliation in a real browser: on a phone, on a screen, dark, and on paper. */
import { describe, expect, it } from 'vitest'
import { renderSimulation } from '../../../src/tools/random/printed.js'
import type { SimulationReport } from '../../../src/tools/random/report.js'
import { renderReconciliation } from '../../../src/tools/reconcile/index.js'
import { betReport } from '../../../src/tools/records/bet.js'
import { playerReport } from '../../../src/tools/records/player.js'
import { pageOf } from '../../../src/tools/report/page.js'
import { findBrowser, print } from '../audit/html/browser.js'
import { measurePages } from '../audit/html/measure.js'
import { reconcileWorld, record, rowOf } from '../reconcile/world.js'
import { disputedWallet } from '../records/disputed.js'
import { simulate } from '../wallets/library.js'

const found = await findBrowser()
const browser = 'browser' in found ? found.browser : ''
const without = 'reason' in found ? ` (skipped: ${found.reason})` : ''

/** As long as ids may be. */
const long = 'W'.repeat(240)

async function disputePages(prefix: string): Promise<string[]> {
  const wallet = await disputedWallet(prefix)
  const history = await wallet.player()
  const bets = await wallet.betsOf(history)
  return [...bets.slice(0, 4).map(betReport), playerReport(history)].map(pageOf)
}

/** A wallet that answers wrong balances, huge and below zero. */
async function failedSimulation(playerId: string): Promise<SimulationReport> {
  let calls = 0
  const known = [
    { playerId, currency: 'EUR', balance: '200.00' },
    { playerId: 'kenji', currency: 'JPY', balance: '30000' },
  ]
  const answer = ['9'.repeat(40), `-${'8'.repeat(30)}.5`]
  const { report } = await simulate(
    {
      call: async ({ next }) => {
        const right = await next()
        calls += 1
        return calls % 50 === 49
          ? { ...right, body: right.body.replace(/"balance":[\d.]+/, `"balance":${answer[calls % 2]}`) }
          : right
      },
    },
    { timeline: true, bets: 100 },
    known,
  )
  return report
}

/** Every table of a reconciliation, with ids and amounts of any length. */
async function reconciliationPage(id: string, amount: string): Promise<string> {
  const records = ['EUR', 'JPY', 'BTC'].flatMap(currency =>
    Array.from({ length: 12 }, (_, index) => {
      const own = `${id}-${currency}-${index}`
      return record('settlement', own, own, amount, { currency, playerId: own })
    }),
  )
  const rows = records
    .slice(12)
    .map((each, index) => ({ ...rowOf(each), amount: index % 2 === 0 ? '1' : amount }))
  return renderReconciliation(await reconcileWorld({ rows, records }))
}

describe.skipIf(browser === '')(`in a real browser${without}`, async () => {
  const pages = [
    ...(await disputePages('')),
    ...(await disputePages(long)),
    await reconciliationPage('s', '123456789012345.12'),
    await reconciliationPage(long, '12.5'),
    renderSimulation(await failedSimulation('ann')),
    renderSimulation(await failedSimulation(long)),
  ]

  it.each([
    ['light', 'rgb(255, 255, 255)', []],
    ['dark', 'rgb(20, 23, 27)', ['--force-dark-mode']],
  ])('fit 390 and 1280 pixels, and log nothing: %s', async (_, colour, flags) => {
    const framed = [390, 1280].flatMap(width => pages.map(page => [width, page] as const))
    const { measured, logged } = await measurePages(browser, framed, ...flags)
    expect(logged).toEqual([])
    expect(
      measured.map(({ outside, touching, scripts, handlers }) => ({ outside, touching, scripts, handlers })),
    ).toEqual(framed.map(() => ({ outside: [], touching: [], scripts: 0, handlers: 0 })))
    for (const { scrollWidth, innerWidth, background } of measured) {
      expect(scrollWidth).toBeLessThanOrEqual(innerWidth)
      expect(background).toBe(colour)
    }
  })

  it('are found too wide if they are', async () => {
    const wide =
      pages[0]?.replace('<main>', '<main><svg class="too-wide" width="500" height="5"></svg>') ?? ''
    const { measured } = await measurePages(browser, [[390, wide]])
    expect(measured[0]?.outside).toContain('svg too-wide')
  })

  it('print', async () => {
    for (const page of [pages[0], pages[4], pages.at(-1)]) {
      const pdf = await print(browser, page ?? '')
      expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
      expect(pdf.length).toBeGreaterThan(10_000)
    }
  })
})
