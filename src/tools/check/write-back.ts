/**
 * Finds statements that set a balance without adding to it: `UPDATE accounts SET balance = $1`. Between the
 * read and such a write, a bet may have changed the balance, and its debit is lost (a lost update).
 */
import { beginOfName, isInSubquery, namesOwn, plainlyAdds } from './new-value.js'
import { divided, endOf, isName, isWord, type Token, tokensOf } from './sql-tokens.js'

/** A table with its column of balances. */
export interface BalanceColumnName {
  schema: string
  table: string
  column: string
}

/**
 * `sets`: the new value is not made from the column: a lost update, unless the code locks the row. `unclear`:
 * it names the column, and is not plainly a sum or difference with it. `safe`: anything else, and a write
 * with the condition `balance = $1`, which fails when the balance has changed.
 */
export type BalanceWrite = 'sets' | 'unclear' | 'safe'

/** @param schemaDefault of names without a schema; `null`: any */
export function balanceWriteOf(
  statement: string,
  column: BalanceColumnName,
  schemaDefault: string | null = null,
): BalanceWrite {
  const tokens = tokensOf(statement)
  // It does not run.
  if (isWord(tokens[0], 'explain') && !isWord(tokens[1], 'analyze')) return 'safe'
  const names = lowered(column)
  if (!isOfSchema(tokens, names, schemaDefault)) return 'safe'
  if (replacesRows(tokens, names)) return 'sets'
  return worstOf(
    writesIn(tokens, names).map(({ own, from }) => writeOf(tokens.slice(from), names.column, own)),
  )
}

/**
 * Whether a statement that the server has cut may write to the table.
 *
 * @param schemaDefault as for `balanceWriteOf`
 */
export function mayWriteTo(
  beginning: string,
  column: BalanceColumnName,
  schemaDefault: string | null = null,
): boolean {
  const tokens = tokensOf(beginning)
  const names = lowered(column)
  return (
    isWord(tokens[0], 'insert', 'update', 'replace', 'with') &&
    tokens.some((_, at) => isTable(tokens, at, names)) &&
    isOfSchema(tokens, names, schemaDefault)
  )
}

type Names = BalanceColumnName

const lowered = ({ schema, table, column }: BalanceColumnName): Names => ({
  schema: schema.toLowerCase(),
  table: table.toLowerCase(),
  column: column.toLowerCase(),
})

/** A list of assignments that begins at `from`, in a statement that calls the table by one of `own`. */
interface Write {
  own: ReadonlySet<string>
  from: number
}

/** Whether the table is named here, with its schema or without any. */
function isTable(tokens: readonly Token[], at: number, { schema, table }: Names): boolean {
  if (!isName(tokens[at], table) || isWord(tokens[at + 1], '.')) return false
  return !isWord(tokens[at - 1], '.') || isName(tokens[at - 2], schema)
}

const isOfSchema = (tokens: readonly Token[], names: Names, schemaDefault: string | null) =>
  schemaDefault === null ||
  schemaDefault.toLowerCase() === names.schema ||
  tokens.some((_, at) => isTable(tokens, at, names) && isWord(tokens[at - 1], '.'))

/** The table and its alias: `accounts AS account`. */
function namesOfTable(tokens: readonly Token[], at: number): ReadonlySet<string> {
  const next = isWord(tokens[at + 1], 'as') ? tokens[at + 2] : tokens[at + 1]
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
  const isAlias = next !== undefined && ['word', 'name'].includes(next.kind) && !isWord(next, ...ends)
  return new Set([tokens[at]?.text ?? '', ...(isAlias ? [next.text] : [])])
}

/** Where a statement assigns to columns of the table. */
function writesIn(tokens: readonly Token[], names: Names): Write[] {
  const writes: Write[] = []
  /** The table of the INSERT or MERGE that goes on. */
  let into: ReadonlySet<string> | null = null
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1]
    if (isWord(token, 'into') || (isWord(token, 'insert') && !isWord(tokens[at + 1], 'into'))) {
      const found = tokenBefore(tokens, at, ['(', 'values', 'select', 'set', 'using'], names)
      into = found === null ? null : namesOfTable(tokens, found)
    }
    if (!isWord(token, 'update')) continue
    if (isWord(before, 'do', 'then') || (isWord(before, 'key') && isWord(tokens[at - 2], 'duplicate'))) {
      if (into !== null) writes.push({ own: into, from: at + (isWord(tokens[at + 1], 'set') ? 2 : 1) })
      continue
    }
    // SELECT … FOR UPDATE, FOR NO KEY UPDATE, and rules of foreign keys.
    if (isWord(before, 'for', 'key', 'on')) continue
    const found = tokenBefore(tokens, at, ['set'], names)
    const set = tokens.findIndex((each, index) => index > at && isWord(each, 'set'))
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
    if (isWord(tokens[at], ...ends)) return null
  }
  return null
}

