/** Makes a link of every `D7`, `spec 4.2`, `WS-20`, `AU-301` and `P05` in the text of a page. */
import type { MarkdownRenderer } from 'vitepress'

type Token = ReturnType<MarkdownRenderer['parse']>[number]

const reference =
  /\b(?:(D[0-9]{1,2})|[Ss]pec ([1-9](?:\.[1-9])?(?: rule [1-9])?)|(WS-[0-9]{2})|(AU-[0-9]{3})|([PRUSA][0-9]{2}))\b/g

function targetOf([, decision, section, kit, audit, example]: RegExpExecArray): string {
  if (section) return `/interface.md#spec-${section.replace(/[. ]/g, '-')}`
  const ofCase = kit ?? audit
  if (ofCase) return `/cases.md#${ofCase.toLowerCase()}`
  return `/decisions.md#${(decision ?? example)?.toLowerCase()}`
}

export function linkReferences(md: MarkdownRenderer): void {
  md.core.ruler.push('references', state => {
    const text = (content: string) => Object.assign(new state.Token('text', '', 0), { content })

    function linked(token: Token): Token[] {
      const pieces: Token[] = []
      let from = 0
      for (const match of token.content.matchAll(reference)) {
        const open = new state.Token('link_open', 'a', 1)
        open.attrSet('href', targetOf(match))
        pieces.push(text(token.content.slice(from, match.index)), open)
        pieces.push(text(match[0]), new state.Token('link_close', 'a', -1))
        from = match.index + match[0].length
      }
      return from === 0 ? [token] : [...pieces, text(token.content.slice(from))]
    }

    state.tokens.forEach((block, index) => {
      if (block.type !== 'inline' || state.tokens[index - 1]?.type === 'heading_open') return
      let depth = 0 // inside of a link
      block.children = (block.children ?? []).flatMap(token => {
        if (token.type === 'link_open') depth += 1
        if (token.type === 'link_close') depth -= 1
        return token.type === 'text' && depth === 0 ? linked(token) : [token]
      })
    })
  })
}
