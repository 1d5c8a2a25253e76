/** Names and texts in SQL. */

export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

/** A role, a user, or `user@host`, as GRANT names it. */
export function granteeOf(role: string): string {
  const at = role.lastIndexOf('@')
  return at === -1 ? quoted(role) : `${literal(role.slice(0, at))}@${literal(role.slice(at + 1))}`
}

/** A text as an SQL literal, on one line. Backslashes escape: the default, and what the migration sets. */
export function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('\n', '\\n')}'`
}
