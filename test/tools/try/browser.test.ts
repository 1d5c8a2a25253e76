/** The page of `bet-wallet try` in Chromium: every button, against the wire. */
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newBetScenarios, placedBetScenarios } from '../../../src/tools/try/scenarios.js'
import { findBrowser, flags } from '../audit/html/browser.js'
import { type Running, startTryPage } from './running.js'

/** Code that runs in the browser. */
const elementsOutside = `[...document.querySelectorAll('section > *, button, input, select, pre, h3')]
  .filter(element => {
    const { left, right, width } = element.getBoundingClientRect()
    return width > 0 && (left < 0 || right > innerWidth + 1)
  })
  .map(element => element.outerHTML.slice(0, 100))`
/** What would have to be scrolled sideways to be read. */
const elementsCut = `[...document.querySelectorAll('body *')]
  .filter(element => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline')
  .map(element => element.outerHTML.slice(0, 100))`
const resultInView = `(() => {
  const { top, bottom, height } = document.getElementById('result').getBoundingClientRect()
  return height > 0 && top >= 0 && bottom <= innerHeight
})()`

const found = await findBrowser()
const without = 'reason' in found ? ` (skipped: ${found.reason})` : ''

describe.skipIf(without !== '')(`in a browser${without}`, () => {
  let browser: Browser
  let running: Running
  let page: Page
  /** What the console shows: errors of the script, violations of the page's policy. */
  let logged: string[]

  beforeAll(async () => {
    const executablePath = 'browser' in found ? found.browser : ''
    browser = await chromium.launch({ executablePath, args: [...flags] })
  })
  afterAll(() => browser.close())
  beforeEach(async () => {
    running = await startTryPage()
    page = await open({})
  })
  afterEach(async () => {
    running.stop()
    await page.context().close()
    expect(logged).toEqual([])
  })

  async function open(options: Parameters<Browser['newContext']>[0]): Promise<Page> {
    logged = []
    const opened = await (await browser.newContext(options)).newPage()
    opened.setDefaultTimeout(300_000)
    opened.on('console', message => logged.push(message.text()))
    opened.on('pageerror', error => logged.push(error.message))
    await opened.goto(running.url)
    return opened
  }

  /** Presses the first button of this name, and waits for its result. */
  async function press(label: string): Promise<void> {
    await page.getByRole('button', { name: label, exact: true }).first().click()
    await page.locator('#result', { hasText: `${label}:` }).waitFor()
  }

  /** The status of each answer of the newest click, as the page shows it. */
  async function shownStatuses(): Promise<(string | undefined)[]> {
    const answers = await page.locator('.event').first().locator('pre.response').allTextContents()
    return answers.map(text => /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])
  }

  const wireStatuses = () => running.wire.map(line => line.split(' ')[1])

  test.each(newBetScenarios)('$label: the page shows what went over the wire', async ({ label }) => {
    await press(label)
    expect(await shownStatuses()).toEqual(wireStatuses())
    expect(await page.locator('.event .rule').first().textContent()).not.toBe('')
    const balance = Number(await running.balanceOf('anna')).toFixed(2)
    expect(await page.locator('.players tbody tr').first().textContent()).toContain(`${balance} EUR`)
  })

  const offered = () => page.locator('.bet').first().getByRole('button').allTextContents()

  test.each(placedBetScenarios)(
    '$label: of a placed bet; then the focus is in that bet, and the buttons are those of its state',
    async ({ label, name }) => {
      await press('Place the bet')
      const labels = placedBetScenarios.map(scenario => scenario.label)
      expect(await offered()).toEqual(labels)
      running.wire.length = 0
      await press(label)
      expect(await shownStatuses()).toEqual(wireStatuses())
      const remaining = {
        'send-again': labels,
        settle: ['Send it again'],
        'settle-wrongly': ['Send it again', 'Settle it as won', 'Roll it back'],
        'roll-back': ['Send it again'],
      }
      expect(await offered()).toEqual(remaining[name as keyof typeof remaining])
      const focused = await page.evaluate<string>('document.activeElement.id')
      expect(focused).toMatch(/^send-again-bet-/)
      expect(await page.evaluate<boolean>(resultInView)).toBe(true)
    },
  )

  test('the result leads to the calls, and is announced', async () => {
    await press('Lose the answer')
    expect(await page.locator('#result').getAttribute('role')).toBe('status')
    await page.locator('#result a').click()
    expect(
      await page.evaluate<boolean>(
        `document.getElementById('calls').getBoundingClientRect().top < innerHeight`,
      ),
    ).toBe(true)
  })

  test('in every table, text is on the left and numbers are on the right', async () => {
    await press('Place the bet')
    const aligned = await page.evaluate<[string, string][]>(
      `[...document.querySelectorAll('th[scope=col]')].flatMap(head => {
        const index = [...head.parentNode.children].indexOf(head)
        const cells = [...head.closest('table').querySelectorAll('tbody tr')].map(row => row.children[index])
        return [head, ...cells].map(cell => [head.textContent, getComputedStyle(cell).textAlign])
      })`,
    )
    const numbers = ['Balance', 'Change', 'Balance after']
    expect(aligned.filter(([name, align]) => align !== (numbers.includes(name) ? 'right' : 'left'))).toEqual(
      [],
    )
    expect(new Set(aligned.map(([name]) => name))).toEqual(
      new Set(['Player', 'Recorded (UTC)', 'What happened', 'Bet', ...numbers]),
    )
  })

  test('by keyboard alone: a player, a stake, and Enter', async () => {
    await page.keyboard.press('Tab')
    await page.keyboard.type('k')
    await page.keyboard.press('Tab')
    await page.keyboard.type('700')
    await page.keyboard.press('Enter')
    await page.locator('#result', { hasText: 'Place the bet' }).waitFor()
    expect(await running.balanceOf('kenji')).toBe('4300')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.locator('#result', { hasText: 'Lose the answer' }).waitFor()
    expect(await running.balanceOf('kenji')).toBe('4300')
  })

  test('without scripts, the forms work too', async () => {
    await page.context().close()
    page = await open({ javaScriptEnabled: false })
    await page.getByRole('button', { name: 'Place the bet' }).click()
    expect(await page.locator('#result').textContent()).toContain('1 call, answered 200')
  })

  test.each([
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('at %d pixels, %s: nothing reaches out of the page', async (width, colorScheme) => {
    await page.context().close()
    page = await open({ viewport: { width, height: 800 }, colorScheme })
    await press('Lose the answer')
    await press('Place the bet')
    await press('Two bets, funds for one')
    await press('Settle wrongly, then unsettle')
    expect(await page.evaluate<boolean>(resultInView)).toBe(true)
    expect(await page.evaluate(elementsOutside)).toEqual([])
    expect(await page.evaluate(elementsCut)).toEqual([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    const background = 'getComputedStyle(document.documentElement).backgroundColor'
    expect(await page.evaluate<string>(background)).toBe(
      colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 27)',
    )
  })
})
