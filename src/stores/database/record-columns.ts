/** The columns of the tables of transactions and of bets. */

/** What identifies a transaction (D1). */
export const transactionKey = ['operation', 'transaction_id'] as const

/** The columns of a transaction that are the same in both databases, beside its key. */
export const transactionContent = [
  'player_id',
  'bet_id',
  'amount',
  'currency',
  'type',
  'delta',
  'account_currency',
  'error_code',
  'description',
  'reason',
] as const

export const settlementTypes = ['bet_paid', 'voided', 'cashout'] as const

/** The columns of one settlement type: the parts of a credit (D18). */
export const creditColumnsOf = (type: (typeof settlementTypes)[number]) =>
  ['live', 'reversed', 'owed'].map(part => `${type}_${part}`)

export const creditColumns = settlementTypes.flatMap(creditColumnsOf)

/** The columns of a bet, beside its betId. */
export const betContent = ['player_id', 'currency', 'stake', 'status', ...creditColumns, 'revision']

/** Whether something is owed of a bet (D7). */
export const anyOwed = (bet: string) => settlementTypes.map(type => `${bet}.${type}_owed > 0`).join(' OR ')

/** The columns of `bets`, as lines of a list. `prefix` stands before every name. */
export const betColumnLines = (prefix = '') =>
  [
    ['bet_id', 'player_id', 'currency', 'stake', 'status'],
    ...settlementTypes.map(creditColumnsOf),
    ['revision'],
  ].map(columns => columns.map(column => `${prefix}${column}`).join(', '))
