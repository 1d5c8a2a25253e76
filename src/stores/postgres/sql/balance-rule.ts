/** `is_balance_rule`: whether a failed CHECK is a rule about the balance, as a minimum that the PAM set. */

import { sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import { asPlayerId, type DatabaseFunction, defineFunction, functionName } from './fragments.js'
import { literal } from './quoting.js'

/**
 * The relations that this query returns by oid, their partitions and children, and for a view the tables below
 * it: a CTE for WITH RECURSIVE.
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

/**
 * Called after a debit has failed, with the player and what the error names: the schema, and the table or the
 * domain.
 */
export function balanceRuleFunction(tables: Tables): DatabaseFunction {
  const { table, columns } = tables.players
  return defineFunction(tables, {
    name: functionName(tables, 'is_balance_rule'),
    comment: sql`
      -- Whether the CHECK that a debit has failed is a rule about the balance: it is one of the players' table, and
      -- the player's row meets it as long as the balance does not change. Writes nothing.`,
    parameters: sql`
      debited_player text,
      rule_schema text,
      rule_table text,
      rule_domain text,
      lock_timeout_ms integer`,
    returns: sql`
      boolean
      LANGUAGE plpgsql VOLATILE`,
    body: sql`
      BEGIN
        PERFORM FROM (
          ${ruleQuery(table)}
        ) rule;
        IF NOT found THEN
          RETURN false;
        END IF;
        PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
        UPDATE ${table} player
        SET ${columns.balance} = player.${columns.balance}
        WHERE player.${columns.id} = ${asPlayerId(tables, 'debited_player')};
        RAISE EXCEPTION 'bet-wallet: undo the update' USING ERRCODE = 'BW000';
      EXCEPTION
        WHEN check_violation OR with_check_option_violation THEN
          RETURN false;
        WHEN SQLSTATE 'BW000' THEN
          RETURN true;
      END`,
  })
}

/** A row, if the rule belongs to a relation of the players' table, or to a domain of one of its columns. */
const ruleQuery = (table: string) => sql`
  WITH RECURSIVE
  ${relationsBelow(`SELECT ${literal(table)}::regclass::oid`)},
  type (oid) AS (
    SELECT attribute.atttypid
    FROM relation
    JOIN pg_catalog.pg_attribute attribute ON attribute.attrelid = relation.oid
    UNION
    SELECT domain.typbasetype
    FROM type
    JOIN pg_catalog.pg_type domain ON domain.oid = type.oid
    WHERE domain.typtype = 'd'
  )
  SELECT
  FROM relation
  JOIN pg_catalog.pg_class class ON class.oid = relation.oid
  WHERE class.relname = rule_table
    AND class.relnamespace = to_regnamespace(quote_ident(rule_schema))
  UNION ALL
  SELECT
  FROM type
  JOIN pg_catalog.pg_type domain ON domain.oid = type.oid
  WHERE domain.typname = rule_domain
    AND domain.typnamespace = to_regnamespace(quote_ident(rule_schema))`
