/**
 * Finds statements that set a balance without adding to it: `UPDATE accounts SET balance = $1`. Between the
 * read and such a write, a bet may have changed the balance, and its debit is lost.
 */
import { type Token, tokensOf } from './sql-tokens.js'

/** A table with its column of balances. */
export interface BalanceColumnName {
  schema: string
  table: string
  column: string
}

/**
 * Whether a statement writes a balance back. A new value that names the column adds to it; a condition
 * `balance = …` lets the write fail when the balance has changed.
 *
 * @param schemaDefault of names without a schema; `null`: any
 */
export function writesBack(
  statement: string,
  { schema, table, column }: BalanceColumnName,
  schemaDefault: string | null = null,
): boolean {
  const tokens = tokensOf(statement)
  // It does not run.
  if (isText(tokens[0], 'explain') && !isText(tokens[1], 'analyze')) return false
  const names = {
    schema: schema.toLowerCase(),
    table: table.toLowerCase(),
    column: column.toLowerCase(),
  }
  if (schemaDefault !== null && schemaDefault.toLowerCase() !== names.schema && !isQualified(tokens, names))
    return false
  if (replacesRows(tokens, names)) return true
  return writesIn(tokens, names).some(({ own, from }) => isWriteBack(tokens.slice(from), names.column, own))
}

interface Names {
  schema: string
  table: string
  column: string
}

/** A list of assignments that begins at `from`, in a statement that calls the table by one of `own`. */
interface Write {
  own: ReadonlySet<string>
  from: number
}

const isText = (token: Token | undefined, ...texts: string[]) =>
  token !== undefined && token.kind !== 'value' && texts.includes(token.text)

/** Whether the table is named here, with its schema or without any. */
function isTable(tokens: readonly Token[], at: number, { schema, table }: Names): boolean {
  if (!isText(tokens[at], table) || isText(tokens[at + 1], '.')) return false
  return !isText(tokens[at - 1], '.') || isText(tokens[at - 2], schema)
}

const isQualified = (tokens: readonly Token[], names: Names) =>
  tokens.some((_, at) => isTable(tokens, at, names) && isText(tokens[at - 1], '.'))

/** The table and its alias: `accounts AS account`. */
function namesOfTable(tokens: readonly Token[], at: number): ReadonlySet<string> {
  const next = isText(tokens[at + 1], 'as') ? tokens[at + 2] : tokens[at + 1]
  const ends = [
    'set',
    'join',
    'left',
    'inner',
    'cross',
    'straight_join',
    'using',
    'on',
    'values',
    'select',
    'where',
  ]
  const isAlias = next !== undefined && ['word', 'name'].includes(next.kind) && !isText(next, ...ends)
  return new Set([tokens[at]?.text ?? '', ...(isAlias ? [next.text] : [])])
}

/** Where a statement assigns to columns of the table. */
function writesIn(tokens: readonly Token[], names: Names): Write[] {
  const writes: Write[] = []
  /** The table of the INSERT or MERGE that goes on. */
  let into: ReadonlySet<string> | null = null
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1]
    if (isText(token, 'into') || (isText(token, 'insert') && !isText(tokens[at + 1], 'into'))) {
      const found = tokenBefore(tokens, at, ['(', 'values', 'select', 'set', 'using'], names)
      into = found === null ? null : namesOfTable(tokens, found)
    }
    if (!isText(token, 'update')) continue
    if (isText(before, 'do', 'then') || (isText(before, 'key') && isText(tokens[at - 2], 'duplicate'))) {
      if (into !== null) writes.push({ own: into, from: at + (isText(tokens[at + 1], 'set') ? 2 : 1) })
      continue
    }
    // SELECT … FOR UPDATE, FOR NO KEY UPDATE, and rules of foreign keys.
    if (isText(before, 'for', 'key', 'on')) continue
    const found = tokenBefore(tokens, at, ['set'], names)
    const set = tokens.findIndex((each, index) => index > at && isText(each, 'set'))
    if (found !== null && set !== -1) writes.push({ own: namesOfTable(tokens, found), from: set + 1 })
  }
  return writes
}

/** Where the table is named, behind `from` and before one of the words. */
function tokenBefore(
  tokens: readonly Token[],
  from: number,
  ends: readonly string[],
  names: Names,
): number | null {
  for (let at = from + 1; at < tokens.length; at += 1) {
    if (isTable(tokens, at, names)) return at
    if (isText(tokens[at], ...ends)) return null
  }
  return null
}

