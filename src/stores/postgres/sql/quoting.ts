/** Names and texts in SQL. */

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A text as an SQL literal, on one line, whatever standard_conforming_strings is. */
export function literal(text: string): string {
  const doubled = text.replaceAll("'", "''")
  if (!/[\\\n]/.test(text)) return `'${doubled}'`
  return `E'${doubled.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}'`
}

/** JSON as an SQL literal that keeps its lines: their indentation is no part of the values. */
export function jsonLiteral(json: string): string {
  const doubled = json.replaceAll("'", "''")
  return json.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`
}

/** A body between dollar quotes that do not occur in it: a name in it may contain `$function$`. */
export function dollarQuoted(tag: string, body: string): string {
  let delimiter = `$${tag}$`
  for (let n = 2; body.includes(delimiter); n += 1) delimiter = `$${tag}${n}$`
  return `${delimiter}\n${body}\n${delimiter}`
}
