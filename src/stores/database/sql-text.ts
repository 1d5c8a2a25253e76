/** SQL as text over several lines. */

/**
 * SQL over several lines. The indentation of the first line is removed from all lines; interpolated text
 * takes the indentation of its line. A line break inside a quoted name stays as it is.
 */
export function sql(parts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  const margin = /^\n */.exec(parts[0] ?? '')?.[0] ?? '\n'
  let text = ''
  parts.forEach((part, index) => {
    text += part.replaceAll(margin, '\n')
    const indentation = /^ */.exec(text.slice(text.lastIndexOf('\n') + 1))?.[0] ?? ''
    const value = String(values[index] ?? '')
    // A line of nothing but an empty value has no spaces.
    if (value === '' && parts[index + 1]?.startsWith('\n')) text = text.replace(/\n +$/, '\n')
    text += indent(value, indentation)
  })
  return text.trim()
}

/** Indents every line but the first. */
function indent(text: string, indentation: string): string {
  return text.replace(/"(?:[^"]|"")*"|`(?:[^`]|``)*`|\n(?=.)/g, match =>
    match === '\n' ? `\n${indentation}` : match,
  )
}

/**
 * With `players.version`: the further assignment of a statement that changes a balance. NULL is like 0.
 *
 * @param row the prefix of a column that is read; `set`: of one that is assigned
 */
export const countUp = (version: string | null, row: string, set = row) =>
  version === null ? '' : `,\n  ${set}${version} = COALESCE(${row}${version}, 0) + 1`

export const lines = (items: readonly string[]) => items.join(',\n')
