/** The tables below others: partitions, children, and those that a view shows. */

import { sql } from '../../database/sql-text.js'
import { literal } from './quoting.js'

/**
 * The relations that this query returns by oid, their partitions and children, and for a view the tables
 * below it: a CTE for WITH RECURSIVE.
 */
export const relationsBelow = (query: string) => sql`
  relation (oid) AS (
    ${query}
    UNION
    SELECT below.oid
    FROM relation
    CROSS JOIN LATERAL (
      SELECT child.inhrelid
      FROM pg_catalog.pg_inherits child
      WHERE child.inhparent = relation.oid
      UNION ALL
      SELECT dependency.refobjid
      FROM pg_catalog.pg_rewrite rule
      JOIN pg_catalog.pg_depend dependency ON dependency.objid = rule.oid
      WHERE rule.ev_class = relation.oid
        AND rule.ev_type = '1' -- the query of a view
        AND dependency.classid = 'pg_catalog.pg_rewrite'::regclass
        AND dependency.refclassid = 'pg_catalog.pg_class'::regclass
    ) below (oid)
  )`

/** The library's tables of these names, each by its oid; `$1` is the name of its schema. */
export const ownRelations = (...names: readonly string[]) => sql`
  SELECT c.oid
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname IN (${names.map(literal).join(', ')})`
