/** Words of an SQL statement, as statistics of a server keep it. */

export interface Token {
  /** `value`: a text, a number or a placeholder. */
  kind: 'word' | 'name' | 'value' | 'symbol'
  /** Words in small letters; names without quotes, in small letters too: some servers fold them. */
  text: string
}

/** A comment, a text, a quoted name, a placeholder or number, a word, and any other character. */
const pattern =
  /\/\*[\s\S]*?(?:\*\/|$)|--[^\n]*|'(?:[^'\\]|\\[\s\S]|'')*'|"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\$\d+|\?|\d[\w.]*|([\p{L}_@][\p{L}\d_$@]*)|<=>|[^\s]/gu

export function tokensOf(statement: string): Token[] {
  const tokens: Token[] = []
  for (const [text, inDouble, inBackticks, word] of statement.matchAll(pattern)) {
    const name = inDouble?.replaceAll('""', '"') ?? inBackticks?.replaceAll('``', '`')
    if (name !== undefined) tokens.push({ kind: 'name', text: name.toLowerCase() })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word.toLowerCase() })
    else if (/^(?:'|\$\d|\?|\d)/.test(text)) tokens.push({ kind: 'value', text })
    else if (!/^(?:\/\*|--)/.test(text)) tokens.push({ kind: 'symbol', text })
  }
  return tokens
}

/** Whether a token is one of these words of SQL, or symbols. A quoted name is none. */
export const isWord = (token: Token | undefined, ...words: string[]): boolean =>
  token !== undefined && (token.kind === 'word' || token.kind === 'symbol') && words.includes(token.text)

/** Whether a token is this name, with or without quotes. */
export const isName = (token: Token | undefined, name: string): boolean =>
  token !== undefined && (token.kind === 'word' || token.kind === 'name') && token.text === name

/** Where one of the words stands outside of parentheses and CASE, or one that was open before closes. */
export function endOf(tokens: readonly Token[], ends: readonly string[]): number {
  let depth = 0
  for (const [at, token] of tokens.entries()) {
    if (isWord(token, '(', 'case')) depth += 1
    if (isWord(token, ')', 'end')) depth -= 1
    if (depth < 0 || (depth === 0 && isWord(token, ...ends))) return at
  }
  return tokens.length
}

/** Divides at a symbol outside of parentheses. */
export function divided(tokens: readonly Token[], symbol: string): (readonly Token[])[] {
  const parts: (readonly Token[])[] = []
  let rest = tokens
  while (rest.length > 0) {
    const at = endOf(rest, [symbol])
    parts.push(rest.slice(0, at))
    rest = rest.slice(at + 1)
  }
  return parts
}
