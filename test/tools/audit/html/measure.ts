/** Measures pages in a real browser. */
import { open } from './browser.js'

export interface Measured {
  innerWidth: number
  scrollWidth: number
  /** Elements that reach out of the page, by tag and class. */
  outside: string[]
  /** Cells of a table whose text is less than 4 pixels from that of the next one. */
  touching: string[]
  scripts: number
  handlers: number
  foldedShown: number
  background: string
  alerted: boolean
  unfoldsOnPaper: boolean
}

/** Code that runs in the browser. */
const measuring = `frame => {
  const { document, innerWidth, getComputedStyle } = frame.contentWindow
  const all = [...document.querySelectorAll('*')]
  for (const element of document.querySelectorAll('details')) element.open = true
  const box = element => element.getBoundingClientRect()
  const outside = all.filter(element => {
    const { left, right, width } = box(element)
    return width > 0 && !element.closest('.visually-hidden, svg svg, pattern') && (right > innerWidth + 1 || left < -1)
  })
  const textBox = cell => {
    const range = document.createRange()
    range.selectNodeContents(cell)
    return range.getBoundingClientRect()
  }
  const touching = all.filter(cell => {
    if (!cell.matches('td, th') || cell.nextElementSibling === null) return false
    const [one, next] = [textBox(cell), textBox(cell.nextElementSibling)]
    return one.width > 0 && next.width > 0 && one.top < next.bottom && next.top < one.bottom && next.left - one.right < 4
  })
  return {
    touching: touching.map(cell => cell.textContent + ' ' + cell.nextElementSibling.textContent),
    innerWidth,
    scrollWidth: document.documentElement.scrollWidth,
    outside: [...new Set(outside.map(element => element.tagName + ' ' + element.getAttribute('class')))],
    scripts: document.scripts.length,
    handlers: all.filter(element => [...element.attributes].some(({ name }) => name.startsWith('on'))).length,
    foldedShown: [...document.querySelectorAll('.bodies')].filter(element => box(element).height > 0).length,
    background: getComputedStyle(document.documentElement).backgroundColor,
    unfoldsOnPaper: frame.contentWindow.CSS.supports('selector(::details-content)'),
    alerted: 'alerted' in window || 'alerted' in frame.contentWindow,
  }
}`

/**
 * Measures pages from outside, each in a frame of its width: their own policy forbids scripts. (A browser window cannot
 * be as narrow as a phone.)
 */
export async function measurePages(
  browser: string,
  pages: readonly (readonly [width: number, page: string])[],
  ...flags: string[]
): Promise<{ measured: Measured[]; logged: string[] }> {
  const frames = pages.map(([width, page]) => {
    const source = page.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    return `<iframe style="border:0;width:${width}px;height:700px" srcdoc="${source}"></iframe>`
  })
  const frame = `<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">${frames.join('\n')}
<pre id="measured"></pre><script>onload = () => { document.getElementById('measured').textContent = '[[' + encodeURIComponent(JSON.stringify([...document.querySelectorAll('iframe')].map(${measuring}))) + ']]' }</script>`
  const { dom, logged } = await open(browser, frame, 'frame.html', '--window-size=1300,900', ...flags)
  const text = /\[\[([^[\]]*)\]\]<\/pre>/.exec(dom)?.[1]
  if (text === undefined) throw new Error(`the pages were not measured: ${logged.join('\n')}`)
  return { measured: JSON.parse(decodeURIComponent(text)) as Measured[], logged }
}

export async function measurePage(
  browser: string,
  page: string,
  width: number,
  ...flags: string[]
): Promise<Measured & { logged: string[] }> {
  const { measured, logged } = await measurePages(browser, [[width, page]], ...flags)
  const [only] = measured
  if (only === undefined) throw new Error('nothing was measured')
  return { ...only, logged }
}