/** REPLACE of MySQL deletes the row, and inserts what was read before. */
function replacesRows(tokens: readonly Token[], names: Names): boolean {
  if (!isWord(tokens[0], 'replace')) return false
  const found = tokenBefore(tokens, 0, ['(', 'values', 'select', 'set'], names)
  if (found === null) return false
  const isList = isWord(tokens[found + 1], '(') && !isWord(tokens[found + 2], 'select')
  const rest = tokens.slice(found + 1)
  const columns = isList
    ? rest.slice(
        0,
        rest.findIndex(token => isWord(token, ')')),
      )
    : null
  return columns === null || columns.some(token => isName(token, names.column))
}

const clauseEnds = ['where', 'from', 'returning', 'order', 'limit', 'when', ';']

/** @param tokens from the first assignment on */
function writeOf(tokens: readonly Token[], column: string, own: ReadonlySet<string>): BalanceWrite {
  const end = endOf(tokens, clauseEnds)
  const assignments = divided(tokens.slice(0, end), ',')
  const write = worstOf(assignments.map(assignment => assignmentOf(assignment, column, own)))
  return comparesOld(tokens.slice(end), column, own) ? 'safe' : write
}

export const worstOf = (writes: readonly BalanceWrite[]): BalanceWrite =>
  (['sets', 'unclear'] as const).find(write => writes.includes(write)) ?? 'safe'

function assignmentOf(assignment: readonly Token[], column: string, own: ReadonlySet<string>): BalanceWrite {
  const equals = endOf(assignment, ['='])
  const [left, right] = [assignment.slice(0, equals), assignment.slice(equals + 1)]
  if (right.length === 0) return 'safe'
  const isTarget = (part: readonly Token[]) =>
    isName(part.at(-1), column) && (!isWord(part.at(-2), '.') || own.has(part.at(-3)?.text ?? ''))
  const writeOfValue = (tokens: readonly Token[]): BalanceWrite => {
    if (plainlyAdds(tokens, column, own)) return 'safe'
    return tokens.some((_, at) => namesOwn(tokens, at, column, own)) ? 'unclear' : 'sets'
  }
  if (!isWord(left[0], '(')) return isTarget(left) ? writeOfValue(right) : 'safe'
  // (balance, version) = ($1, $2)
  const position = divided(left.slice(1, -1), ',').findIndex(isTarget)
  if (position === -1) return 'safe'
  const list = isWord(right[0], 'row') ? right.slice(1) : right
  const values = isWord(list[0], '(') && !isWord(list[1], 'select') ? divided(list.slice(1, -1), ',') : []
  return writeOfValue(values[position] ?? right)
}

/**
 * Whether the condition of this statement asks for the balance that was read: the write fails if it has
 * changed. Not where OR, CASE or NOT may make the condition true for another balance, and not where it is
 * compared with another column.
 */
function comparesOld(tokens: readonly Token[], column: string, own: ReadonlySet<string>): boolean {
  const where = endOf(tokens, ['where', 'returning', 'when', ';'])
  if (!isWord(tokens[where], 'where')) return false
  const rest = tokens.slice(where + 1)
  const condition = rest.slice(0, endOf(rest, ['returning', 'order', 'limit', 'when', ';']))
  if (condition.some((_, at) => mayBeTrueOtherwise(condition, at))) return false
  return condition.some((_, at) => {
    if (!namesOwn(condition, at, column, own) || isInSubquery(condition.slice(0, at))) return false
    const [first, second, third, , fifth] = condition.slice(at + 1)
    if (isWord(first, '=', '<=>')) return second?.kind === 'value'
    // IS NOT DISTINCT FROM $1
    if (isWord(first, 'is')) return isWord(third, 'distinct') && fifth?.kind === 'value'
    const from = beginOfName(condition, at)
    return isWord(condition[from - 1], '=', '<=>') && condition[from - 2]?.kind === 'value'
  })
}

function mayBeTrueOtherwise(condition: readonly Token[], at: number): boolean {
  const [token, next] = condition.slice(at)
  if (isWord(token, 'or', 'xor', '|', 'case', 'if')) return true
  if (isWord(token, '!')) return !isWord(next, '=')
  // These deny the one test in which they stand.
  return isWord(token, 'not') && !isWord(next, 'null', 'distinct', 'in', 'like', 'between', 'exists')
}
