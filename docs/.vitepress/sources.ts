/**
 * Links from a page to a file of the repository, such as `../src/store.ts`: to the repository that package.json names.
 * Where it names none, the text stays and the link goes.
 */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'

export function linkSources(md: MarkdownRenderer, docs: string): void {
  const { repository } = JSON.parse(readFileSync(`${docs}../package.json`, 'utf8'))
  const address = (repository?.url ?? repository ?? '').replace(/^git\+|\.git$/g, '')

  md.core.ruler.push('sources', state => {
    const page: string = state.env.relativePath ?? ''
    for (const { children } of state.tokens) {
      if (children === null) continue
      let dropped = false
      for (const token of children) {
        if (token.type === 'link_close' && dropped) {
          Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' })
          dropped = false
        }
        if (token.type !== 'link_open') continue
        const href = token.attrGet('href') ?? ''
        if (/^(?:[a-z]+:|#|\/)/.test(href)) continue
        const path = posix.join('docs', posix.dirname(page), href)
        if (path.startsWith('docs/')) continue
        if (address !== '') token.attrSet('href', `${address}/blob/main/${path}`)
        else {
          Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' })
          dropped = true
        }
      }
    }
  })
}
