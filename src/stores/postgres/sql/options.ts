/** The registered option sets: which options the functions of the schema were made for. */

import { textOf } from '../../../foreign-values.js'
import { sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import { dollarQuoted, jsonLiteral, literal } from './quoting.js'

export const optionsTable = (schema: string) => sql`
  -- The options that the functions were made for. The hash is the end of their names.
  CREATE TABLE IF NOT EXISTS ${schema}.options (
    hash text PRIMARY KEY,
    options jsonb NOT NULL,
    migrated_at timestamptz NOT NULL DEFAULT now()
  )`

/**
 * The sentence that names each option in which the given set differs from the one registered last. No row
 * when the given set is registered, and when none is.
 */
export const optionsProblem = ({ schema, schemaName, optionSet }: Tables) => sql`
  SELECT format(
    'The schema %s was migrated with other options: %s', ${literal(schemaName)},
    string_agg(
      format(
        '%s: registered %s, given %s', name,
        coalesce(registered.options -> name, 'null'), coalesce(given.options -> name, 'null')
      ),
      '; ' ORDER BY name
    )
  ) AS problem
  FROM (
    SELECT ${jsonLiteral(optionSet.json)}::jsonb AS options
  ) given
  CROSS JOIN (
    SELECT options
    FROM ${schema}.options
    ORDER BY migrated_at DESC, hash
    LIMIT 1
  ) registered
  CROSS JOIN jsonb_object_keys(registered.options || given.options) name
  WHERE registered.options -> name IS DISTINCT FROM given.options -> name
    AND NOT EXISTS (SELECT FROM ${schema}.options other WHERE other.options = given.options)
  HAVING count(*) > 0`

/** One line of the migration. */
export const besideHint =
  'Use the same options, or migrate with allowOtherOptions: running processes then keep their functions'

export const refuseOtherOptions = (tables: Tables) => sql`
  -- Other options mean another players' table or another unit: a migration to them must be stated on purpose.
  DO ${dollarQuoted(
    'check',
    sql`
      DECLARE
        problem text := (
          ${optionsProblem(tables)}
        );
      BEGIN
        IF problem IS NOT NULL THEN
          RAISE EXCEPTION USING
            ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = problem,
            HINT = ${literal(besideHint)};
        END IF;
      END`,
  )}`

/** Whether an error of the migration is the refusal above. */
export function isRefusedForOptions(error: unknown): boolean {
  return /^The schema .* was migrated with other options: /s.test(textOf(error))
}

export const registerOptions = ({ schema, optionSet }: Tables) => sql`
  INSERT INTO ${schema}.options (hash, options)
  VALUES ('${optionSet.hash}', ${jsonLiteral(optionSet.json)})
  ON CONFLICT DO NOTHING`
