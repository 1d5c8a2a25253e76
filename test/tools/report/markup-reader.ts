/** Reads the markup of the page as strictly as XML. */

export interface Tag {
  name: string
  attributes: Record<string, string>
}

/** All elements of a page in order. Throws on unbalanced tags, unquoted attributes, and loose `<`, `>` or `&`. */
export function tagsOf(page: string): Tag[] {
  const tags: Tag[] = []
  const open: string[] = []
  const token = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z][a-zA-Z0-9:-]*="[^"<>]*")*)\s*(\/?)>|[^<>]+/gy
  token.lastIndex = page.startsWith('<!DOCTYPE html>\n') ? '<!DOCTYPE html>\n'.length : page.length + 1
  while (token.lastIndex < page.length) {
    const at = token.lastIndex
    const found = token.exec(page)
    if (found === null) throw new Error(`no markup: ${page.slice(at, at + 80)}`)
    const [text, closing, name = '', attributes = '', empty] = found
    if (/&(?!#\d+;)/.test(text)) throw new Error(`a loose ampersand: ${text.slice(0, 80)}`)
    if (closing === undefined) continue
    if (closing) {
      if (open.pop() !== name)
        throw new Error(`</${name}> closes something else: ${page.slice(at - 80, at + 20)}`)
      continue
    }
    const pairs = [...attributes.matchAll(/([a-zA-Z][a-zA-Z0-9:-]*)="([^"]*)"/g)].map(([, key, value]) => [
      key,
      value,
    ])
    if (new Set(pairs.map(([key]) => key)).size < pairs.length) throw new Error(`an attribute twice: ${text}`)
    tags.push({ name, attributes: Object.fromEntries(pairs) })
    if (name === 'style') token.lastIndex = page.indexOf('</style>', at)
    if (!empty) open.push(name)
  }
  if (tags.length === 0 || open.length > 0)
    throw new Error(`not closed: ${open.join(', ') || 'the page is empty'}`)
  return tags
}
