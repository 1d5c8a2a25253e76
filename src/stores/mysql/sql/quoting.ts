/** Names and texts in SQL. */

export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

/** A text as an SQL literal, on one line. Backslashes escape: the default, and what the migration sets. */
export function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('\n', '\\n')}'`
}