/** REPLACE of MySQL deletes the row, and inserts what was read before. */
function replacesRows(tokens: readonly Token[], names: Names): boolean {
  if (!isText(tokens[0], 'replace')) return false
  const found = tokenBefore(tokens, 0, ['(', 'values', 'select', 'set'], names)
  if (found === null) return false
  const isList = isText(tokens[found + 1], '(') && !isText(tokens[found + 2], 'select')
  const rest = tokens.slice(found + 1)
  const columns = isList
    ? rest.slice(
        0,
        rest.findIndex(token => isText(token, ')')),
      )
    : null
  return columns === null || columns.some(token => isText(token, names.column))
}

const clauseEnds = ['where', 'from', 'returning', 'order', 'limit', 'when', ';']

/** @param tokens from the first assignment on */
function isWriteBack(tokens: readonly Token[], column: string, own: ReadonlySet<string>): boolean {
  const end = endOf(tokens, clauseEnds)
  const assignments = divided(tokens.slice(0, end), ',')
  const isSet = assignments.some(assignment => setsWithoutAdding(assignment, column, own))
  return isSet && !comparesOld(tokens.slice(end), column, own)
}

/** Where one of the words comes outside of parentheses, or the parenthesis around the statement closes. */
function endOf(tokens: readonly Token[], ends: readonly string[]): number {
  let depth = 0
  for (const [at, token] of tokens.entries()) {
    if (isText(token, '(')) depth += 1
    if (isText(token, ')')) depth -= 1
    if (depth < 0 || (depth === 0 && isText(token, ...ends))) return at
  }
  return tokens.length
}

/** Divides at a symbol outside of parentheses. */
function divided(tokens: readonly Token[], symbol: string): (readonly Token[])[] {
  const parts: (readonly Token[])[] = []
  let rest = tokens
  while (rest.length > 0) {
    const at = endOf(rest, [symbol])
    parts.push(rest.slice(0, at))
    rest = rest.slice(at + 1)
  }
  return parts
}

function setsWithoutAdding(assignment: readonly Token[], column: string, own: ReadonlySet<string>): boolean {
  const equals = endOf(assignment, ['='])
  const [left, right] = [assignment.slice(0, equals), assignment.slice(equals + 1)]
  if (right.length === 0) return false
  if (!isText(left[0], '(')) return isText(left.at(-1), column) && !namesOwn(right, column, own)
  // (balance, version) = ($1, $2)
  const position = divided(left.slice(1, -1), ',').findIndex(part => isText(part.at(-1), column))
  if (position === -1) return false
  const list = isText(right[0], 'row') ? right.slice(1) : right
  const values = isText(list[0], '(') && !isText(list[1], 'select') ? divided(list.slice(1, -1), ',') : []
  return !namesOwn(values[position] ?? right, column, own)
}

/**
 * Whether the column is named as that of the row that is changed. In a subquery, a name without a table is of
 * another row; `excluded.balance` and `VALUES(balance)` are what was sent.
 */
function namesOwn(tokens: readonly Token[], column: string, own: ReadonlySet<string>): boolean {
  return tokens.some((token, at) => {
    if (!isText(token, column)) return false
    if (isText(tokens[at - 1], '.')) return own.has(tokens[at - 2]?.text ?? '')
    if (isText(tokens[at - 1], '(') && isText(tokens[at - 2], 'values')) return false
    return !isInSubquery(tokens.slice(0, at))
  })
}

/** Whether a parenthesis with SELECT is open at the end. */
function isInSubquery(tokens: readonly Token[]): boolean {
  const open: boolean[] = []
  for (const [at, token] of tokens.entries()) {
    if (isText(token, '(')) open.push(isText(tokens[at + 1], 'select'))
    if (isText(token, ')')) open.pop()
  }
  return open.includes(true)
}

/** Whether a condition asks for the balance that was read: the write fails if it has changed. */
function comparesOld(tokens: readonly Token[], column: string, own: ReadonlySet<string>): boolean {
  const where = tokens.findIndex(token => isText(token, 'where'))
  if (where === -1) return false
  const condition = tokens.slice(where + 1)
  return condition.some((token, at) => {
    if (!isText(token, column) || !namesOwn(condition.slice(0, at + 1), column, own)) return false
    const next = condition[at + 1]
    return isText(next, '=', '<=>') || (isText(next, 'is') && isText(condition[at + 2], 'not'))
  })
}
