/** Tables of entries beside the balance, and the hook that adds an entry for each change of a balance. */
import { isDeepStrictEqual } from 'node:util'
import { balanceTypeOf, isEntriesName, isRowOf, wordsOf } from './candidates.js'
import { idPlace, type Ledger, type Mapping, sourceOf, tablesBelow, timesUnits } from './mapping.js'
import { type Column, refersTo, type Table } from './schema.js'
import { inTemplate, present, sqlName, sqlTable } from './source-text.js'

const has = (column: Column, words: readonly string[]) =>
  wordsOf(column.name).some(word => words.includes(word))

export function ledgersOf(table: Table, id: Column, tables: readonly Table[]): Ledger[] {
  const origins = [table, ...tablesBelow(table, tables)]
  return tables.flatMap((other): Ledger[] => {
    if (origins.includes(other) || other.isView) return []
    const money = other.columns.filter(each => balanceTypeOf('postgres', each) !== 'text' && isMoney(each))
    const balanceAfter = money.find(each => has(each, ['after', 'balance'])) ?? null
    const amount = money.find(
      each => has(each, ['amount', 'delta', 'change', 'value']) && each !== balanceAfter,
    )
    const isSplit = [debits, credits].every(words => money.some(each => has(each, words)))
    const isDirected = balanceAfter !== null || other.columns.some(each => has(each, ['direction', 'side']))
    const isOfEntries = isSplit || (amount !== undefined && (isDirected || isEntriesName(other.name)))
    const [link] = origins.flatMap(origin => linksOf(origin, id, other))
    if (link === undefined || !isOfEntries) return []
    if (amount === undefined || !table.columns.includes(link[1])) return [{ table: other, entry: null }]
    const set = [link[0], amount, balanceAfter]
    const required = other.columns.filter(
      each => !set.includes(each) && !each.nullable && !each.hasDefault && each.updatable,
    )
    return [{ table: other, entry: { link, amount, balanceAfter, required } }]
  })
}

const debits = ['debit', 'withdraw', 'withdrawal']
const credits = ['credit', 'deposit']

const isMoney = (column: Column) => balanceTypeOf('postgres', column) !== null && !has(column, ['id'])

type EntryLink = readonly [own: Column, of: Column]

/**
 * By a foreign key; or by the name: `wallet_id` of `wallets`, or as the id is called. Then by foreign keys of
 * both to the same row, if the row of the table is the only one that has it.
 */
function linksOf(table: Table, id: Column, other: Table): EntryLink[] {
  const keysOf = (own: Column) => other.foreignKeys.filter(({ column }) => column === own.name)
  const links = (nameFor: (own: Column) => string | undefined) =>
    other.columns.flatMap((own): EntryLink[] => {
      const of = table.columns.find(({ name }) => name === nameFor(own))
      return of === undefined ? [] : [[own, of]]
    })
  const direct = links(own => {
    const key = keysOf(own).find(each => refersTo(each, table))
    const isId = own.name === id.name && own.name !== 'id'
    return key?.to.column ?? (isRowOf(own, table) ? 'id' : isId ? id.name : undefined)
  })
  const ofOne = table.foreignKeys.filter(
    ({ column }) => column === id.name || table.uniqueKeys.some(key => key.join() === column),
  )
  const shared = links(
    own => ofOne.find(({ to }) => keysOf(own).some(each => isDeepStrictEqual(each.to, to)))?.column,
  )
  return [...direct, ...shared]
}

/** A function of store.ts, which the operator completes and switches on. */
export function ledgerLines(mapping: Mapping): string[] {
  const { engine, table, id, balance, ledgers, accountPerCurrency, onlyCurrency } = mapping
  const ledger = ledgers.find(({ entry }) => entry !== null)
  if (!ledger?.entry) return []
  const name = (text: string) => sqlName(engine, text)
  const { link, amount, balanceAfter, required } = ledger.entry
  const place = (index: number) => (engine === 'postgres' ? `$${index}` : '?')
  const currency = mapping.currency === null ? null : `player.${name(mapping.currency.name)}`
  const isWhole = balanceTypeOf(engine, amount) === 'minor-units'
  const units =
    isWhole && mapping.minorUnits !== null
      ? timesUnits(engine, mapping.minorUnits, sourceOf(mapping).shown)
      : ''
  const columns = [link[0], amount, balanceAfter].filter(column => column !== null)
  const shown = present([
    `player.${name(link[1].name)}`,
    `${engine === 'postgres' ? '$1::numeric' : 'CAST(? AS decimal(38, 18))'}${units}`,
    balanceAfter !== null && `player.${name(balance.name)}`,
  ])
  // A player may have a row for each.
  const isOne = currency !== null && (accountPerCurrency || onlyCurrency !== null)
  const one = isOne ? ` AND ${currency}${engine === 'postgres' ? '::text' : ''} = ${place(3)}` : ''
  const sql = `INSERT INTO ${sqlTable(engine, ledger.table)} (${columns.map(each => name(each.name)).join(', ')}) SELECT ${shown.join(', ')} FROM ${sqlTable(engine, table)} player WHERE player.${name(id.name)} = ${idPlace(mapping, place(2))}${one}`
  return present([
    `// Adds an entry to ${ledger.table.name} for each change of a balance, in the same commit. To use it, call it in withinTransaction.`,
    required.length > 0 && `// An entry also needs: ${required.map(each => each.name).join(', ')}.`,
    mapping.minorUnits !== null &&
      units === '' &&
      '// The amount is in whole units of the currency: multiply it if the column holds minor units.',
    `// The wallet's user needs INSERT on it, and SELECT (${link[1].name}) on ${table.name}.`,
    'export async function addEntries(query: Query, pending: readonly PendingCommit[]) {',
    '  for (const { changes: { transaction, account } } of pending)',
    '    if (Number(account.delta) !== 0)',
    `      await query(\`${inTemplate(sql)}\`, [account.delta, transaction.playerId${isOne ? ', account.currency' : ''}])`,
    '}',
  ])
}
