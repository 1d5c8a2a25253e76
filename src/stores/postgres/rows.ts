/** The items of a commit as PostgreSQL arrays. */
import type { WalletChanges } from '../../store.js'
import type { Columns } from '../database/columns.js'
import { creditFields, type Fields, fieldsOf } from '../database/rows.js'

const epochMsOf = (transactionDate: string) => Date.parse(transactionDate).toString()

/** The last field: an array of all credit columns. */
function creditsOf({ bet }: WalletChanges): string | null {
  const fields = bet && creditFields(bet.credits)
  return fields && arrayOf(fields)
}

/**
 * The item of `commit_one_v1`: an array of its fields. PostgreSQL reads an array in half of the time that
 * JSON takes.
 */
export const itemOf = (changes: WalletChanges, columns: Columns): string =>
  arrayOf([...fieldsOf(changes, columns, epochMsOf), creditsOf(changes)])

/** The items of `commit_v1`: per field, an array of its values; empty where it is `null` in all of them. */
export function itemsOf(all: readonly WalletChanges[], columns: Columns): string {
  const items = all.map(changes => fieldsOf(changes, columns, epochMsOf))
  const fields = (items[0] ?? []).map((_, index) => items.map(item => item[index]))
  return arrayOf([...fields, all.map(creditsOf)].map(arrayOfField))
}

const arrayOfField = (values: Fields) => (values.every(value => value == null) ? '{}' : arrayOf(values))

/** The text of a PostgreSQL array. */
const arrayOf = (values: Fields): string => `{${values.map(elementOf).join(',')}}`

function elementOf(value: Fields[number]): string {
  if (value == null) return 'NULL'
  if (/^[\w.:-]+$/.test(value) && !/^null$/i.test(value)) return value
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}
