/**
 * The check that no row is hidden from the store: a hidden player, bet or transaction is unknown to it, and
 * the platform gets final answers that are wrong.
 */
import { type Condition, conditionsBelow } from './check-conditions.js'
import type { Ask } from './client.js'
import { storeError } from './errors.js'
import type { Tables } from './tables.js'

/** A node of EXPLAIN (FORMAT JSON, VERBOSE). */
interface PlanNode {
  readonly Schema?: string
  readonly 'Relation Name'?: string
  /** `Member`: a partition or child of the table. */
  readonly 'Parent Relationship'?: string
  /** The columns that it returns, each with the alias of its table: `accounts.balance`. */
  readonly Output?: readonly string[]
  readonly Plans?: readonly PlanNode[]
}

/** What an update of a player writes to. */
export interface PlayersTarget {
  /** Schema and name of the players' table, or of the base table of the view. */
  table: readonly [string, string]
  /** Its columns of the id and the currency, or what computes them, as a plan has it: `base."player id"`. */
  id: string
  currency: string
  /** Whether a view or a policy has a condition. */
  isFiltered: boolean
}

/** @throws {StoreError} `ROW_SECURITY` or `INVALID_PLAYERS_TABLE` */
export async function checkVisibility(ask: Ask, tables: Tables): Promise<PlayersTarget> {
  await checkRowSecurity(ask, tables)
  const { tableName, table, columns } = tables.players
  // An UPDATE is subject to the conditions of SELECT too. It is planned, not executed.
  const update = await planOf(
    ask,
    `UPDATE ${table} SET ${columns.balance} = ${columns.balance} RETURNING ${columns.id}, ${columns.currency}`,
  )
  const target = [update.Schema ?? tableName[0], update['Relation Name'] ?? tableName[1]] as const
  const conditions = await conditionsBelow(ask, table, target)
  const problem = dependsOnSession(update, conditions) ?? hiddenBy(update) ?? hiddenFromUpdates(conditions)
  if (problem !== null)
    throw storeError('INVALID_PLAYERS_TABLE', `The players' table ${tableName.join('.')}: ${problem}`)
  const [id = '', currency = ''] = update.Output ?? []
  return { table: target, id, currency, isFiltered: conditionsIn(update).length > 0 }
}

/** A plan has what functions inline; the catalog has the conditions of partitions that a plan leaves out. */
function dependsOnSession(plan: PlanNode, conditions: readonly Condition[]): string | null {
  const texts = [JSON.stringify(plan), ...conditions.map(({ text }) => text)]
  if (!texts.some(text => text.includes('current_setting('))) return null
  return (
    'its view or policy reads a setting of the session (current_setting), which other code may change: a player that ' +
    'it hides is unknown. Use a condition that depends on the role, or a role with BYPASSRLS'
  )
}

/** A row that can be read and not locked always looks like one that another writer has locked. */
function hiddenFromUpdates(conditions: readonly Condition[]): string | null {
  for (const role of new Set(conditions.map(each => each.role))) {
    const of = (command: 'r' | 'w', permissive: boolean) =>
      conditions
        .filter(each => each.role === role && each.permissive === permissive)
        .filter(each => each.command === command || each.command === '*')
        .map(({ text }) => text)
    const [reading, updating] = [of('r', true), of('w', true)]
    const isNarrower = !updating.includes('true') && reading.some(each => !updating.includes(each))
    const isRestricted = of('w', false).some(each => each !== 'true' && !of('r', false).includes(each))
    if (isNarrower || isRestricted)
      return (
        `the role ${role} can read players that it cannot update: its policies for UPDATE have other conditions ` +
        `(${[...updating, ...of('w', false)].join('; ')}) than those for SELECT (${[...reading, ...of('r', false)].join('; ')}). ` +
        'Use the same for both'
      )
  }
  return null
}

export async function checkRowSecurity(
  ask: Ask,
  { schema, schemaName }: Pick<Tables, 'schema' | 'schemaName'>,
): Promise<void> {
  const rows = await ask<{ name: string }>(
    `SELECT c.relname::text AS name
      FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname IN ('bets', 'transactions', 'outbox') AND row_security_active(c.oid)`,
    [schemaName],
  )
  const [first] = rows
  if (first === undefined) return
  throw storeError(
    'ROW_SECURITY',
    `Row-level security of ${schemaName}.${first.name} applies to this role and can hide records. ` +
      `ALTER TABLE ${schema}.${first.name} DISABLE ROW LEVEL SECURITY, or ALTER ROLE … BYPASSRLS`,
  )
}

/** @returns the plan of a statement, which is not executed */
export async function planOf(
  ask: (text: string, values: unknown[]) => Promise<unknown[]>,
  statement: string,
): Promise<PlanNode> {
  const [row] = await ask(`EXPLAIN (FORMAT JSON, VERBOSE) ${statement}`, [])
  const value = Object.values(row ?? {})[0]
  // Some drivers do not parse JSON.
  const plans = typeof value === 'string' ? (JSON.parse(value) as unknown) : value
  const plan = (plans as readonly { Plan?: PlanNode }[] | undefined)?.[0]?.Plan
  if (plan === undefined) throw storeError('UNSUPPORTED_CLIENT', 'client.query returned no rows for EXPLAIN')
  return plan
}

function hiddenBy(update: PlanNode): string | null {
  const conditions = conditionsIn(update)
  // Before 17, PostgreSQL does not simplify `(false AND false)`.
  if (conditions.some(each => /^\(?false(?: AND false)*\)?$/.test(each))) {
    return (
      'this role can see none of its rows: row-level security without a policy for it, or a table without ' +
      'partitions'
    )
  }
  const mentions = (update.Plans ?? []).flatMap(balancesIn).flatMap(mentionsOf)
  const condition = conditions.find(each => mentions.some(mention => mention.test(each)))
  if (condition === undefined) return null
  return (
    `it hides players by their balance, and a hidden player is unknown (${condition}). Remove the condition ` +
    'from the view or policy; declare a minimum balance by players.reserved'
  )
}

/** All conditions of a plan: `Filter`, `Index Cond`, `One-Time Filter`, … */
function conditionsIn(node: PlanNode): string[] {
  return [
    ...Object.entries(node).flatMap(([key, value]) => (/(?:Filter|Cond)$/.test(key) ? [String(value)] : [])),
    ...(node.Plans ?? []).flatMap(conditionsIn),
  ]
}

/** The balance column of the base table, with its alias; of a partitioned table, that of each partition. */
function balancesIn(node: PlanNode): string[] {
  const partitions = (node.Plans ?? []).filter(each => each['Parent Relationship'] === 'Member')
  return [...(node.Output?.slice(0, 1) ?? []), ...partitions.flatMap(balancesIn)]
}

/**
 * How a condition mentions a column: by its name, or as a part of the whole row. In a plan of one table, the
 * output has no alias, and the conditions have one.
 */
function mentionsOf(column: string): RegExp[] {
  const { alias, name = column } = /^(?<alias>.*)\.(?<name>"(?:[^"]|"")*"|[^".]+)$/.exec(column)?.groups ?? {}
  const prefix = alias === undefined ? '(?:[\\w$]+|"(?:[^"]|"")*")' : escaped(alias)
  return [escaped(name), '\\*'].map(part => new RegExp(`(?<![\\w$".])${prefix}\\.${part}(?![\\w$"])`))
}

function escaped(text: string): string {
  return text.replace(/[^\w]/g, '\\$&')
}
