/** The options that the functions of the store are bound to. */
import { nameHash } from './name-hash.js'

/**
 * The options that decide what the functions of the store do, and how the store reads their results. The
 * functions are bound to them by a hash in their names, and the schema registers them.
 */
export interface OptionSet {
  /** 8 hexadecimal digits: the end of the names of the functions. */
  readonly hash: string
  /** Every option by its name, with its default filled in: `{ "players.table": "pam.accounts", … }`. */
  readonly json: string
}

export type MinorUnits = number | ReadonlyMap<string, number>

/** The same options always have the same hash, however they were written. */
export function optionSetOf(
  options: Readonly<Record<string, string | boolean | MinorUnits | null>>,
): OptionSet {
  const json = JSON.stringify(options, (_, value) => (value instanceof Map ? sortedObject(value) : value), 2)
  return { hash: nameHash(json), json }
}

function sortedObject(units: ReadonlyMap<string, number>) {
  return Object.fromEntries([...units].sort(([a], [b]) => (a < b ? -1 : 1)))
}
