/** Names and texts of a catalog inside SQL and TypeScript: a table may be called `order`, or `x'; DROP`. */
import type { Engine } from './schema.js'

/** Words that a server does not take for a name, as far as a table or a column may have it. */
const reserved = new Set(
  `all alter analyse analyze and any array as asc authorization before between binary both by call cascade case cast change
  char character check collate column condition constraint continue convert create cross cube current_date
  current_role current_time current_timestamp current_user cursor database databases dec decimal declare default
  delayed delete desc describe deterministic distinct div double drop dual each else end except exists explain
  false fetch float for foreign freeze from full fulltext function generated grant group grouping groups having if
  ignore ilike in index initially inner inout insert int integer intersect interval into is join key keys kill
  lateral lead leading leave left like limit lines load localtime lock long loop match mod natural not null numeric of
  offset on only optimize option or order out outer over overlaps partition placing precision primary procedure
  range rank read real recursive references release rename repeat replace require restrict return returning revoke
  right role row row_number rows schema schemas select session_user set show signal similar some sql start symmetric
  system table then to trailing trigger true undo union unique unlock unsigned update usage use user using values
  varbinary varchar varying verbose when where while window with write`.split(/\s+/),
)

/** Quoted where it must be. */
export function sqlName(engine: Engine, name: string): string {
  if (/^[a-z_][a-z0-9_]*$/.test(name) && !reserved.has(name)) return name
  const quote = engine === 'postgres' ? '"' : '`'
  return `${quote}${name.replaceAll(quote, quote + quote)}${quote}`
}

/** A text of SQL. */
export function sqlText(engine: Engine, text: string): string {
  const escaped = engine === 'mysql' ? text.replaceAll('\\', '\\\\') : text
  return `'${escaped.replaceAll("'", "''")}'`
}

/** A text of TypeScript in single quotes. */
export const tsText = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

/** The content of a template of TypeScript. */
export const tsTemplate = (text: string): string =>
  `\`${text.replace(/[\\`]|\$(?=\{)/g, character => `\\${character}`)}\``

/** The shorter of both: a text, or a template for several lines. */
export const tsSql = (text: string): string =>
  text.includes('\n') || text.includes("'") ? tsTemplate(text) : tsText(text)

/** A property, quoted where its name is no identifier. */
export const tsKey = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : tsText(name))
