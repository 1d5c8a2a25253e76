/** Markup that escapes all text: a report is full of text that a foreign wallet has chosen. */
import { escapeInvisible } from '../../visible-text.js'

/** Text that is markup. Created only by this module, from our own source. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = Markup | string | number | null | readonly Part[]

/**
 * Fills the gaps of a template: strings and numbers are escaped, for elements and quoted attributes alike;
 * markup is copied; `null` is empty; lists are joined.
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
 * Escapes text for elements and quoted attributes. Invisible characters are written as JSON escapes: ids that
 * look alike can be told apart, no text can change the direction of its neighbours, and a JSON body keeps its
 * meaning.
 */
function escapeText(text: string): string {
  return escapeInvisible(text).replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

/** Escapes text for elements only: quotes stay, since JSON bodies are full of them. */
export function content(text: string): Markup {
  return new Markup(escapeInvisible(text).replace(/[&<>]/g, character => `&#${character.charCodeAt(0)};`))
}
