/**
 * Checks what a store gives back against the contract, before it decides over money: a float, an
 * `undefined` or somebody else's record is a fault that names the field and the promise, never an answer.
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

function violation(where: string, promise: string, found: unknown): never {
  const shown =
    typeof found === 'string'
      ? `the text ${JSON.stringify(found.slice(0, 60))}`
      : typeof found === 'number' || typeof found === 'bigint' || typeof found === 'boolean'
        ? `the ${typeof found} ${found}`
        : found === null || found === undefined
          ? String(found)
          : Array.isArray(found)
            ? 'an array'
            : `a value of type ${typeof found}`
  throw new WalletError(
    'STORE_CONTRACT',
    `The store breaks its contract: ${where} must be ${promise}, and is ${shown}`,
  )
}

function fields(where: string, value: unknown, promise: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  return violation(where, promise, value)
}

const record = (where: string, value: unknown) =>
  value === null ? null : fields(where, value, 'a record, or null where there is none')

function decimal(where: string, value: unknown): void {
  if (!isDecimal(value))
    violation(where, 'decimal text such as "100.50" (never a float, an exponent or "-0")', value)
}

/** What was staked, credited, reversed or is owed: below 0, it would turn what takes into what gives. */
function amount(where: string, value: unknown): void {
  decimal(where, value)
  if (isNegative(value as string)) violation(where, 'at least 0', value)
}

function decimalOrNull(where: string, value: unknown): void {
  if (value !== null && !isDecimal(value)) violation(where, 'decimal text such as "100.50", or null', value)
}

function text(where: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') violation(where, 'text that is not empty', value)
}

function textOrNull(where: string, value: unknown): void {
  if (value !== null && typeof value !== 'string') violation(where, 'text or null', value)
}

/** What a transaction of each operation has to compare (D3). */
const comparedOf: Record<Operation, { money: boolean; type: boolean }> = {
  placebet: { money: true, type: false },
  unsettlement: { money: false, type: true },
  rollbackbet: { money: false, type: true },
  settlement: { money: true, type: true },
}

function requirePresence(where: string, value: unknown, has: boolean, operation: Operation): void {
  if ((value !== null) !== has) violation(where, `${has ? 'there' : 'null'} for a ${operation}`, value)
}

function requireEqual(where: string, value: unknown, asked: string): void {
  if (value !== asked) violation(where, `the very one that was asked for (${JSON.stringify(asked)})`, value)
}

/** @throws {WalletError} `STORE_CONTRACT` */
export function checkStore(store: WalletStore): void {
  const version = fields('the store', store, 'an object with load and commit').contractVersion
  for (const method of ['load', 'commit'] as const) {
    if (typeof store[method] !== 'function') violation(method, 'a function', store[method])
  }
  if (version !== 1) violation('contractVersion', '1, the version that this library supports', version)
}

/** What `load` answered, once it is known to be what the contract says. @throws {WalletError} `STORE_CONTRACT` */
export function checkSnapshot(snapshot: WalletSnapshot, keys: WalletKeys): WalletSnapshot {
  const found = fields('load()', snapshot, 'a snapshot { player, bet, transaction }')

  const player = record('load().player', found.player)
  if (player !== null) {
    requireEqual('load().player.playerId', player.playerId, keys.playerId)
    text('load().player.currency', player.currency)
    decimal('load().player.balance', player.balance)
  }

  const bet = record('load().bet', found.bet)
  if (bet !== null) {
    requireEqual('load().bet.betId', bet.betId, keys.betId)
    text('load().bet.playerId', bet.playerId)
    text('load().bet.currency', bet.currency)
    amount('load().bet.stake', bet.stake)
    if (bet.status !== 'PLACED' && bet.status !== 'ROLLED_BACK') {
      violation('load().bet.status', 'PLACED or ROLLED_BACK', bet.status)
    }
    if (!Number.isSafeInteger(bet.revision) || (bet.revision as number) < 1) {
      violation('load().bet.revision', 'a whole number of at least 1', bet.revision)
    }
    checkCredits(bet.credits)
  }

  const transaction = record('load().transaction', found.transaction)
  if (transaction !== null) {
    requireEqual('load().transaction.operation', transaction.operation, keys.operation)
    requireEqual('load().transaction.transactionId', transaction.transactionId, keys.transactionId)
    text('load().transaction.playerId', transaction.playerId)
    text('load().transaction.betId', transaction.betId)
    // D3 compares them: one that its operation does not have would make every repeat a TRANSACTION_CONFLICT.
    const { money, type } = comparedOf[keys.operation]
    decimalOrNull('load().transaction.amount', transaction.amount)
    textOrNull('load().transaction.currency', transaction.currency)
    textOrNull('load().transaction.type', transaction.type)
    requirePresence('load().transaction.amount', transaction.amount, money, keys.operation)
    requirePresence('load().transaction.currency', transaction.currency, money, keys.operation)
    requirePresence('load().transaction.type', transaction.type, type, keys.operation)
    decimal('load().transaction.delta', transaction.delta)
    textOrNull('load().transaction.walletTransactionId', transaction.walletTransactionId)
    const refusal = record('load().transaction.refusal', transaction.refusal)
    if (refusal !== null) {
      text('load().transaction.refusal.errorCode', refusal.errorCode)
      text('load().transaction.refusal.description', refusal.description)
    }
  }
  return snapshot
}

function checkCredits(value: unknown): void {
  const credits = fields('load().bet.credits', value, 'an object, empty where nothing was ever credited')
  for (const [type, value] of Object.entries(credits)) {
    const where = `load().bet.credits.${type}`
    if (!settlementTypes.includes(type))
      violation(where, `of a type among ${settlementTypes.join(', ')}`, type)
    const credit = fields(where, value, 'a credit; the key is absent where nothing was ever credited')
    decimalOrNull(`${where}.live`, credit.live)
    if (credit.live !== null) amount(`${where}.live`, credit.live)
    amount(`${where}.reversed`, credit.reversed)
    amount(`${where}.owed`, credit.owed)
  }
}

const settlementTypes: readonly string[] = ['BET_PAID', 'VOIDED', 'CASHOUT'] satisfies SettlementType[]

/** What `commit` answered, once it is known to be what the contract says. @throws {WalletError} `STORE_CONTRACT` */
export function checkResult(result: CommitResult, changes: WalletChanges): CommitResult {
  const found = fields('commit()', result, 'a result { status, … }')
  switch (found.status) {
    case 'committed':
      decimal('commit().balance', found.balance)
      textOrNull('commit().walletTransactionId', found.walletTransactionId)
      return result
    case 'refused': {
      const flaw = refusalProblem(found.errorCode, found.description)
      if (flaw !== null) {
        throw new WalletError('STORE_CONTRACT', `The store breaks its contract: of commit(), ${flaw}`)
      }
      if (changes.balance === null || !changes.balance.delta.startsWith('-')) {
        throw new WalletError(
          'STORE_CONTRACT',
          `The store breaks its contract: commit() answered refused (${found.errorCode}) where no money is taken`,
        )
      }
      return result
    }
    case 'conflict':
    case 'unavailable':
      return result
    default:
      return violation('commit().status', 'committed, conflict, refused or unavailable', found.status)
  }
}
