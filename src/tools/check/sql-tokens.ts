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
