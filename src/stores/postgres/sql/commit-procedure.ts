/** Commits as procedures: for clients that cannot tell whether other code left a transaction block open. */

import { sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import { commitSettings, type DatabaseFunction, defineProcedure, functionName } from './fragments.js'

/** `commit_procedure_v1`, `commit_one_procedure_v1`: the function as a database transaction, as JSON. */
export function commitProcedure(tables: Tables, commit: 'commit' | 'commit_one'): DatabaseFunction {
  const isOne = commit === 'commit_one'
  return defineProcedure(tables, {
    name: functionName(tables, `${commit}_procedure`),
    comment: `-- The same as ${commit}, as JSON. Inside another database transaction it is an error.`,
    parameters: sql`
      items text,
      balance_max numeric,${isOne ? '\nbalance_length integer,' : ''}
      ${commitSettings}`,
    body: sql`
      SELECT json_agg(committed) INTO result
      FROM ${tables.schema}.${functionName(tables, commit)}(
        items, balance_max,${isOne ? ' balance_length,' : ''} lock_timeout_ms, has_triggers, commit_follows, durable,
        highest_timeline, of_system
      ) committed;`,
  })
}
