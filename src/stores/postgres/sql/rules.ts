/**
 * The rules about several columns of a row, as functions that the CHECKs call. A statement that writes to a
 * table reads the CHECKs again, which takes longer than the rest of a small INSERT; a function is read once
 * per connection.
 */
import { creditColumns, settlementTypes } from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import { dollarQuoted } from './quoting.js'
import { schemaVersion } from './version.js'

/** A rule, as a condition over columns of one table. */
interface Rule {
  name: string
  columns: readonly string[]
  condition: string
}

const betRule: Rule = {
  name: `is_valid_bet_v${schemaVersion}`,
  columns: ['revision integer', 'status text', ...creditColumns.map(column => `${column} numeric`)],
  condition: sql`
    revision >= 1
    AND (
      status = 'PLACED'
      OR status = 'ROLLED_BACK' AND num_nonnulls(bet_paid_live, voided_live, cashout_live) = 0
    )
    ${settlementTypes.map(creditCondition).join('\n')}`,
}

function creditCondition(type: (typeof settlementTypes)[number]): string {
  return sql`
    AND (${type}_reversed IS NULL) = (${type}_owed IS NULL)
    AND (${type}_live IS NULL OR ${type}_owed IS NOT NULL)`
}

const transactionRule: Rule = {
  name: `is_valid_transaction_v${schemaVersion}`,
  columns: [
    'operation text',
    'amount numeric',
    'currency text',
    'type text',
    'delta numeric',
    'error_code text',
    'description text',
  ],
  condition: sql`
    CASE operation
      WHEN 'placebet' THEN amount IS NOT NULL AND type IS NULL
      WHEN 'settlement' THEN amount IS NOT NULL AND type IS NOT NULL
      WHEN 'unsettlement' THEN amount IS NULL AND type IS NOT NULL
      WHEN 'rollbackbet' THEN amount IS NULL AND type IS NOT NULL
      ELSE false
    END
    AND (currency IS NULL) = (amount IS NULL)
    AND (error_code IS NULL) = (description IS NULL)
    AND (error_code IS NULL OR delta = 0)
    AND abs(delta) < 'Infinity'`,
}

/** The functions; they are created before the tables. */
export const ruleFunctions = (schema: string): string[] =>
  [betRule, transactionRule].map(
    ({ name, columns, condition }) => sql`
      CREATE OR REPLACE FUNCTION ${schema}.${name}(
        ${lines(columns)}
      )
      RETURNS boolean
      LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
      AS ${dollarQuoted(
        'function',
        sql`
          BEGIN
            RETURN ${condition};
          END`,
      )}`,
  )

const checkOf = (schema: string, { name, columns }: Rule) => sql`
  CHECK (${schema}.${name}(
    ${lines(columns.map(column => column.split(' ')[0] ?? ''))}
  ))`

export const betCheck = (schema: string): string => checkOf(schema, betRule)

export const transactionCheck = (schema: string): string => checkOf(schema, transactionRule)
