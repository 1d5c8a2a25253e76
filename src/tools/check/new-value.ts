/** Whether the new value of a column is made from the value that the row has. */
import { endOf, isName, isWord, type Token } from './sql-tokens.js'

/**
 * Whether a value adds to the column: `balance + $1`, `COALESCE(balance, 0) - $1`. Not where the column is
 * only one of the values to choose from (`COALESCE($1, balance)`, `CASE … ELSE balance END`), or only a
 * condition of the choice.
 *
 * @param own the names of the table whose row is changed
 */
export function addsTo(value: readonly Token[], column: string, own: ReadonlySet<string>): boolean {
  const tokens = withoutConditions(value)
  return tokens.some((_, at) => namesOwn(tokens, at, column, own) && isKept(tokens, at))
}

/**
 * Whether the column is named here as that of the row that is changed. In a subquery, a name without a table
 * is of another row; `excluded.balance` and `VALUES(balance)` are what was sent.
 */
export function namesOwn(
  tokens: readonly Token[],
  at: number,
  column: string,
  own: ReadonlySet<string>,
): boolean {
  if (!isName(tokens[at], column)) return false
  if (isWord(tokens[at - 1], '.')) return own.has(tokens[at - 2]?.text ?? '')
  if (isWord(tokens[at - 1], '(') && isWord(tokens[at - 2], 'values')) return false
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

/** Without what stands between CASE and THEN, and without the first argument of IF. */
function withoutConditions(tokens: readonly Token[]): Token[] {
  /** Of the value, and each open parenthesis and CASE in it: whether a condition goes on. */
  const open = [false]
  return tokens.filter((token, at) => {
    if (isWord(token, 'then', 'else', ',')) open[open.length - 1] = false
    if (isWord(token, 'when')) open[open.length - 1] = true
    if (isWord(token, ')', 'end')) open.pop()
    const isValue = !open.includes(true)
    if (isWord(token, '(')) open.push(isWord(tokens[at - 1], 'if'))
    if (isWord(token, 'case')) open.push(true)
    return isValue
  })
}

const operators = ['+', '-', '*', '/', '%']
const comparisons = ['=', '<', '>', '!', '<=>']
/** They return one of their arguments: the first, unless it is NULL; or any of them. */
const firstOf = ['coalesce', 'ifnull', 'nullif']
const oneOf = ['greatest', 'least', 'if']

/** From the column outwards, until something is added, or to the end of the value. */
function isKept(tokens: readonly Token[], at: number): boolean {
  let from = beginOfName(tokens, at)
  let to = at + 1
  let isOneOfSeveral = false
  for (;;) {
    to = behindCasts(tokens, to)
    const [before, after] = [tokens[from - 1], tokens[to]]
    if (isWord(before, ...operators) || isWord(after, ...operators)) return true
    if (isWord(before, ...comparisons) || isWord(after, ...comparisons)) return false
    if (!isWord(before, '(', ',', 'then', 'else')) return !isOneOfSeveral
    const begin = beginAround(tokens, from)
    const name = isWord(tokens[begin], '(') ? tokens[begin - 1] : undefined
    if (isWord(name, ...firstOf) && !isWord(before, '(')) return false
    if (isWord(name, ...oneOf) || isWord(before, 'then', 'else')) isOneOfSeveral = true
    const isCall = name !== undefined && ['word', 'name'].includes(name.kind) && !isWord(name, 'then', 'else')
    from = isCall ? beginOfName(tokens, begin - 1) : begin
    to += endOf(tokens.slice(to), []) + 1
  }
}

/** Where the parenthesis or the CASE begins that is open before `from`. */
function beginAround(tokens: readonly Token[], from: number): number {
  let depth = 0
  for (let at = from - 1; at > 0; at -= 1) {
    if (isWord(tokens[at], ')', 'end')) depth += 1
    if (isWord(tokens[at], '(', 'case')) depth -= 1
    if (depth < 0) return at
  }
  return 0
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
