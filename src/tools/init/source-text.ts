/** Names and texts of a catalog inside SQL and TypeScript: a table may be called `order`, or `x'; DROP`. */
import { quoted as quotedInMysql } from '../../stores/mysql/sql/quoting.js'
import { quoted as quotedInPostgres } from '../../stores/postgres/sql/quoting.js'

export type Engine = 'postgres' | 'mysql'

/** Always quoted: each server and version reserves words of its own. */
export const sqlName = (engine: Engine, name: string): string =>
  engine === 'postgres' ? quotedInPostgres(name) : quotedInMysql(name)

/** A table with its schema. */
export const sqlTable = (engine: Engine, { schema, name }: { schema: string; name: string }): string =>
  `${sqlName(engine, schema)}.${sqlName(engine, name)}`

/** The texts whose condition holds: `isSo && text`. */
export const present = (texts: readonly (string | false | undefined)[]): string[] =>
  texts.filter(text => typeof text === 'string')

/** A text of SQL. */
export function sqlText(engine: Engine, text: string): string {
  const escaped = engine === 'mysql' ? text.replaceAll('\\', '\\\\') : text
  return `'${escaped.replaceAll("'", "''")}'`
}

/** A text of TypeScript in single quotes. */
export const tsText = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

/** A template of TypeScript. */
export const tsTemplate = (text: string): string => `\`${inTemplate(text)}\``

/** Text inside a template of TypeScript. */
export const inTemplate = (text: string): string =>
  text.replace(/[\\`]|\$(?=\{)/g, character => `\\${character}`)

/** SQL in the quotes of TypeScript that it does not contain itself; in a template for several lines. */
export function tsSql(text: string): string {
  if (text.includes('\n')) return tsTemplate(text)
  if (!text.includes("'")) return tsText(text)
  return text.includes('"') ? tsTemplate(text) : JSON.stringify(text)
}

/** A property, quoted where its name is no identifier. */
export const tsKey = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : tsText(name))
