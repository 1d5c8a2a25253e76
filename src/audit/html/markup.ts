/** Markup into which text gets only escaped: a report is full of what a foreign wallet chose to answer. */

/** Text that is markup already. Only `html` makes it, from what stands in our own source. */
export class Markup {
  constructor(readonly text: string) {}
}

export type Part = Markup | string | number | null | readonly Part[]

/**
 * Markup with its gaps filled: strings and numbers are escaped, for elements and for quoted attributes alike; markup
 * stays as it is; `null` is nothing; lists are joined.
 */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Markup {
  return new Markup(strings.map((text, index) => text + textOf(parts[index] ?? null)).join(''))
}

function textOf(part: Part): string {
  if (part instanceof Markup) return part.text
  if (part === null) return ''
  return typeof part === 'object' ? part.map(textOf).join('') : escapeText(String(part))
}

/**
 * What cannot be seen and changes how the rest is read: controls, invisible and bidirectional marks, spaces that are
 * none, halves of characters.
 */
const unseen =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu

/**
 * Safe in elements and in quoted attributes. What cannot be seen is written as JSON would escape it, so that two ids
 * which only look alike are told apart, no text can turn its neighbours round, and a JSON body keeps its meaning.
 */
export function escapeText(text: string): string {
  return text.replace(unseen, escapedUnits).replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

/** The same for what stands in an element and never in an attribute: quotes stay, of which bodies in JSON are full. */
export function content(text: string): Markup {
  return new Markup(
    text.replace(unseen, escapedUnits).replace(/[&<>]/g, character => `&#${character.charCodeAt(0)};`),
  )
}

function escapedUnits(character: string): string {
  return character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
