/** Whether the new value of a column is made from the value that the row has. */
import { endOf, isName, isWord, type Token } from './sql-tokens.js'

/**
 * Whether a value is plainly the column plus or minus something: `balance + $1`,
 * `(accounts.balance)::numeric - $1`, `COALESCE(balance, 0) + $1`. Any other value may set the balance in a
 * case: CASE, GREATEST, a subquery, or the column named twice (`balance + ($1 - balance)`).
 *
 * @param own the names of the table whose row is changed
 */
export function plainlyAdds(value: readonly Token[], column: string, own: ReadonlySet<string>): boolean {
  const tokens = withoutParentheses(value)
  if (tokens.some(token => isWord(token, 'select'))) return false
  const named = tokens.flatMap((_, at) => (isName(tokens[at], column) && !isSent(tokens, at) ? [at] : []))
  const [at = -1] = named
  if (named.length !== 1 || !namesOwn(tokens, at, column, own)) return false
  const behind = behindFirstTerm(tokens, at)
  if (behind === null) return false
  const rest = tokens.slice(behindCasts(tokens, behind))
  return rest.length === 0 || (isWord(rest[0], '+', '-') && hasOnlyArithmetic(rest))
}

/** `excluded.balance` and `VALUES(balance)`: the value of the INSERT. */
const isSent = (tokens: readonly Token[], at: number) =>
  (isWord(tokens[at - 1], '.') && isWord(tokens[at - 2], 'excluded')) ||
  (isWord(tokens[at - 1], '(') && isWord(tokens[at - 2], 'values'))

/**
 * Whether the column is named here as that of the row that is changed. In a subquery, a name without a table
 * is of another row.
 */
export function namesOwn(
  tokens: readonly Token[],
  at: number,
  column: string,
  own: ReadonlySet<string>,
): boolean {
  if (!isName(tokens[at], column) || isSent(tokens, at)) return false
  if (isWord(tokens[at - 1], '.')) return own.has(tokens[at - 2]?.text ?? '')
  return !isInSubquery(tokens.slice(0, at))
}

/** Whether a parenthesis with SELECT is open at the end. */
export function isInSubquery(tokens: readonly Token[]): boolean {
  const open: boolean[] = []
  for (const [at, token] of tokens.entries()) {
    if (isWord(token, '(')) open.push(isWord(tokens[at + 1], 'select'))
    if (isWord(token, ')')) open.pop()
  }
  return open.includes(true)
}

/** Where a name begins: `pam` of `pam.accounts.balance`. */
export function beginOfName(tokens: readonly Token[], at: number): number {
  let from = at
  while (isWord(tokens[from - 1], '.')) from -= 2
  return from
}

/** `((balance + $1))::text`: ORMs write parentheses around the whole value. */
function withoutParentheses(value: readonly Token[]): readonly Token[] {
  if (!isWord(value[0], '(')) return value
  const inside = value.slice(1, 1 + endOf(value.slice(1), []))
  return behindCasts(value, inside.length + 2) === value.length ? withoutParentheses(inside) : value
}

/** Behind `balance`, `(balance)` or `COALESCE(balance, …)`, if the value begins with it. */
function behindFirstTerm(tokens: readonly Token[], at: number): number | null {
  const begin = beginOfName(tokens, at)
  if (begin === 0) return at + 1
  const isInParentheses = begin === 1 && isWord(tokens[0], '(') && isWord(tokens[at + 1], ')')
  if (isInParentheses) return at + 2
  const isOrElse = begin === 2 && isWord(tokens[0], 'coalesce', 'ifnull') && isWord(tokens[at + 1], ',')
  return isOrElse ? 3 + endOf(tokens.slice(2), []) : null
}

/** Outside of parentheses. Two operands side by side have a word as their operator: IS, LIKE, DIV, CASE. */
function hasOnlyArithmetic(tokens: readonly Token[]): boolean {
  let depth = 0
  return tokens.every((token, at) => {
    if (isWord(token, ')')) depth -= 1
    const isOutside = depth === 0
    if (isWord(token, '(')) depth += 1
    if (!isOutside) return true
    if (token.kind === 'symbol') return isWord(token, '(', ')', '.', ':', '+', '-', '*', '/', '%')
    const next = tokens[at + 1]
    return next === undefined || next.kind === 'symbol'
  })
}

/** `balance::numeric(18, 2)` */
function behindCasts(tokens: readonly Token[], to: number): number {
  let at = to
  while (isWord(tokens[at], ':') && isWord(tokens[at + 1], ':')) {
    at += 3
    if (isWord(tokens[at], '(')) at += endOf(tokens.slice(at + 1), []) + 2
  }
  return at
}
