/** The indexes of the transactions that lookups need. They are optional: each is written by every commit. */

export interface LookupIndex {
  /** The end of its name, after the name of the table. */
  name: string
  /** Of the table of transactions. An index of the operator's that begins with them serves too. */
  columns: readonly string[]
}

/** By what is looked up. A transaction is found by the unique index that guard 1 needs. */
export const lookupIndexes = {
  bet: { name: 'of_bet', columns: ['bet_id'] },
  player: { name: 'of_player', columns: ['player_id', 'recorded_at'] },
  time: { name: 'by_time', columns: ['recorded_at'] },
} as const satisfies Record<string, LookupIndex>

export type LookedUp = keyof typeof lookupIndexes

/** What the catalog knows of the table of transactions. */
export interface TransactionsTable {
  /** Its indexes that can be used, each with its columns in order; `null` for an expression. */
  indexes: readonly (readonly (string | null)[])[]
  /** About how many rows it has; `null`: the server does not know. */
  rows: number | null
}

export const hasIndex = ({ indexes }: TransactionsTable, { columns }: LookupIndex): boolean =>
  indexes.some(index => columns.every((column, position) => index[position] === column))

export const missingIndexes = (table: TransactionsTable): LookupIndex[] =>
  Object.values(lookupIndexes).filter(index => !hasIndex(table, index))
