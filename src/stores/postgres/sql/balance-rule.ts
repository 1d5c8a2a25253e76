/** `is_balance_rule`: whether a failed CHECK is a rule about the balance, as a minimum that the PAM set. */

import { sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import {
  asPlayerId,
  balancePlus,
  type DatabaseFunction,
  defineFunction,
  functionName,
  refuseFormerPrimary,
  refuseReadOnly,
  timelineParameters,
} from './fragments.js'
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

/**
 * Called after a debit has failed, with the player and the debit: below 0, in the unit of the column. It
 * finds out by itself: the error that was reported may come from a trigger, from a deferred one at COMMIT, or
 * from a rule that is gone.
 *
 * The balance is raised by the debit, then debited: both must pass and change it by exactly that, so that no
 * trigger and no rule of another column is in the way. The same debit again must then fail by a rule of the
 * balance, and in the UPDATE itself: the context of the error has no trigger above it. The locks of the first
 * UPDATE are held meanwhile: no rule can be dropped, and no trigger be disabled.
 */
export function balanceRuleFunction(tables: Tables): DatabaseFunction {
  const { table, columns } = tables.players
  const ofPlayer = `player.${columns.id} = ${asPlayerId(tables, 'debited_player')}`
  const update = (delta: string, mark = '') => sql`
    UPDATE ${mark}${table} player
    SET ${columns.balance} = ${balancePlus(tables, delta)}
    WHERE ${ofPlayer}`
  return defineFunction(tables, {
    name: functionName(tables, 'is_balance_rule'),
    comment: sql`
      -- Whether a debit fails by a CHECK about the balance, and by nothing else. Writes nothing.`,
    parameters: sql`
      debited_player text,
      debit numeric,
      lock_timeout_ms integer,
      ${timelineParameters}`,
    returns: sql`
      boolean`,
    body: sql`
      DECLARE
        balance_before numeric;
        balance_raised numeric;
        balance_again numeric;
        rule_schema text;
        rule_table text;
        rule_domain text;
        rule_name text;
        rule_context text;
        answer boolean := false;
      BEGIN
        PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
        ${refuseReadOnly}
        ${refuseFormerPrimary(tables, 'PERFORM')}
        SELECT player.${columns.balance}::numeric INTO balance_before FROM ${table} player
        WHERE ${ofPlayer}
        FOR NO KEY UPDATE;
        IF NOT found THEN
          RETURN false;
        END IF;
        ${update('(-debit)')}
        RETURNING player.${columns.balance}::numeric INTO balance_raised;
        ${update('debit')}
        RETURNING player.${columns.balance}::numeric INTO balance_again;
        IF balance_raised = balance_before - debit AND balance_again = balance_before THEN
          BEGIN
            ${update('debit', `${mark} `)};
          EXCEPTION WHEN check_violation THEN
            GET STACKED DIAGNOSTICS
              rule_schema = SCHEMA_NAME,
              rule_table = TABLE_NAME,
              rule_domain = PG_DATATYPE_NAME,
              rule_name = CONSTRAINT_NAME,
              rule_context = PG_EXCEPTION_CONTEXT;
            -- The first line of the context is this UPDATE, in any language.
            answer := strpos(rule_context, '${mark}') > 0
              AND strpos(split_part(rule_context, '${mark}', 1), chr(10)) = 0
              AND EXISTS (
                ${ruleQuery(tables)}
              );
          END;
        END IF;
        RAISE EXCEPTION 'bet-wallet: undo the updates' USING ERRCODE = 'BW000';
      EXCEPTION
        WHEN check_violation THEN
          RETURN false;
        WHEN SQLSTATE 'BW000' THEN
          RETURN answer;
      END`,
  })
}

/** Marks the UPDATE in the context of its error. */
const mark = '/* bet-wallet: the debit */'

/**
 * A row, if the rule is one of the balance: a CHECK over its column, or over one that is generated from it;
 * or of the domain that is its type. A view's column leads to the column that it shows: only the text of the
 * view's tree has it.
 */
const ruleQuery = ({ players: { table, columnNames } }: Tables) => sql`
  WITH RECURSIVE balance_column (relation, number, type) AS (
    SELECT attribute.attrelid, attribute.attnum, attribute.atttypid
    FROM pg_catalog.pg_attribute attribute
    WHERE attribute.attrelid = ${literal(table)}::regclass AND attribute.attname = ${literal(columnNames.balance)}
    UNION
    SELECT attribute.attrelid, attribute.attnum, attribute.atttypid
    FROM balance_column
    CROSS JOIN LATERAL (
      SELECT child.attrelid, child.attnum::integer
      FROM pg_catalog.pg_inherits inherits
      JOIN pg_catalog.pg_attribute parent
        ON parent.attrelid = balance_column.relation AND parent.attnum = balance_column.number
      JOIN pg_catalog.pg_attribute child
        ON child.attrelid = inherits.inhrelid AND child.attname = parent.attname
      WHERE inherits.inhparent = balance_column.relation
      UNION ALL
      SELECT shown.origin[1]::oid, shown.origin[2]::integer
      FROM pg_catalog.pg_rewrite rule
      CROSS JOIN LATERAL regexp_matches(
        rule.ev_action::text,
        ':resno ' || balance_column.number
          || ' :resname [^:]* :ressortgroupref [0-9]+ :resorigtbl ([0-9]+) :resorigcol ([0-9]+) :resjunk',
        'g'
      ) shown (origin)
      WHERE rule.ev_class = balance_column.relation AND rule.ev_type = '1' -- the query of a view
      UNION ALL
      SELECT generated.attrelid, generated.attnum::integer
      FROM pg_catalog.pg_depend dependency
      LEFT JOIN pg_catalog.pg_attrdef expression
        ON dependency.classid = 'pg_catalog.pg_attrdef'::regclass AND expression.oid = dependency.objid
      JOIN pg_catalog.pg_attribute generated
        ON generated.attrelid = balance_column.relation
        -- Before PostgreSQL 15 the column itself depends, not its expression.
        AND generated.attnum = coalesce(expression.adnum::integer, dependency.objsubid)
        AND generated.attgenerated <> ''
      WHERE dependency.refclassid = 'pg_catalog.pg_class'::regclass
        AND dependency.refobjid = balance_column.relation
        AND dependency.refobjsubid = balance_column.number
        AND coalesce(expression.adrelid, dependency.objid) = balance_column.relation
    ) below (relation, number)
    JOIN pg_catalog.pg_attribute attribute
      ON attribute.attrelid = below.relation AND attribute.attnum = below.number
  ),
  type (oid) AS (
    SELECT balance_column.type
    FROM balance_column
    UNION
    SELECT domain.typbasetype
    FROM type
    JOIN pg_catalog.pg_type domain ON domain.oid = type.oid
    WHERE domain.typtype = 'd'
  )
  SELECT
  FROM pg_catalog.pg_constraint rule
  JOIN pg_catalog.pg_class class ON class.oid = rule.conrelid
  JOIN balance_column ON balance_column.relation = rule.conrelid AND balance_column.number = ANY (rule.conkey)
  WHERE rule.contype = 'c'
    AND rule.conname = rule_name
    AND class.relname = rule_table
    AND class.relnamespace = to_regnamespace(quote_ident(rule_schema))
  UNION ALL
  SELECT
  FROM pg_catalog.pg_constraint rule
  JOIN type ON type.oid = rule.contypid
  WHERE rule.conname = rule_name
    AND EXISTS (
      SELECT
      FROM type named
      JOIN pg_catalog.pg_type domain ON domain.oid = named.oid
      WHERE domain.typname = rule_domain
        AND domain.typnamespace = to_regnamespace(quote_ident(rule_schema))
    )`
