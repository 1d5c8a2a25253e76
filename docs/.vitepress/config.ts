/** The site: the pages of this folder, and the API from the docstrings. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type MarkdownOptions } from 'vitepress'
import { linkReferences } from './references.js'
import { sections } from './sections.js'
import { linkSources } from './sources.js'

const docs = fileURLToPath(new URL('..', import.meta.url))

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
    nav: [...sections, { text: 'API', link: '/api/bet-wallet' }],
    sidebar: existsSync(`${docs}api`) ? [...sections, api] : sections,
    outline: [2, 3],
    search: { provider: 'local' },
  },
})
