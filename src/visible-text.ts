/** Text that others have chosen, for logs, terminals and pages: it cannot control them, nor hide in them. */

/**
 * Invisible characters: controls, zero-width and bidirectional marks, unusual spaces, unpaired surrogates.
 */
const invisible =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu

/** Writes invisible characters as JSON escapes: ids that look alike can be told apart. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, escapedUnits)
}

/** The same, with line breaks and tabs as `\n` and `\t`. */
export function onOneLine(text: string): string {
  return escapeInvisible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

function escapedUnits(character: string): string {
  return character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** A path without its query, which may hold credentials. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

const loggedLengthMax = 300

/** A value for a line of a log, of limited length; empty for what is neither a text nor a number. */
export function logged(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return onOneLine(text.slice(0, loggedLengthMax))
}
