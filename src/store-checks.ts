/**
 * Runtime checks of the store contract. Every value that a store returns is checked before a decision depends
 * on it: a float, an `undefined` or another player's record is a fault that names the field and the rule,
 * never an answer.
 */
import { refusalProblem, WalletError } from './errors.js'
import { isDecimal, isNegative } from './money.js'
import type {
  CommitResult,
  Operation,
  SettlementType,
  WalletChanges,
  WalletKeys,
  WalletSnapshot,
  WalletStore,
} from './store.js'

type Fields = Record<string, unknown>

function violation(where: string, rule: string, actual: unknown): never {
  return violated(`${where} must be ${rule}, but is ${shown(actual)}`)
}

function violated(problem: string): never {
  throw new WalletError('STORE_CONTRACT', `The store violates its contract: ${problem}`)
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `the text ${JSON.stringify(value.slice(0, 60))}`
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') {
    return `the ${typeof value} ${value}`
  }
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}

function fields(where: string, value: unknown, rule: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  return violation(where, rule, value)
}

const record = (where: string, value: unknown) =>
  value === null ? null : fields(where, value, 'a record, or null if there is none')

function decimal(where: string, value: unknown): void {
  if (!isDecimal(value))
    violation(where, 'decimal text such as "100.50" (never a float, an exponent or "-0")', value)
}

/** Stake, credits, reversed and owed amounts. Below 0, a debit would become a credit. */
function amount(where: string, value: unknown): void {
  decimal(where, value)
  if (isNegative(value as string)) violation(where, 'at least 0', value)
}

function decimalOrNull(where: string, value: unknown): void {
  if (value !== null && !isDecimal(value)) violation(where, 'decimal text such as "100.50", or null', value)
}

function text(where: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') violation(where, 'non-empty text', value)
}

function textOrNull(where: string, value: unknown): void {
  if (value !== null && typeof value !== 'string') violation(where, 'text or null', value)
}

/** The fields that D3 compares, per operation. */
const comparedOf: Record<Operation, { money: boolean; type: boolean }> = {
  placebet: { money: true, type: false },
  unsettlement: { money: false, type: true },
  rollbackbet: { money: false, type: true },
  settlement: { money: true, type: true },
}

function requirePresence(where: string, value: unknown, has: boolean, operation: Operation): void {
  if ((value !== null) !== has) violation(where, `${has ? 'present' : 'null'} for a ${operation}`, value)
}

function requireEqual(where: string, value: unknown, requested: string): void {
  if (value !== requested) violation(where, `equal to the requested ${JSON.stringify(requested)}`, value)
}

/** @throws {WalletError} `STORE_CONTRACT` */
export function checkStore(store: WalletStore): void {
  const version = fields('the store', store, 'an object with load and commit').contractVersion
  for (const method of ['load', 'commit'] as const) {
    if (typeof store[method] !== 'function') violation(method, 'a function', store[method])
  }
  const { loadConfirmed, addsCredits } = store
  if (addsCredits !== undefined && typeof addsCredits !== 'boolean')
    violation('addsCredits', 'a boolean, or absent', addsCredits)
  if (loadConfirmed !== undefined && typeof loadConfirmed !== 'function')
    violation('loadConfirmed', 'a function, or absent', loadConfirmed)
  if (version !== 2) violation('contractVersion', '2, the version that this library supports', version)
}

/** Checks what `load` returns, or a conflict. @throws {WalletError} `STORE_CONTRACT` */
export function checkSnapshot(snapshot: WalletSnapshot, keys: WalletKeys): WalletSnapshot {
  const expected = '{ accounts, bet, transaction }'
  const { accounts, bet, transaction } = fields('the snapshot', snapshot, expected)
  checkAccounts(accounts, keys)
  checkBet(record('snapshot.bet', bet), keys)
  checkTransaction(record('snapshot.transaction', transaction), keys)
  return snapshot
}

function checkAccounts(accounts: unknown, keys: WalletKeys): void {
  if (!Array.isArray(accounts))
    violation('snapshot.accounts', 'an array, empty for an unknown player', accounts)
  const currencies = new Set<unknown>()
  for (const [index, value] of accounts.entries()) {
    const where = `snapshot.accounts[${index}]`
    const account = fields(where, value, 'an account { playerId, currency, balance }')
    requireEqual(`${where}.playerId`, account.playerId, keys.playerId)
    text(`${where}.currency`, account.currency)
    decimal(`${where}.balance`, account.balance)
    if (currencies.has(account.currency))
      violation(where, 'the only account in its currency', account.currency)
    currencies.add(account.currency)
  }
}

