/**
 * Makes work here what works on GitHub: pictures by HTML, and links from a page to a file of the repository,
 * such as `../src/store.ts`. Those lead to the repository that package.json names. If it names none, the link is
 * dropped and its text stays. A link to a picture is dropped too.
 */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'

type Token = ReturnType<MarkdownRenderer['parse']>[number]

export function linkSources(md: MarkdownRenderer, docs: string): void {
  const { repository } = JSON.parse(readFileSync(`${docs}../package.json`, 'utf8'))
  const address = (repository?.url ?? repository ?? '').replace(/^git\+|\.git$/g, '')

  /** The link's address here; `null`: no link. */
  function targetOf(href: string, page: string): string | null {
    if (/^(?:[a-z]+:|#|\/)/.test(href)) return href
    if (/\.(?:webp|svg)$/.test(href)) return null
    const path = posix.join('docs', posix.dirname(page), href)
    if (path.startsWith('docs/') && !path.endsWith('.json')) return href
    return address === '' ? null : `${address}/blob/main/${path}`
  }

  function withTargets(tokens: readonly Token[], page: string): Token[] {
    let dropped = false
    return tokens.filter(token => {
      if (token.type === 'link_close' && dropped) {
        dropped = false
        return false
      }
      if (token.type === 'html_inline' || token.type === 'html_block') {
        token.content = token.content.replace(/ src="(?![./]|[a-z]+:)/g, ' src="./')
      }
      if (token.type !== 'link_open') return true
      const target = targetOf(token.attrGet('href') ?? '', page)
      if (target !== null) token.attrSet('href', target)
      dropped = target === null
      return !dropped
    })
  }

  md.core.ruler.push('sources', state => {
    const page: string = state.env.relativePath ?? ''
    for (const block of state.tokens) {
      if (block.children !== null) block.children = withTargets(block.children, page)
    }
  })
}
