/**
 * The conditions that decide which players a role sees, as the catalog has them. A plan lacks those that a
 * partial index or a choice of partitions implies.
 */
import { sql } from '../database/sql-text.js'
import type { Ask } from './client.js'
import { literal } from './sql/quoting.js'

/** A policy that applies to the role, the definition of a view, or of a function that one of them calls. */
export interface Condition {
  text: string
  /** Of the role for which it is checked. */
  role: string
  /** Of a policy of the table that an update of a player writes to; `null`: of anything else. */
  command: 'r' | 'w' | '*' | null
  permissive: boolean | null
}

/**
 * The views and policies that a statement about a relation meets. What each of them reads is checked for its
 * `role`: below a view, that is the owner of the view.
 */
const readers = sql`
  LATERAL (
    SELECT
      'pg_rewrite'::regclass AS class, rule.oid, pg_get_viewdef(c.oid) AS text, NULL AS command, NULL::boolean AS permissive,
      CASE
        WHEN EXISTS (
          SELECT FROM pg_options_to_table(c.reloptions) o
          WHERE o.option_name = 'security_invoker' AND o.option_value::boolean
        ) THEN (SELECT own.oid FROM pg_catalog.pg_roles own WHERE own.rolname = current_user)
        ELSE c.relowner
      END AS role
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_rewrite rule ON rule.ev_class = c.oid AND rule.ev_type = '1'
    WHERE c.oid = relation.oid AND c.relkind = 'v'
    UNION ALL
    SELECT
      'pg_policy'::regclass, policy.oid, pg_get_expr(policy.polqual, c.oid), policy.polcmd::text, policy.polpermissive,
      relation.role
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_policy policy ON policy.polrelid = c.oid
    JOIN pg_catalog.pg_roles checked ON checked.oid = relation.role
    WHERE c.oid = relation.oid AND c.relrowsecurity AND NOT (checked.rolsuper OR checked.rolbypassrls)
      AND (c.relforcerowsecurity OR NOT pg_has_role(checked.oid, c.relowner, 'USAGE'))
      AND policy.polcmd IN ('r', 'w', '*') AND policy.polqual IS NOT NULL
      -- 0 is PUBLIC.
      AND EXISTS (
        SELECT FROM unnest(policy.polroles) member (oid)
        WHERE member.oid = 0 OR pg_has_role(checked.oid, member.oid, 'USAGE')
      )
  ) reader`

const dependency = (catalog: 'pg_class' | 'pg_proc') => sql`
  pg_catalog.pg_depend dependency ON dependency.classid = reader.class AND dependency.objid = reader.oid
    AND dependency.deptype = 'n' AND dependency.refclassid = '${catalog}'::regclass`

/** @param target schema and name of the table that an update of a player writes to */
export async function conditionsBelow(
  ask: Ask,
  table: string,
  target: readonly [string, string],
): Promise<Condition[]> {
  return await ask<Condition>(
    sql`
    WITH RECURSIVE relation (oid, role) AS (
      SELECT ${literal(table)}::regclass::oid, own.oid FROM pg_catalog.pg_roles own WHERE own.rolname = current_user
      UNION
      SELECT dependency.refobjid, reader.role
      FROM relation
      CROSS JOIN ${readers}
      JOIN ${dependency('pg_class')}
    )
    SELECT
      reader.text, reader.role::regrole::text AS role, reader.permissive,
      CASE WHEN n.nspname = $1 AND c.relname = $2 THEN reader.command END AS command
    FROM relation
    JOIN pg_catalog.pg_class c ON c.oid = relation.oid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN ${readers}
    UNION
    SELECT coalesce(pg_get_function_sqlbody(called.oid), called.prosrc), reader.role::regrole::text, NULL, NULL
    FROM relation
    CROSS JOIN ${readers}
    JOIN ${dependency('pg_proc')}
    JOIN pg_catalog.pg_proc called ON called.oid = dependency.refobjid
    JOIN pg_catalog.pg_language l ON l.oid = called.prolang AND l.lanname = 'sql'`,
    [...target],
  )
}