function checkBet(bet: Fields | null, keys: WalletKeys): void {
  if (bet === null) return
  requireEqual('snapshot.bet.betId', bet.betId, keys.betId)
  text('snapshot.bet.playerId', bet.playerId)
  text('snapshot.bet.currency', bet.currency)
  amount('snapshot.bet.stake', bet.stake)
  if (bet.status !== 'PLACED' && bet.status !== 'ROLLED_BACK') {
    violation('snapshot.bet.status', 'PLACED or ROLLED_BACK', bet.status)
  }
  if (!Number.isSafeInteger(bet.revision) || (bet.revision as number) < 1) {
    violation('snapshot.bet.revision', 'a whole number of at least 1', bet.revision)
  }
  checkCredits(bet.credits)
}

function checkTransaction(transaction: Fields | null, { operation, transactionId }: WalletKeys): void {
  if (transaction === null) return
  requireEqual('snapshot.transaction.operation', transaction.operation, operation)
  requireEqual('snapshot.transaction.transactionId', transaction.transactionId, transactionId)
  text('snapshot.transaction.playerId', transaction.playerId)
  text('snapshot.transaction.betId', transaction.betId)
  // D3 compares them: a field that its operation does not have would make every retry a TRANSACTION_CONFLICT.
  const { money, type } = comparedOf[operation]
  decimalOrNull('snapshot.transaction.amount', transaction.amount)
  textOrNull('snapshot.transaction.currency', transaction.currency)
  textOrNull('snapshot.transaction.type', transaction.type)
  requirePresence('snapshot.transaction.amount', transaction.amount, money, operation)
  requirePresence('snapshot.transaction.currency', transaction.currency, money, operation)
  requirePresence('snapshot.transaction.type', transaction.type, type, operation)
  decimal('snapshot.transaction.delta', transaction.delta)
  textOrNull('snapshot.transaction.accountCurrency', transaction.accountCurrency)
  text('snapshot.transaction.reason', transaction.reason)
  textOrNull('snapshot.transaction.walletTransactionId', transaction.walletTransactionId)
  const refusal = record('snapshot.transaction.refusal', transaction.refusal)
  if (refusal === null) return
  text('snapshot.transaction.refusal.errorCode', refusal.errorCode)
  text('snapshot.transaction.refusal.description', refusal.description)
}

function checkCredits(value: unknown): void {
  const credits = fields('snapshot.bet.credits', value, 'an object, empty if nothing was ever credited')
  for (const [type, value] of Object.entries(credits)) {
    const where = `snapshot.bet.credits.${type}`
    if (!settlementTypes.includes(type))
      violation(where, `of a type among ${settlementTypes.join(', ')}`, type)
    const credit = fields(where, value, 'a credit; its key is absent if nothing was ever credited')
    decimalOrNull(`${where}.live`, credit.live)
    if (credit.live !== null) amount(`${where}.live`, credit.live)
    amount(`${where}.reversed`, credit.reversed)
    amount(`${where}.owed`, credit.owed)
  }
}

const settlementTypes: readonly string[] = ['BET_PAID', 'VOIDED', 'CASHOUT'] satisfies SettlementType[]

/** A debit, and a new bet without one: a free bet of a player who is excluded. Never a recorded refusal. */
function mayBeRefused({ transaction, account }: WalletChanges): boolean {
  const isNewBet = transaction.operation === 'placebet' && transaction.refusal === null
  return isNewBet || isNegative(account.delta)
}

/** Checks the result of `commit`. @throws {WalletError} `STORE_CONTRACT` */
export function checkResult(result: CommitResult, changes: WalletChanges): CommitResult {
  const found = fields('commit()', result, 'a result { status, … }')
  switch (found.status) {
    case 'committed':
      decimal('commit().balance', found.balance)
      textOrNull('commit().walletTransactionId', found.walletTransactionId)
      return result
    case 'refused': {
      const problem = refusalProblem(found.errorCode, found.description)
      if (problem !== null) violated(`commit().${problem}`)
      if (!mayBeRefused(changes))
        violated(`commit() refused (${found.errorCode}) neither a debit nor a new bet`)
      return result
    }
    case 'conflict':
      if (found.snapshot != null) checkSnapshot(found.snapshot as WalletSnapshot, changes.transaction)
      return result
    case 'unavailable':
      return result
    default:
      return violation('commit().status', 'committed, conflict, refused or unavailable', found.status)
  }
}
