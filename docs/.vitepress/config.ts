/** The site: the pages of this folder in the order of index.md, and the API from the docstrings. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type MarkdownOptions } from 'vitepress'
import { linkReferences } from './references.js'
import { linkSources } from './sources.js'

const docs = fileURLToPath(new URL('..', import.meta.url))

/** The groups of index.md with the pages linked in them: one order for readers on GitHub and here. */
function sections() {
  const found: { text: string; items: { text: string; link: string }[] }[] = []
  for (const line of readFileSync(`${docs}index.md`, 'utf8').split('\n')) {
    const heading = /^\*\*(.+?):\*\*/.exec(line)?.[1]
    if (heading !== undefined) found.push({ text: heading, items: [] })
    for (const [, text = '', page = ''] of line.matchAll(/\[([^\]]+)\]\(([a-z-]+)\.md\)/g)) {
      const items = found.at(-1)?.items
      const listed = found.some(section => section.items.some(({ link }) => link === `/${page}`))
      if (items !== undefined && !listed) items.push({ text: text.replaceAll('`', ''), link: `/${page}` })
    }
  }
  return found.filter(({ items }) => items.length > 0)
}

const modules = [
  ...['', '/http', '/postgres', '/mysql', '/batches', '/memory', '/decide', '/testing', '/audit', '/lookups'],
  '/operations',
  '/reconcile',
  '/try',
]
const api = {
  text: 'API',
  collapsed: true,
  items: modules.map(path => ({ text: `bet-wallet${path}`, link: `/api/bet-wallet${path}` })),
}

/** As GitHub makes them, so that a link to a heading leads to it in both places. */
const slugify = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\s-]/gu, '')
    .replace(/\s/g, '-')

const markdown: MarkdownOptions = {
  anchor: { slugify },
  config(md) {
    md.use(linkSources, docs)
    md.use(linkReferences)
  },
}

export default defineConfig({
  title: 'bet-wallet',
  description: "The wallet side of a sportsbook's callback interface, over your own database",
  lang: 'en',
  markdown,
  themeConfig: {
    nav: [
      ...sections().map(({ text, items }) => ({ text, items })),
      { text: 'API', link: '/api/bet-wallet' },
    ],
    sidebar: existsSync(`${docs}api`) ? [...sections(), api] : sections(),
    outline: [2, 3],
    search: { provider: 'local' },
  },
})
