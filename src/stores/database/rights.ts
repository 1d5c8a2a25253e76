/** What a role of the database may do, as GRANT statements say it. */

export const roleUses = ['store', 'lookups', 'settlements', 'relay'] as const

/**
 * What a role is for: the store, lookups and the reconciliation, PAM code that calls `credit_bet_v1`, or the
 * relay of the outbox.
 */
export type RoleUse = (typeof roleUses)[number]

/** One privilege on one object, or on one column of it. Names are quoted. */
export interface Right {
  /** `SELECT`, `CREATE TEMPORARY TABLES` */
  privilege: string
  /** `null`: on the whole object. */
  column: string | null
  kind: '' | 'SCHEMA' | 'SEQUENCE' | 'PROCEDURE'
  object: string
}

/** The rights on one object: `rightsOn('', table, 'SELECT', 'INSERT')`. */
export const rightsOn = (kind: Right['kind'], object: string, ...privileges: readonly string[]): Right[] =>
  privileges.map(privilege => ({ privilege, column: null, kind, object }))

/** A privilege on columns of a table. */
export const rightsOnColumns = (object: string, privilege: string, columns: readonly string[]): Right[] =>
  columns.map(column => ({ privilege, column, kind: '', object }))

/** Rights with the same privileges, as one statement grants them. */
interface Grant {
  privileges: string
  kind: Right['kind']
  objects: string[]
}

/** The rights of each object together: `SELECT (id, balance), UPDATE (balance) ON accounts`. */
function grantsOf(rights: readonly Right[]): Grant[] {
  const byObject = new Map<string, Right[]>()
  for (const right of rights) {
    const key = `${right.kind} ${right.object}`
    byObject.set(key, [...(byObject.get(key) ?? []), right])
  }
  return [...byObject.values()].map(group => ({
    privileges: [...new Set(group.map(({ privilege }) => privilege))]
      .map(privilege => {
        const columns = group.flatMap(right => (right.privilege === privilege ? (right.column ?? []) : []))
        return columns.length === 0 ? privilege : `${privilege} (${columns.join(', ')})`
      })
      .join(', '),
    kind: group[0]?.kind ?? '',
    objects: group.slice(0, 1).map(({ object }) => object),
  }))
}

/** Objects with the same privileges in one statement, where the server allows it: PostgreSQL. */
function merged(grants: readonly Grant[]): Grant[] {
  const statements: Grant[] = []
  for (const grant of grants) {
    const same = statements.find(
      ({ privileges, kind }) => privileges === grant.privileges && kind === grant.kind,
    )
    if (same === undefined) statements.push(grant)
    else same.objects.push(...grant.objects)
  }
  return statements
}

/** `SELECT, INSERT ON wallet_transactions`, for each object. */
const textOf = ({ privileges, kind, objects }: Grant) =>
  `${privileges} ON ${kind === '' ? '' : `${kind} `}${objects.join(', ')}`

/** The rights in a sentence. */
export const rightsText = (rights: readonly Right[]): string => grantsOf(rights).map(textOf).join('; ')

/**
 * The statements that grant the rights, without a semicolon.
 *
 * @param grantee quoted
 * @param severalObjects whether a statement may name several objects
 */
export function grantStatements(
  rights: readonly Right[],
  grantee: string,
  { severalObjects }: { severalObjects: boolean },
): string[] {
  const grants = grantsOf(rights)
  return (severalObjects ? merged(grants) : grants).map(grant => `GRANT ${textOf(grant)} TO ${grantee}`)
}
