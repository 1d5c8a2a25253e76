/** Tables of entries beside the balance, and the hook that adds an entry for each change of a balance. */
import { balanceTypeOf, isEntriesName, isRowOf, wordsOf } from './candidates.js'
import { idPlace, type Ledger, type Mapping, sourceOf, timesUnits } from './mapping.js'
import { type Column, refersTo, type Table } from './schema.js'
import { inTemplate, present, sqlName, sqlTable } from './source-text.js'

const has = (column: Column, words: readonly string[]) =>
  wordsOf(column.name).some(word => words.includes(word))

export function ledgersOf(table: Table, id: Column, tables: readonly Table[]): Ledger[] {
  return tables.flatMap(other => {
    if (other === table || other.isView || !isEntriesName(other.name)) return []
    const money = other.columns.filter(each => balanceTypeOf('postgres', each) !== 'text' && isMoney(each))
    const balanceAfter = money.find(each => has(each, ['after', 'balance'])) ?? null
    const amount = money.find(
      each => has(each, ['amount', 'delta', 'change', 'value']) && each !== balanceAfter,
    )
    const link = linkOf(table, id, other)
    if (link === null || amount === undefined) return []
    const set = [link[0], amount, balanceAfter]
    const required = other.columns.filter(
      each => !set.includes(each) && !each.nullable && !each.hasDefault && each.updatable,
    )
    return [{ table: other, link, amount, balanceAfter, required }]
  })
}

const isMoney = (column: Column) => balanceTypeOf('postgres', column) !== null && !has(column, ['id'])

/** By a foreign key; or by the name: `wallet_id` of `wallets`, or as the id is called. */
function linkOf(table: Table, id: Column, other: Table): Ledger['link'] | null {
  const columnOf = (name: string) => table.columns.find(each => each.name === name)
  for (const own of other.columns) {
    const key = other.foreignKeys.find(each => each.column === own.name && refersTo(each, table))
    const isRow = isRowOf(own, table)
    const of = columnOf(key?.to.column ?? (isRow ? 'id' : own.name === 'id' ? '' : own.name))
    if (of !== undefined && (key !== undefined || isRow || of === id)) return [own, of]
  }
  return null
}

/** A function of store.ts, which the operator completes and switches on. */
export function ledgerLines(mapping: Mapping): string[] {
  const { engine, table, id, balance, ledgers, accountPerCurrency, onlyCurrency } = mapping
  const [ledger] = ledgers
  if (ledger === undefined) return []
  const name = (text: string) => sqlName(engine, text)
  const { link, amount, balanceAfter, required } = ledger
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
